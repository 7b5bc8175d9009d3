"""The overhead of a study: 2,000 units of 30 ms or so, beside the same fits by joblib alone, by turns.

python benchmarks/study.py [UNITS]
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

import fsopt
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds, train_and_test

FOLDS, TURNS = 10, 2
METHOD = "svm"


def scores_of(data: Dataset, seed: int, fold: int) -> dict[str, float]:
    """Return the scores of the fit to one fold."""
    train, test = train_and_test(data, stratified_folds(data, FOLDS, seed)[fold])
    return fsopt.fit(METHOD, train).scores(test)


def spent(run: Callable[[], Any]) -> np.ndarray:
    """Return the seconds of a run with processes of its own, by the clock and of the processors, theirs among them."""

    def cpu() -> float:
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    began = np.array([time.perf_counter(), cpu()])
    run()
    get_reusable_executor().shutdown(wait=True)
    return np.array([time.perf_counter(), cpu()]) - began


def main() -> None:
    units = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    jobs = os.cpu_count() or 1
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    data = Dataset(rng.standard_normal((60, 10)) + 0.6 * y[:, None], y)

    def bare(seeds: list[int]) -> None:
        with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            Parallel()([delayed(scores_of)(data, seed, fold) for seed in seeds for fold in range(FOLDS)])

    def study(seeds: list[int]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asked = {"data": [data], "folds": FOLDS, "seeds": seeds, "methods": [METHOD]}
            assert fsopt.run_study(asked, store=Path(folder) / "store.sqlite", jobs=jobs).complete

    used = {run: np.zeros(2) for run in (bare, study)}
    for run in used:
        run([0])  # the imports of this process
    for part in np.array_split(np.arange(units // FOLDS), TURNS):
        for run in used:
            used[run] += spent(partial(run, part.tolist())) - spent(partial(run, [0]))
    for name, (wall, cpu) in zip(("joblib alone", "study"), used.values(), strict=True):
        print(f"{name}: {units} units in {wall:.1f} s, {cpu:.1f} CPU s, {1e3 * cpu / units:.1f} ms each")
    wall, cpu = used[study] / used[bare]
    print(f"{cpu:.2f} times the CPU seconds, {wall:.2f} times those of the clock, with {jobs} processes")


if __name__ == "__main__":
    main()
