"""The answer to a question about a grid: a classifier for each point, numbers of each, and one that is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.records import Answer
from fsopt.common.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TICKS = 8
"""Of each axis of a surface: labels of five characters beside each other do not touch."""


@dataclass(frozen=True)
class Grid(Answer):
    """Classifiers over two parameters, with what was measured of each.

    Attributes
    ----------
    columns : name -> (k,) numbers of the points; ``coef`` (k, p) are their weights.
    axes : the columns over which the points lie -> what they are.
    chosen : place of the chosen point.
    measured : columns over the axes -> what they are, drawn as surfaces.
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
        """Return a surface for each measure; the chosen point is starred.

        Every pair of parameters has a cell of one size, whatever their distances: they may grow geometrically, to inf.
        """
        figure = new_figure(len(self.measured))
        for axes, name in zip(tuple(figure.axes), self.measured, strict=True):
            figure.colorbar(self._draw_surface(axes, name), ax=axes)
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
