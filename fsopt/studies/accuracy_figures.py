"""Plots of the minimax probability machines (paper 2, Figures 2 to 5, 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fsopt.studies.accuracy_surfaces import PSF, TSA, Machine
from fsopt.studies.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
