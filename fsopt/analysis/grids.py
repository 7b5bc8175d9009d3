"""The answer to a question about a grid: a classifier for each point, numbers of each, and one that is chosen.

A grid is over two parameters, the radii of GMEB, with error rates and numbers of features as surfaces (Peleg & Meir,
Figure 1), or the front of two objectives (Bi, (12)).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.fits import Fit
from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.common.arguments import LIST, TEXT, WHOLE, checked, optional
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.figures import new_figure
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate
from fsopt.drivers.run import Run, drained
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.gmeb import fit_gmeb
from fsopt.methods.preprocessing import SelectionRule
from fsopt.methods.registry import fit
from fsopt.models.gmeb.norm import radius

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TICKS = 8
"""Of each axis of a surface: labels of five characters beside each other do not touch."""
TARGET = 0.1
"""The h / l of the best runs in the paper of Bi."""
RADII = tuple(np.linspace(1.0, 10.0, 7).tolist())
"""The values of each radius in the paper of Peleg & Meir (section 6.2)."""


@dataclass(frozen=True)
class Grid(Answer):
    """Classifiers over two parameters, or of a front, with what was measured of each.

    Attributes
    ----------
    columns : name -> (k,) numbers of the points; ``coef`` (k, p) are their weights.
    axes : the columns over which the points lie, two parameters or two objectives -> what they are.
    chosen : place of the chosen point.
    measured : columns over the axes -> what they are, drawn as surfaces; none of a front.
    seconds : of the computation of all points.
    """

    columns: Mapping[str, NDArray[Any]]
    axes: Mapping[str, str]
    chosen: int
    measured: Mapping[str, str]
    seconds: float = 0.0

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column."""
        return self.columns[name]

    @property
    def heading(self) -> dict[str, Any]:
        """The place of the chosen point, its coordinates and what was measured there, and the seconds."""
        known = {words: self[name][self.chosen].item() for name, words in {**self.axes, **self.measured}.items()}
        return {"chosen": self.chosen, **known, "seconds": self.seconds}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each point: the columns of numbers."""
        listed = {name: values.tolist() for name, values in self.columns.items() if values.ndim == 1}
        return [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]

    def plot(self) -> Figure:
        """Return a surface for each measure, or the front; the chosen point is starred.

        Every pair of parameters has a cell of one size, whatever their distances: they may grow geometrically, to inf.
        """
        figure = new_figure(len(self.measured) or 1)
        for axes, name in zip(tuple(figure.axes), self.measured, strict=False):
            figure.colorbar(self._draw_surface(axes, name), ax=axes)
        if not self.measured:
            (x, along), (y, over) = self.axes.items()
            figure.axes[0].plot(self[x], self[y], "o-", self[x][self.chosen], self[y][self.chosen], "*", markersize=12)
            figure.axes[0].set(xlabel=along, ylabel=over)
        return figure

    def _draw_surface(self, axes: Axes, name: str) -> Any:
        (row, over), (column, along) = self.axes.items()
        (rows, i), (columns, j) = (np.unique(self[one], return_inverse=True) for one in (row, column))
        image = axes.pcolormesh(self[name].reshape(len(rows), len(columns)), cmap="viridis")
        star: dict[str, Any] = {"marker": "*", "markersize": 16, "color": "white", "markeredgecolor": "black"}
        axes.plot(j[self.chosen] + 0.5, i[self.chosen] + 0.5, **star)
        axes.set(title=self.measured[name], xlabel=along, ylabel=over)
        for ticks, values in ((axes.xaxis, columns), (axes.yaxis, rows)):
            few = np.arange(0, len(values), -(-len(values) // MOST_TICKS))
            ticks.set_ticks(few + 0.5, [f"{values[k]:.3g}" for k in few])
        return image


def fitted(fits: Sequence[Fit]) -> dict[str, NDArray[Any]]:
    """Return values, bounds and hyperplanes of fits as columns."""
    names = ("objective", "bound", "coef", "intercept")
    return {name: np.array([getattr(one, name) for one in fits]) for name in names}


@checked(caps=LIST)
@whole_or_interrupted()
def pareto_front(data: Given, caps: Sequence[float], *, scale: str = "unit-rows", solver: str | None = None) -> Grid:
    r"""Trace the Pareto front of the hinge loss and the capacity of linear support vector machines.

    .. math:: \min\ (e'\xi,\ w'w) \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    The constraint method solves (13) for each W: both objectives are convex, so that its points are all of the front.

    Parameters
    ----------
    data : Given
        The training data, in raw units: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    caps : Sequence[float]
        Values of W > 0.
    scale : str, default 'unit-rows'
        Preprocessing, as in method ``rsvm``.
    solver : str, optional
        As in method ``rsvm``.

    Returns
    -------
    Grid
        For each W, ascending: ``capacity`` w'w, ``objective`` E, the hinge loss, and its lower ``bound`` at this
        capacity, ``gamma`` and ``h_over_l`` as in ``details`` of a fit, ``coef`` (k, p) and ``intercept``. Chosen is
        the point whose h / l is nearest to 0.1.

    Raises
    ------
    ParameterError : no values, or one that is not a positive number.

    Notes
    -----
    Bi, (12) and sections 4.1 and 7.
    """
    started, data = time.perf_counter(), dataset_of(data)
    fits = [fit("rsvm", data, w_cap=cap, scale=scale, solver=solver) for cap in caps]
    if not fits:
        raise ParameterError("there is no value of W", "give caps, for example caps=(1.0, 10.0)")
    fits.sort(key=lambda one: float(one.params["w_cap"]))
    columns = {name: np.array([one.details[name] for one in fits]) for name in ("capacity", "gamma", "h_over_l")}
    columns |= fitted(fits)
    chosen = int(np.argmin(np.abs(columns["h_over_l"] - TARGET)))
    return Grid(
        columns, {"capacity": "capacity w'w", "objective": "hinge loss E"}, chosen, {}, time.perf_counter() - started
    )


@checked(grid=LIST, folds=WHOLE, seed=WHOLE, scale=TEXT, solver=optional(TEXT))
@whole_or_interrupted()
def radius_path(
    data: Given,
    grid: Sequence[float] | tuple[Sequence[float], Sequence[float]] = RADII,
    *,
    test: Given | None = None,
    folds: int = 0,
    seed: int = 0,
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
    Peleg & Meir, sections 6.2 and 6.4.1.
    """
    started, data = time.perf_counter(), dataset_of(data)
    tested = None if test is None else dataset_of(test)
    pair: Any = grid if len(grid) == 2 and all(np.ndim(one) == 1 for one in grid) else (grid, grid)
    named = zip(("r_plus", "r_minus"), pair, strict=True)
    radii = list(product(*(sorted({radius("radius_path", name, one) for one in ends}) for name, ends in named)))
    if not radii:
        raise ParameterError("the grid of radii is empty", "give values of R+ and R-, for example (1.0, 3.0, 10.0)")
    splits: list[tuple[Dataset, Dataset | None]] = [(data, tested)]
    if folds:
        splits += [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]
    whole, *parts = [_solve_grid(*split, radii, scale, Run(solver)) for split in splits]
    means = {"cv_error": "test_error", "cv_features": "n_features"}
    nothing = [np.full(len(radii), np.nan)]
    columns = whole | {new: np.mean([p[one] for p in parts] or nothing, axis=0) for new, one in means.items()}
    error, features = means if parts else ("train_error" if test is None else "test_error", "n_features")
    # Means of the same error rates, added in another order, differ in their last digits.
    chosen = int(np.argmin(np.round(columns[error], 12)))
    axes, measured = {"r_plus": "R+", "r_minus": "R-"}, {error: "error rate", features: "selected features"}
    return Grid(columns, axes, chosen, measured, time.perf_counter() - started)


def _solve_grid(
    data: Dataset, test: Dataset | None, radii: Sequence[tuple[float, ...]], scale: str, run: Run
) -> dict[str, NDArray[Any]]:
    """Return the columns of one data set, a point for each pair of radii."""
    fits = [drained(fit_gmeb(data, run, r_plus=one, r_minus=other, scale=scale)) for one, other in radii]
    deviation, rule = data.X.std(axis=0), SelectionRule()

    def errors(part: Dataset) -> NDArray[Any]:
        return np.array([error_rate(one.decision_function(part.X), part.y) for one in fits])

    return {
        **dict(zip(("r_plus", "r_minus"), np.transpose(radii), strict=True)),
        **fitted(fits),
        "certified": np.array([one.status is Status.OPTIMAL for one in fits]),
        "n_features": np.array([float(len(rule.select(one.coef, deviation))) for one in fits]),
        "train_error": errors(data),
        "test_error": np.full(len(fits), np.nan) if test is None else errors(test),
    }
