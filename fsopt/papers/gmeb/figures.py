"""Peleg & Meir: Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fsopt.analysis.radius_paths import radius_path
from fsopt.common.figures import new_figure
from fsopt.data import gmeb_type2
from fsopt.errors import DataError, OutOfTimeError
from fsopt.papers.gmeb.experiments import SETS, load_set, real_scores
from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings, numbers_of, printed
from fsopt.papers.verdicts import LEFT_OUT, NO_DATA, NO_NUMBER, TableCell
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED = ("gmeb", "rfe")
"""Methods of Figure 2."""


def gmeb_fig1(settings: RunSettings) -> Reproduction:
    """Return Figure 1: error rate and features over both radii, on three sets of type 2."""
    radii = np.linspace(1.0, 10.0, 4 if settings.quick else 10)
    cells, figures = [], {}
    for number, informative in (("I", 2), ("II", 10), ("III", 20)):
        both = gmeb_type2(1200, settings.seed, p=100, n_informative=informative)
        train, test = both.rows(np.arange(200)), both.rows(np.arange(200, 1200))
        path = radius_path(train, radii.tolist(), test=test, jobs=settings.jobs)
        star = path.to_records()[path.chosen]
        best = (("error at the star", 100 * star["test_error"]), ("features at the star", star["n_features"]))
        cells += [TableCell(f"set {number}", column, float(value), None, NO_NUMBER) for column, value in best]
        figures[f"fig1-{number}"] = path.plot()
    note = (
        f"{len(radii)} x {len(radii)} radii from 1 to 10, 200 training and 1000 test samples; the figure has no numbers"
    )
    return Reproduction(tuple(cells), (note,), figures)


def gmeb_fig2(settings: RunSettings) -> Reproduction:
    """Return Figure 2: error rate against the share of selected features, GMEB beside RFE, from Table 4."""
    table, cells = printed("gmeb-table4"), []
    sets = ("bupa", "pima") if settings.quick else tuple(table["rows"])
    splits, points = (3, 3) if settings.quick else (10, 7)
    found: dict[str, Vector] = {}
    for name in sets:
        try:
            p = load_set(name).p
            ours = [real_scores(name, method, splits, points, settings) for method in COMPARED]
        except (DataError, OutOfTimeError) as error:
            verdict = NO_DATA if isinstance(error, DataError) else LEFT_OUT
            cells.append(TableCell(name, "error", None, None, verdict, error.message))
            continue
        prints = [numbers_of(table, name, method) for method in COMPARED]
        theirs = [(float(one["features"]) / p, float(one["error"])) for one in prints]
        found[name] = np.array([[(one[2] / p, one[0]) for one in ours], theirs])
        for method, (share, rate) in zip(COMPARED, found[name][0].tolist(), strict=True):
            cells.append(TableCell(f"{method} {name}", "share of features", share, None, NO_NUMBER))
            cells.append(TableCell(f"{method} {name}", "error", rate, None, NO_NUMBER))
    note = f"{len(found)} of the eight sets of Table 4; a line joins the two methods on a set, the name is at GMEB"
    return Reproduction(tuple(cells), (note,), {"fig2": _shares_figure(found)} if found else {})


def _shares_figure(found: Mapping[str, Vector]) -> Figure:
    """Return a figure of our numbers and the print, of data set -> (2, methods, 2) shares and errors."""
    figure = new_figure(2)
    for k, (axes, title) in enumerate(zip(figure.axes, ("ours", "printed"), strict=True)):
        places = np.array([place[k] for place in found.values()])
        for ends in places:
            axes.plot(*ends.T, color="0.8", zorder=0)
        for j, (method, marker) in enumerate(zip(COMPARED, "os", strict=True)):
            axes.scatter(*places[:, j].T, marker=marker, label=method)
        for name, place in zip(found, places[:, 0].tolist(), strict=True):
            axes.annotate(name, place, textcoords="offset points", xytext=(5, -10), fontsize="small")
        axes.set(title=title, xlabel="share of selected features", ylabel="error, %", xlim=(-0.03, 1.12), ylim=(-2, 37))
    figure.axes[1].legend(fontsize="small", loc="upper left")
    return figure


SPECS = (
    Experiment("gmeb-fig1", "gmeb", "error and features over both radii", gmeb_fig1, 1.0),
    Experiment("gmeb-fig2", "gmeb", "error against features, from Table 4", gmeb_fig2, 22.0, SETS),
)
