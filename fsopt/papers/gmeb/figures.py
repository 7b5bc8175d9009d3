"""Peleg & Meir: Figures 1 and 2."""

from __future__ import annotations

import numpy as np

from fsopt.analysis.radius_paths import radius_path
from fsopt.common.figures import new_figure
from fsopt.data import gmeb_type2, load_dataset
from fsopt.errors import DataError
from fsopt.papers.gmeb.experiments import NESTED, nested
from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings, numbers_of, printed
from fsopt.papers.verdicts import NO_DATA, NO_NUMBER, TableCell


def gmeb_fig1(settings: RunSettings) -> Reproduction:
    """Return Figure 1: error rate and features over both radii, on three sets of type 2."""
    radii = np.linspace(1.0, 10.0, 4 if settings.quick else 10)
    cells, figures = [], {}
    for number, informative in (("I", 2), ("II", 10), ("III", 20)):
        both = gmeb_type2(1200, settings.seed, p=100, n_informative=informative)
        train, test = both.rows(np.arange(200)), both.rows(np.arange(200, 1200))
        path = radius_path(train, radii.tolist(), test=test, jobs=settings.jobs)
        i, j = path.best
        best = (("error at the star", 100 * path.error[i, j]), ("features at the star", path.n_features[i, j]))
        cells += [TableCell(f"set {number}", column, float(value), None, NO_NUMBER) for column, value in best]
        figures[f"fig1-{number}"] = path.plot()
    note = (
        f"{len(radii)} x {len(radii)} radii from 1 to 10, 200 training and 1000 test samples; the figure has no numbers"
    )
    return Reproduction(tuple(cells), (note,), figures)


def gmeb_fig2(settings: RunSettings) -> Reproduction:
    """Return Figure 2: error rate against the share of selected features, GMEB beside RFE, from Table 4."""
    table = printed("gmeb-table4")
    sets = ("bupa", "pima") if settings.quick else NESTED
    figure = new_figure(2)
    cells = []
    for axes, source in zip(figure.axes, ("ours", "printed"), strict=True):
        for method, marker in (("gmeb", "o"), ("rfe", "s")):
            points = []
            for name in sets:
                try:
                    p = load_dataset(name).p
                except DataError as error:
                    return Reproduction((TableCell(name, "error", None, None, NO_DATA, error.message),))
                if source == "printed":
                    numbers = numbers_of(table, name, method)
                    points.append((float(numbers["features"]) / p, float(numbers["error"])))
                else:
                    ours = nested(name, method, 3 if settings.quick else 10, 3 if settings.quick else 7, settings)
                    points.append((ours[2] / p, ours[0]))
                    cells.append(TableCell(f"{method} {name}", "share of features", points[-1][0], None, NO_NUMBER))
            axes.scatter(*zip(*points, strict=True), marker=marker, label=method)
        axes.set(title=source, xlabel="share of selected features", ylabel="error, %")
    figure.axes[1].legend(fontsize="small")
    note = "the five sets of our Table 4 with ten rounds; the printed panel has the same sets"
    return Reproduction(tuple(cells), (note,), {"fig2": figure})


SPECS = (
    Experiment("gmeb-fig1", "gmeb", "error and features over both radii", gmeb_fig1, 0.7),
    Experiment("gmeb-fig2", "gmeb", "error against features, from Table 4", gmeb_fig2, 0.1, NESTED),
)
