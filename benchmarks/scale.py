"""Every method on large data: seconds, memory and status, written into docs/limits.md.

``python benchmarks/scale.py``. Two Gaussian classes that differ in 10 features, 200,000 x 50 and 100 x 50,000; default
parameters of comparisons, one thread. Each fit runs in a process of its own with ``--limit`` seconds and ``--memory``
gigabytes, one after the other. Asked: every method answers, or refuses within a second of seeing the data; a limit of
T seconds ends within 1.2 T + 2; nothing ends for want of memory.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import fsopt
from fsopt.data import Dataset

SIZES = ((200_000, 50), (100, 50_000))
PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
GIGABYTE = 2**30


def data(n: int, p: int) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return Dataset(rng.standard_normal((n, p)) + 0.5 * y[:, None] * (np.arange(p) < 10), y)


def run_one(method: str, n: int, p: int, limit: float, memory: float, answer: Any) -> None:
    """Fit in this process, with a limit on its memory, and send what came of it."""
    source = data(n, p)
    spec = fsopt.METHODS[method]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * GIGABYTE),) * 2)
    started = time.perf_counter()
    try:
        fit = fsopt.fit(method, source, time_limit=limit, options={"threads": 1}, **spec.compare(p))
        said = {"status": str(fit.status), "stop": fit.stop, "solver": fit.solver, "features": len(fit.support)}
    except fsopt.FsoptError as error:
        said = {"status": f"refused: {error}", "stop": error.kind}
    except MemoryError as error:
        said = {"status": f"MemoryError: {error}", "stop": "fault"}
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    answer.send({**said, "seconds": time.perf_counter() - started, "memory": used})


def measure(method: str, n: int, p: int, limit: float, memory: float) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=run_one, args=(method, n, p, limit, memory, theirs))
    child.start()
    theirs.close()
    found: dict[str, Any] = {"status": "killed", "stop": "fault", "seconds": 3 * limit, "memory": float("nan")}
    try:
        if ours.poll(3 * limit + 10):
            found = ours.recv()
    except EOFError:
        found["status"] = "died"
    if child.is_alive() and found["status"] == "killed":
        child.kill()
    child.join()
    return {"method": method, "n": n, "p": p, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--memory", type=float, default=8.0)
    parser.add_argument("--methods", default=",".join(fsopt.METHODS))
    parser.add_argument("--size", type=int, choices=(0, 1), default=None)
    given = parser.parse_args()
    sizes = SIZES if given.size is None else (SIZES[given.size],)
    rows = []
    for method in given.methods.split(","):
        for n, p in sizes:
            rows.append(measure(method, n, p, given.limit, given.memory))
            print(json.dumps(rows[-1]), flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
