"""Reports: one self-contained HTML page of tables that sort and pictures as inline SVG, with no request to any network.

Every text is escaped by the template: a feature may be called anything. By the Content-Security-Policy of the page a
browser runs no script but the one of the template, which is known by its hash, and fetches nothing.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsopt.common.figures import draw_front, new_figure
from fsopt.common.files import check_writable, write_text
from fsopt.common.texts import counted, printable
from fsopt.errors import FileError, PackageError
from fsopt.studies.ranking import Line, Standing, answer, friedman, line_counts, line_standings, lines_of, stability
from fsopt.studies.units import DONE, versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.analysis.selection_answers import Selection

NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: ±.*)?")
INKS = {"#000000": "currentColor", "#ffffff": "var(--back)"}
"""Black and white of pictures, which are those of the page, light or dark."""
HINT = "pip install fsopt[report]"
DRAWN = 4
"""Data sets whose pictures a report has; each takes about a second, and the tables of all say more."""
LISTED = 50
"""Features of a selection that a table names at most."""
CAPTION = "means over folds and seeds; ± is their standard deviation; status: of how many fits"
NOTES = (
    "not told apart: from the best accuracy by the corrected resampled t-test at 0.05, which does not show that it is "
    "as good; not shown above the larger class: the 95 % interval of its accuracy has the share of this class, or is "
    "below it; front: no other method beats it in accuracy and number of features; stability: mean Jaccard index of "
    "the selections of two folds.",
)

PAGES = (".html", ".tex")
FEATURES = (
    "feature",
    "weight per unit",
    "weight per standard deviation",
    "step",
    "odds ratio for a step",
    "from",
    "to",
    "share of halves",
    "p of halves",
)
SOURCES = (
    "selection and its bound: H. Aytug, Feature selection for support vector machines using Generalized Benders "
    "Decomposition, European Journal of Operational Research 244 (2015), with the logistic loss",
    "permuted labels: Westfall and Young, Resampling-based multiple testing (1993)",
    "halves: Shah and Samworth, Variable selection with error control, JRSS B 75 (2013); their tests: Meinshausen, "
    "Meier and Buehlmann, p-values for high-dimensional regression, JASA 104 (2009)",
    "intervals: Tsamardinos, Greasidou and Borboudakis, Bootstrapping the out-of-sample predictions, Machine Learning "
    "107 (2018)",
)
"""Sources of what the page of a selection says."""
SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)
"""Characters that LaTeX reads as commands, with what stands for them."""


@dataclass(frozen=True)
class ReportSection:
    """A part of a report, in the order: notes, tables and figures with captions; ``folded`` is shown by a click."""

    title: str
    notes: tuple[str, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    folded: bool = False


def table_of(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Return a table whose cells stay what they are: texts, numbers and None."""
    return pd.DataFrame([list(row) for row in rows], columns=list(heads), dtype=object)


def write_report(path: str | Path, title: str, sections: Sequence[ReportSection]) -> None:
    """Write a report to a file, whole or not at all.

    Raises
    ------
    PackageError : jinja2 or matplotlib is not installed.
    FileError : the file cannot be written.
    """
    write_text(path, page(title, sections))


def page(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the text of a report."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError as error:
        raise PackageError("reports need jinja2, which is not installed", HINT) from error
    source = resources.files("fsopt.studies").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"shown": shown, "sort_key": sort_key}
    drawn = []
    for k, section in enumerate([*sections, machine()]):
        pictures = enumerate(section.figures.items())
        drawn.append((section, [(caption, Markup(svg(figure, f"f{k}-{j}"))) for j, (caption, figure) in pictures]))
    script = hashlib.sha256(source.partition("<script>")[2].partition("</script>")[0].encode()).digest()
    text = environment.from_string(source).render(title=title, sections=drawn, script=b64encode(script).decode())
    return printable(text)


def shown(value: Any) -> str:
    """Return a value as the text of a cell: three significant digits, and all those before the point."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 99.95 <= abs(value) < 1e6 else f"{value:#.3g}" if value else "0"


def sort_key(value: Any) -> str:
    """Return what a column is sorted by: a number at full length, that before a ± or alone in a text; else nothing."""
    if isinstance(value, str) and (found := NUMBER.fullmatch(value)):
        return found[1]
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def svg(figure: Figure, prefix: str) -> str:
    """Return a figure as an SVG element whose ids begin with a prefix, since a page has one space of ids."""
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": prefix}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = drawn.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    # Comments hold the drawn texts, which nothing escapes there.
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    return re.sub("|".join(INKS), lambda found: INKS[found[0]], text)


def machine() -> ReportSection:
    """Return the section on versions and machine."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
    table = table_of(("name", "value"), [*versions().items(), ("system", system)])
    return ReportSection("Versions and machine", tables={"": table})


