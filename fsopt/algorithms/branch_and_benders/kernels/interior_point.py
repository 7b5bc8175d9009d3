"""The interior point of a node as loops over numbers, its warm start, and machines on many selections.

The same steps as :mod:`fsopt.algorithms.branch_and_benders.interior_point`, which derives them, for programs with at
most one constraint on the features, at least as many samples as features, and no entropy. On arrays of the size of a
node, a hundred samples and fifty features, most of the time of a step in numpy is that of calls; here it is arithmetic.
"""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.branch_and_benders.kernels.arrays import (
    NodeIterate,
    NodeProgram,
    StepArrays,
    factorise,
    falling,
    inner,
    kernel,
    products,
    scores,
    solve_factor,
    work_of,
)
from fsopt.typing import Indices, Matrix, Vector

ITERATIONS = 80
BOUNDARY = 0.99
CENTERING = 1e-4
EPSILON = 1e-14
"""As in the modules in numpy: a compiled function takes the numbers of its own module."""
START = 0.1
FAR = 3.0
INSIDE = 0.1
"""As in the module in numpy."""


@inner
def residuals(p: NodeProgram, at: NodeIterate, work: StepArrays) -> tuple[float, float]:
    """Compute the residuals and diagonals of a step; return the residual of the constraint and the corner S."""
    n = p.A.shape[1]
    f = len(p.lam)
    s = p.s
    rho = 2 * n
    sigma = 2 * n + f
    mu = at.x[2 * n + 2 * f] if p.k else 0.0
    scores(p.A, at.hyperplane, work.score)
    for i in range(n):
        a = at.x[i]
        rest = at.x[n + i]
        z = at.z[i]
        xi = at.z[n + i]
        work.theta[i] = a * rest / (z * rest + xi * a + p.gamma[i] * a * rest)
        work.margin[i] = 1.0 - p.gamma[i] * a - work.score[i] + z - xi
    products(p.A, at.x, work.linear)
    work.linear[len(p.q)] += p.balance
    for j in range(len(p.q)):
        work.linear[j] += p.q[j] - at.q[j]
        work.weight[j] = at.hyperplane[j] - at.q[j]
    missing, corner = p.left, 0.0
    for j in range(f):
        r = at.x[rho + j]
        share = at.x[sigma + j]
        q = at.q[s + j]
        v, slack = at.z[rho + j], at.z[sigma + j]
        h = slack + share * r / v
        work.ratio[j] = r / v
        work.inverse[j] = 1.0 / h
        work.slope[j] = q * share / h
        work.delta[s + j] = h / (share * (h + q * q))
        work.weight[s + j] = at.hyperplane[s + j] - share * q
        work.cone[j] = r + mu * p.weight[j] + p.lam[j] - 0.5 * q * q - slack
        work.box[j] = 1.0 - share - v
        missing -= p.weight[j] * share
        corner += p.weight[j] * p.weight[j] * share / (h + q * q)
    if p.k:
        missing -= at.z[2 * n + 2 * f]
        corner += at.z[2 * n + 2 * f] / mu
    return missing, corner


@inner
def system(p: NodeProgram, work: StepArrays) -> bool:
    """Factorise the matrix of a step, and solve for the border; False where it is singular in floating point."""
    F, s = len(p.q), p.s
    for j in range(F + 1):
        for i in range(len(work.theta)):
            work.scaled[j, i] = p.A[j, i] * work.theta[i]
    np.dot(work.scaled, p.A.T, work.matrix)
    work.delta[F] = EPSILON * work.matrix[F, F]
    for j in range(F + 1):
        work.matrix[j, j] += work.delta[j]
    if not factorise(work.matrix):
        return False
    if p.k:
        for j in range(F + 1):
            work.border[j] = p.weight[j - s] * work.slope[j - s] * work.delta[j] if s <= j < F else 0.0
            work.solved[j] = work.border[j]
        solve_factor(work.matrix, work.solved)
    return True


