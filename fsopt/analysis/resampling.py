"""How much a selection owes to chance: resamples of the data, and permuted columns beside its features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fsopt.algorithms.branch_and_benders.compiled import counted, exchanges
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.local_search import LocalSearch
from fsopt.analysis.cardinality import at_most
from fsopt.analysis.held_out import FOLDED
from fsopt.data import Dataset
from fsopt.data.scores import measures
from fsopt.data.splits import random_parts, stratified_folds, train_and_test
from fsopt.drivers.interruption import uninterrupted
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
        selected = _best(train, min(m, train.p), c)
        found.append([train.features[j] for j in np.flatnonzero(selected)])
    return found


def displaced_by_permuted(data: Dataset, support: list[int], c: float, seed: int) -> list[int]:
    r"""Return the selected features in whose place a permuted column lowers the value, the others being kept.

    .. math:: \min_k\ F(S \setminus \{j\} \cup \{\pi(k)\}) < F(S)

    :math:`\pi(k)` is column k of X with its rows in a random order, the same for all, which tells nothing of y. The
    best of all columns stands against one feature: a column of noise was selected as the best of several, too. One
    feature at a time, since permuted columns that replace the weakest features shield the others.

    Notes
    -----
    Pseudovariables of Wu, Boos and Stefanski, Controlling variable selection by the addition of pseudovariables, JASA
    102 (2007); the best of all columns as in Westfall and Young, Resampling-based multiple testing (1993).
    """
    order = np.random.default_rng(seed).permutation(data.n)
    columns = np.hstack([data.X[:, support], data.X[order]])
    work, _ = preprocess(Dataset(columns, data.y, weights=data.weights), "standard")
    size = len(support)
    with counted():
        search = LocalSearch(at_most(work, c, size), [], data.p, lambda: True, compiled=exchanges())
        return [support[k] for k in search.replaceable(np.arange(size), np.arange(size, work.p))]


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
            fit = uninterrupted(fit_method("svm", train.columns(kept), c=c))
            scores = fit.decision_function(test.columns(kept))
        found.append(measures(test.y, scores)[score])
    return found


def _best(data: Dataset, m: int, c: float) -> Mask:
    """Return the mask (p,) of the best selection that the root of a search finds."""
    work, _ = preprocess(data, "standard")
    found = uninterrupted(branch_and_benders(at_most(work, c, m), settings=replace(FOLDED, thorough=True)))
    mask: Mask = found.point["sigma"] > 0.5
    return mask
