"""Support vector machines on many selections, one after another: nodes without free features."""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.branch_and_benders.kernels.arrays import NodeIterate, NodeProgram, kernel
from fsopt.algorithms.branch_and_benders.kernels.interior_point import run
from fsopt.algorithms.branch_and_benders.kernels.starts import warm
from fsopt.typing import Indices, Matrix, Vector


@kernel
def machines(
    rows: Matrix,
    places: Indices,
    caps: Vector,
    gamma: Vector,
    frozen: Matrix,
    margins: Matrix,
    gap: float,
    cutoff: float,
    out: tuple[Matrix, Matrix, Vector],
) -> None:
    """Solve the machines on the rows at places (k, s + 1), up to a relative gap or a cutoff.

    Parameters
    ----------
    rows : signed samples of the features, and labels; ``caps``, ``gamma`` : (n,), as in :class:`NodeProgram`.
    frozen : (k, s + 1) products of these rows with the multipliers of further samples.
    margins : (k, n) of the machines where these begin.
    out : hyperplanes (k, s + 1) and multipliers (k, n) to begin from, which the solutions replace, and bounds (k,).
    """
    hyperplane, alpha, bound = out
    F = places.shape[1] - 1
    n = rows.shape[1]
    none = np.empty(0)
    A = np.empty((F + 1, n))
    for m in range(len(places)):
        for j in range(F + 1):
            for i in range(n):
                A[j, i] = rows[places[m, j], i]
        program = NodeProgram(A, caps, gamma, F, 0, none, none, 0.0, frozen[m, :F], 0.0, frozen[m, F])
        at = NodeIterate(np.empty(2 * n), np.empty(2 * n), np.empty(F), hyperplane[m])
        warm(program, at, none, margins[m], alpha[m])
        bound[m] = run(program, at, gap, cutoff, 0.0, alpha[m])[0]
