"""Pairs (training data, test data) of the experiments of Yang & Ju (section 4), and the scores of a method on one pair.

A data set is split into stratified folds; the synthetic data of section 4.2 are drawn pair by pair. alpha* is the
supremum of the worst-case accuracies of the training data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fsopt.data import Dataset, mpm_synthetic
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import DataError, ParameterError
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.studies.tuning import fit_candidate

Pair: TypeAlias = tuple[Dataset, Dataset]
"""Training data and test data."""
PSF = "selected features, %"
TSA = "accuracy, %"
SCORES = ("n_features", "psf", "accuracy", "mcc", "iterations")
"""Fields of :class:`PairScores`."""
DRAWS = 100
"""Draws of folds among which one is looked for with both classes in each."""
SPACE = ("scale", "ridge", "kernel", "width")
"""Parameters of a method that alpha* depends on."""


@dataclass(frozen=True)
class PairScores:
    """Scores of one method on one pair.

    Attributes
    ----------
    n_features, psf : number of selected features, and its percentage of all features (PSF in the paper).
    accuracy, mcc : on the test data (TSA and MCC in the paper), in [0, 1] and [-1, 1].
    iterations : of the loop of the method; nan for a method that is one solve.
    """

    n_features: float
    psf: float
    accuracy: float
    mcc: float
    iterations: float


def synthetic_pairs(
    repetitions: int = 10, *, n: int = 50, n_test: int = 1000, p: int = 1000, seed: int = 0, literal: bool = False
) -> list[Pair]:
    """Return draws of the synthetic data of section 4.2, each with other samples of the same law to test on.

    Parameters
    ----------
    repetitions : number of pairs, 10 in the paper.
    n, n_test : samples of the training data, 50 in the paper, and of the test data.
    p, literal : as in :func:`fsopt.data.mpm_synthetic`.
    seed : the pairs have the seeds ``seed``, ``seed + 1``, ...

    Raises
    ------
    ParameterError, DataError : as in :func:`fsopt.data.mpm_synthetic`.
    """
    drawn = (mpm_synthetic(n + n_test, seed + k, p, literal) for k in range(repetitions))
    return [(both.rows(np.arange(n)), both.rows(np.arange(n, n + n_test))) for both in drawn]


def pairs_of(data: Dataset | Sequence[Pair], folds: int, seed: int) -> Sequence[Pair]:
    """Return the given pairs, or one pair for each stratified fold of a data set."""
    if isinstance(data, Dataset):
        return [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]
    if not len(data):
        raise ParameterError("there are no pairs of data", "give a data set, or pairs (training data, test data)")
    return data


def split_pairs(data: Dataset, folds: int, seed: int, split: str) -> Sequence[Pair]:
    """Return (training data, test data) of each fold.

    Parameters
    ----------
    split : ``stratified`` folds have the class shares of the data. ``equal`` ones are drawn without a look at the
        classes, n // folds samples each, the first draw in which each has both, and the rest is left out; it is in all
        training data with ``equal, rest in training``.

    Raises
    ------
    DataError : no such draw.
    """
    if split == "stratified":
        return pairs_of(data, folds, seed)
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        order = rng.permutation(data.n)
        used = order[: data.n // folds * folds]
        tests = used.reshape(folds, -1)
        if all(len(np.unique(data.y[test])) == 2 for test in tests):
            trained = used if split == "equal" else order
            return [(data.rows(np.setdiff1d(trained, test)), data.rows(np.sort(test))) for test in tests]
    raise DataError(f"in none of {DRAWS} draws of {folds} folds have all samples of both classes", "give fewer folds")


def accuracy_limit(train: Dataset, params: Mapping[str, Any]) -> float:
    """Return alpha* of training data in the space in which a method with these parameters works."""
    options = {name: params[name] for name in SPACE if name in params}
    return FeatureSpace.of(train, **options).limit.alpha


def scores_on(pair: Pair, method: str, params: Mapping[str, Any], solver: str | None) -> PairScores:
    """Return the scores of a method that is fitted to the training data of a pair and tested on the test data."""
    train, test = pair
    fitted = fit_candidate(method, train, params, solver=solver)
    tested, count = fitted.scores(test), len(fitted.support)
    return PairScores(
        n_features=float(count),
        psf=100.0 * count / len(fitted.coef),
        accuracy=tested["accuracy"],
        mcc=tested["mcc"],
        iterations=float(fitted.iterations) if fitted.history else np.nan,
    )
