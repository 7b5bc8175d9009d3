"""The answer to a question about a grid: a classifier for each point, numbers of each, and one that is chosen.

A grid is over two parameters, or the front of two objectives.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.fits import Fit
from fsopt.answers.records import Answer
from fsopt.common.arguments import LIST, checked
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.figures import new_figure
from fsopt.data.given import Given, dataset_of
from fsopt.errors import ParameterError
from fsopt.methods.registry import fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TICKS = 8
"""Of each axis of a surface: labels of five characters beside each other do not touch."""
TARGET = 0.1
"""The h / l of the best runs in the paper of Bi."""


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
