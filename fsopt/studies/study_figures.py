"""The pictures of the report of a study: methods differ by colour, marker and line, and names stay within the frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fsopt.common.figures import name_points, new_figure, plain, style
from fsopt.studies.ranking import Ranking, profile
from fsopt.studies.summary import MethodSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = 8
"""Traces that a picture of convergence shows at most."""
NAMED = 40
"""Methods that a picture tells apart at most."""
DECADE = 10.0
"""Factor beyond which a performance profile has a logarithmic axis: its marks below are numbers that touch."""


def trade_off(lines: Sequence[MethodSummary], counts: Mapping[str, float], front: Sequence[str]) -> Figure:
    """Return accuracy against number of selected features, and the front of both as a line.

    Parameters
    ----------
    lines : those without a mean accuracy are left out; of more than :data:`NAMED` only those of the front have names.
    counts : title -> number of features.
    front : titles of those that no other beats in both.
    """
    placed = [
        (line.title, features.deviation, accuracy)
        for line in lines
        if (accuracy := line.measures["accuracy"]) and (features := line.measures["n_features"])
    ]
    points = {title: (counts[title], 100 * accuracy.mean) for title, _, accuracy in placed}
    named = [one for one in placed if len(placed) <= NAMED or one[0] in front][:NAMED]
    figure = new_figure(1, height=3.6 + 0.12 * len(named))
    axes = figure.axes[0]
    if len(named) < len(placed):
        axes.plot(*zip(*points.values(), strict=True), ".", color="0.8", zorder=0, label="other methods")
    for k, (title, width, accuracy) in enumerate(named):
        look = {**style(k), "linestyle": "none", "elinewidth": 0.5}
        axes.errorbar(*points[title], xerr=width, yerr=100 * accuracy.deviation, markersize=5, **look)
    corners = sorted(points[name] for name in front)
    axes.step(
        *zip(*corners, strict=True),
        where="post",
        color="0.6",
        linewidth=2.5,
        zorder=0,
        label="no method beats these in both",
    )
    axes.set(xlabel="selected features", ylabel="accuracy of cross-validation, %")
    axes.margins(x=0.25, y=0.1)
    axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.locator_params(axis="x", integer=True)
    figure.legend(fontsize="small", loc="outside lower center")
    name_points(figure, [points[title] for title, *_ in named], [title for title, *_ in named])
    return figure


def convergence(lines: Sequence[MethodSummary]) -> Figure | None:
    """Return incumbents and bounds over time, None where no fit has a loop of two records whose incumbent never rises.

    The objective of an elimination of features rises with each: it is none of one problem.
    """
    traced = [(line.title, row["trace"]) for line in lines for row in line.rows[:1] if _falls(row["trace"] or ())]
    if not traced:
        return None
    panels = traced[:CURVES]
    columns = min(2, len(panels))
    figure = new_figure(len(panels), height=2.4, columns=columns)
    figure.set_figwidth(2.6 + 1.8 * columns)  # a page scales it to its width, and the words with it
    for axes, (title, trace) in zip(figure.axes, panels, strict=True):
        for column, word, line in ((1, "incumbent", "-"), (2, "bound", "--")):
            points = [(record[0], record[column]) for record in trace if record[column] is not None]
            if points:
                axes.step(*zip(*points, strict=True), line, where="post", label=word)
        axes.set_title(plain(title), fontsize="small")
        axes.set_xlabel("seconds")
        axes.legend(fontsize="small")
    return figure


def _falls(trace: Sequence[Sequence[float | None]]) -> bool:
    values = [record[1] for record in trace if record[1] is not None]
    slack = 1e-6 * max(map(abs, values), default=0.0)
    return len(trace) > 1 and all(after <= before + slack for before, after in pairwise(values))


def ranks_figure(found: Ranking) -> Figure:
    """Return the critical-difference diagram of a ranking: a row for each method, bars over those not told apart.

    Of more than :data:`NAMED` methods it shows the best.
    """
    order = np.argsort(found.ranks, kind="stable").tolist()[:NAMED]
    k, last = len(order), found.ranks[order[-1]]
    groups = [(low, min(high, last)) for low, high in found.groups if low < last]
    top = len(groups)
    figure = new_figure(1, height=1.2 + 0.25 * (k + top))
    axes = figure.axes[0]
    for level, i in enumerate(order):
        axes.plot([found.ranks[i]] * 2, [top + 0.5, -level], color="0.7", linewidth=0.8)
        axes.plot(found.ranks[i], -level, markersize=6, **style(level))
    for level, (low, high) in enumerate(groups, start=1):
        axes.plot([low, high], [level] * 2, color="black", linewidth=4, solid_capstyle="butt")
    names = [f"{plain(found.methods[i])}  {found.ranks[i]:#.3g}" for i in order]
    figure.set_figwidth(4.0 + 0.08 * max(map(len, names)))
    axes.set_yticks([-level for level in range(k)], names)
    axes.set(xlim=(0.8, max(k, last) + 0.2), ylim=(0.5 - k, top + 0.5), xlabel="average rank, 1 is the best")
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    return figure


def profile_figure(costs: Mapping[str, Sequence[float]]) -> Figure:
    """Return the performance profiles of costs, method -> positive cost for each block.

    Of more than :data:`NAMED` methods it shows those that are most often the best.
    """
    grid, curves = profile(costs)
    if len(curves) > NAMED:
        curves = dict(sorted(curves.items(), key=lambda one: -one[1][0])[:NAMED])
    figure = new_figure(1, height=3.6 + 0.12 * len(curves))
    axes = figure.axes[0]
    for k, (name, share) in enumerate(curves.items()):
        axes.step(grid, share, where="post", label=plain(name), markevery=0.1, markersize=4, **style(k))
    axes.set(xlabel="factor of the best", ylabel="share of blocks within it", ylim=(0, 1.05))
    if grid[-1] > DECADE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    return figure
