"""Plots of the minimax probability machines (paper 2, Figures 2 to 5, 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fsopt.experiments.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.experiments.mpm_surfaces import Machine, MpmSurface

PSF, TSA = "selected features, %", "accuracy, %"


def trends(surface: MpmSurface) -> Figure:
    """Return Figures 2 to 4 of paper 2: features and accuracy against alpha, accuracy against delta."""
    figure = new_figure(3)
    delta = r"$\delta/\alpha^*$" if surface.shares else r"$\delta$"
    for axes, values, title in zip(figure.axes, (surface.psf, 100 * surface.accuracy), (PSF, TSA), strict=False):
        for i in np.flatnonzero(surface.feasible == 1):
            axes.plot(surface.alphas, values[i], marker="o", markersize=4, label=f"{delta} = {surface.deltas[i]:g}")
        axes.set(title=title, xlabel=r"$\alpha$", xscale="log")
    last = figure.axes[2]
    for j, alpha in enumerate(surface.alphas):
        last.plot(
            surface.deltas, 100 * surface.accuracy[:, j], marker="o", markersize=4, label=rf"$\alpha$ = {alpha:g}"
        )
    last.set(title=TSA, xlabel=delta)
    for axes in figure.axes[1:]:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def repetitions(machines: Sequence[Machine]) -> Figure:
    """Return Figure 9 of paper 2: accuracy and share of features of each method, pair by pair."""
    figure = new_figure(2)
    for machine in machines:
        number = np.arange(1, len(machine.accuracy) + 1)
        for axes, values in zip(figure.axes, (100 * machine.accuracy, machine.psf), strict=True):
            axes.plot(number, values, marker="o", markersize=4, label=machine.method)
    for axes, title in zip(figure.axes, (TSA, PSF), strict=True):
        axes.set(title=title, xlabel="repetition", xticks=number)
    figure.axes[1].set_yscale("log")
    figure.axes[1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
