"""The overhead of a study: 10,000 tiny units, and the seconds beside those of the fits themselves.

python benchmarks/study.py [UNITS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fsopt
from fsopt.data import Dataset


def main() -> None:
    units = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    jobs = os.cpu_count() or 1
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    data = Dataset(rng.standard_normal((30, 4)) + 0.6 * y[:, None], y)
    study = {
        "data": [data],
        "folds": 10,
        "seeds": list(range(units // 10)),
        "methods": [{"name": "svm"}],
    }
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        found = fsopt.run_study(study, store=Path(folder) / "store.sqlite", jobs=jobs)
        seconds = time.perf_counter() - started
        size = (Path(folder) / "store.sqlite").stat().st_size
    inside = sum(row["seconds"] for row in found.rows) / jobs
    overhead = 1000 * (seconds - inside) / len(found.rows)
    print(f"{len(found.rows)} units, {found.counts}, {jobs} processes, store {size / 1e6:.1f} MB")
    print(f"{seconds:.1f} s, of which {inside:.1f} s in the units: {overhead:.2f} ms overhead for each unit")


if __name__ == "__main__":
    main()
