"""SCIP's parameters for a program."""

from __future__ import annotations

from typing import Any

from fsopt.compiler import Program
from fsopt.compiler.classes import program_class
from fsopt.solvers.interface import Settings, set_options

TOLERANCE = 1e-9
TOLERANCE_QUADRATIC = 1e-8
"""For quadratic programs without cones: below it SCIP's linear programs fail.

It is too much for a sum of exponentials, say, in which every term gains by its tolerance.
"""
NLP_HEURISTICS = {"heuristics/multistart/freq": -1}
"""Switched off for convex cone programs: there its local solver runs for minutes at the tips of cones."""
NO_PRESOLVE = {"presolving/maxrounds": 0}
"""For linear programs: SCIP has multipliers only where the program of its simplex method is the one it was given."""


def put_options(m: Any, program: Program, settings: Settings, factor: float) -> None:
    """Set the parameters of a model of pyscipopt: those for the program, and then the user's.

    Parameters
    ----------
    factor : of the objective in SCIP.
    """
    if not settings.tee:
        m.hideOutput()
    standard = TOLERANCE if len(program.cones) or not _has_products(program) else TOLERANCE_QUADRATIC
    common: dict[str, Any] = {
        "numerics/feastol": standard if settings.tolerance is None else max(settings.tolerance, 1e-10),
        "numerics/dualfeastol": 1e-9,
        "limits/gap": settings.mip_gap,
        # Relative to max(1, |value|), as in the certificate.
        "limits/absgap": settings.mip_gap * min(factor, 1.0),
        "lp/threads": settings.threads,
        "randomization/randomseedshift": settings.seed,
    }
    if len(program.cones) and program.convex:
        common |= NLP_HEURISTICS
    if program_class(program) == "LP":
        common |= NO_PRESOLVE
    known = m.getParams()

    def put(name: str, value: Any) -> None:
        if name not in known:
            raise KeyError("there is no such parameter")
        m.setParam(name, value)

    refusals = (TypeError, ValueError, KeyError, OverflowError, AttributeError, OSError)
    set_options("scip", {**common, **settings.own}, put, refusals)


def _has_products(program: Program) -> bool:
    return bool(program.P.nnz or any(row.terms.quadratic for row in program.general))
