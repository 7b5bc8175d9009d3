"""The program of a master problem of generalized Benders: its objective, and the feasibility of a selection."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.points import row_violations
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.typing import Indices, Vector


def check_objective(data: Dataset, program: Program, columns: Indices, theta: int | None) -> None:
    """Raise ParameterError for a master that does not bound F on the data.

    That is one of other features, or one that minimises anything but theta and penalties of sigma.
    """
    if len(columns) != data.p:
        raise ParameterError(
            f"the master given to 'gbd' has {len(columns)} features, the data {data.p}",
            "build both models from the data set that the driver is given",
        )
    others = program.c.copy()
    others[columns] = 0.0
    if theta is not None:
        others[theta] -= 1.0
    linear = program.P.nnz == 0 and program.sign == 1.0 and program.c0 == 0.0
    if theta is None or not linear or others.any():
        raise ParameterError(
            "the master does not minimise 'theta' plus penalty weights of 'sigma'", "give it that objective"
        )


def feasible(program: Program, columns: Indices, sigma: Vector) -> bool:
    """Return whether a selection satisfies the constraints; False too where they have variables of their own."""
    if program.n != len(columns) + 1:
        return False
    x = np.full(program.n, np.finfo(float).max)  # theta as large as any cut asks for
    x[columns] = sigma
    with np.errstate(over="ignore"):
        binary = bool(np.isin(sigma, (0.0, 1.0)).all())
        inside = bool(((program.lb <= x) & (x <= program.ub))[columns].all())
        return binary and inside and bool(row_violations(program, x)[0].max(initial=0.0) <= 1e-9)


def completed(program: Program, columns: Indices, theta: int, sigma: Vector) -> Vector | None:
    r"""Return the point of a master at a selection, with the smallest theta that its cuts allow.

    .. math:: \theta = \max_k\ \gamma_k - \sum_j g_{kj}\,\sigma_j

    None where the selection is not feasible, or the constraints have variables of their own.
    """
    if not feasible(program, columns, sigma):
        return None
    x = np.zeros(program.n)
    x[columns] = sigma
    slopes = program.A[:, [theta]].toarray()[:, 0]
    cuts = slopes > 0.0
    needed = (program.lo[cuts] - (program.A @ x)[cuts]) / slopes[cuts]
    x[theta] = max(program.lb[theta], float(needed.max(initial=-np.inf)))
    return x


def largest_number(program: Program, columns: Indices) -> int | None:
    """Return M where the constraints are e'sigma <= M alone, or none (then p); None where there are others.

    Parameters
    ----------
    program : of a master without cuts.
    """
    p = len(columns)
    binary = program.n == p + 1 and np.all(program.lb[columns] == 0.0) and np.all(program.ub[columns] == 1.0)
    if not binary or program.A.shape[0] > 1:
        return None
    if program.A.shape[0] == 0:
        return p
    row = program.A.toarray()[0]
    only = np.count_nonzero(row) == p and np.all(row[columns] == 1.0) and program.lo[0] == -np.inf
    return int(min(np.floor(program.hi[0]), p)) if only and program.hi[0] >= 0.0 else None


def solve_one_cut(constant: float, slopes: Vector, penalties: Vector, most: int) -> tuple[float, Vector] | None:
    r"""Return the optimum of a master with one cut and at most so many features, and its selection.

    .. math:: \min_\sigma\ \gamma - \sum_j (g_j - \lambda_j)\,\sigma_j

    takes the largest positive :math:`g_j - \lambda_j` (Aytug, (15), for M = p). None where the cut is negative there:
    then :math:`\theta \ge 0` is the tighter constraint, and the selection need not be optimal.
    """
    gains = slopes - penalties
    best = np.argsort(-gains, kind="stable")[:most]
    sigma = np.zeros(len(gains))
    sigma[best[gains[best] > 0.0]] = 1.0
    return None if constant < float(slopes @ sigma) else (constant - float(gains @ sigma), sigma)