@inner
def direction(p: NodeProgram, at: NodeIterate, work: StepArrays, missing: float, corner: float) -> float:
    """Compute the step to complementary products that change by the target; return the largest length of it."""
    n = p.A.shape[1]
    f = len(p.lam)
    s = p.s
    F = len(p.q)
    rho = 2 * n
    sigma = 2 * n + f
    m = 2 * n + 2 * f
    for i in range(n):
        wanted = work.target[i] / at.x[i] - work.target[n + i] / at.x[n + i]
        work.shift[i] = work.theta[i] * (work.margin[i] + wanted)
    for j in range(F):
        work.e[j] = work.weight[j]
    for j in range(f):
        work.first[j] = work.target[rho + j] / at.z[rho + j] - work.ratio[j] * work.box[j]
        second = work.target[sigma + j] - at.x[sigma + j] * (work.first[j] + work.cone[j])
        work.second[j] = second * work.inverse[j]
        work.e[s + j] -= at.q[s + j] * work.second[j]
    products(p.A, work.shift, work.dh)
    work.dh[F] += work.linear[F]
    for j in range(F):
        work.dh[j] += work.linear[j] - work.e[j] * work.delta[j]
    solve_factor(work.matrix, work.dh)
    mu = 0.0
    if p.k:
        mu = work.target[m] / at.x[m] - missing
        for j in range(f):
            mu += p.weight[j] * (work.second[j] + work.slope[j] * work.e[s + j] * work.delta[s + j])
        for j in range(F):
            mu += work.border[j] * work.dh[j]
        mu /= corner
        for j in range(F + 1):
            work.dh[j] -= work.solved[j] * mu
        work.dx[m] = mu
    scores(p.A, work.dh, work.score)
    for i in range(n):
        work.dx[i] = work.shift[i] - work.theta[i] * work.score[i]
        work.dx[n + i] = -work.dx[i]
    for j in range(F):
        work.dq[j] = work.dh[j] + work.e[j]
    for j in range(f):
        work.dq[s + j] = (work.dq[s + j] + work.slope[j] * p.weight[j] * mu) * work.delta[s + j]
        paid = at.x[sigma + j] * work.inverse[j] * p.weight[j] * mu
        work.dx[sigma + j] = work.second[j] - paid + work.slope[j] * work.dq[s + j]
        work.dx[rho + j] = work.first[j] + work.ratio[j] * work.dx[sigma + j]
    lowest = 0.0
    for k in range(len(at.x)):
        work.dz[k] = (work.target[k] - at.z[k] * work.dx[k]) / at.x[k]
        lowest = min(lowest, work.dx[k] / at.x[k], work.dz[k] / at.z[k])
    return -1.0 / lowest if lowest < 0.0 else np.inf


@inner
def step(p: NodeProgram, at: NodeIterate, work: StepArrays) -> bool:
    """Take a predictor-corrector step; False where there is none."""
    missing, corner = residuals(p, at, work)
    if not system(p, work):
        return False
    for j in range(len(work.border)):
        corner += work.border[j] * work.solved[j]
    N, mean = len(at.x), 0.0
    for k in range(N):
        mean += at.x[k] * at.z[k] / N
        work.target[k] = -at.x[k] * at.z[k]
    length = min(direction(p, at, work, missing, corner), 1.0)
    after = 0.0
    for k in range(N):
        after += (at.x[k] + length * work.dx[k]) * (at.z[k] + length * work.dz[k]) / N
    aim = max(mean * min(1.0, after / mean) ** 3, CENTERING * mean)
    for k in range(N):
        work.target[k] = aim - at.x[k] * at.z[k] - work.dx[k] * work.dz[k]
    length = direction(p, at, work, missing, corner)
    if length < 0.1:  # the second-order term misleads: a plain, well centred step
        for k in range(N):
            work.target[k] = 0.3 * mean - at.x[k] * at.z[k]
        length = direction(p, at, work, missing, corner)
    length = min(1.0, BOUNDARY * length)
    if not 1e-8 < length <= 1.0:
        return False
    for k in range(N):
        at.x[k] += length * work.dx[k]
        at.z[k] += length * work.dz[k]
    for j in range(len(at.q)):
        at.q[j] += length * work.dq[j]
    for j in range(len(at.hyperplane)):
        at.hyperplane[j] += length * work.dh[j]
    for i in range(len(p.caps)):
        at.x[len(p.caps) + i] = max(p.caps[i] - at.x[i], 1e-300)
    return True


@inner
def dual_value(p: NodeProgram, at: NodeIterate, work: StepArrays, alpha: Vector) -> tuple[float, float]:
    """Write balanced multipliers to alpha (n,); return their dual value, -inf without any, and what features charge."""
    F, n = len(p.q), len(alpha)
    up = down = 0.0
    for i in range(n):
        alpha[i] = min(max(at.x[i], 0.0), p.caps[i])
        up += alpha[i] if p.A[F, i] > 0.0 else 0.0
        down += 0.0 if p.A[F, i] > 0.0 else alpha[i]
    positive = up + p.balance > down
    total, target = (up, down - p.balance) if positive else (down, up + p.balance)
    if target < 0.0:
        return -np.inf, 0.0
    if total > 0.0:
        for i in range(n):
            if (p.A[F, i] > 0.0) == positive:
                alpha[i] *= target / total
    products(p.A, alpha, work.dh)
    mu = at.x[len(at.x) - 1] if p.k else 0.0
    value, charged = p.constant - mu * p.left, 0.0
    for i in range(n):
        value += alpha[i] - 0.5 * p.gamma[i] * alpha[i] * alpha[i]
    for j in range(F):
        half = 0.5 * (work.dh[j] + p.q[j]) ** 2
        charged += half if j < p.s else max(half - p.lam[j - p.s] - mu * p.weight[j - p.s], 0.0)
    return value - charged, charged


