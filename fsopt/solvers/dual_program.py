"""The Lagrangian dual of a conic program as a program of its own, for solvers with poor or missing multipliers."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.compiler.cones import ConeStack
from fsopt.solvers.conic import ConicForm
from fsopt.typing import Vector


def dual_program(program: Program, *, ray: bool) -> tuple[Program, ConicForm]:
    r"""Return the dual of a convex program, and the conic form :math:`Mx + s = b` whose multipliers z it determines.

    With the objective :math:`\tfrac12 x'Px + q'x` and the self-dual cone :math:`\mathcal{K}` of s, the minimum over x
    of the Lagrangian is attained where :math:`Px + q + M'z = 0`; with v for that x the dual is

    .. math:: \max -b'z - \tfrac12 v'Pv \quad\text{s.t.}\quad M'z + Pv = -q,\quad
              z \in \mathbb{R}^e \times \mathbb{R}_+^l \times \mathcal{Q}_1 \times \dots

    Its variables are z, first, and v. With ``ray`` the program is that of the smallest Farkas vector instead:

    .. math:: \min \sum_{i \in l} z_i + \sum_k (z_k)_0 \quad\text{s.t.}\quad M'z = 0,\quad -b'z = 1,\quad
              z \text{ in the same cones}.

    It has a point exactly where the primal program is infeasible with a certificate.
    """
    form = ConicForm(program)
    b = form.right_hand_side()
    free = program.n * (not ray)  # number of variables v
    D = sp.diags(form.scale)
    P = sp.csc_matrix(D @ program.P @ D)[:, :free]
    A = sp.hstack([form.matrix().T, P], format="csr")
    right = -form.linear()
    cost = np.concatenate([b, np.zeros(free)])
    if ray:
        A = sp.vstack([A, -b[None, :]], format="csr")
        right = np.append(np.zeros(program.n), 1.0)
        cost = _size(form)
    dual = dataclasses.replace(
        program,
        P=sp.block_diag([sp.csc_matrix((len(b), len(b))), P[:free]], format="csc"),
        c=cost,
        c0=0.0,
        A=A,
        lo=right,
        hi=right,
        lb=_lower_bounds(form, len(cost)),
        ub=np.full(len(cost), np.inf),
        integer=np.zeros(len(cost), dtype=bool),
        cones=_cones(form, free),
    )
    return dual, form


def _lower_bounds(form: ConicForm, count: int) -> Vector:
    """Return 0 for the multipliers of inequalities, and no bound for all other variables."""
    low = np.full(count, -np.inf)
    low[form.equalities : form.equalities + form.inequalities] = 0.0
    return low


def _size(form: ConicForm) -> Vector:
    """Return the costs whose sum is a norm on the cones: 1 for inequalities and for the heads of cones."""
    plain = form.equalities + form.inequalities
    cost = np.zeros(form.shape[0])
    cost[form.equalities : plain] = 1.0
    cost[plain + form.program.cones.starts[:-1]] = 1.0
    return cost


def _cones(form: ConicForm, free: int) -> ConeStack:
    """Return the cones of the dual: each block of z itself lies in the cone of its block of s."""
    plain, k = form.equalities + form.inequalities, len(form.program.cones.h)
    parts = [sp.csr_matrix((k, plain)), sp.identity(k), sp.csr_matrix((k, free))]
    return dataclasses.replace(form.program.cones, G=sp.hstack(parts, format="csr"), h=np.zeros(k))
