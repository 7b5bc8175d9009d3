r"""Support vector machines on many selections of one size, by the interior point of a node without free features.

.. math:: \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha) - \tfrac12 \|Z_S'\alpha\|^2, \qquad Z = YX,

for many selections S. The neighbours of a selection are hundreds of small programs. In numpy a step of all of them is a
few operations on arrays with one more dimension, so that the interpreter's share of the time vanishes; compiled
functions solve one after another. A program is left where its gap is closed, or where the value of its dual shows that
it is above a cutoff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.data.losses import DualTerm, dual_curvature
from fsopt.search.branch_and_benders.interior_point import ITERATIONS, LARGEST, Best, open_gap, run, step
from fsopt.search.branch_and_benders.relaxation import InteriorPoint, NodeArrays, warm_start
from fsopt.search.branch_and_benders.stacks import balance, entry, fast, times
from fsopt.typing import Indices, Mask, Matrix, Vector

Start = tuple[Matrix, Matrix, Matrix]
"""Where machines on selections (k, s) begin: hyperplanes (k, s + 1), weight 0 of a feature that comes to them, and the
margins (k, n) and multipliers (k, n) of the machines that these are of; negative multipliers are not known."""


@dataclass(frozen=True)
class SvmBatch:
    """Support vector machines that were solved together.

    Attributes
    ----------
    alpha : (k, n) balanced multipliers, of each the best ones found.
    hyperplane : (k, s + 1) weights and intercepts of the last iterates.
    bound : (k,) values of the dual at alpha: lower bounds up to rounding.
    closed : (k,) whether the gap is closed; the others are at the cutoff, or failed.
    """

    alpha: Matrix
    hyperplane: Matrix
    bound: Vector
    closed: Mask


def solve_batch(
    rows: Matrix,
    places: Indices,
    term: DualTerm,
    gap: float,
    cutoff: float = np.inf,
    frozen: Matrix | None = None,
    start: Start | None = None,
) -> SvmBatch:
    r"""Solve support vector machines up to a relative gap, or to a cutoff.

    Parameters
    ----------
    rows : (p + 1, n) signed samples of the features, and the labels in the last row, of which a machine has those at
        ``places`` (k, s + 1), the labels last.
    term : of the multipliers in the objective, with their upper bounds.
    cutoff : value of the dual from which a program is of no interest, less the sum of frozen multipliers.
    frozen : (k, s + 1) products of its rows with the multipliers of further samples, which stay as they are:
        :math:`q^0`, and :math:`\beta` of the equation :math:`y'\alpha = -\beta`. None for no such samples.
    start : where the machines begin; None for no knowledge of others.
    """
    (k, size), n = places.shape, rows.shape[1]
    none = np.zeros(0)
    sums = np.zeros((k, size)) if frozen is None else frozen
    given = *term.each(n), size - 1, np.zeros((0, 0)), none, none
    p = NodeArrays(rows[places], *given, sums[:, :-1].copy(), 0.0, sums[:, -1:].copy(), 0)
    best, closed = Best(np.full((k, 1), -np.inf), np.zeros((k, n)), np.zeros((k, 0))), np.zeros(k, dtype=bool)
    if start is not None and in_turn() and size <= n and n * size**2 <= LARGEST:
        hyperplane, margins, alpha = (np.array(part, dtype=float, order="C") for part in start)
        fast(_in_turn)(p, hyperplane, margins, alpha, gap, cutoff, best, closed)
        return SvmBatch(best.alpha, hyperplane, best.bound[:, 0], closed)
    at = _cold(p) if start is None else warm_start(p, start[0].copy(), np.zeros((k, 0)), *start[1:])
    _together(p, at, gap, cutoff, best, closed)
    return SvmBatch(best.alpha, at.hyperplane, best.bound[:, 0], closed)


def in_turn() -> bool:
    """Return whether the machines are solved one after another, by compiled functions."""
    return fast(_in_turn) is not _in_turn


def _cold(p: NodeArrays) -> InteriorPoint:
    """Return points to start from: multipliers half of C, balanced, and smaller where the best multiple of them is."""
    c = p.caps
    plus = p.A[0, -1] > 0.0 if len(p.A) else c > 0.0
    on_plus, on_minus, _ = balance(0.5 * c[plus].sum(), 0.5 * c[~plus].sum(), p.balance)
    alpha = np.clip(0.5 * c * np.where(plus, on_plus, on_minus), 1e-3 * c, 0.9 * c)
    if not p.q.any() and not p.balance.any():
        q = times(p.A, alpha)[:, :-1]
        curved = dual_curvature(alpha, p.caps, p.gamma, p.entropy) * alpha * alpha
        size = np.maximum((q * q).sum(axis=1) + curved.sum(axis=1), 1e-300)
        alpha = alpha * np.clip(alpha.sum(axis=1) / size, 1e-3, 1.0)[:, None]
    x = np.concatenate([alpha, c - alpha], axis=1)
    return InteriorPoint(x, np.ones_like(x), np.zeros(p.q.shape), np.zeros(p.A.shape[:2]))


@entry
def _in_turn(
    p: NodeArrays,
    hyperplane: Matrix,
    margins: Matrix,
    alpha: Matrix,
    gap: float,
    cutoff: float,
    best: Best,
    closed: Mask,
) -> None:
    """Solve one program after another, from hyperplanes, which their own replace."""
    none = np.empty(0)
    for k in range(len(closed)):
        q, balance = p.q[k], p.balance[k, 0]
        one = NodeArrays(
            p.A[k], p.caps, p.gamma, p.entropy, p.selected, p.R, p.r, p.lam, q, p.constant, balance, p.norm
        )
        at = warm_start(one, hyperplane[k], none, margins[k], alpha[k])
        closed[k] = run(one, at, gap, cutoff, 0.0, Best(best.bound[k], best.alpha[k], best.mu[k]))


def _together(p: NodeArrays, at: InteriorPoint, gap: float, cutoff: float, best: Best, closed: Mask) -> None:
    """Solve all programs, a step of each at a time, and leave out those that are done."""
    left, mine = np.arange(len(closed)), Best(*(part.copy() for part in best))
    now = at
    for k in range(ITERATIONS):
        if not len(left):
            break
        moved = step(p, now)[:, 0]
        if k < 2 and moved.all():
            continue
        distance, bound = open_gap(p, now, mine)[:, 0], mine.bound[:, 0]
        near = moved & (distance <= gap * np.maximum(np.abs(bound), 1e-12))
        ends = near | ~moved | (bound >= cutoff) | (k == ITERATIONS - 1)
        if not ends.any():
            continue
        closed[left[ends]] = near[ends]
        for whole, own in ((best.bound, mine.bound), (best.alpha, mine.alpha), (at.hyperplane, now.hyperplane)):
            whole[left[ends]] = own[ends]
        left, on = left[~ends], ~ends
        p = p._replace(A=p.A[on], q=p.q[on], balance=p.balance[on])
        mine, now = Best(*(part[on] for part in mine)), InteriorPoint(*(part[on] for part in now))
