"""How much a selection owes to chance: resamples of the data, and permuted columns beside its features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.analysis.cardinality import at_most
from fsopt.analysis.held_out_paths import NODES
from fsopt.data import Dataset
from fsopt.data.scores import measures
from fsopt.data.splits import random_parts, stratified_folds, train_and_test
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import fit as fit_method
from fsopt.typing import Mask


def selected_of_halves(data: Dataset, m: int, c: float, seed: int) -> list[list[str]]:
    """Return the names of the features that each half of the data selects: a random pair of complementary halves.

    Notes
    -----
    Shah and Samworth, Variable selection with error control: another look at stability selection, JRSS B 75 (2013).
    """
    halves = random_parts(data, (0.5, 0.5), seed)
    found = []
    for half in halves:
        train, _ = train_and_test(data, np.setdiff1d(np.arange(data.n), half))
        selected = _best(train, min(m, train.p), c, None)
        found.append([train.features[j] for j in np.flatnonzero(selected)])
    return found


def displaced_by_permuted(data: Dataset, support: list[int], m: int, c: float, seed: int) -> list[int]:
    r"""Return the selected features that are not in the best selection once permuted columns stand beside all columns.

    .. math:: \min\ F(\sigma, \tau) \quad\text{s.t.}\quad e'\sigma + e'\tau \le m

    sigma selects columns of X, and tau of the same X with its rows in a random order, which tell nothing of y. A column
    of noise is as good as the best of these by chance only.

    Notes
    -----
    Pseudovariables of Wu, Boos and Stefanski, Controlling variable selection by the addition of pseudovariables, JASA
    102 (2007).
    """
    order = np.random.default_rng(seed).permutation(data.n)
    names = [*data.features, *(f"permuted {k}" for k in range(data.p))]
    both = Dataset(np.hstack([data.X, data.X[order]]), data.y, _different(names), weights=data.weights)
    initial = np.isin(np.arange(both.p), support)
    selected = _best(both, m, c, initial)
    return [j for j in support if not selected[j]]


def score_of_selection(data: Dataset, names: list[str], c: float, split: tuple[int, int], score: str) -> list[float]:
    """Return the score of the support vector machine on given features, on the samples of each fold.

    Parameters
    ----------
    split : number of folds, and the seed.
    """
    found = []
    for fold in stratified_folds(data, *split):
        train, test = train_and_test(data, fold)
        kept = [train.features.index(name) for name in names if name in train.features]
        scores = np.full(test.n, float(np.sign(train.y.sum() + 0.5)))
        if kept:
            scores = fit_method("svm", train.columns(kept), c=c).decision_function(test.columns(kept))
        found.append(measures(test.y, scores)[score])
    return found


def _different(names: list[str]) -> list[str]:
    """Return names that are different: places in front of them."""
    return [f"{k} {name}" for k, name in enumerate(names)]


def _best(data: Dataset, m: int, c: float, initial: Mask | None) -> Mask:
    """Return the mask (p,) of the best selection that the root of a search finds."""
    work, _ = preprocess(data, "standard")
    settings = replace(BranchSettings(1e-4, NODES), initial=initial)
    found = branch_and_benders(at_most(work, c, m), settings=settings)
    mask: Mask = found.point["sigma"] > 0.5
    return mask
