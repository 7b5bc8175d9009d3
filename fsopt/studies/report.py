"""Reports: one HTML page of tables that sort and pictures within it, with no request to any network.

Every text is escaped by the template; by the Content-Security-Policy of the page a browser runs its script alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsopt.answers.records import plain
from fsopt.common.figures import draw_front, new_figure
from fsopt.common.files import check_writable, write_text
from fsopt.common.texts import counted, one_line, printable
from fsopt.errors import FileError, needed
from fsopt.studies.ranking import Line, answer, friedman, lines_of, stability, standings
from fsopt.studies.study import versions
from fsopt.studies.units import DONE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.analysis.selection_answers import Selection

DRAWN = 4
"""Data sets whose pictures a report has; each takes about a second, and the tables of all say more."""
LISTED = 50
"""Features of a selection that a table names at most."""
COLUMNS = {
    "accuracy": ("accuracy", 3),
    "balanced_accuracy": ("balanced", 3),
    "mcc": ("MCC", 3),
    "recall": ("recall", 3),
    "auc": ("AUC", 3),
    "n_features": ("features", 1),
    "seconds": ("seconds", 2),
    "cpu_seconds": ("CPU s", 2),
}
"""Column of rows -> head of its means, and their digits after the point."""


@dataclass(frozen=True)
class ReportSection:
    """A part of a report, in the order: notes, the ``text`` of this name in the template, tables, figures."""

    title: str
    notes: tuple[str, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    text: str = ""


def table_of(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Return a table whose cells stay what they are: texts, numbers and None."""
    return pd.DataFrame([list(row) for row in rows], columns=list(heads), dtype=object)


def write_report(path: str | Path, title: str, sections: Sequence[ReportSection]) -> None:
    """Write a report to a file, whole or not at all; raises PackageError, FileError."""
    write_text(path, page(title, sections))


