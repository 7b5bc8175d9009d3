"""The problem class of a Pyomo model, read from its arrays."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.common.arguments import checked
from fsopt.compiler import Program, compile_model
from fsopt.compiler.program import MODEL

CLASSES = ("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP", "MISDP", "NLP", "MINLP", "MPEC")
"""The problem classes; NLP and MINLP hold every program that is not known to be convex, MPEC every program with
complementarities, which no solver here accepts directly."""


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
