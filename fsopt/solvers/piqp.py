"""PIQP: linear and convex quadratic programs by a proximal interior-point method."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

piqp = Package("piqp")
TOLERANCE = 1e-10
STATUS_MAP = {
    "PIQP_SOLVED": (Status.OPTIMAL, "optimal"),
    "PIQP_MAX_ITER_REACHED": (Status.FEASIBLE, "iteration-limit"),
    "PIQP_PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "PIQP_DUAL_INFEASIBLE": (Status.UNBOUNDED, "unbounded"),
    "PIQP_NUMERICS": (Status.FEASIBLE, "numerical"),
    "PIQP_UNSOLVED": (Status.NONE, "numerical"),
    "PIQP_INVALID_SETTINGS": (Status.NONE, "numerical"),
}


class Piqp(QuadraticSolver):
    """One program for PIQP."""

    name = "piqp"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        self.solver = piqp.SparseSolver()
        self.trial = self.solver.settings
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by PIQP's names."""
        tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
        names = ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel")
        return {**dict.fromkeys(names, tolerance), "verbose": settings.tee}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""
        a = arrays
        none = np.full(len(a.h), -np.inf)
        self.solver.setup(a.P, a.c, a.A, a.b, a.G, none, a.h)
        word = self.solver.solve().name
        r = self.solver.result
        return QuadraticAnswer(word, np.array(r.x), np.array(r.y), np.array(r.z_u), int(r.info.iter))


SPEC = SolverSpec(
    name="piqp",
    connect=Piqp,
    package="piqp",
    ranks=dict.fromkeys(("LP", "QP"), 85),
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-7,
    pip="pip install piqp",
    licence="BSD-2-Clause",
)
