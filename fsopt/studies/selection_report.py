"""One page on a selection: HTML, Markdown or a LaTeX table, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fsopt.analysis.selection_answers import Selection
from fsopt.common.files import check_writable, write_text
from fsopt.common.texts import counted, printable
from fsopt.errors import FileError
from fsopt.studies.report import ReportSection, ReportTable, page, shown
from fsopt.studies.units import versions

SUFFIXES = (".html", ".md", ".tex")
HEADS = ("feature", "weight per unit", "weight per standard deviation", "odds ratio", "share of halves", "p of halves")
SOURCES = (
    "selection and its bound: H. Aytug, Feature selection for support vector machines using Generalized Benders "
    "Decomposition, European Journal of Operational Research 244 (2015), with the logistic loss",
    "permuted labels: Westfall and Young, Resampling-based multiple testing (1993)",
    "halves: Shah and Samworth, Variable selection with error control, JRSS B 75 (2013); their tests: Meinshausen, "
    "Meier and Buehlmann, p-values for high-dimensional regression, JASA 104 (2009)",
    "intervals: Tsamardinos, Greasidou and Borboudakis, Bootstrapping the out-of-sample predictions, Machine Learning "
    "107 (2018)",
)
"""Sources of what a page says."""
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
"""Characters that LaTeX reads as commands."""
MARKED = "\\`*_{}[]()<>#+-.!|~&"
"""Characters that Markdown or HTML may read as commands."""


def check_page(path: str | Path) -> Path:
    """Return a path to which a page can be written; raises FileError for another suffix."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError(f"'{path}' is no page of a selection", f"give a name with {', '.join(SUFFIXES)}")
    return check_writable(path)


def write_selection(selection: Selection, path: str | Path) -> None:
    """Write the page of a selection: sentences, table, three figures, evidence, and how to cite.

    Parameters
    ----------
    selection : Selection
        Of :func:`fsopt.select`.
    path : str | Path
        A name with ``.html`` for a page that needs no other file, ``.md`` for the same without figures, ``.tex`` for
        the table of the features in LaTeX with booktabs.

    Raises
    ------
    FileError : the file cannot be written, or has another suffix.
    PackageError : matplotlib or jinja2 is not installed, for HTML.
    """
    place = check_page(path)
    write = {".html": _html, ".md": _markdown, ".tex": _latex}[place.suffix.lower()]
    write_text(place, write(selection))


def _rows(selection: Selection) -> list[tuple[Any, ...]]:
    """Return the selected features, then the intercept; without features there is no classifier."""
    if not selection.fit.features:
        return []
    names = ("standardised", "odds_ratio", "share", "p_value")
    weights, intercept = selection.printed_weights
    rows: list[tuple[Any, ...]] = [
        (record["feature"], weight, *(record[name] for name in names))
        for record, weight in zip(selection.to_records(), weights, strict=True)
    ]
    return [*rows, ("intercept", intercept, *(None for _ in names))]


def _title(selection: Selection) -> str:
    return f"{len(selection.selected)} of {counted(len(selection.variables), 'feature')} of {selection.data}"


def _warnings(selection: Selection) -> tuple[str, ...]:
    return tuple(f"Warning: {text}." for text in selection.warnings)


def _predicted(selection: Selection) -> str:
    negative, positive = selection.labels
    up = int((selection.y > 0).sum())
    return (
        f"Predicted: '{positive}' (label +1, {counted(up, 'sample')}) against '{negative}' (label -1, "
        f"{counted(len(selection.y) - up, 'sample')}). "
        f"An odds ratio above 1 is for '{positive}', for one standard deviation more."
    )


def _quality(selection: Selection) -> list[tuple[Any, ...]]:
    """Return the measures with their intervals."""
    return [(name, value, *selection.intervals[name]) for name, value in selection.nested.items()]


def _evidence(selection: Selection) -> list[tuple[str, Any]]:
    """Return the numbers behind the proof."""
    proof = selection.proof
    return [
        ("status", str(selection.status)),
        ("objective value", None if proof is None else proof.objective),
        ("lower bound", None if proof is None else proof.bound),
        ("relative optimality gap", selection.gap),
        ("rational arithmetic", selection.exact or "not asked for"),
        ("penalty weight C of the selection", selection.choice.search),
        ("penalty weight C of the classifier", selection.choice.c),
    ]


def _counts(selection: Selection) -> list[tuple[Any, ...]]:
    return list(zip(selection.choice.sizes, selection.choice.losses.tolist(), strict=True))


def _cite() -> str:
    return f"fsopt {versions()['fsopt']}, feature selection by optimization"


QUALITY = ("measure", "nested cross-validation", "from", "to")
COUNTED = ("features", "log-loss")
EVIDENCE = ("what", "value")


def _html(selection: Selection) -> str:
    """Return the page in HTML, in which the template escapes every text."""
    sentences = (*selection.sentences, _predicted(selection), *_warnings(selection))
    tables = (
        ReportTable(HEADS, _rows(selection), "selected features, the largest standardised weight first"),
        ReportTable(QUALITY, _quality(selection), "measures, with 95 % intervals"),
    )
    evidence = (
        ReportTable(EVIDENCE, _evidence(selection)),
        ReportTable(COUNTED, _counts(selection), "cross-validation of the number of features"),
    )
    sections = [
        ReportSection("Answer", sentences, tables, selection.figures()),
        ReportSection("Evidence", (), evidence, folded=True),
        ReportSection("How to cite", (_cite(), *SOURCES)),
    ]
    return page(_title(selection), sections)


def _markdown(selection: Selection) -> str:
    """Return the page in Markdown."""
    blocks = [
        f"# {_marked(_title(selection))}",
        *map(_marked, (*selection.sentences, _predicted(selection), *_warnings(selection))),
        _pipes(HEADS, _rows(selection)),
        _pipes(QUALITY, _quality(selection)),
        "## Evidence",
        _pipes(EVIDENCE, _evidence(selection)),
        _pipes(COUNTED, _counts(selection)),
        "## How to cite",
        "\n".join(f"* {_marked(text)}" for text in (_cite(), *SOURCES)),
    ]
    return "\n\n".join(blocks) + "\n"


def _pipes(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [[_marked(shown(value)) for value in row] for row in rows]
    listed = [[_marked(head) for head in heads], ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in listed)


def _marked(text: str) -> str:
    """Return a text without commands of Markdown or HTML, on one line."""
    return "".join(f"&#{ord(sign)};" if sign in MARKED and sign not in "().-" else sign for sign in _line(text))


def _latex(selection: Selection) -> str:
    """Return the table of the features in LaTeX."""
    lines = [" & ".join(_tex(shown(value)) for value in row) + r" \\" for row in _rows(selection)]
    caption = " ".join((selection.sentences[0], *selection.sentences[1:2], *_warnings(selection)))
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(caption)}}}",
            r"\begin{tabular}{lrrrrr}",
            r"\toprule",
            " & ".join(HEADS) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    """Return a text without commands of LaTeX, on one line."""
    return "".join(SPECIAL.get(sign, sign) for sign in _line(text)).replace("±", r"$\pm$")


def _line(text: str) -> str:
    return " ".join(printable(text).split())
