"""The experimental protocol of paper 1 (section 6.2): what a method's error and number of features are on a data set.

* :func:`grid`: the hyperparameters that the paper tries, as data.
* :func:`cross_validate`: the error of each of them on each fold.
* :func:`tune`: the best of them, and the classifier that it gives on all rows: for data that come in a training and
  a test part.
* :func:`outer`: for other data. The rows are cut into ten parts; each is the test set of one round, in which the
  rest is tuned on by its own five folds. Means over the rounds, with their standard deviations, are what the
  paper's Table 4 prints.

Every statistic that a fit uses (means, deviations, selection) is of the rows it is trained on. Folds are stratified
and shuffled from a seed (the paper's are random), and results do not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.data import Dataset
from fsopt.errors import FsoptError, ParameterError
from fsopt.methods.registry import fit, method_spec
from fsopt.methods.selection import check_rule, select_by_size
from fsopt.models.blocks import whole
from fsopt.results import Fit
from fsopt.studies.folds import fold_rows
from fsopt.typing import Indices, Vector

Params = Mapping[str, Any]


TIE = 1e-12
"""Mean errors that differ by less are equal: the same errors, added in another order."""


@dataclass(frozen=True)
class Tuned:
    """The hyperparameters of least cross-validated error.

    Attributes
    ----------
    params : the winner.
    errors : (number of candidates, folds) error rates.
    fit : the classifier at ``params``, trained on all rows.
    """

    params: Params
    errors: Vector
    fit: Fit


@dataclass(frozen=True)
class Rounds:
    """What the nested protocol measured, one entry for each round.

    Attributes
    ----------
    errors : error rate on the rows held out.
    n_features : number of features selected.
    params : hyperparameters chosen.
    """

    errors: Vector
    n_features: Indices
    params: tuple[Params, ...]

    @property
    def error(self) -> tuple[float, float]:
        """Mean error rate, and the standard deviation of this mean."""
        return _mean(self.errors)

    @property
    def features(self) -> tuple[float, float]:
        """Mean number of features, and the standard deviation of this mean."""
        return _mean(self.n_features)


def grid(method: str, p: int, *, points: int = 7, odds: bool = True) -> list[dict[str, Any]]:
    r"""Return the hyperparameters that paper 1 tries, in lexicographic order, the smallest first.

    ====== ===============================================================================================
    gmeb   :math:`R_+ \times R_-`, each from 1 to 10 in ``points`` equal steps
    svm    :math:`C = L/(1-L)`, L from 0.02 to 0.98 in ``points`` ** 2 equal steps; columns in their units
    l1-svm the same
    rfe    numbers of features from 1 to p in ``points`` equal steps, rounded, times C as above from ``points`` L
    ====== ===============================================================================================

    Parameters
    ----------
    method : one of these four.
    p : number of features.
    points : 7 (default): 49 candidates; the paper has 10 for GMEB on its first synthetic data.
    odds : False takes C = L, as the paper did for the SVM and RFE on WDBC, BUPA and Pima.

    Raises
    ------
    ParameterError : another method, points < 2.

    Notes
    -----
    Paper 1, section 6.2 and Table 2. RFE has fewer candidates where rounded numbers of features coincide.
    """
    points = whole("grid", "points", points, low=2, high=1000)
    if method == "gmeb":
        radii = np.linspace(1.0, 10.0, points).tolist()
        return [{"r_plus": plus, "r_minus": minus} for plus, minus in product(radii, radii)]
    if method in ("svm", "l1-svm"):
        return [{"c": c, "scale": "center"} for c in _prices(points**2, odds)]
    if method == "rfe":
        counts = np.unique(np.rint(np.linspace(1, p, points)).astype(int)).tolist()
        return [{"m": m, "c": c, "scale": "center"} for m, c in product(counts, _prices(points, odds))]
    raise ParameterError(f"paper 1 has no grid for '{method}'", "one of gmeb, svm, l1-svm, rfe, or give your own list")


def _prices(count: int, odds: bool) -> list[float]:
    share = np.linspace(0.02, 0.98, count)
    return [float(c) for c in (share / (1.0 - share) if odds else share)]


def cross_validate(
    method: str,
    data: Dataset,
    params_list: Sequence[Params],
    *,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
) -> Vector:
    """Return the error rates (number of candidates, folds) of a method under stratified cross-validation.

    Parameters
    ----------
    method : registry name.
    params_list : candidates, each the keywords of the method.
    folds, seed : of the split.
    jobs : processes; -1 takes all processors. Solvers run single-threaded.
    solver : as in :func:`fsopt.fit`.

    Raises
    ------
    UnknownNameError, ParameterError : an unknown method, no candidates, too many folds.
    FsoptError : of a fit that failed, with the candidate it failed at.
    """
    from joblib import Parallel, delayed

    method_spec(method)
    if not params_list:
        raise ParameterError("there are no candidates", "give at least one, for example grid(method, data.p)")
    rows = fold_rows(data, folds, seed)
    pieces = (delayed(_held_out)(method, data, test, params, solver) for params in params_list for test in rows)
    return np.array(Parallel(n_jobs=jobs)(pieces)).reshape(len(params_list), folds)


def tune(
    method: str,
    data: Dataset,
    params_list: Sequence[Params] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
) -> Tuned:
    """Choose the candidate of least mean error over the folds, and train it on all rows.

    Parameters
    ----------
    params_list : candidates; None takes :func:`grid`. Among equal errors the first one wins: in the order of
        :func:`grid` the smallest R+, then the smallest R-, the smallest C, the fewest features.
    method, data, folds, seed, jobs, solver : as in :func:`cross_validate`.

    Raises
    ------
    UnknownNameError, ParameterError, FsoptError : as in :func:`cross_validate`.
    """
    candidates = grid(method, data.p) if params_list is None else list(params_list)
    errors = cross_validate(method, data, candidates, folds=folds, seed=seed, jobs=jobs, solver=solver)
    means = errors.mean(axis=1)
    params = candidates[int(np.argmax(means <= means.min() + TIE))]
    return Tuned(params, errors, fit(method, data, solver=solver, **params))


def outer(
    method: str,
    data: Dataset,
    params_list: Sequence[Params] | None = None,
    *,
    splits: int = 10,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    rule: str = "relative",
    units: str = "raw",
    epsilon: float = 0.01,
    solver: str | None = None,
) -> Rounds:
    """Measure a method by the nested protocol: in each round, tune on the rows outside one part and test on it.

    Parameters
    ----------
    splits : number of parts, which is the number of rounds.
    rule, units, epsilon : how the selected features of every method are counted, as in
        :func:`fsopt.methods.selection.select_by_size`; with a kernel the patterns are, as the method does.
    jobs : processes over which the rounds are spread.
    method, data, params_list, folds, seed, solver : as in :func:`tune`.

    Raises
    ------
    UnknownNameError, ParameterError, FsoptError : as in :func:`cross_validate`.
    """
    from joblib import Parallel, delayed

    method_spec(method)
    check_rule(rule, units, epsilon)
    candidates = grid(method, data.p) if params_list is None else list(params_list)

    def round_of(test: Indices) -> tuple[float, int, Params]:
        train = data.rows(np.setdiff1d(np.arange(data.n), test))
        tuned = tune(method, train, candidates, folds=folds, seed=seed, solver=solver)
        if tuned.fit.kernel is not None:
            chosen = tuned.fit.support
        else:
            chosen = select_by_size(tuned.fit.coef, train.X.std(axis=0), rule=rule, units=units, epsilon=epsilon)
        return _error(tuned.fit, data, test), len(chosen), tuned.params

    done = Parallel(n_jobs=jobs)(delayed(round_of)(test) for test in fold_rows(data, splits, seed))
    errors, counts, params = zip(*done, strict=True)
    return Rounds(np.array(errors), np.array(counts), params)


def _held_out(method: str, data: Dataset, test: Indices, params: Params, solver: str | None) -> float:
    """Return the error rate on some rows of the classifier that the other rows give."""
    train = data.rows(np.setdiff1d(np.arange(data.n), test))
    try:
        return _error(fit(method, train, solver=solver, **params), data, test)
    except FsoptError as error:
        raise type(error)(f"{error.message} ('{method}' at {dict(params)})", error.hint) from error


def _error(fitted: Fit, data: Dataset, rows: Indices) -> float:
    return float(np.mean(fitted.predict(data.X[rows]) != data.y[rows]))


def _mean(values: NDArray[Any]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
