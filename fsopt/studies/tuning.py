"""Hyperparameters chosen by cross-validation or on validation data.

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

from fsopt.common.arguments import checked
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import FsoptError, ParameterError
from fsopt.studies.methods import Entry, Method, entry_of, study_fit
from fsopt.typing import Indices, Matrix

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
    errors : (number of candidates, folds) error rates; one column where validation data were given.
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
) -> Matrix:
    """Return the error rates (number of candidates, folds) of a method under stratified cross-validation.

    Parameters
    ----------
    method : registry name, or a pair of a name and a classifier of scikit-learn, whose parameters are then its own.
    data : a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    params_list : candidates, each the keywords of the method.
    folds, seed : of the split.
    jobs : processes; -1 takes all processors. Solvers run on one thread.
    solver : of each fit, as in :func:`fsopt.fit`.

    Raises
    ------
    UnknownNameError, ParameterError : an unknown method, no candidates, too many folds.
    FsoptError : a fit failed; the message names the candidate.
    """
    (entry, params_list), known = _checked(method, params_list), dataset_of(data)
    splits = stratified_folds(known, folds, seed)

    def held_out_error(params: Params, fold: Indices) -> float:
        train, test = train_and_test(known, fold)
        return error_rate(fit_candidate(entry, train, params, solver=solver).decision_function(test.X), test.y)

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
) -> Tuned:
    """Choose the candidate of smallest mean error rate.

    Parameters
    ----------
    params_list : candidates; among equal error rates the first one wins. With validation data the last ones begin
        first, as grids mostly go from short to long fits.
    validation : data on which the error rate of each candidate is measured; None for cross-validation of ``data``.
    folds, seed : of the cross-validation, after which the candidate is fitted to all samples of ``data``.
    method, data, jobs, solver : as in :func:`cross_validate`.

    Raises
    ------
    UnknownNameError, ParameterError, FsoptError : as in :func:`cross_validate`.
    """
    (entry, params_list), data = _checked(method, params_list), dataset_of(data)
    started, train = time.perf_counter(), partial(fit_candidate, entry, data, solver=solver)
    if validation is None:
        errors = cross_validate(entry, data, params_list, folds=folds, seed=seed, jobs=jobs, solver=solver)
    else:
        # From the last: a long fit that begins when the others have ended leaves their processes idle.
        fits, test = side_by_side(train, zip(reversed(params_list)), jobs)[::-1], dataset_of(validation)
        errors = np.array([[error_rate(one.decision_function(test.X), test.y)] for one in fits])
    means = errors.mean(axis=1)
    best = int(np.argmax(means <= means.min() + TIE))
    chosen = train(params_list[best]) if validation is None else fits[best]
    return Tuned(params_list[best], errors, chosen, time.perf_counter() - started)


def fit_candidate(method: Method, data: Dataset, params: Params, *, solver: str | None = None) -> Any:
    """Fit a method to data; where the fit fails, the error names the method and its parameters."""
    entry = entry_of(method)
    try:
        return study_fit(entry, data, solver=solver, **params)
    except FsoptError as error:
        raise type(error)(f"{error.message} ('{entry.name}' at {dict(params)})", error.hint) from error


def _checked(method: Method, params_list: Sequence[Params]) -> tuple[Entry, list[Params]]:
    """Return the entry of a method, and the candidates, of which there must be some."""
    entry = entry_of(method)
    if not params_list:
        raise ParameterError("there are no candidates", "give at least one, for example [{'c': 1.0}]")
    return entry, [*params_list]
