"""ProxQP: convex quadratic programs by a proximal augmented Lagrangian method."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

proxsuite = Package("proxsuite")
TOLERANCE = 1e-9
STATUS_MAP = {
    "PROXQP_SOLVED": (Status.OPTIMAL, "optimal"),
    "PROXQP_SOLVED_CLOSEST_PRIMAL_FEASIBLE": (Status.NONE, "numerical"),
    "PROXQP_MAX_ITER_REACHED": (Status.FEASIBLE, "iteration-limit"),
    "PROXQP_PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "PROXQP_DUAL_INFEASIBLE": (Status.UNBOUNDED, "unbounded"),
    "PROXQP_NOT_RUN": (Status.NONE, "numerical"),
}


class Proxqp(QuadraticSolver):
    """One program for ProxQP."""

    name = "proxqp"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        self.trial = proxsuite.proxqp.dense.QP(1, 0, 0).settings
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by ProxQP's names."""
        tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
        names = ("eps_abs", "eps_duality_gap_abs")
        common = {**dict.fromkeys(names, tolerance), "eps_rel": 0.0, "eps_duality_gap_rel": 0.0}
        return {**common, "check_duality_gap": True, "verbose": settings.tee}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""
        a = arrays
        none = np.full(len(a.h), -np.inf)
        solver = proxsuite.proxqp.dense.QP(len(a.c), len(a.b), len(a.h))
        for name, value in self.given.items():
            setattr(solver.settings, name, value)
        solver.init(a.P.toarray(), a.c, a.A.toarray(), a.b, a.G.toarray(), none, a.h)
        solver.solve()
        r = solver.results
        return QuadraticAnswer(r.info.status.name, np.array(r.x), np.array(r.y), np.array(r.z), int(r.info.iter))


SPEC = SolverSpec(
    name="proxqp",
    connect=Proxqp,
    package="proxsuite",
    ranks={"QP": 86},
    declined={"LP": "it reaches its limit of iterations on linear programs"},
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install proxsuite",
    licence="BSD-2-Clause",
)
