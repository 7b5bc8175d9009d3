"""The problem class of a Pyomo model, read from its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.common.arguments import checked
from fsopt.compiler import Program, compile_model
from fsopt.compiler.expressions import Terms, hessian, read
from fsopt.compiler.program import MODEL
from fsopt.compiler.recognition import lacking

CLASSES = ("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP", "MISDP", "NLP", "MINLP", "MPEC")
"""The problem classes; NLP and MINLP hold every program with other functions than those of the classes before them, or
not known to be convex, MPEC every program with complementarities, which no solver here accepts directly."""
CONVEX = frozenset({"LP", "QP", "SOCP", "SDP"})
"""The classes of convex programs."""


@checked(model=MODEL)
def classify(model: pyo.ConcreteModel) -> str:
    """Return the class of a model: one of :data:`CLASSES`.

    A program with linear constraints and a convex quadratic objective is a QP. A program with second-order cones is
    an SOCP and one with linear matrix inequalities an SDP, also with a convex quadratic objective, which the solvers
    of these classes accept. Nonconvex quadratic and all other nonlinear terms make an NLP. SOS constraints,
    disjunctions and logical constraints count as integer variables.

    Parameters
    ----------
    model : pyo.ConcreteModel
        Any Pyomo model.

    Returns
    -------
    str
        A word of :data:`CLASSES`.
    """
    return program_class(compile_model(model))


def program_class(program: Program) -> str:
    """Return the class of a compiled model."""
    integer = bool(program.discrete or program.unsupported)
    if "Complementarity" in program.unsupported:
        return "MPEC"
    if not program.convex:
        return "MINLP" if integer else "NLP"
    matrices = bool(program.cones.orders.any())
    kind = "SDP" if matrices else "SOCP" if len(program.cones) else "QP" if program.P.nnz else "LP"
    return {"LP": "MILP", "QP": "MIQP", "SOCP": "MISOCP", "SDP": "MISDP"}[kind] if integer else kind


def smoothly_convex(program: Program) -> bool:
    """Return whether a program of exponentials, logarithms, roots and quadratics is continuous, and convex by rules."""
    if not (program.general or program.objective_terms) or program.discrete or program.unsupported:
        return False
    parts = [(Terms(nonlinear=program.objective_terms), program.sign)]
    parts += [(row.terms, 1.0) for row in program.general if np.isfinite(row.hi)]
    parts += [(row.terms, -1.0) for row in program.general if np.isfinite(row.lo)]
    return program.convex_objective and all(_convex(program, *part) for part in parts)


def _convex(program: Program, terms: Terms, sign: float = 1.0) -> bool:
    """Return whether a sum of terms, times a sign, is convex."""
    curved = not terms.quadratic or lacking(sign * hessian(terms, program.n)) is not None
    return curved and all(_node_convex(program, node, sign * scale > 0.0) for scale, node in terms.nonlinear)


def _node_convex(program: Program, node: Any, up: bool) -> bool:
    """Return whether a node is convex (``up``), or concave."""
    name, inner = node.getname(), read(node.args[0], program.column)
    if name == "exp":
        return up and _convex(program, inner)
    if name in ("log", "log10") and up:
        return _log_convex(program, inner)
    return name in ("log", "log10", "sqrt") and not up and _convex(program, inner, -1.0)


def _log_convex(program: Program, terms: Terms) -> bool:
    """Return whether the logarithm of a sum is convex: of a number and exponentials of convex functions."""
    if terms.columns or terms.dots or terms.quadratic or terms.constant < 0.0:
        return False
    for scale, node in terms.nonlinear:
        if scale < 0.0 or node.getname() != "exp" or not _convex(program, read(node.args[0], program.column)):
            return False
    return True
