"""Plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsopt.errors import PackageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.experiments.gmeb_path import GmebPath


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
