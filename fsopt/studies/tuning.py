"""Hyperparameters chosen by cross-validation or on validation data, and the error rate of such a choice.

* :func:`cross_validate`: the error rate of each candidate on each fold.
* :func:`tune`: the candidate of smallest mean error rate, and the classifier that it gives.
* :func:`nested_cross_validation`: the data are cut into parts; each is the test set of one round, and the round tunes
  on the other parts by its own folds. The paper of Peleg & Meir prints means over ten rounds and the standard
  deviations of these means (section 6.2, Table 4).

Every statistic of a fit (means, deviations, selection) is computed from its training samples. Folds are stratified
and shuffled from a seed, and results do not depend on the number of processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsopt.common.arguments import checked, spelled
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import FsoptError, OutOfTimeError, ParameterError
from fsopt.methods.preprocessing import SelectionRule
from fsopt.studies.methods import ClassifierFit, Entry, Method, entry_of, study_fit
from fsopt.typing import Indices, Matrix, Vector

Params: TypeAlias = Mapping[str, Any]
"""Keywords of a method."""
TIE = 1e-12
"""Mean error rates that differ by less are equal: the same rates, added in another order."""


@dataclass(frozen=True)
class Tuned:
    """The candidate of smallest mean error rate.

    Attributes
    ----------
    params : the candidate.
    errors : (number of candidates, folds) error rates; one column where validation data were given, infinite for a fit
        without an answer in its time limit.
    fit : the :class:`fsopt.Fit` at ``params``, trained on all samples of the training data; of a classifier of
        scikit-learn a :class:`fsopt.studies.methods.ClassifierFit`.
    seconds : of all fits.
    """

    params: Params
    errors: Matrix
    fit: Any
    seconds: float

    @property
    def error(self) -> float:
        """The smallest mean error rate."""
        return float(self.errors.mean(axis=1).min())


@dataclass(frozen=True)
class NestedScores:
    """Scores of nested cross-validation, one entry for each round.

    Attributes
    ----------
    errors : error rate on the test samples.
    n_features : number of selected features.
    params : the candidate of smallest error.
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
        """Mean number of selected features, and the standard deviation of this mean."""
        return _mean(self.n_features)


@checked()
def cross_validate(
    method: Method,
    data: Given,
    params_list: Sequence[Params],
    *,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
    time_limit: float | None = None,
) -> Matrix:
    """Return the error rates (number of candidates, folds) of a method under stratified cross-validation.

    Parameters
    ----------
    method : registry name, or a pair of a name and a classifier of scikit-learn, whose parameters are then its own.
    data : a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    params_list : candidates, each the keywords of the method.
    folds, seed : of the split.
    jobs : processes; -1 takes all processors. Solvers run on one thread.
    solver, time_limit : of each fit, as in :func:`fsopt.fit`.

    Raises
    ------
    UnknownNameError, ParameterError : an unknown method, no candidates, too many folds.
    FsoptError : a fit failed; the message names the candidate.
    """
    (entry, params_list), known = _checked(method, params_list), dataset_of(data)
    splits = stratified_folds(known, folds, seed)

    def held_out_error(params: Params, fold: Indices) -> float:
        train, test = train_and_test(known, fold)
        found = fit_candidate(entry, train, params, solver=solver, time_limit=time_limit)
        return error_rate(found.decision_function(test.X), test.y)

    pairs = ((params, fold) for params in params_list for fold in splits)
    return np.array(side_by_side(held_out_error, pairs, jobs)).reshape(len(params_list), len(splits))