@kernel
def run(p: NodeProgram, at: NodeIterate, gap: float, cutoff: float, branch: float, best: Vector) -> tuple[float, float]:
    """Take steps until the goal is reached or none makes progress; return the best bound and its multiplier mu.

    Parameters
    ----------
    gap, cutoff, branch : of :class:`~fsopt.algorithms.branch_and_benders.interior_point.Goal`.
    best : (n,) multipliers of the best bound, written; the bound is -inf without any.
    """
    n = p.A.shape[1]
    F = len(p.q)
    f = len(p.lam)
    work, alpha = work_of(n, F, f, len(at.x)), np.empty(n)
    bound = -np.inf
    bound_mu = 0.0
    steps = 0
    moved = True
    while moved and steps < ITERATIONS:
        moved = step(p, at, work)
        steps += 1
        if moved and steps <= 2:
            continue
        value, charged = dual_value(p, at, work, alpha)
        if value > bound:
            bound, bound_mu = value, at.x[len(at.x) - 1] if p.k else 0.0
            for i in range(n):
                best[i] = alpha[i]
        # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
        for j in range(p.s):
            charged -= 0.5 * at.q[j] * at.q[j]
        for j in range(f):
            charged -= at.x[2 * n + j]
        open_gap = max(charged, 0.0) if value > -np.inf else 0.0
        for k in range(len(at.x)):
            open_gap += at.x[k] * at.z[k]
        if bound >= cutoff or open_gap <= gap * max(abs(bound), 1e-12):
            break
        if branch > 0.0 and open_gap <= branch * (cutoff - max(bound, 0.0)):
            break
    return bound, bound_mu


@inner
def pair(value: float, away: float, most: float, mu: float) -> tuple[float, float]:
    """Return a value strictly within [0, most], and the partner of its upper bound, ``away`` less than the other."""
    distance = min(mu / max(abs(away), 1e-300), INSIDE * most)
    smallest = min(2.0 * mu / most, INSIDE * most)
    if away >= 0.0:
        value = min(max(value, distance), most - smallest)
        return value, mu / (most - value)
    value = min(max(value, smallest), most - distance)
    return value, mu / value - away


@inner
def multiplier(p: NodeProgram, gain: Vector, mu: float) -> float:
    """Return the gain for weight of the last feature that fits into the constraint, at least mu."""
    ratio, order = np.empty(len(gain)), np.empty(len(gain), dtype=np.intp)
    for j in range(len(gain)):
        ratio[j] = gain[j] / max(p.weight[j], 1e-300)
    falling(ratio, order)
    filled, last = 0.0, mu
    for place in order:
        filled += p.weight[place]
        last = max(float(ratio[place]), mu)
        if filled >= p.left:
            break
    return last


@kernel
def warm(p: NodeProgram, at: NodeIterate, sigma: Vector, margins: Vector, alpha: Vector) -> None:
    """Write a point to start from, with the hyperplane that it has, to an iterate.

    Parameters
    ----------
    sigma, margins, alpha : (f,) shares, (n,) margins and (n,) multipliers of the parent; negative ones are not known.
    """
    n = len(margins)
    f = len(p.lam)
    s = p.s
    F = len(p.q)
    scores(p.A, at.hyperplane, at.z[:n])
    far, most = 0.0, 0.0
    for i in range(n):
        known = alpha[i] if alpha[i] >= 0.0 else 0.3 * p.caps[i]
        far += known * (START + FAR * abs(at.z[i] - margins[i]))
        most = max(most, p.caps[i])
    mu = max(far, 1e-3 * most) / (2 * n + 2 * f + p.k)
    for i in range(n):
        c = p.caps[i]
        away = margins[i] - 1.0
        value = alpha[i]
        if value < 0.0:
            value = 0.5 * c * (1.0 - away / np.sqrt(away**2 + (2.0 * mu / c) ** 2))
        away += p.gamma[i] * value
        at.x[i], at.z[n + i] = pair(value, away, c, mu)
        at.x[n + i], at.z[i] = c - at.x[i], at.z[n + i] + away
    q, gain = np.empty(F + 1), np.empty(f)
    products(p.A, at.x, q)
    for j in range(F):
        at.q[j] = q[j] + p.q[j]
    for j in range(f):
        gain[j] = 0.5 * at.q[s + j] ** 2 - p.lam[j]
    price = 0.0
    if p.k:
        price = multiplier(p, gain, mu) if f else mu
        at.x[2 * n + 2 * f], at.z[2 * n + 2 * f] = price, mu / price
    for j in range(f):
        away = price * p.weight[j] - gain[j]
        share, rho = pair(sigma[j], away, 1.0, mu)
        at.x[2 * n + j], at.x[2 * n + f + j] = rho, share
        at.z[2 * n + j], at.z[2 * n + f + j] = 1.0 - share, rho + away


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
