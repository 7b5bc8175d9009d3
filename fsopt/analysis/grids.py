"""The answer to a question about a grid, and the front of hinge loss and capacity of linear machines (Bi, (12)).

A grid has a classifier for each point, numbers of each, and one that is chosen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.fits import Fit
from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.common.arguments import LIST, TEXT, checked, optional
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.common.interruption import whole_or_interrupted
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.data.given import Given, dataset_of
from fsopt.data.splits import check_features
from fsopt.errors import ParameterError
from fsopt.methods.baselines.machines import squared_radius
from fsopt.methods.preprocessing import preprocess, support_vectors
from fsopt.methods.registry import fit
from fsopt.models.blocks import number
from fsopt.typing import Mask, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHARES = tuple(np.geomspace(0.05, 0.5, 10).tolist())
"""Values of h / l over the range of the paper (section 7)."""


EXACT = {"tolerance": 1e-10}
"""Options where the user names no solver: multipliers are counted by their size."""
TARGET = 0.1
"""The h / l of the best runs in the paper, by which a point is chosen without validation data."""
MOST_TICKS = 8
"""Of each axis of a surface: labels of five characters beside each other do not touch."""


@dataclass(frozen=True)
class Grid(Answer):
    """Classifiers over two parameters, or two objectives that are minimised, with what was measured of each.

    Attributes
    ----------
    columns : name -> (k,) numbers of the points; ``coef`` (k, p) are their weights.
    axes : the columns over which the points lie -> what they are.
    chosen : place of the chosen point.
    measured : columns over the axes -> what they are, drawn as surfaces; none of two objectives.
    seconds : of the computation of all points.
    """

    columns: Mapping[str, NDArray[Any]]
    axes: Mapping[str, str]
    chosen: int
    measured: Mapping[str, str] = field(default_factory=dict)
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
        """Return a surface for each measure, or the two objectives; the chosen point is starred.

        Every pair of parameters has a cell of one size, whatever their distances: they may grow geometrically, to inf.
        """
        figure = new_figure(len(self.measured) or 1)
        for axes, name in zip(tuple(figure.axes), self.measured, strict=False):
            figure.colorbar(self._draw_surface(axes, name), ax=axes)
        if not self.measured:
            self._draw_front(figure.axes[0])
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

    def _draw_front(self, axes: Axes) -> None:
        (x, y), (along, over) = (self[name] for name in self.axes), self.axes.values()
        kept = nondominated(x, y)
        axes.plot(x[kept], y[kept], "o-", color=BLUE, label="nondominated")
        axes.plot(x[~kept], y[~kept], "x", color="tab:gray", label="dominated" if not kept.all() else "")
        axes.plot(x[self.chosen], y[self.chosen], "*", markersize=16, color=ORANGE, label="chosen")
        axes.set(xlabel=along, ylabel=over)
        axes.legend()


def nondominated(x: Vector, y: Vector) -> Mask:
    """Return the mask (k,) of the points to which no other is equal or better in both and better in one."""
    better = (x[:, None] <= x) & (y[:, None] <= y)
    strictly = (x[:, None] < x) | (y[:, None] < y)
    return np.logical_not((better & strictly).any(axis=0))


@checked(
    caps=optional(LIST),
    validation=optional(DATASET),
    scale=TEXT,
    solver=optional(TEXT),
)
@whole_or_interrupted()
def pareto_front(
    data: Given,
    caps: Sequence[float] | None = None,
    *,
    validation: Dataset | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
) -> Grid:
    r"""Trace the Pareto front of hinge loss and capacity of linear support vector machines.

    .. math:: \min\ (e'\xi,\ w'w) \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    The constraint method solves (13) for each W. Both objectives are convex, so that weighted sums, the C-SVM of method
    ``svm`` for each C, reach the same curve E(W). It is decreasing and convex in W, and also in :math:`\sqrt W`, which
    bounds a norm. Its slope is :math:`dE/dW = -\gamma/2` with :math:`\gamma = 1/C`. The curve is constant for W at or
    above the smallest squared norm of a hyperplane of minimum hinge loss.

    Parameters
    ----------
    data : Given
        The training data, in raw units: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    caps : Sequence[float], optional
        Values of W > 0; None takes 10 with (RW + 1) / n from 0.05 to 0.5, the range of the paper, where W is positive.
    validation : Dataset, optional
        Data by whose error rate the point is chosen; without them the h / l nearest to 0.1 is chosen.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default), ``standard``, ``center`` or ``none``.
    solver : str, optional
        For cone programs, with multipliers; None for the preferred one.

    Returns
    -------
    Grid
        x is the capacity w'w, y the hinge loss E. Columns: ``nondominated`` (no other point is as good in both and
        better in one), ``gamma`` (0 where the capacity constraint is inactive), ``h_over_l`` = (R w'w + 1) / n,
        ``n_support_vectors``, ``train_error`` and ``validation_error`` (shares of misclassified samples, nan without
        data), ``bound`` (a lower bound on the loss of all hyperplanes of this capacity), ``certified`` (the loss is
        that bound: the point is on the front), ``coef`` (k, p) and ``intercept`` as those of a fit of ``rsvm``.

    Raises
    ------
    ParameterError : no values, or one that is not a positive number.
    SolverError : a program was not solved, or the solver gives no multipliers.

    Notes
    -----
    Bi, (12) and sections 4.1, 4.2 and 7.
    """
    started, data = time.perf_counter(), dataset_of(data)
    if validation is not None:
        check_features(data, validation, "validation")
    if caps is None:
        radius = squared_radius(preprocess(data, scale)[0])
        caps = [(share * data.total - 1.0) / radius for share in SHARES if share * data.total > 1.0]
    caps = sorted(number("pareto_front", "caps", cap, inside="(0, inf)") for cap in caps)
    if not caps:
        raise ParameterError("there is no value of W", "give caps, for example caps=(1.0, 10.0)")
    options = None if solver else EXACT
    fits = [fit("rsvm", data, w_cap=cap, scale=scale, solver=solver, options=options) for cap in caps]
    points = [_point(one, data, validation) for one in fits]
    points.sort(key=lambda point: (point["x"], point["y"]))
    columns = {name: np.array([point[name] for point in points]) for name in points[0]}
    columns["nondominated"] = nondominated(columns["x"], columns["y"])
    score = np.abs(columns["h_over_l"] - TARGET) if validation is None else np.round(columns["validation_error"], 12)
    axes = {"x": "capacity w'w", "y": "hinge loss E"}
    return Grid(columns, axes, int(np.argmin(score)), seconds=time.perf_counter() - started)


def _point(found: Fit, data: Dataset, validation: Dataset | None) -> dict[str, Any]:
    """Return a machine as a point of the front, with a lower bound on the loss there."""
    known, capacity = found.details, float(found.details["capacity"])
    return {
        "x": capacity,
        "y": found.objective,
        "bound": found.bound,
        "certified": found.status is Status.OPTIMAL,
        "coef": found.coef,
        "intercept": found.intercept,
        "gamma": known["gamma"],
        "h_over_l": (known["radius"] * capacity + 1.0) / data.total,
        "n_support_vectors": len(support_vectors(np.asarray(known["alpha"]))),
        "train_error": 1.0 - found.scores(data)["accuracy"],
        "validation_error": np.nan if validation is None else 1.0 - found.scores(validation)["accuracy"],
    }
