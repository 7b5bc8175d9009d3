"""Points of a problem with two objectives: which are dominated, their convex hull, their picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.questions import Answer
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.typing import Indices, Mask, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ParetoFront(Answer):
    """Points of a problem with two objectives, both minimised.

    Attributes
    ----------
    x, y : (k,) values of the objectives, ascending in x.
    x_name, y_name : names of the objectives.
    chosen : index of the chosen point; None for no choice.
    columns : name -> (k,) further numbers of the points.
    seconds : of the computation of all points.
    """

    x: Vector
    y: Vector
    x_name: str
    y_name: str
    chosen: int | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def nondominated(self) -> Mask:
        """Mask (k,) of the points to which no other point is equal or better in both objectives and better in one."""
        better = (self.x[:, None] <= self.x) & (self.y[:, None] <= self.y)
        strictly = (self.x[:, None] < self.x) | (self.y[:, None] < self.y)
        return np.logical_not((better & strictly).any(axis=0))

    @property
    def hull(self) -> Indices:
        """Indices of the vertices of the lower left convex hull, which weighted sums can reach, ascending in x."""
        kept: list[int] = []
        for k in np.flatnonzero(self.nondominated).tolist():
            # Each pass removes a vertex, at most one for each point in all.
            while len(kept) > 1 and self._turn(kept[-2], kept[-1], k) <= 0:
                kept.pop()
            if not kept or self.x[k] > self.x[kept[-1]]:
                kept.append(k)
        return np.array(kept, dtype=np.intp)

    def _turn(self, i: int, j: int, k: int) -> float:
        """Return twice the signed area of the triangle of three points: positive where the path i, j, k turns left."""
        x, y = self.x, self.y
        return float((x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i]))

    @property
    def heading(self) -> dict[str, Any]:
        """The names of the objectives, the number of nondominated points, the place of the chosen one, the seconds."""
        return {
            "x": self.x_name,
            "y": self.y_name,
            "nondominated": int(self.nondominated.sum()),
            "chosen": self.chosen,
            "seconds": self.seconds,
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each point: both objectives, whether it is nondominated, and the columns of numbers."""
        columns = {"x": self.x, "y": self.y, "nondominated": self.nondominated}
        columns |= {name: values for name, values in self.columns.items() if values.ndim == 1}
        listed = [values.tolist() for values in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]

    def plot(self) -> Figure:
        """Return the points with their lower convex hull; the chosen point is starred, and h / l is the upper axis."""
        figure = new_figure(1)
        axes, hull = figure.axes[0], self.hull
        axes.plot(self.x[hull], self.y[hull], color=BLUE, label="lower convex hull")
        for kept, marker, label in ((self.nondominated, "o", "nondominated"), (~self.nondominated, "x", "dominated")):
            if kept.any():
                axes.plot(self.x[kept], self.y[kept], marker, color="tab:gray", label=label)
        if self.chosen is not None:
            at = self.chosen
            axes.plot(self.x[at], self.y[at], "*", markersize=16, color=ORANGE, label="chosen")
        axes.set(xlabel=self.x_name, ylabel=self.y_name)
        axes.legend()
        if "h_over_l" in self.columns and np.ptp(self.x) > 0:
            slope, shift = np.polyfit(self.x, self.columns["h_over_l"], 1)
            top = axes.secondary_xaxis("top", functions=(lambda x: slope * x + shift, lambda h: (h - shift) / slope))
            top.set_xlabel("$h/l$")
        return figure
