"""Options ``--sensitivity`` and ``--explain`` of ``solve``: shadow prices, and the reason of an infeasibility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fsopt.cli.output import remark, show, table
from fsopt.errors import SolverError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult
    from fsopt.solvers.base import Session

LISTED = 10
"""Constraints and variables that are printed; the record has all."""


def prices(session: Session, result: SolveResult) -> dict[str, Any]:
    """Return the shadow prices and reduced costs of a result, or why it has none: the answer stays."""
    from fsopt.analysis.sensitivity import of_optimum
    from fsopt.answers.records import plain

    try:
        found = of_optimum(session, result)
    except SolverError as error:
        return {"failed": str(error)}
    return {k: plain([asdict(line) for line in getattr(found, k)]) for k in ("constraints", "variables")}


def explanation(model: pyo.ConcreteModel, time_limit: float | None) -> dict[str, Any]:
    """Return the constraints and bounds of a model that contradict each other; the answer stays where that fails."""
    from fsopt.analysis.infeasibility import explain_infeasibility
    from fsopt.answers.records import plain

    try:
        found = explain_infeasibility(model, time_limit=time_limit or 60.0)
    except (SolverError, KeyboardInterrupt) as error:
        return {"status": "unknown", "summary": f"not explained: {str(error) or 'interrupted'}"}
    return {**plain(asdict(found)), "summary": found.summary()}


def print_prices(found: Mapping[str, Any]) -> None:
    """Print the largest shadow prices and variables, with the ranges of a linear program."""
    if "failed" in found:
        remark(f"no sensitivity: {found['failed']}")
        return
    binding = [line for line in found["constraints"] if line["price"]]
    _print_lines("largest shadow prices", ("constraint", "price", "right-hand side"), binding, "price")
    _print_lines("variables", ("variable", "reduced cost", "cost"), found["variables"], "value")


def _print_lines(title: str, heads: tuple[str, str, str], lines: list[dict[str, Any]], by: str) -> None:
    largest = sorted(lines, key=lambda line: -abs(float(line[by])))[:LISTED]
    rows = [(line["name"], line["value"], line["price"], _range(line["range"])) for line in largest]
    show(table(title, (heads[0], ">value", *(f">{head}" for head in heads[1:])), rows))


def _range(found: list[float] | None) -> str:
    from fsopt.analysis.sensitivity import unlimited

    return "-" if found is None else " .. ".join("" if unlimited(end) else f"{end:.5g}" for end in map(float, found))
