r"""Substitution of variables by others in a quadratic objective, so that it may become convex.

With fixed :math:`\sigma`, the constraint :math:`v_j = \sigma_j w_j` is a linear equation in one or two variables, and
:math:`v_j w_j` is :math:`\sigma_j w_j^2` on the feasible set: convex, where the product of two variables is not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.program import Program
from fsopt.typing import Vector


def with_substituted_objective(program: Program) -> Program:
    """Return a program with the same feasible set, and an objective that is the same function on it.

    Each linear equation of one or two variables gives one of them by the other: x = Tx + t on the feasible set. The
    objective gets the arrays T'PT, T'(Pt + c) and t'Pt/2 + c't + c0; constraints and variables stay.
    """
    T, t = _substitution(program)
    P = sp.csc_matrix(T.T @ program.P @ T)
    P.eliminate_zeros()
    c0 = program.c0 + float(program.c @ t + 0.5 * t @ (program.P @ t))
    return replace(program, P=P, c=np.asarray(T.T @ (program.P @ t + program.c)), c0=c0)


def _substitution(program: Program) -> tuple[sp.csr_matrix, Vector]:
    """Return T (n, n) and t (n,) with x = Tx + t on the feasible set."""
    A = program.A.copy()
    A.eliminate_zeros()
    lengths = np.diff(A.indptr)
    short = np.flatnonzero((program.lo == program.hi) & ((lengths == 1) | (lengths == 2)))
    T, t = sp.identity(program.n, format="lil"), np.zeros(program.n)
    replaced, kept = set[int](), set[int]()
    for i in short.tolist():
        columns = A.indices[A.indptr[i] : A.indptr[i + 1]].tolist()
        a = A.data[A.indptr[i] : A.indptr[i + 1]].tolist()
        if any(j in replaced for j in columns) or columns[0] in kept:
            continue
        replaced.add(columns[0])
        kept.update(columns[1:])
        T[columns[0], columns[0]] = 0.0
        t[columns[0]] = program.lo[i] / a[0]
        if len(columns) == 2:
            T[columns[0], columns[1]] = -a[1] / a[0]
    return T.tocsr(), t