def means_of(lines: Sequence[Line], found: Mapping[str, Standing]) -> pd.DataFrame:
    """Return the table of the means of methods, with the statuses of the fits behind them."""
    rows = []
    for line in lines:
        accuracy, standing = line.spread("accuracy"), found.get(line.title)
        selections = [row["features"] for row in line.folds if row.get("features") is not None]
        record = {
            "method": line.title,
            "standing": "" if standing is None else standing.in_words,
            "accuracy": line.mean("accuracy"),
            "±": None if accuracy is None else accuracy[1],
            "balanced accuracy": line.mean("balanced_accuracy"),
            "MCC": line.mean("mcc"),
            "AUC": line.mean("auc"),
            "features": line.mean("n_features"),
            "stability": stability(selections),
            "status": ", ".join(f"{number} {status}" for status, number in line.states.items()),
            "seconds": line.mean("seconds"),
            "CPU seconds": line.mean("cpu_seconds"),
            "done": f"{line.finished} of {len(line.rows)}",
        }
        rows.append(record)
    return table_of(list(rows[0]), [list(row.values()) for row in rows])


def study_sections(rows: Sequence[Mapping[str, Any]], larger: Mapping[str, float] | None = None) -> list[ReportSection]:
    """Return the sections of a report on rows of a store.

    Parameters
    ----------
    rows : of one study.
    larger : data set -> accuracy of the larger class alone, where it is known.
    """
    of_data: dict[str, list[Line]] = {}
    lines = lines_of(rows)
    answers: list[str] = []
    sections: list[ReportSection] = []
    fronts: dict[str, Figure] = {}
    for line in lines:
        of_data.setdefault(line.data, []).append(line)
    for name, of_one in of_data.items():
        share = (larger or {}).get(name)
        found = line_standings(of_one, share)
        sections.append(_of_data(name, of_one, found))
        if found:
            whole = {line.title: line.whole.get("features") or () for line in of_one}
            scores, counts = {line.title: line.mean("accuracy") or 0.0 for line in of_one}, line_counts(of_one)
            told = answer(found, scores, counts, whole)
            alone = "" if share is None else f" The larger class alone has accuracy {share:.3f}."
            answers.append(f"{name}: {told}.{alone}")
            if len(fronts) < DRAWN:
                drawn, points = new_figure(1), {title: (counts[title], scores[title]) for title in found}
                draw_front(drawn.axes[0], points, [title for title, one in found.items() if one.front])
                fronts[f"{name}: accuracy against number of selected features"] = drawn
    first = [ReportSection("Answer", tuple(answers), figures=fronts)] if answers else []
    heads = ("data", "method", "fold", "seed", "state", "error")
    failed = [[row[name] for name in heads] for row in rows if row["state"] != DONE]
    last = [ReportSection("Units without a result", (), {"": table_of(heads, failed)})] if failed else []
    return [*first, *sections, *_ranks(lines), *last]


def _of_data(name: str, lines: Sequence[Line], found: Mapping[str, Standing]) -> ReportSection:
    """Return the section of the methods on a data set, the best first, those without scores last."""
    places = {title: k for k, title in enumerate(found)}
    ordered = sorted(lines, key=lambda line: places.get(line.title, len(places)))
    listed = [
        (line.title, ", ".join(f"{k}={v}" for k, v in line.params.items()), ", ".join(features))
        for line in ordered
        if 0 < len(features := line.whole.get("features") or ()) <= LISTED
    ]
    tables = {CAPTION: means_of(ordered, found)}
    if listed:
        heads = ("method", "parameters", "selected features")
        tables[f"fits to all samples with at most {LISTED} features"] = table_of(heads, listed)
    return ReportSection(f"Methods on {name}", NOTES, tables)


