"""Plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsopt.errors import PackageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(columns: int, *, height: float = 3.6) -> Figure:
    """Return a figure of so many panels side by side; raises where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PackageError("plots need matplotlib, which is not installed", "pip install fsopt[plot]") from error
    figure = Figure(figsize=(4.6 * columns, height), layout="constrained")
    figure.subplots(1, columns)
    return figure