@checked()
@whole_or_interrupted()
def tune(
    method: Method,
    data: Given,
    params_list: Sequence[Params],
    *,
    validation: Given | None = None,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
    time_limit: float | None = None,
) -> Tuned:
    """Choose the candidate of smallest mean error rate.

    Parameters
    ----------
    params_list : candidates; among equal error rates the first one wins. With validation data the last ones begin
        first, as grids mostly go from short to long fits.
    validation : data on which the error rate of each candidate is measured; None for cross-validation of ``data``. A
        candidate whose fit has no answer in ``time_limit`` is not chosen.
    folds, seed : of the cross-validation, after which the candidate is fitted to all samples of ``data``.
    method, data, jobs, solver, time_limit : as in :func:`cross_validate`.

    Raises
    ------
    UnknownNameError, ParameterError, FsoptError : as in :func:`cross_validate`.
    OutOfTimeError : no candidate has an answer.
    """
    (entry, params_list), data = _checked(method, params_list), dataset_of(data)
    limits: dict[str, Any] = {"solver": solver, "time_limit": time_limit}
    started = time.perf_counter()
    if validation is None:
        errors = cross_validate(entry, data, params_list, folds=folds, seed=seed, jobs=jobs, **limits)
        best = _first_smallest(errors)
        chosen = fit_candidate(entry, data, params_list[best], **limits)
    else:
        # From the last: a long fit that begins when the others have ended leaves their processes idle.
        fits = side_by_side(partial(_answer, entry, data, **limits), zip(reversed(params_list)), jobs)[::-1]
        errors = np.array([[_error_on(one, dataset_of(validation))] for one in fits])
        best = _first_smallest(errors)
        found = fits[best]
        if isinstance(found, OutOfTimeError):
            raise found
        chosen = found
    return Tuned(params_list[best], errors, chosen, time.perf_counter() - started)


@checked()
def nested_cross_validation(
    method: Method,
    data: Given,
    params_list: Sequence[Params],
    *,
    splits: int = 10,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    rule: SelectionRule | None = None,
    solver: str | None = None,
) -> NestedScores:
    """Measure a method whose hyperparameters are tuned: in each round on all parts but one, tested on this one.

    Parameters
    ----------
    splits : number of parts, one round for each.
    folds : of the cross-validation inside a round.
    jobs : processes over which the rounds are spread.
    rule : by which the selected features of every method are counted, the one of Peleg & Meir, 6.2, by default; with
        a kernel, the patterns of the fit are counted.
    method, data, params_list, seed, solver : as in :func:`tune`.

    Raises
    ------
    UnknownNameError, ParameterError, FsoptError : as in :func:`cross_validate`.
    """
    (entry, params_list), known = _checked(method, params_list), dataset_of(data)
    count = SelectionRule() if rule is None else rule

    def round_of(part: Indices) -> tuple[float, int, Params]:
        train, test = train_and_test(known, part)
        tuned = tune(entry, train, params_list, folds=folds, seed=seed, solver=solver)
        found = tuned.fit
        counted = isinstance(found, ClassifierFit) or found.kernel is not None
        selected = found.support if counted else count.select(found.coef, train.X.std(axis=0))
        return error_rate(found.decision_function(test.X), test.y), len(selected), tuned.params

    done = side_by_side(round_of, zip(stratified_folds(known, splits, seed)), jobs)
    errors, counts, params = zip(*done, strict=True)
    return NestedScores(np.array(errors), np.array(counts), params)


def fit_candidate(
    method: Method, data: Dataset, params: Params, *, solver: str | None = None, time_limit: float | None = None
) -> Any:
    """Fit a method to data; where the fit fails, the error names the method and its parameters."""
    entry = entry_of(method)
    try:
        return study_fit(entry, data, solver=solver, time_limit=time_limit, **params)
    except FsoptError as error:
        raise type(error)(f"{error.message} ('{entry.name}' at {dict(params)})", error.hint) from error


def _answer(entry: Entry, data: Dataset, params: Params, **limits: Any) -> Any:
    """Return the fit of a candidate, or the error of one whose time ended before there was an answer."""
    try:
        return fit_candidate(entry, data, params, **limits)
    except OutOfTimeError as error:
        return error


def _error_on(found: Any, data: Dataset) -> float:
    """Return the error rate of a candidate, infinite without an answer."""
    return np.inf if isinstance(found, OutOfTimeError) else error_rate(found.decision_function(data.X), data.y)


def _checked(method: Method, params_list: Sequence[Params]) -> tuple[Entry, list[Params]]:
    """Return the entry of a method, and the candidates by the known names of their parameters."""
    entry = entry_of(method)
    if not params_list:
        raise ParameterError("there are no candidates", "give at least one, for example [{'c': 1.0}]")
    return entry, [spelled(f"method '{entry.name}'", params, entry.parameters) for params in params_list]


def _first_smallest(errors: Matrix) -> int:
    """Return the index of the first candidate of smallest mean error rate."""
    means = errors.mean(axis=1)
    return int(np.argmax(means <= means.min() + TIE))


def _mean(values: NDArray[Any]) -> tuple[float, float]:
    """Return the mean of values, and the standard deviation of this mean."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
