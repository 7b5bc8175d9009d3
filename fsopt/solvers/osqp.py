"""OSQP: convex quadratic programs by an operator splitting method, with its polishing of the answer."""

from __future__ import annotations

from contextlib import nullcontext, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

osqp = Package("osqp")
TOLERANCE = 1e-9
SMALLEST = 1e-15
"""Tolerance in place of 0, which OSQP does not take."""
MAX_ITER = 100_000
STATUS_MAP = {
    "OSQP_SOLVED": (Status.OPTIMAL, "optimal"),
    "OSQP_SOLVED_INACCURATE": (Status.FEASIBLE, "almost"),
    "OSQP_PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "OSQP_PRIMAL_INFEASIBLE_INACCURATE": (Status.NONE, "numerical"),
    "OSQP_DUAL_INFEASIBLE": (Status.UNBOUNDED, "unbounded"),
    "OSQP_DUAL_INFEASIBLE_INACCURATE": (Status.NONE, "numerical"),
    "OSQP_MAX_ITER_REACHED": (Status.FEASIBLE, "iteration-limit"),
    "OSQP_TIME_LIMIT_REACHED": (Status.FEASIBLE, "time-limit"),
    "OSQP_NON_CVX": (Status.NONE, "numerical"),
    "OSQP_SIGINT": (Status.NONE, "interrupted"),
    "OSQP_UNSOLVED": (Status.NONE, "numerical"),
}
"""By the names in ``osqp.SolverStatus``."""


class Osqp(QuadraticSolver):
    """One program for OSQP, always in its own linear algebra, which gives the same answer on every machine."""

    name = "osqp"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        solver = osqp.OSQP(algebra="builtin")
        self.trial = solver.ext.OSQPSettings()
        solver.ext.osqp_set_default_settings(self.trial)
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by OSQP's names."""
        tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, SMALLEST)
        common = {**dict.fromkeys(("eps_abs", "eps_rel"), tolerance), "polishing": True, "max_iter": MAX_ITER}
        return {**common, "verbose": settings.tee}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""
        a = arrays
        low, high = np.append(a.b, np.full(len(a.h), -np.inf)), np.append(a.b, a.h)
        limit = {} if self.limit is None else {"time_limit": self.limit}
        solver = osqp.OSQP(algebra="builtin")
        solver.setup(a.P, a.c, sp.vstack([a.A, a.G], format="csc"), low, high, **self.given | limit)
        with nullcontext() if self.given["verbose"] else redirect_stdout(StringIO()):  # the polishing always prints
            r = solver.solve(raise_error=False)
        word = osqp.SolverStatus(r.info.status_val).name
        y = np.array(r.prim_inf_cert if word == "OSQP_PRIMAL_INFEASIBLE" else r.y)
        return QuadraticAnswer(word, np.array(r.x), y[: len(a.b)], y[len(a.b) :], int(r.info.iter))


SPEC = SolverSpec(
    name="osqp",
    connect=Osqp,
    package="osqp",
    ranks={"QP": 88},
    declined={"LP": "it reaches its limit of iterations on linear programs"},
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install osqp",
    licence="Apache-2.0",
)
