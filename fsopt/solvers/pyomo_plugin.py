"""fsopt's own solvers under Pyomo's roof: ``pyo.SolverFactory("clarabel").solve(model)``.

This module is loaded by ``import fsopt``, so it takes from Pyomo its registry of solvers alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyomo.common import dependencies
from pyomo.opt import SolverFactory, SolverResults, SolverStatus, TerminationCondition

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult

OURS = ("clarabel",)
"""Solvers without an interface in Pyomo."""
TERMINATION = {
    "optimal": TerminationCondition.optimal,
    "stationary": TerminationCondition.locallyOptimal,
    "feasible": TerminationCondition.feasible,
    "infeasible": TerminationCondition.infeasible,
    "unbounded": TerminationCondition.unbounded,
    "none": TerminationCondition.error,
}
"""Status of fsopt -> Pyomo's word."""


class _FactorySolver:
    """A solver of fsopt with the methods that Pyomo expects of an entry of :class:`pyomo.opt.SolverFactory`."""

    name = ""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.options: dict[str, Any] = dict(options or {})

    def available(self, exception_flag: bool = False) -> bool:
        """Return whether the solver's package is installed."""
        return bool(import_module("fsopt.solvers.registry").SOLVERS[self.name].available)

    def solve(
        self,
        model: pyo.ConcreteModel,
        *,
        tee: bool = False,
        timelimit: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> SolverResults:
        """Solve a model, load the answer into it, and return Pyomo's results object.

        Values, and shadow prices in the suffixes ``dual`` and ``rc``, are those of :func:`fsopt.solve`; the
        certificate's largest residual is in ``results.solver.message``.
        """
        # Imported here: ``import fsopt`` loads this module, and must not load numpy and the compiler.
        solving = import_module("fsopt.solvers.base")
        own = {**self.options, **(options or {})}
        return as_pyomo(solving.solve(model, self.name, time_limit=timelimit, options=own, tee=tee), model)


def as_pyomo(result: SolveResult, model: pyo.ConcreteModel) -> SolverResults:
    """Return a result in Pyomo's own form."""
    from pyomo.environ import Objective, maximize

    results = SolverResults()
    results.problem.name = model.name
    results.solver.name = result.solver
    results.solver.status = SolverStatus.ok if result.status.solved else SolverStatus.warning
    results.solver.termination_condition = TERMINATION[result.status]
    worst = "" if result.certificate is None else f", certificate {result.certificate.worst:.1e}"
    results.solver.message = f"{result.stop}{worst}"
    results.solver.wallclock_time = sum(result.seconds.values())
    objective = next(model.component_data_objects(Objective, active=True), None)
    maximise = objective is not None and objective.sense == maximize
    known = {"upper_bound": result.objective, "lower_bound": result.bound}
    if maximise:
        known = {"lower_bound": result.objective, "upper_bound": result.bound}
    for name, value in known.items():
        if value is not None:
            setattr(results.problem, name, value)
    return results


def register() -> None:
    """Enter fsopt's solvers in Pyomo's factory.

    Pyomo imports ``scipy.stats`` with SciPy, half a second of every start. SciPy itself loads this part at its first
    use, so that Pyomo need not.
    """
    if "scipy" not in sys.modules:
        vars(dependencies.scipy_available)["_callback"] = None
    for name in OURS:
        solver = type(f"Fsopt{name.capitalize()}", (_FactorySolver,), {"name": name})
        SolverFactory.register(name, doc=f"{name} through fsopt")(solver)
