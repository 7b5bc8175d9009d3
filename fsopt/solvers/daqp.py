"""DAQP: linear and convex quadratic programs by a dual active-set method with dense arrays, for some hundred variables.

A support vector machine of 569 samples takes seconds, and one of 768 more than 20 of them.
"""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

daqp = Package("daqp")
TOLERANCE = 1e-9
ABSENT = 1e30
"""DAQP's infinity."""
ROUNDING = 1e-15
"""Entries of a point up to this fraction of the largest, or of 1, are what its linear algebra leaves of 0."""
EQUATION = 5
"""DAQP's code of an active constraint that stays active."""
WORDS = {
    2: "soft optimal",
    1: "optimal",
    -1: "infeasible",
    -2: "cycle",
    -3: "unbounded",
    -4: "iteration limit",
    -5: "nonconvex",
    -6: "overdetermined",
    -7: "time limit",
    -8: "unsupported",
}
"""DAQP's exit flags."""
STATUS_MAP = {
    "soft optimal": (Status.NONE, "numerical"),
    "optimal": (Status.OPTIMAL, "optimal"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "cycle": (Status.FEASIBLE, "numerical"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "iteration limit": (Status.FEASIBLE, "iteration-limit"),
    "nonconvex": (Status.NONE, "numerical"),
    "overdetermined": (Status.NONE, "numerical"),
    "time limit": (Status.FEASIBLE, "time-limit"),
    "unsupported": (Status.NONE, "numerical"),
}


class Daqp(QuadraticSolver):
    """One program for DAQP."""

    name = "daqp"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        keywords = signature(daqp.solve).parameters.items()
        self.trial = SimpleNamespace(**{k: p.default for k, p in keywords if type(p.default) in (int, float)})
        self.trial.time_limit = 0.0  # of seconds, though 0 by default
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by DAQP's names."""
        return {"primal_tol": TOLERANCE if settings.tolerance is None else settings.tolerance}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program; a linear one by DAQP's proximal steps."""
        a, e = arrays, len(arrays.b)
        high, low = np.append(a.b, a.h), np.append(a.b, np.full(len(a.h), -ABSENT))
        sense = np.where(np.arange(len(high)) < e, EQUATION, 0).astype(np.int32)
        P = a.P.toarray() if a.P.nnz else None
        limit = {} if self.limit is None else {"time_limit": self.limit}
        M = np.vstack([a.A.toarray(), a.G.toarray()])
        x, _, flag, info = daqp.solve(P, a.c, M, high, low, sense, **self.given | limit)
        x = np.where(np.abs(x) > ROUNDING * min(1.0, np.abs(x).max(initial=0.0)), x, 0.0)
        return QuadraticAnswer(WORDS[flag], x, info["lam"][:e], info["lam"][e:], int(info["iterations"]))


SPEC = SolverSpec(
    name="daqp",
    connect=Daqp,
    package="daqp",
    ranks=dict.fromkeys(("LP", "QP"), 89),
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install daqp",
    licence="MIT",
)
