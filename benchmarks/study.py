"""The overhead of a study: 2,000 tiny units, beside the same fits by joblib alone.

python benchmarks/study.py [UNITS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config

import fsopt
from fsopt.data import Dataset
from fsopt.data.splits import stratified_folds, train_and_test

FOLDS = 10


def scores_of(data: Dataset, seed: int, fold: int) -> dict[str, float]:
    """Return the scores of the fit to one fold."""
    train, test = train_and_test(data, stratified_folds(data, FOLDS, seed)[fold])
    return fsopt.fit("svm", train).scores(test)


def main() -> None:
    units = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    jobs = os.cpu_count() or 1
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    data = Dataset(rng.standard_normal((30, 4)) + 0.6 * y[:, None], y)
    seeds = range(units // FOLDS)
    study = {"data": [data], "folds": FOLDS, "seeds": list(seeds), "methods": ["svm"]}
    calls = [delayed(scores_of)(data, seed, fold) for seed in seeds for fold in range(FOLDS)]
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        Parallel()(calls[: 2 * jobs])  # the imports of both are not counted
        began = time.perf_counter()
        Parallel()(calls)
        bare = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store.sqlite"
        fsopt.run_study({**study, "name": "warm", "seeds": [0]}, store=place, jobs=jobs)
        began = time.perf_counter()
        found = fsopt.run_study(study, store=place, jobs=jobs)
        seconds = time.perf_counter() - began
        size = place.stat().st_size
    print(f"{len(found.rows)} units, {found.counts}, {jobs} processes, store {size / 1e6:.1f} MB")
    print(f"{seconds:.1f} s, by joblib alone {bare:.1f} s: {seconds / bare:.2f} times")


if __name__ == "__main__":
    main()
