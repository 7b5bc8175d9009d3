"""Models that show themselves: program, components, sizes and values, as text, HTML and LaTeX."""

from __future__ import annotations

import html
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyomo.environ as pyo
from pyomo.mpec import Complementarity

from fsopt.common.customising import SLUG
from fsopt.common.docstrings import section
from fsopt.common.registry import REGISTRIES
from fsopt.compiler.values import values_of

KINDS = (
    ("variable", pyo.Var),
    ("parameter", pyo.Param),
    ("objective", pyo.Objective),
    ("constraint", pyo.Constraint),
    ("complementarity", Complementarity),
)


def displayed_program(doc: str) -> str:
    """Return the displayed mathematics of a docstring, the text of its first ``.. math::`` block."""
    return "\n".join(line.strip() for line in math_block(doc.splitlines())[1])


def math_block(lines: Sequence[str]) -> tuple[int, list[str], int]:
    """Return the first line of the first displayed formula, its lines that are not empty, and the line after it."""
    start = next((k for k, line in enumerate(lines) if line.startswith(".. math::")), None)
    if start is None:
        return 0, [], 0
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
        end += 1
    block = [lines[start].removeprefix(".. math::"), *lines[start + 1 : end]]
    return start, [line for line in block if line.strip()], end


def components(model: pyo.ConcreteModel) -> list[tuple[str, str, int, str]]:
    """Return name, kind, size and equation of each component of a model."""
    return [(c.name, kind, len(c), c.doc or "") for kind, ctype in KINDS for c in model.component_objects(ctype)]


OPEN, CLOSE = "\x01", "\x02"
"""Braces of a set, while those of LaTeX's groups are removed."""
SYMBOLS: Mapping[str, str] = {
    r"\le": "<=",
    r"\ge": ">=",
    r"\min": "min",
    r"\max": "max",
    r"\in": "in",
    r"\sum": "sum",
    r"\sqrt": "sqrt",
    r"\succeq": ">= (matrix)",
    r"\perp": "perp",
    r"\dots": "...",
    r"\prime": "'",
    r"\top": "'",
    r"\|": "||",
    r"\{": OPEN,
    r"\}": CLOSE,
    r"\qquad": "  ",
    r"\quad": "  ",
    r"\,": " ",
    r"\ ": " ",
}
"""Commands of LaTeX -> text; a Greek letter is its name, and every other command is left out."""
LEFT_OUT = frozenset(
    {"begin", "end", "left", "right", "big", "Big", "text", "mathrm", "operatorname", "textstyle", "bar"}
)


def readable(latex: str) -> str:
    r"""Return a displayed program as text for a terminal: ``\tfrac12 w'w + C e'\xi`` becomes ``1/2 w'w + C e'xi``."""
    text = re.sub(r"\\begin\{\w+\}|\\end\{\w+\}", "", latex)
    text = re.sub(r"\\q?quad", "  ", text)
    text = re.sub(r"\\t?frac\s*(\w)\s*(\w)\s*", r"\1/\2 ", text)
    part = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    text = re.sub(r"\\t?frac(\d)" + part, r"\1/(\2)", text)
    text = re.sub(r"\\t?frac" + part + r"(\w)", r"(\1)/\2", text)
    text = re.sub(r"\\t?frac" + part + part, r"(\1)/(\2)", text)
    text = re.sub(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}", r"\1", text)
    text = text.replace("\\\\", "\n").replace("&", " ")
    text = re.sub(r"\\(?:[A-Za-z]+|.)", _word, text)
    text = re.sub(r"\{([^{}]*)\}", _ungrouped, text).replace(OPEN, "{").replace(CLOSE, "}")
    lines = (re.sub(r"\s*\n\s*", " ", line) for line in text.split("\n"))
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line.rstrip()) for line in lines if line.strip())


def _word(found: re.Match[str]) -> str:
    """Return a command as text, apart from the letters beside it."""
    command, text = found[0], found.string
    word = SYMBOLS.get(command, "" if command[1:] in LEFT_OUT else command[1:])
    if not word or not command[1].isalpha() or word.isspace():
        return word
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    return (" " if before.isalnum() else "") + word + (" " if after.isalnum() else "")