def page(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the text of a report."""
    needed("jinja2", "reports", "report")
    from jinja2 import Environment

    source = resources.files("fsopt.studies").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"shown": shown, "picture": picture}
    script = hashlib.sha256(source.partition("<script>")[2].partition("</script>")[0].encode()).digest()
    system = f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
    table = table_of(("name", "value"), [*versions().items(), ("system", system)])
    every = [*sections, ReportSection("Versions and machine", tables={"": table})]
    known = {"title": title, "script": b64encode(script).decode(), "version": versions()["fsopt"]}
    return printable(environment.from_string(source).render(sections=every, **known))


def shown(value: Any) -> str:
    """Return a value as the text of a cell: three significant digits, and all those before the point."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 99.95 <= abs(value) < 1e6 else f"{value:#.3g}" if value else "0"


def picture(figure: Figure) -> str:
    """Return a figure as the address of an SVG image that holds it: nothing of it is text of the page."""
    from matplotlib import rc_context

    drawn = io.BytesIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "fsopt"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}"


def means_of(lines: Sequence[Line]) -> pd.DataFrame:
    """Return the table of means and, of more than one value, deviations, with the statuses of the fits behind them."""
    heads = ("data", "method", *(head for head, _ in COLUMNS.values()), "status", "units")
    rows = []
    for line in lines:
        means = [_spread(line, name, digits) for name, (_, digits) in COLUMNS.items()]
        proved = ", ".join(f"{number} {status}" for status, number in line.statuses.items())
        rows.append((line.data, line.title, *means, proved, f"{line.finished}/{len(line.rows)}"))
    return table_of(heads, rows)


def _spread(line: Line, name: str, digits: int) -> str | None:
    mean, deviation = line.spread(name)
    if mean is None:
        return None
    return f"{mean:.{digits}f}" + (f" ±{deviation:.{digits}f}" if len(line.folds) > 1 else "")


def study_sections(rows: Sequence[Mapping[str, Any]], larger: Mapping[str, float] | None = None) -> list[ReportSection]:
    """Return the sections of a report on rows of one study; ``larger``: data set -> accuracy of the larger class."""
    lines = lines_of(rows)
    answers: list[str] = []
    sections: list[ReportSection] = []
    fronts: dict[str, Figure] = {}
    for name in dict.fromkeys(line.data for line in lines):
        of_one, share = [line for line in lines if line.data == name], (larger or {}).get(name)
        found = standings(of_one, share)
        sections.append(_of_data(name, of_one, found))
        if found:
            alone = "" if share is None else f" The larger class alone has accuracy {share:.3f}."
            answers.append(f"{name}: {answer(of_one, found)}.{alone}")
            if len(fronts) < DRAWN:
                drawn = new_figure(1)
                points = {line.title: (line.n_features or 0.0, line.spread("accuracy")[0] or 0.0) for line in of_one}
                draw_front(drawn.axes[0], {title: (*points[title], one["front"]) for title, one in found.items()})
                fronts[f"{name}: accuracy against number of selected features"] = drawn
    first = [ReportSection("Answer", tuple(answers), figures=fronts)] if answers else []
    heads = ("data", "method", "fold", "seed", "state", "error")
    failed = [[row[name] for name in heads] for row in rows if row["state"] != DONE]
    last = [ReportSection("Units without a result", (), {"": table_of(heads, failed)})] if failed else []
    return [*first, *sections, *_ranks(lines), *last]


def _of_data(name: str, lines: Sequence[Line], found: Mapping[str, Mapping[str, Any]]) -> ReportSection:
    """Return the section of the methods on a data set, the best first, those without scores last."""
    places = {title: k for k, title in enumerate(found)}
    ordered = sorted(lines, key=lambda line: places.get(line.title, len(places)))
    means = means_of(ordered).drop(columns="data")
    means.insert(1, "standing", [found[line.title]["standing"] if line.title in found else "" for line in ordered])
    selections = [[row["features"] for row in line.folds if row.get("features") is not None] for line in ordered]
    means["stability"] = pd.Series(map(stability, selections), dtype=object)
    tables = {"means over folds and seeds; ± is their standard deviation; status: of how many fits": means}
    listed = [
        (line.title, ", ".join(f"{k}={v}" for k, v in line.params.items()), ", ".join(line.whole["features"]))
        for line in ordered
        if 0 < len(line.whole.get("features") or ()) <= LISTED
    ]
    if listed:
        heads = ("method", "parameters", "selected features")
        tables[f"fits to all samples with at most {LISTED} features"] = table_of(heads, listed)
    return ReportSection(f"Methods on {name}", tables=tables, text="standing")


def _ranks(lines: Sequence[Line]) -> list[ReportSection]:
    """Return the section on ranks, of the methods with results on every block; empty for fewer than two of these."""
    rows = [{**row, "method": line.title} for line in lines for row in line.folds]
    table = pd.DataFrame(rows, columns=["method", "data", "seed", "state", "balanced_accuracy"])
    table["score"] = table["balanced_accuracy"].where(table["state"] == DONE).astype(float)
    means = table.groupby(["method", "data", "seed"])["score"].agg(lambda scores: scores.mean(skipna=False))
    scores = means.unstack(["data", "seed"]).dropna()  # a method for each row, a block for each column
    if min(scores.shape) < 2:
        return []
    ranks, p_value, distance = friedman(scores)
    told = f"{scores.shape[1]} blocks (data set, seed) by balanced accuracy; without methods that have no result on one"
    test = f"Friedman's test: p = {p_value:.3g}; Nemenyi's critical difference at 0.05: {distance:.3g}"
    apart = "two methods whose ranks differ by less are not told apart"
    notes = (told, f"{test}: {apart}", "seeds of one data set are no independent blocks: the tests are then too sure")
    return [ReportSection("Ranks", notes, {"": table_of(("method", "average rank"), list(ranks.items()))})]


def write_table(path: str | Path, frame: pd.DataFrame, remark: str = "") -> None:
    """Write a table in LaTeX below a remark, its cells as :func:`shown` has them; raises PackageError, FileError."""
    told = frame.map(lambda value: " ".join(printable(shown(value)).split()))
    needed("jinja2", "tables in LaTeX", "report")
    text = told.to_latex(index=False, escape=True)
    write_text(path, f"% {one_line(remark)}; needs \\usepackage{{booktabs}}\n{text}")


def check_page(path: str | Path) -> Path:
    """Return a path to which the page of a selection can be written; raises FileError for another suffix."""
    if Path(path).suffix.lower() not in (".html", ".tex"):
        raise FileError(f"'{path}' is no page of a selection", "give a name with .html, .tex")
    return check_writable(path)


def write_selection(selection: Selection, path: str | Path) -> None:
    """Write the page of a selection: sentences, table, three figures, evidence, and how to cite.

    Parameters
    ----------
    selection : Selection
        Of :func:`fsopt.select`.
    path : str | Path
        A name with ``.html`` for a page that needs no other file, with ``.tex`` for the table of the features in LaTeX
        with booktabs.

    Raises
    ------
    FileError : the file cannot be written, or has another suffix.
    PackageError : matplotlib or jinja2 is not installed.
    """
    place, features = check_page(path), selection.to_frame()
    warned, (rows, intercept) = tuple(f"Warning: {text}." for text in selection.warnings), selection.fit.printed()
    features["weight"] = pd.Series([row["weight"] for row in rows], dtype=object)
    if place.suffix.lower() == ".tex":
        write_table(place, features, " ".join((*selection.sentences[:2], f"Intercept {intercept}.", *warned)))
        return
    odds = (
        f"Odds ratios are for '{selection.data.labels[1]}' and one step: 1 of yes/no, else one standard deviation; "
        f"the weight is for one unit; intercept {intercept}."
    )
    measured = [(name, value, *selection.intervals[name]) for name, value in selection.nested.items()]
    tables = {
        "selected features by standardised weight, 95 % intervals for this selection": features,
        "measures, with 95 % intervals": table_of(("measure", "nested cross-validation", "from", "to"), measured),
    }
    numbers = {name: value for name, value in plain(selection.heading).items() if not isinstance(value, list)}
    evidence = pd.json_normalize(numbers | {"nested": None, "intervals": None}).iloc[0].dropna()
    sections = [
        ReportSection("Answer", (*selection.sentences, odds, *warned), tables, {"how it was chosen": selection.plot()}),
        ReportSection("Table", selection.story, {}),
        ReportSection("Evidence", (), {"": table_of(("what", "value"), list(evidence.items()))}),
        ReportSection("How to cite", text="sources"),
    ]
    chosen = f"{len(selection.selected)} of {counted(len(selection.variables), 'feature')} of {selection.data.name}"
    write_report(place, chosen, sections)
