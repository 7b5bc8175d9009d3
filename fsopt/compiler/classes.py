"""The problem class of a Pyomo model, read from its arrays."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.compiler import Program, compile_model

CLASSES = ("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP", "MISDP", "NLP", "MINLP", "MPEC")
"""What :func:`classify` can answer; NLP and MINLP stand for everything that is not known to be convex, MPEC for
everything with complementarities, which no solver takes as they are."""


def classify(model: pyo.ConcreteModel) -> str:
    """Return the class of a model: one of :data:`CLASSES`.

    A convex quadratic objective alone makes a QP; with second-order cones it is counted as SOCP, with a linear
    matrix inequality as SDP, which is what the solvers of those classes take.
    Nonconvex quadratics and every other nonlinearity make an NLP. SOS constraints, disjunctions and logical
    constraints count as integers.
    """
    return program_class(compile_model(model))


def program_class(program: Program) -> str:
    """Return the class of a compiled model."""
    integer = bool(program.integer.any() or program.unsupported)
    if "Complementarity" in program.unsupported:
        return "MPEC"
    if program.nonconic or not convex(program.P):
        return "MINLP" if integer else "NLP"
    matrices = bool(program.cones.orders.any())
    kind = "SDP" if matrices else "SOCP" if len(program.cones) else "QP" if program.P.nnz else "LP"
    return {"LP": "MILP", "QP": "MIQP", "SOCP": "MISOCP", "SDP": "MISDP"}[kind] if integer else kind


def convex(P: sp.csc_matrix) -> bool:
    """Return whether a symmetric matrix is positive semidefinite, to 1e-10 of its largest eigenvalue."""
    diagonal = P.diagonal()
    if np.any(diagonal < 0):
        return False
    if sp.triu(P, 1).count_nonzero() == 0:
        return True
    active = np.flatnonzero(np.diff(P.indptr))
    values = np.linalg.eigvalsh(P[active][:, active].toarray())
    return bool(values[0] >= -1e-10 * max(values[-1], 0.0))
