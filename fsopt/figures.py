"""Empty figures for plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
