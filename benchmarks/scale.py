"""Every method on tall, wide and sparse data: CPU seconds, memory and status, and how they grow.

``python benchmarks/scale.py`` measures what ``docs/results/limits.jsonl`` does not have of the present code, and
the build of the site makes ``docs/results/limits.md`` of it (``benchmarks/limits_page.py``). Two Gaussian classes that
differ in 10 features, 200,000 x 50 and 100 x 50,000, and sparse data of 20,000 x 50,000, of which a thousandth is not
0; default parameters of comparisons, one thread. ``--growth`` measures smaller sizes with a limit of 30 seconds.

Each fit runs in a process of its own, one after the other, with ``--limit`` CPU seconds and ``--memory`` gigabytes. The
clock of the package counts the CPU seconds of the process. Solvers count those of the clock on the wall: on a busy
computer a fit that ends at its limit had fewer, and its row says how many. Each row is written at once, and a run that
was interrupted goes on where it ended. The exit code is 1 where a fit ends without an answer or a refusal, or more
than 1.2 T + 2 CPU seconds after it began, for a limit of T.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "docs" / "results" / "limits.jsonl"
GIGABYTE = 2**30


class Size(NamedTuple):
    """Samples, features, and how many numbers of a sample are not 0: 0 for dense data."""

    n: int
    p: int
    nonzeros: int = 0


SHAPES = (Size(200_000, 50), Size(100, 50_000), Size(20_000, 50_000, 50))
GROWTH = (
    *(Size(n, 50) for n in (1_000, 4_000, 16_000, 64_000)),
    *(Size(100, p) for p in (500, 2_000, 8_000, 32_000)),
    *(Size(5_000, 20_000, k) for k in (10, 40, 160)),
)
"""Sizes of the curves: by samples, by features, and by nonzeros."""
GROWTH_LIMIT = 30.0


def code() -> str:
    """Return a short hash of the package's modules: rows of other code are measured anew."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "fsopt").rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def data(size: Size) -> Any:
    """Return the data of a size: Gaussian, or of equal numbers of nonzeros at random places in each sample."""
    from fsopt.data import Dataset

    rng = np.random.default_rng(0)
    n, p, k = size
    if not k:
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        return Dataset(rng.standard_normal((n, p)) + 0.5 * y[:, None] * (np.arange(p) < 10), y)
    import scipy.sparse as sp

    columns = rng.integers(0, p, (n, k))
    X = sp.csr_array((rng.exponential(1.0, n * k), (np.repeat(np.arange(n), k), columns.ravel())), shape=(n, p))
    score = X @ np.where(rng.random(p) < 0.1, rng.standard_normal(p), 0.0)
    return Dataset(X, np.where(score + 0.3 * score.std() * rng.standard_normal(n) > np.median(score), 1.0, -1.0))


def run_one(method: str, size: Size, limit: float, memory: float, answer: Any) -> None:
    """Fit in this process, with a limit on its memory, and send what came of it."""
    time.perf_counter = time.process_time
    import fsopt
    from fsopt.certificates.points import relative_gap

    source = data(size)
    spec = fsopt.METHODS[method]
    options = {"threads": 1} if spec.solver else None
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * GIGABYTE),) * 2)
    wall, begun = time.monotonic(), time.process_time()
    try:
        fit = fsopt.fit(method, source, time_limit=limit, options=options, **spec.compare(size.p))
        gap = None if fit.objective is None or fit.bound is None else relative_gap(fit.objective, fit.bound)
        said = {"status": str(fit.status), "stop": fit.stop, "features": len(fit.support), "gap": gap}
    except fsopt.FsoptError as error:
        said = {"status": str(error), "stop": error.kind}
    except MemoryError as error:
        said = {"status": f"MemoryError: {error}", "stop": "fault"}
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    answer.send({**said, "cpu": time.process_time() - begun, "wall": time.monotonic() - wall, "memory": used})


def measure(method: str, size: Size, limit: float, memory: float) -> dict[str, Any]:
    """Return the row of a method and a size, fitted in a process of its own that ends with its limits."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=run_one, args=(method, size, limit, memory, theirs))
    child.start()
    theirs.close()
    hard = 20 * limit + 60
    found: dict[str, Any] = {"status": "killed", "stop": "fault", "cpu": None, "wall": hard, "memory": None}
    try:
        if ours.poll(hard):
            found = ours.recv()
    except EOFError:
        found["status"] = "died"
    child.kill()
    child.join()
    return {"method": method, **size._asdict(), "limit": limit, "allowed": memory, **found}


def read_rows(path: Path = ROWS) -> list[dict[str, Any]]:
    """Return the rows of a file, the last one of each fit."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return list({(row["method"], row["n"], row["p"], row["nonzeros"]): row for row in rows}.values())


def missing(
    methods: list[str], sizes: tuple[Size, ...], rows: list[dict[str, Any]], stamp: str
) -> Iterator[tuple[str, Size]]:
    """Yield the fits that are not measured with the present code."""
    have = {(row["method"], row["n"], row["p"], row["nonzeros"]) for row in rows if row["code"] == stamp}
    yield from ((method, size) for method in methods for size in sizes if (method, *size) not in have)


def main() -> None:
    import fsopt

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a fit")
    parser.add_argument("--memory", type=float, default=4.0, help="gigabytes of a fit")
    parser.add_argument("--methods", default=",".join(fsopt.METHODS))
    parser.add_argument("--growth", action="store_true", help="the sizes of the curves")
    parser.add_argument("-o", "--output", type=Path, default=ROWS)
    given = parser.parse_args()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    sizes, limit = (GROWTH, GROWTH_LIMIT) if given.growth else (SHAPES, given.limit)
    stamp, failed = code(), False
    for method, size in list(missing(given.methods.split(","), sizes, read_rows(given.output), stamp)):
        row = {**measure(method, size, limit, given.memory), "version": fsopt.__version__, "code": stamp}
        late = row["stop"] == "fault" or (row["cpu"] or 0.0) > 1.2 * limit + 2.0
        failed |= late
        line = json.dumps(row)
        with given.output.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print(line, flush=True)
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
