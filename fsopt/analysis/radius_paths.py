"""GMEB over a grid of its two radii: error rates and numbers of features as surfaces (Peleg & Meir, Figure 1)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.analysis.grids import Grid, fitted
from fsopt.answers.results import Status
from fsopt.common.arguments import LIST, TEXT, WHOLE, checked, optional
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.drivers.run import Run, drained
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.gmeb import fit_gmeb
from fsopt.methods.preprocessing import SelectionRule
from fsopt.models.gmeb.norm import radius

RADII = tuple(np.linspace(1.0, 10.0, 7).tolist())
"""The values of each radius in the paper (section 6.2)."""


@checked(grid=LIST, folds=WHOLE, seed=WHOLE, jobs=WHOLE, scale=TEXT, solver=optional(TEXT))
def radius_path(
    data: Given,
    grid: Sequence[float] | tuple[Sequence[float], Sequence[float]] = RADII,
    *,
    test: Given | None = None,
    folds: int = 0,
    seed: int = 0,
    jobs: int = 1,
    scale: str = "center",
    solver: str | None = None,
) -> Grid:
    """Fit GMEB for every pair of radii.

    Parameters
    ----------
    data : Given
        The training data, in raw units: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    grid : Sequence[float] | tuple[Sequence[float], Sequence[float]]
        Values of both radii, or a pair (values of R+, values of R-); by default the seven from 1 to 10 in the paper.
    test : Given, optional
        Data on which ``test_error`` is measured.
    folds, seed : int, default 0
        Stratified, shuffled cross-validation over the whole grid; 0 folds for none.
    jobs : int, default 1
        Processes over which the folds are spread.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``, by the statistics of the training samples.
    solver : str, optional
        Of the cone programs, or of the linear programs on the route by cuts; None for the preferred one.

    Returns
    -------
    Grid
        A point for each pair of radii, by R+ and then R-. Columns: ``objective`` and ``bound`` of (15) on all samples,
        ``certified``, ``n_features`` that the rule selects, ``train_error`` and ``test_error`` (shares of misclassified
        samples), ``cv_error`` and ``cv_features`` (means over the folds; nan where they were not asked for), ``coef``
        (k, p) and ``intercept`` for raw features. The smallest ``cv_error`` is chosen, else that on the test data, else
        on the training data; among equal ones that of the smallest R+, then the smallest R-.

    Raises
    ------
    ParameterError : an empty grid, a radius that is not a positive number, too many folds, an unknown rule.

    Notes
    -----
    Peleg & Meir, sections 6.2 and 6.4.1. Solvers run on one thread where there is more than one process.
    """
    started, data = time.perf_counter(), dataset_of(data)
    tested = None if test is None else dataset_of(test)
    pair: Any = grid if len(grid) == 2 and all(np.ndim(one) == 1 for one in grid) else (grid, grid)
    named = zip(("r_plus", "r_minus"), pair, strict=True)
    radii = list(product(*(sorted({radius("radius_path", name, one) for one in ends}) for name, ends in named)))
    if not radii:
        raise ParameterError("the grid of radii is empty", "give values of R+ and R-, for example (1.0, 3.0, 10.0)")
    run = Run(solver, options=None if jobs == 1 else {"threads": 1})
    splits: list[tuple[Dataset, Dataset | None]] = [(data, tested)]
    if folds:
        splits += [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]
    whole, *parts = side_by_side(_solve_grid, ((*split, radii, scale, run) for split in splits), jobs)
    means = {"cv_error": "test_error", "cv_features": "n_features"}
    nothing = [np.full(len(radii), np.nan)]
    columns = whole | {new: np.mean([p[one] for p in parts] or nothing, axis=0) for new, one in means.items()}
    error, features = means if parts else ("train_error" if test is None else "test_error", "n_features")
    # Means of the same error rates, added in another order, differ in their last digits.
    chosen = int(np.argmin(np.round(columns[error], 12)))
    axes, measured = {"r_plus": "R+", "r_minus": "R-"}, {error: "error rate", features: "selected features"}
    return Grid(columns, axes, chosen, measured, time.perf_counter() - started)


def _solve_grid(
    data: Dataset, test: Dataset | None, radii: Sequence[tuple[float, float]], scale: str, run: Run
) -> dict[str, NDArray[Any]]:
    """Return the columns of one data set, a point for each pair of radii."""
    fits = [drained(fit_gmeb(data, run, r_plus=one, r_minus=other, scale=scale)) for one, other in radii]
    deviation, rule = data.X.std(axis=0), SelectionRule()

    def errors(part: Dataset) -> NDArray[Any]:
        return np.array([error_rate(fit.decision_function(part.X), part.y) for fit in fits])

    return {
        **dict(zip(("r_plus", "r_minus"), np.transpose(radii), strict=True)),
        **fitted(fits),
        "certified": np.array([fit.status is Status.OPTIMAL for fit in fits]),
        "n_features": np.array([float(len(rule.select(fit.coef, deviation))) for fit in fits]),
        "train_error": errors(data),
        "test_error": np.full(len(fits), np.nan) if test is None else errors(test),
    }
