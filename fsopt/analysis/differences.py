"""The difference of two formulations: components, sizes, classes, optimal values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.questions import Answer
from fsopt.common.arguments import FLAG, checked
from fsopt.common.figures import new_figure
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import program_class
from fsopt.compiler.program import MODEL
from fsopt.errors import FsoptError
from fsopt.models.display import components
from fsopt.solvers.base import solve as solve_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLOSE = 1e-6
"""Largest relative difference of optimal values that count as equal."""


@dataclass(frozen=True)
class Difference(Answer):
    """The answer of :func:`compare_models`.

    Attributes
    ----------
    names : of the two models.
    facts : name -> pair of values: class, sense, numbers of variables, integers, linear constraints, nonzeros, cones.
    only : components (name, kind, size, equation) of the first and of the second model alone.
    changed : (name, first, second) of components that both have, with another kind, size or equation.
    optima : optimal values, None where a model was not solved to a certified optimum.
    """

    names: tuple[str, str]
    facts: dict[str, tuple[Any, Any]]
    only: tuple[list[tuple[str, str, int, str]], list[tuple[str, str, int, str]]]
    changed: list[tuple[str, tuple[str, int, str], tuple[str, int, str]]]
    optima: tuple[float | None, float | None]

    @property
    def heading(self) -> dict[str, Any]:
        """The names of the models, their optimal values, and whether these agree."""
        first, second = self.names
        return {"first": first, "second": second, "optima": list(self.optima), "same optimum": self.same_optimum}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each fact, and for each component in which the models differ: its name, and both."""
        rows: list[tuple[str, Any, Any]] = [(name, *pair) for name, pair in self.facts.items()]
        rows += [(component[0], _component(*component[1:]), None) for component in self.only[0]]
        rows += [(component[0], None, _component(*component[1:])) for component in self.only[1]]
        rows += [(name, _component(*first), _component(*second)) for name, first, second in self.changed]
        return [dict(zip(("name", "first", "second"), row, strict=True)) for row in rows]

    def plot(self) -> Figure:
        """Return the sizes of both models: variables, constraints, nonzeros and cones."""
        sizes = {name: pair for name, pair in self.facts.items() if not isinstance(pair[0], str)}
        figure = new_figure(1, height=1.2 + 0.4 * len(sizes))
        axes, places = figure.axes[0], np.arange(len(sizes))
        for k, name in enumerate(self.names):
            axes.barh(places + 0.4 * k, [pair[k] for pair in sizes.values()], height=0.4, label=name)
        axes.set_yticks(places + 0.2, list(sizes))
        axes.set_xscale("symlog")
        axes.legend()
        return figure

    @property
    def same_optimum(self) -> bool | None:
        """Whether the optimal values agree to 1e-6 relative; None where one is not known."""
        first, second = self.optima
        if first is None or second is None:
            return None
        return abs(first - second) <= CLOSE * max(1.0, abs(first))


@checked(first=MODEL, second=MODEL, solve=FLAG)
def compare_models(first: pyo.ConcreteModel, second: pyo.ConcreteModel, *, solve: bool = True) -> Difference:
    """Compare two models by components, sizes, classes and optimal values.

    Parameters
    ----------
    first, second : pyo.ConcreteModel
        Any Pyomo models.
    solve : bool, default True
        Whether both are solved for their optimal values, by the preferred solvers of their classes.

    Returns
    -------
    Difference
        Components in one model only, sizes, classes, and both optimal values where they were solved.
    """
    programs = compile_model(first), compile_model(second)
    facts = [_facts(p) for p in programs]
    listed = [{name: tuple(rest) for name, *rest in components(m)} for m in (first, second)]
    only = tuple([(name, *rest) for name, rest in listed[k].items() if name not in listed[1 - k]] for k in range(2))
    both = [name for name in listed[0] if name in listed[1]]
    return Difference(
        (str(first.name), str(second.name)),
        {name: (facts[0][name], facts[1][name]) for name in facts[0]},
        only,  # type: ignore[arg-type]
        [(name, listed[0][name], listed[1][name]) for name in both if listed[0][name] != listed[1][name]],  # type: ignore[misc]
        (_optimum(first), _optimum(second)) if solve else (None, None),
    )


def _component(kind: str, size: int, equation: str) -> str:
    return f"{kind} ({size}) {equation}"


def _facts(p: Program) -> dict[str, Any]:
    return {
        "class": program_class(p),
        "sense": "maximise" if p.sign < 0 else "minimise",
        "variables": p.n,
        "integer": int(p.integer.sum()),
        "linear constraints": int(p.A.shape[0]),
        "nonzeros": int(p.A.nnz),
        "cones": len(p.cones),
    }


def _optimum(model: pyo.ConcreteModel) -> float | None:
    try:
        result = solve_model(model, time_limit=60.0)
    except FsoptError:
        return None
    return result.objective if result.status == "optimal" else None
