"""Models that show themselves: program, components, sizes and values, as text, HTML and LaTeX."""

from __future__ import annotations

import html
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np
import pyomo.environ as pyo
from pyomo.mpec import Complementarity

from fsopt.common.arguments import section
from fsopt.common.registry import REGISTRIES, SLUG
from fsopt.common.texts import counted
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.compiler.values import values_of
from fsopt.models.papers import PAPERS

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
    """Return the text of a docstring without the marks of roles and literals."""
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
    import pandas as pd

    program = latex_of(model)
    head = f"<h4>{html.escape(str(model.name))}</h4>" + (f"\n$${html.escape(program)}$$" if program else "")
    rows = [(*row, value_text(model.find_component(row[0]))) for row in components(model)]
    with pd.option_context("display.max_colwidth", None):
        table = pd.DataFrame(rows, columns=["component", "kind", "size", "equation", "value"]).to_html(index=False)
    return f"{head}\n{table}"


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


class ShownModel(pyo.ConcreteModel):  # type: ignore[misc]
    """A ConcreteModel that prints as a line, and that a notebook shows as its program and a table of its components."""

    def __str__(self) -> str:
        slug = getattr(self, SLUG, "")
        if self.parent_block() is not None or slug not in REGISTRIES.get("model", ()):
            return str(self.name)
        entry, p = REGISTRIES["model"][slug], compile_model(self)
        authors = [PAPERS[entry.paper].authors] if entry.paper else []
        parts = ((p.variables, "variable"), (p.constraints, "linear constraint"), (p.cones, "cone"))
        sizes = [counted(len(part), what) for part, what in (*parts, (p.general, "nonlinear constraint")) if len(part)]
        return f"{self.name}: {', '.join([program_class(p), *sizes])}; {', '.join([*authors, entry.equation])}"

    def _repr_html_(self) -> str:
        return html_of(self)

    def _repr_latex_(self) -> str | None:
        program = latex_of(self)
        return f"$${program}$$" if program else None
