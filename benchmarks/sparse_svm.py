"""Support vector machines of sparse data: fsopt beside liblinear and skglm, ``python benchmarks/sparse_svm.py``.

Two data sets: texts of the size of rcv1, 20,242 x 47,236 with 1.35 million nonzeros, words by a power law and rows of
norm 1; and 20,000 x 50,000 with 50 nonzeros at random places in each row, whose classes can be separated. The program
has no penalty on the intercept. liblinear (scikit-learn's ``LinearSVC`` of the hinge loss) penalises it, and skglm has
none: their hyperplanes get the best intercept, and the gap is that of their value to fsopt's lower bound. Of eight
settings of liblinear, four tolerances with two intercept scalings, the row is the fastest one with a gap of at most
1e-4, or else the one with the smallest gap. Seconds are CPU seconds; the first run of skglm, which compiles, does not
count.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.svm import LinearSVC

from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.drivers.run import Run
from fsopt.linear.first_order import minimise

GOAL = 1e-4


def texts(n: int = 20_242, p: int = 47_236, words: int = 66) -> Dataset:
    """Return rows of norm 1 with words by a power law, and noisy labels of a tenth of the words."""
    rng = np.random.default_rng(0)
    share = np.arange(1, p + 1) ** -0.8
    return labelled(rng, n, p, rng.choice(p, size=(n, words), p=share / share.sum()), unit=True)


def uniform(n: int = 20_000, p: int = 50_000, k: int = 50) -> Dataset:
    """Return k nonzeros at random places in each row."""
    rng = np.random.default_rng(0)
    return labelled(rng, n, p, rng.integers(0, p, (n, k)), unit=False)


def labelled(rng: np.random.Generator, n: int, p: int, places: Any, *, unit: bool) -> Dataset:
    """Return data with these nonzeros, and labels of a noisy linear score."""
    rows = np.repeat(np.arange(n), places.shape[1])
    X = sp.csr_array((rng.exponential(1.0, places.size) + 0.1, (rows, places.ravel())), shape=(n, p))
    if unit:
        X = sp.csr_array(sp.diags(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    score = X @ (rng.standard_normal(p) * (rng.random(p) < 0.1))
    score += 0.3 * score.std() * rng.standard_normal(n)
    return Dataset(X, np.where(score > np.median(score), 1.0, -1.0))


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of an action, and what it returns."""
    started = time.process_time()
    found = action()
    return time.process_time() - started, found


def value(data: Dataset, w: Any, c: float) -> float:
    """Return the objective of weights with the best intercept."""
    scores = data.X @ w
    return 0.5 * float(w @ w) + c * hinge(scores + midpoint_intercept(scores, data.y), data.y)


def liblinear(data: Dataset, c: float, bound: float) -> tuple[float, float]:
    """Return CPU seconds and gap of the best setting."""
    found = []
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5):
        for scaling in (1.0, 10.0):
            machine = LinearSVC(loss="hinge", C=c, tol=tolerance, intercept_scaling=scaling, max_iter=5_000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spent, _ = seconds(lambda machine=machine: machine.fit(data.X, data.y))
            gap = value(data, machine.coef_[0], c) / bound - 1.0
            found.append((max(gap, GOAL), spent, gap))
    _, spent, gap = min(found)
    return spent, gap


def skglm(data: Dataset, c: float, bound: float) -> tuple[float, float] | None:
    """Return CPU seconds and gap of skglm's dual coordinate ascent, None where it is not installed."""
    try:
        from skglm.estimators import LinearSVC as Machine
    except ImportError:
        return None
    X = sp.csr_matrix(data.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Machine(C=c, tol=1e-3, max_iter=1).fit(X[:200], data.y[:200])
        spent, machine = seconds(lambda: Machine(C=c, tol=1e-3).fit(X, data.y))
    return spent, value(data, np.ravel(machine.coef_), c) / bound - 1.0


def rows(data: Dataset, c: float, *, peers: bool) -> Iterator[tuple[str, float, float, str]]:
    """Yield who, CPU seconds, gap and status."""
    spent, best = seconds(lambda: minimise(data, c=c, run=Run(time_limit=120)))
    yield "fsopt, certified", spent, best.objective / best.bound - 1.0, str(best.status)
    yield "liblinear", *liblinear(data, c, best.bound), "-"
    if peers and (found := skglm(data, c, best.bound)) is not None:
        yield "skglm, no intercept", *found, "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-skglm", action="store_true", help="leave out skglm, which compiles for a minute")
    peers = not parser.parse_args().no_skglm
    table = Table("data", "C", "by", "CPU s", "gap", "status")
    for name, data in (("texts", texts()), ("uniform", uniform())):
        for c in (0.1, 1.0, 10.0):
            for who, spent, gap, status in rows(data, c, peers=peers):
                table.add_row(name, f"{c:g}", who, f"{spent:.2f}", f"{gap:.1e}", status)
    Console().print(table)


if __name__ == "__main__":
    main()
