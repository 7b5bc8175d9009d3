"""Empty figures for plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fsopt.errors import PackageError, ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(panels: int, *, height: float = 3.6) -> Figure:
    """Return a figure of panels side by side; raises PackageError where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PackageError("plots need matplotlib, which is not installed", "pip install fsopt[plot]") from error
    figure = Figure(figsize=(4.6 * panels, height), layout="constrained")
    figure.subplots(1, panels)
    return figure


def course(history: Sequence[Mapping[str, Any]], solver: str) -> Figure:
    """Return a figure of incumbent and bound over the seconds of a solve; raises ParameterError without records."""
    if not history:
        raise ParameterError(
            f"solver '{solver}' told nothing of its course", "solve by fsopt.solve with highs, scip, gurobi or clarabel"
        )
    figure = new_figure(1)
    axes = figure.axes[0]
    for name, style in (("incumbent", "-"), ("bound", "--")):
        points = [(record["seconds"], record[name]) for record in history if record[name] is not None]
        if points:
            axes.step(*zip(*points, strict=True), style, where="post", label=name, marker=".")
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective")
    axes.legend()
    return figure
