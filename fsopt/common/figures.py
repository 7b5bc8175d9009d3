"""Empty figures for plots; matplotlib is loaded here and nowhere else (``pip install fsopt[plot]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from fsopt.common.texts import one_line
from fsopt.errors import needed
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Of Okabe and Ito, which colour-blind readers can tell apart, in the order of lines."""
BLUE, ORANGE = COLOURS[:2]
MARKERS = "osD^vP*X<>h"


def new_figure(panels: int, *, height: float = 3.6) -> Figure:
    """Return a figure of panels side by side, which a notebook shows without a backend.

    It has so many ``axes``, each 4.6 inches wide and of this height. Raises PackageError without matplotlib.
    """
    needed("matplotlib", "plots", "plot")
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * panels, height), layout="constrained")
    with rc_context({"axes.prop_cycle": cycler(color=COLOURS)}):
        figure.subplots(1, panels)
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    content = BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def style(k: int) -> dict[str, Any]:
    """Return colour and marker of the k-th of many curves: each differs, so that none of them alone tells."""
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}


def plain(text: str) -> str:
    """Return a text in which matplotlib reads no formula, on one line."""
    return one_line(text).replace("$", r"\$")


def draw_front(axes: Axes, points: Mapping[str, tuple[float, float, bool]]) -> None:
    """Draw methods by their numbers of features and accuracies, those that none beats in both with their names."""
    axes.plot([x for x, _, _ in points.values()], [y for _, y, _ in points.values()], "o", color="0.7")
    ends = sorted((x, y, name) for name, (x, y, front) in points.items() if front)
    axes.step([x for x, _, _ in ends], [y for _, y, _ in ends], "o-", where="post", label="none beats these in both")
    for x, y, name in ends:
        axes.annotate(plain(name), (x, y), (4, 4), textcoords="offset points", fontsize="small", in_layout=False)
    axes.set(xlabel="selected features", ylabel="accuracy of cross-validation")
    axes.legend()


def history_figure(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Return a figure of the objective of iterations, and of their bound where they have one, over time."""
    figure, timed = new_figure(1), all("elapsed" in h for h in records)
    axes, x = figure.axes[0], [h["elapsed" if timed else "iteration"] for h in records]
    for name, line in (("objective", "-"), ("bound", "--")):
        if all(isinstance(h.get(name), float) for h in records):
            axes.step(x, [h[name] for h in records], where="post", linestyle=line, label=name)
    axes.set(xlabel="seconds" if timed else "iteration", ylabel="objective value")
    axes.legend()
    return figure


def bars_figure(names: Sequence[str], values: Sequence[float] | Vector, label: str) -> Figure:
    """Return a figure of a bar for each name, the first on top, in another colour below 0."""
    figure = new_figure(1, height=1.2 + 0.25 * len(names))
    axes, places = figure.axes[0], range(len(names))[::-1]
    axes.barh(places, values, color=[BLUE if value > 0 else ORANGE for value in values])
    axes.set_yticks(places, [plain(name) for name in names])
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(label)
    return figure
