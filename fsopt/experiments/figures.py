"""Plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsopt.errors import PackageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.experiments.gmeb_path import GmebPath
    from fsopt.experiments.pareto import ParetoFront


def new_figure(columns: int, *, height: float = 3.6) -> Figure:
    """Return a figure of so many panels side by side; raises where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PackageError("plots need matplotlib, which is not installed", "pip install fsopt[plot]") from error
    figure = Figure(figsize=(4.6 * columns, height), layout="constrained")
    figure.subplots(1, columns)
    return figure


def surfaces(path: GmebPath) -> Figure:
    """Return Figure 1 of paper 1 for a grid of radii: error and number of features, a star at the least error."""
    features = path.n_features if np.isnan(path.cv_features).any() else path.cv_features
    figure = new_figure(2)
    for axes, values, title in zip(
        figure.axes, (100 * path.error, features), ("error, %", "selected features"), strict=True
    ):
        image = axes.pcolormesh(path.r_minus, path.r_plus, values, shading="nearest", cmap="viridis")
        figure.colorbar(image, ax=axes)
        i, j = path.best
        axes.plot(path.r_minus[j], path.r_plus[i], marker="*", markersize=16, color="white", markeredgecolor="black")
        axes.set(title=title, xlabel="$R_-$", ylabel="$R_+$")
    return figure


def front(found: ParetoFront) -> Figure:
    """Return a front of two objectives: the hull, the other points, a star at the chosen one, h / l on top."""
    figure = new_figure(1)
    axes, hull = figure.axes[0], found.hull
    axes.plot(found.x[hull], found.y[hull], color="tab:blue", label="lower convex hull")
    for kept, marker, label in ((found.nondominated, "o", "nondominated"), (~found.nondominated, "x", "dominated")):
        if kept.any():
            axes.plot(found.x[kept], found.y[kept], marker, color="tab:gray", label=label)
    if found.chosen is not None:
        at = found.chosen
        axes.plot(found.x[at], found.y[at], "*", markersize=16, color="tab:orange", label="chosen")
    axes.set(xlabel=found.x_name, ylabel=found.y_name)
    axes.legend()
    if "h_over_l" in found.columns and np.ptp(found.x) > 0:
        slope, shift = np.polyfit(found.x, found.columns["h_over_l"], 1)
        top = axes.secondary_xaxis("top", functions=(lambda x: slope * x + shift, lambda h: (h - shift) / slope))
        top.set_xlabel("$h/l$")
    return figure