def _ranks(lines: Sequence[Line]) -> list[ReportSection]:
    """Return the section on ranks, of the methods with results on every block; empty for fewer than two of these."""
    rows = [
        (line.title, line.data, row["seed"], row.get("balanced_accuracy") if row["state"] == DONE else None)
        for line in lines
        for row in line.folds
    ]
    table = pd.DataFrame(rows, columns=["method", "data", "seed", "score"]).astype({"score": float})
    means = table.groupby(["method", "data", "seed"])["score"].agg(lambda scores: scores.mean(skipna=False))
    scores = means.unstack(["data", "seed"]).dropna()  # a method for each row, a block for each column
    if min(scores.shape) < 2:
        return []
    ranks, p_value, distance = friedman(scores.T.to_dict("list"))
    listed = sorted(ranks.items(), key=lambda pair: pair[1])
    told = f"{scores.shape[1]} blocks (data set, seed) by balanced accuracy; without methods that have no result on one"
    test = f"Friedman's test: p = {p_value:.3g}; Nemenyi's critical difference at 0.05: {distance:.3g}"
    apart = "two methods whose ranks differ by less are not told apart"
    notes = (told, f"{test}: {apart}", "seeds of one data set are no independent blocks: the tests are then too sure")
    return [ReportSection("Ranks", notes, {"": table_of(("method", "average rank"), listed)})]


def write_table(path: str | Path, frame: pd.DataFrame, caption: str = "") -> None:
    """Write a table in LaTeX with booktabs, its cells as :func:`shown` has them, whole or not at all.

    Raises
    ------
    PackageError : jinja2 is not installed.
    FileError : the file cannot be written.
    """
    told = frame.map(lambda value: _tex(shown(value))).rename(columns=_tex)
    try:
        text = told.to_latex(index=False, caption=_tex(caption) or None)
    except ImportError as error:
        raise PackageError("tables in LaTeX need jinja2, which is not installed", HINT) from error
    write_text(path, f"% needs \\usepackage{{booktabs}}\n{text}")


def _tex(text: str) -> str:
    """Return a text without commands of LaTeX, on one line."""
    return " ".join(printable(text).split()).translate(SPECIAL)


def check_page(path: str | Path) -> Path:
    """Return a path to which the page of a selection can be written; raises FileError for another suffix."""
    if Path(path).suffix.lower() not in PAGES:
        raise FileError(f"'{path}' is no page of a selection", f"give a name with {', '.join(PAGES)}")
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
    place = check_page(path)
    features, warned = _features(selection), tuple(f"Warning: {text}." for text in selection.warnings)
    if place.suffix.lower() == ".tex":
        write_table(place, features, " ".join((*selection.sentences[:2], *warned)))
        return
    odds = f"Odds ratios are for '{selection.data.labels[1]}' and one step: 1 of yes/no, else one standard deviation."
    measured = [(name, value, *selection.intervals[name]) for name, value in selection.nested.items()]
    sizes = list(zip(selection.choice.sizes, selection.choice.losses.tolist(), strict=True))
    tables = {
        "selected features by standardised weight, 95 % intervals for this selection": features,
        "measures, with 95 % intervals": table_of(("measure", "nested cross-validation", "from", "to"), measured),
    }
    evidence = {
        "": table_of(("what", "value"), _evidence(selection)),
        "cross-validation of the number of features": table_of(("features", "log-loss"), sizes),
    }
    sections = [
        ReportSection("Answer", (*selection.sentences, odds, *warned), tables, selection.figures()),
        ReportSection("Table", selection.story, {}),
        ReportSection("Evidence", (), evidence, folded=True),
        ReportSection("How to cite", (f"fsopt {versions()['fsopt']}, feature selection by optimization", *SOURCES)),
    ]
    chosen = f"{len(selection.selected)} of {counted(len(selection.variables), 'feature')} of {selection.data.name}"
    write_report(place, chosen, sections)


def _features(selection: Selection) -> pd.DataFrame:
    """Return the selected features, then the intercept; without features there is no classifier."""
    if not selection.fit.features:
        return table_of(FEATURES, [])
    names = ("standardised", "step", "odds_ratio", "odds_low", "odds_high", "share", "p_value")
    weights, intercept = selection.printed_weights
    pairs = zip(selection.to_records(), weights, strict=True)
    rows = [(record["feature"], weight, *(record[name] for name in names)) for record, weight in pairs]
    return table_of(FEATURES, [*rows, ("intercept", intercept, *(None for _ in names))])


def _evidence(selection: Selection) -> list[tuple[str, Any]]:
    """Return the numbers behind the proof."""
    return [
        ("status", str(selection.status)),
        ("objective value", getattr(selection.proof, "objective", None)),
        ("lower bound", getattr(selection.proof, "bound", None)),
        ("relative optimality gap", selection.gap),
        ("rational arithmetic", selection.exact or "not asked for"),
        ("penalty weight C of the selection", selection.choice.search),
        ("penalty weight C of the classifier", selection.choice.c),
    ]
