"""Empty figures for plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fsopt.errors import PackageError

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


def history_figure(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Return a figure of the objective and bound of iterations over time, and of the nodes where they have some."""
    timed = all("elapsed" in h for h in records)
    figure = new_figure(2 if "open" in records[0] else 1)
    x = [h["elapsed" if timed else "iteration"] for h in records]
    axes = figure.axes[0]
    axes.step(x, [h["objective"] for h in records], where="post", color="tab:blue", label="objective")
    if all(isinstance(h.get("bound"), float) for h in records):
        axes.step(x, [h["bound"] for h in records], where="post", color="tab:orange", label="lower bound")
    axes.set(xlabel="seconds" if timed else "iteration", ylabel="objective value")
    axes.legend()
    if "open" in records[0]:
        for name in ("nodes", "open"):
            figure.axes[1].plot(x, [h[name] for h in records], label=name)
        figure.axes[1].set(xlabel="seconds", ylabel="nodes")
        figure.axes[1].legend()
    return figure
