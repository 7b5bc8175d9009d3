"""QOCO: linear, convex quadratic and second-order cone programs by a primal-dual interior-point method."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

qoco = Package("qoco")
TOLERANCE = 1e-9
SMALLEST = 1e-15
"""Tolerance in place of 0, which QOCO does not take."""
STATUS_MAP = {
    "QOCO_SOLVED": (Status.OPTIMAL, "optimal"),
    "QOCO_SOLVED_INACCURATE": (Status.FEASIBLE, "almost"),
    "QOCO_MAX_ITER": (Status.FEASIBLE, "iteration-limit"),
    "QOCO_NUMERICAL_ERROR": (Status.FEASIBLE, "numerical"),
    "QOCO_UNSOLVED": (Status.NONE, "numerical"),
}
"""QOCO has no word for infeasible or unbounded programs."""


class Qoco(QuadraticSolver):
    """One program for QOCO."""

    name = "qoco"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        solver = qoco.QOCO(algebra="builtin")
        self.trial = solver.ext.QOCOSettings()
        solver.ext.set_default_settings(self.trial)
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by QOCO's names."""
        tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, SMALLEST)
        return {**dict.fromkeys(("abstol", "reltol"), tolerance), "verbose": settings.tee}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""
        a = arrays
        sizes = len(a.c), len(a.h), len(a.b)
        equations, rows = ((matrix, v) if len(v) else (None, None) for matrix, v in ((a.A, a.b), (a.G, a.h)))
        solver = qoco.QOCO(algebra="builtin")
        solver.setup(*sizes, a.P, a.c, *equations, *rows, a.linear, len(a.cones), a.cones, **self.given)
        r = solver.solve()
        return QuadraticAnswer(r.status, np.array(r.x), np.array(r.y), np.array(r.z), int(r.iters))


SPEC = SolverSpec(
    name="qoco",
    connect=Qoco,
    package="qoco",
    ranks=dict.fromkeys(("LP", "QP", "SOCP"), 87),
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install qoco",
    licence="BSD-3-Clause",
)
