"""cuOpt: linear and convex quadratic programs on an NVIDIA GPU, by NVIDIA's documentation of it.

cuOpt minimises c'x + x'Qx, so that Q = P / 2, and its dual variables are shadow prices: at least 0 for a lower bound.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import Arrays, QuadraticAnswer, QuadraticSolver
from fsopt.solvers.spec import Package, SolverSpec

cuopt = Package("cuopt.linear_programming")
parameters = Package("cuopt.linear_programming.solver.solver_parameters")
TOLERANCE = 1e-8
STATUS_MAP = {
    "Optimal": (Status.OPTIMAL, "optimal"),
    "PrimalFeasible": (Status.FEASIBLE, "almost"),
    "PrimalInfeasible": (Status.INFEASIBLE, "infeasible"),
    "DualInfeasible": (Status.UNBOUNDED, "unbounded"),
    "UnboundedOrInfeasible": (Status.NONE, "numerical"),
    "IterationLimit": (Status.FEASIBLE, "iteration-limit"),
    "TimeLimit": (Status.FEASIBLE, "time-limit"),
    "NumericalError": (Status.FEASIBLE, "numerical"),
    "NoTermination": (Status.NONE, "numerical"),
}
"""By the names in ``LPTerminationStatus``, of quadratic programs too."""


class Cuopt(QuadraticSolver):
    """One program for cuOpt."""

    name = "cuopt"
    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        defaults = cuopt.SolverSettings()
        known = {name: defaults.get_parameter(name) for name in parameters.solver_params}
        # A number is read from text: one without a decimal point may stand for a real one.
        self.trial = SimpleNamespace(**{k: float(v) if type(v) is int else v for k, v in known.items()})
        super().__init__(program, settings)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the common options by cuOpt's names."""
        tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
        kinds = (f"{size}_{part}_tolerance" for size in ("absolute", "relative") for part in ("primal", "dual", "gap"))
        return {**dict.fromkeys(kinds, tolerance), "log_to_console": settings.tee}

    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""
        a, e = arrays, len(arrays.b)
        m = e + len(a.h)
        low, high = np.append(a.b, np.full(len(a.h), -np.inf)), np.append(a.b, a.h)
        M = sp.csr_matrix(sp.vstack([a.A, a.G]))
        if not m:  # cuOpt needs a constraint: 0 x = 0
            M = sp.csr_matrix(([0.0], [0], [0, 1]), (1, len(a.c)))
            low = high = np.zeros(1)
        model = cuopt.DataModel()
        model.set_csr_constraint_matrix(*_csr(M))
        model.set_constraint_lower_bounds(low)
        model.set_constraint_upper_bounds(high)
        model.set_objective_coefficients(a.c)
        model.set_variable_lower_bounds(np.full(len(a.c), -np.inf))
        model.set_variable_upper_bounds(np.full(len(a.c), np.inf))
        if a.P.nnz:
            model.set_quadratic_objective_matrix(*_csr(sp.csr_matrix(a.P / 2.0)))
        settings = cuopt.SolverSettings()
        limit = {} if self.limit is None else {"time_limit": self.limit}
        for name, value in {**self.given, **limit}.items():
            settings.set_parameter(name, value)
        found = cuopt.Solve(model, settings)
        x, dual = (np.array(v, dtype=float) for v in (found.get_primal_solution(), found.get_dual_solution()))
        y = -dual[:m] if len(dual) >= m else np.full(m, np.nan)
        iterations = int(found.get_lp_stats()["nb_iterations"])
        return QuadraticAnswer(found.get_termination_reason(), x, y[:e], y[e:], iterations)


def _csr(matrix: sp.csr_matrix) -> tuple[Any, Any, Any]:
    """Return values, indices and offsets in the types that cuOpt takes."""
    return matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)


def _present() -> bool:
    """Return whether the package is installed, and an NVIDIA GPU is there."""
    device = any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()
    return device and find_spec("cuopt") is not None


SPEC = SolverSpec(
    name="cuopt",
    connect=Cuopt,
    package="cuopt",
    ranks=dict.fromkeys(("LP", "QP"), 90),
    declined={
        "MILP": "its absolute tolerance of programs with integers is 1e-4",
        "SOCP": "it gives no multipliers of a program with cones",
    },
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="with an NVIDIA GPU and Linux, pip install cuopt-cu12",
    licence="Apache-2.0; it needs an NVIDIA GPU",
    present=_present,
)
