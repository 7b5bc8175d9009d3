"""A model solved again by another solver: ``fsopt solve --verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult


def second_solve(model: pyo.ConcreteModel, solver: str, first: SolveResult) -> dict[str, Any]:
    """Solve again with another solver and return the relative differences of both answers."""
    from fsopt.answers.records import plain
    from fsopt.solvers.base import Session

    second = Session(model, solver).solve(load=False)
    difference = None
    if first.objective is not None and second.objective is not None:
        difference = abs(first.objective - second.objective) / max(1.0, abs(first.objective))
    certificate = second.certificate
    found = {
        "solver": solver,
        "status": second.status,
        "objective": second.objective,
        "difference": difference,
        "infeasibility": None if certificate is None else certificate.residuals.get("infeasibility"),
        "dual_difference": _dual_difference(model, first, second),
    }
    return {k: plain(v) for k, v in found.items()}


def _dual_difference(model: pyo.ConcreteModel, first: SolveResult, second: SolveResult) -> float | None:
    """Return the largest relative difference of shadow prices, None if a solver gives none."""
    import numpy as np
    import pyomo.environ as pyo

    from fsopt.errors import ParameterError

    worst = 0.0
    for component in model.component_objects(pyo.Constraint, active=True):
        try:
            a, b = (np.array(list(r.duals(component).values()), dtype=float) for r in (first, second))
        except ParameterError:
            return None
        apart = np.abs(a - b) / (1.0 + np.abs(a))
        worst = max(worst, float(np.nanmax(apart, initial=0.0)))
    return worst
