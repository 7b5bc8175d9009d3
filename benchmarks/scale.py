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
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import fsopt
from fsopt.data import Dataset

SIZES = ((200_000, 50), (100, 50_000))
PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
GIGABYTE = 2**30
ANSWERS = tuple(str(status) for status in fsopt.Status)
NO_ANSWER = {"time-limit": "none in time", "memory": "too large"}
INTRODUCTION = """
# Limits

For the choice of a method for large data: whether it ends, how long it takes and how much memory it holds. The same
limits for a fit of your own:

```console
fsopt fit l1-svm --data wdbc --time-limit 60
```

Every method on data of 200,000 x 50 and 100 x 50,000 (samples x features): two Gaussian classes that differ in 10
features, default parameters of comparisons, one thread, {limit:g} seconds and {memory:g} GB for each fit in a process
of its own. Written by `python benchmarks/scale.py`. Seconds are those of the processor; the limit counts those of the
clock, so that on a busy machine a fit has fewer of them before it ends, and more answers are missing. GB is the most
that the process held. {late}

A limit ends a fit between two steps of a loop or a solver, and while a model is built; the loading of a solver and the
certificate are not cut short. The fit ends with the best point so far (status `feasible`, exit 0 on the
command line), or with the error `time-limit` (exit 1) where there is none. What does not fit into the memory is refused
with the error `memory`. Some methods solve data of this size without a model: `svm`, `rsvm` and the last step of the
filters and of `vs-ssvm` by an interior point in the smaller dimension, `onsvm`, `l1-svm`, `misclass` and `fsv` by
column and constraint generation, `l1-mpm`, `l0-mpm` and `s-mpm` by column generation. `--solver NAME` takes the model
and that solver instead.
"""


def data(n: int, p: int) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return Dataset(rng.standard_normal((n, p)) + 0.5 * y[:, None] * (np.arange(p) < 10), y)


def run_one(method: str, n: int, p: int, limit: float, memory: float, answer: Any) -> None:
    """Fit in this process, with a limit on its memory, and send what came of it."""
    source = data(n, p)
    spec = fsopt.METHODS[method]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * GIGABYTE),) * 2)
    started, begun = time.perf_counter(), time.process_time()
    try:
        fit = fsopt.fit(method, source, time_limit=limit, options={"threads": 1}, **spec.compare(p))
        said = {"status": str(fit.status), "stop": fit.stop, "solver": fit.solver, "features": len(fit.support)}
    except fsopt.FsoptError as error:
        said = {"status": str(error), "stop": error.kind}
    except MemoryError as error:
        said = {"status": f"MemoryError: {error}", "stop": "fault"}
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    seconds = {"seconds": time.perf_counter() - started, "processor": time.process_time() - begun}
    answer.send({**said, **seconds, "memory": used})


def measure(method: str, n: int, p: int, limit: float, memory: float) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=run_one, args=(method, n, p, limit, memory, theirs))
    child.start()
    theirs.close()
    hard = 3 * limit + 10
    found: dict[str, Any] = {
        "status": "killed",
        "stop": "fault",
        "seconds": hard,
        "processor": float("nan"),
        "memory": float("nan"),
    }
    try:
        if ours.poll(hard):
            found = ours.recv()
    except EOFError:
        found["status"] = "died"
    child.kill()
    child.join()
    return {"method": method, "n": n, "p": p, **found}


def page(rows: list[dict[str, Any]], limit: float, memory: float) -> str:
    """Return the page: the table, and the reasons of the fits without an answer."""
    sizes = dict.fromkeys((row["n"], row["p"]) for row in rows)
    over = [row for row in rows if row["seconds"] > 1.2 * limit + 2.0]
    named = ", ".join(f"`{row['method']}` {row['n']:,} x {row['p']:,} ({row['seconds']:.0f} s)" for row in over)
    late = f"Later than 1.2 T + 2 seconds by the clock for a limit of T: {named or 'none'}."
    lines = [INTRODUCTION.format(limit=limit, memory=memory, late=late).strip(), ""]
    lines.append("| method | " + " | ".join(f"{n:,} x {p:,}: status | seconds | GB" for n, p in sizes) + " |")
    lines.append("| --- |" + " --- | ---: | ---: |" * len(sizes))
    notes: dict[str, list[str]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [f"`{method}`"]
        for row in (row for row in rows if row["method"] == method):
            status = row["status"]
            if status not in ANSWERS:
                notes.setdefault(status, []).append(f"`{method}` {row['n']:,} x {row['p']:,}")
                status = NO_ANSWER.get(row["stop"], row["stop"])
            elif row["stop"] == "time-limit":
                status += " (time limit)"
            cells += [status, f"{row['processor']:.1f}", f"{row['memory']:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    if notes:
        lines += ["", "Without an answer:", ""]
        lines += [f"* {', '.join(which)}: {text}" for text, which in notes.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--memory", type=float, default=8.0)
    parser.add_argument("--methods", default=",".join(fsopt.METHODS))
    parser.add_argument("-o", "--output", type=Path, default=None, help="the page; docs/limits.md by default for all")
    given = parser.parse_args()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    rows = []
    for method in given.methods.split(","):
        for n, p in SIZES:
            rows.append(measure(method, n, p, given.limit, given.memory))
            print(json.dumps(rows[-1]), flush=True)
    whole = set(given.methods.split(",")) == set(fsopt.METHODS)
    if given.output is not None or whole:
        (given.output or PAGE).write_text(page(rows, given.limit, given.memory), encoding="utf-8")
    late = [row for row in rows if row["stop"] == "fault" or row["seconds"] > 1.2 * given.limit + 2.0]
    raise SystemExit(int(bool(late)))


if __name__ == "__main__":
    main()
