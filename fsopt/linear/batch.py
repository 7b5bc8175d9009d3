r"""Support vector machines on many selections of one size, by the interior point of a node without free features.

.. math:: \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha) - \tfrac12 \|Z_S'\alpha\|^2, \qquad Z = YX,

for many selections S, one after the other. A program is left where its gap is closed, or where the value of its dual
shows that it is above a cutoff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.data.losses import DualTerm
from fsopt.search.branch_and_benders.interior_point import LARGEST, Best, stepped
from fsopt.search.branch_and_benders.relaxation import NodeRelaxation, entry, fast, started
from fsopt.typing import Indices, Mask, Matrix, Vector

Start = tuple[Matrix, Matrix, Matrix]
"""Where machines on selections (k, s) begin: hyperplanes (k, s + 1), weight 0 of a feature that comes to them, and the
margins (k, n) and multipliers (k, n) of the machines that these are of; negative multipliers are not known."""


@dataclass(frozen=True)
class SvmBatch:
    """Support vector machines on several selections.

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
    p = NodeRelaxation(rows[places], *given, sums[:, :-1].copy(), 0.0, sums[:, -1:].copy(), 0)
    best, closed = Best(np.full((k, 1), -np.inf), np.zeros((k, n)), np.zeros((k, 0))), np.zeros(k, dtype=bool)
    if start is None:
        start = np.zeros((k, size)), np.zeros((k, n)), np.full((k, n), -1.0)
    hyperplane, margins, alpha = (np.array(part, dtype=float, order="C") for part in start)
    small = size <= n and n * size**2 <= LARGEST
    with np.errstate(all="ignore"):  # a step that is not finite ends a program
        (fast(_in_turn) if small else _in_turn)(p, hyperplane, margins, alpha, gap, cutoff, best, closed)
    return SvmBatch(best.alpha, hyperplane, best.bound[:, 0], closed)


@entry
def _in_turn(
    p: NodeRelaxation,
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
        one = NodeRelaxation(
            p.A[k], p.caps, p.gamma, p.entropy, p.selected, p.R, p.r, p.lam, q, p.constant, balance, p.norm, p.columns
        )
        at = started(one, hyperplane[k], none, margins[k], alpha[k])
        closed[k] = stepped(one, at, gap, cutoff, 0.0, Best(best.bound[k], best.alpha[k], best.mu[k]))
