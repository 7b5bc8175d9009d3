"""Pyomo's own tests of a solver interface, for the classes of fsopt: ``pyomo.contrib.solver.tests.solvers``."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any
from unittest import mock

from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.opt import SolverFactory as LegacySolverFactory

from fsopt.solvers.registry import solver_spec

NAMES = tuple(name for name in SolverFactory if name.startswith("fsopt"))
"""The classes of fsopt, by their names in Pyomo's factories."""
NEEDS = {
    "all_solvers": {"LP"},
    "mip_solvers": {"MILP"},
    "nlp_solvers": {"NLP"},
    "qcp_solvers": {"SOCP"},
    "qp_solvers": {"QP"},
    "miqcqp_solvers": {"MISOCP"},
    "dual_solvers": {"LP"},
    "sos_solvers": {"MILP"},
}
"""List of solvers in Pyomo's tests -> the classes of programs that one in it solves."""

UNSOLVED = {"test_config_overwrite", "test_time_limit"}
"""Tests that solve no program."""
QUADRATIC = "its terms are linear and quadratic"
OWN = {
    (name, test): QUADRATIC
    for name in ("fsopt_gurobi", "fsopt_xpress")
    for test in ("test_exp", "test_log", "test_fixed_vars_4")
}
OWN |= {("fsopt_gurobi", "test_mutable_quadratic_objective_qcp"): "the gap of its cones is next to the tolerance"}
"""Class and test -> why it is not to pass."""
EITHER = {("fsopt_gurobi", "test_mutable_quadratic_objective_qcp")}
"""Those that pass on some machines."""


class _Raw:
    """In the place of ``parameterized``: a test keeps its function, and the solvers that Pyomo lists for it."""

    @classmethod
    def expand(cls, input: list[tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
        def keep(function: Callable[..., None]) -> Callable[..., None]:
            vars(function)["listed"] = {entry[1] for entry in input}
            vars(function)["extra"] = len(input[0]) - 2
            return function

        return keep


@cache
def contract() -> ModuleType:
    """Return Pyomo's module of tests, with the classes of fsopt in its lists."""
    stub = ModuleType("parameterized")
    vars(stub)["parameterized"] = _Raw
    with mock.patch.dict(sys.modules, {"parameterized": stub}):
        from pyomo.contrib.solver.tests.solvers import test_solvers as found
    for name in NAMES:
        vars(found)["all_solvers"].append((name, SolverFactory.get_class(name)))
        if duals(name):
            vars(found)["dual_solvers"].append((name, SolverFactory.get_class(name)))
        LegacySolverFactory.register(f"{name}_v2")(LegacySolverFactory.get_class(name))
    return found


def duals(name: str) -> bool:
    """Return whether a class gives multipliers."""
    solver = SolverFactory.get_class(name).solver
    return solver is None or solver_spec(solver).duals


def solves(name: str) -> set[str]:
    """Return the classes of programs that a class of fsopt solves."""
    solver = SolverFactory.get_class(name).solver
    return {"LP", "QP", "SOCP", "MILP", "MISOCP", "NLP"} if solver is None else set(solver_spec(solver).classes)


def tests() -> Iterator[tuple[str, str, Callable[..., None]]]:
    """Yield class, name and function of Pyomo's tests that take a solver."""
    module = contract()
    for case in (module.TestDualSignConvention, module.TestSolvers, module.TestLegacySolverInterface):
        for name, function in vars(case).items():
            if name.startswith("test_") and hasattr(function, "listed"):
                yield case.__name__, name, function


def kind(function: Callable[..., None]) -> str:
    """Return the name of Pyomo's list of solvers for a test, ``highs`` for that of an option of HiGHS."""
    module = contract()
    ours = {SolverFactory.get_class(name) for name in NAMES}
    for word in (*NEEDS, "nl_solvers"):
        if vars(function)["listed"] == {entry[1] for entry in vars(module)[word]} - ours:
            return word
    return "highs"


def reason(name: str, test: str, listed: str) -> str:
    """Return why a class of fsopt is not to pass a test, empty if it has to."""
    if test in UNSOLVED:
        return ""
    lacks = sorted(NEEDS.get(listed, {"LP"}) - solves(name))
    if lacks:
        return f"it solves no {lacks[0]}"
    if listed == "dual_solvers" and not duals(name):
        return "it gives no multipliers"
    if listed == "nl_solvers":
        return "of Pyomo's writer of .nl files, which fsopt does not call"
    if listed == "highs" and name not in ("fsopt", "fsopt_highs"):
        return "of an option of HiGHS"
    if listed == "sos_solvers":
        return "it takes no special ordered sets"
    return OWN.get((name, test), "")


def run(case: str, test: str, name: str) -> None:
    """Run one of Pyomo's tests for one class of fsopt."""
    owner = getattr(contract(), case)
    function = vars(owner)[test]
    function(owner(test), name, SolverFactory.get_class(name), *[None] * vars(function)["extra"])