def _ungrouped(found: re.Match[str]) -> str:
    """Return the content of braces: as a set where it is one, in parentheses where it is a long sub- or superscript."""
    inner, before = found[1], found.string[: found.start()][-1:]
    if before in ("_", "^"):
        return inner if len(inner) <= 2 else f"({inner})"
    return f"({inner})" if before == "t" else inner


def meanings(doc: str) -> dict[str, str]:
    """Return parameter -> meaning from the section of parameters in a docstring."""
    found: dict[str, str] = {}
    for names, meaning in entries(section(doc, "Parameters")):
        found |= dict.fromkeys((name.strip() for name in names.split(", ")), " ".join(meaning.split()))
    return found


_ONE = r"[A-Za-z_][\w.]*(?:\[.*?\]+)?"
TYPE = re.compile(rf"(?:{_ONE}(?:(?: \| | or |, ){_ONE})*)(?:, optional|, default .*)?")
"""What stands behind the colon of ``name : type``, where the meaning begins on the next line."""


def entries(listed: str) -> Iterator[tuple[str, str]]:
    """Yield names and meaning of each entry: ``name : meaning``, or ``name : type`` and the meaning below."""
    for text in re.split(r"\n(?=\S)", listed.strip("\n")):
        header, _, below = text.partition("\n")
        names, _, after = header.partition(" : ")
        below = textwrap.dedent(below)
        typed = bool(below.strip()) and TYPE.fullmatch(after)
        yield names, below if typed else f"{after}\n{below}"


def plain_text(text: str) -> str:
    """Return the text of a docstring without its marks: roles, literals and LaTeX."""
    text = re.sub(r":math:`([^`]*)`", lambda found: readable(found[1]), text)
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def latex_of(model: pyo.ConcreteModel) -> str:
    """Return the displayed program of the builder of a model as LaTeX; empty for a model of no registered builder."""
    slug = getattr(model, SLUG, "")
    if "model" not in REGISTRIES or slug not in REGISTRIES["model"]:
        return ""
    program = displayed_program(inspect.getdoc(REGISTRIES["model"][slug].builder) or "")
    return f"\\begin{{aligned}}\n{program}\n\\end{{aligned}}" if program else ""


def html_of(model: pyo.ConcreteModel) -> str:
    """Return a model as HTML: program, and component, kind, size, equation and values in a table."""
    program = latex_of(model)
    head = f"<h4>{html.escape(str(model.name))}</h4>" + (f"\n$${html.escape(program)}$$" if program else "")
    rows = [_row("th", ("component", "kind", "size", "equation", "value"))]
    for name, kind, size, equation in components(model):
        rows.append(_row("td", (name, kind, str(size), equation, value_text(model.find_component(name)))))
    return f"{head}\n<table>\n" + "\n".join(rows) + "\n</table>"


def value_text(component: pyo.Component) -> str:
    """Return the values of a component after a solve: a number, or smallest and largest; empty before."""
    if component.ctype is pyo.Objective:
        value = pyo.value(component, exception=False) if not component.is_indexed() else None
        return "" if value is None else f"{value:.6g}"
    if component.ctype is not pyo.Var:
        return ""
    values = values_of(component) if component.is_indexed() else np.array([component.value], dtype=float)
    if not len(values) or not np.isfinite(values).all():
        return ""
    if len(values) == 1:
        return f"{values[0]:.6g}"
    return f"{values.min():.4g} to {values.max():.4g}, {int(np.count_nonzero(np.abs(values) > 1e-9))} nonzero"


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{html.escape(text)}</{cell}>" for text in texts) + "</tr>"


class ShownModel(pyo.ConcreteModel):  # type: ignore[misc]
    """A ConcreteModel that a notebook shows as its program and a table of its components."""

    def _repr_html_(self) -> str:
        return html_of(self)

    def _repr_latex_(self) -> str | None:
        program = latex_of(self)
        return f"$${program}$$" if program else None
