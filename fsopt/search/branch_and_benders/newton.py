r"""Newton's step of the interior point: the linear system of an iterate, eliminated in its smaller dimension.

In the notation of :mod:`fsopt.search.branch_and_benders.interior_point` a free group g of columns has a share
:math:`\sigma_g` and a multiplier :math:`\rho_g`; mostly each column is a group of its own. A bound :math:`\beta_k` on
the weight of a column, :math:`\epsilon_k (w - \beta_k \sigma_g) \ge 0` with :math:`\epsilon_k` 1 for a lower and -1 for
an upper bound, has a multiplier :math:`s_k \ge 0`, which enters as a sample of that column alone:

.. math::

    q = q^0 + Z'\alpha + E s, \qquad \rho_g \ge \sum_{j \in g} \tfrac12 q_j^2 - \sum_{k \in g} \epsilon_k \beta_k s_k
    - \lambda_g - R_g'\mu.

The smallest :math:`\tfrac12 q_j^2 - \sum_k \epsilon_k \beta_k s_k` over s is :math:`h_j(q_j - (Es)_j)`, of
:mod:`fsopt.search.branch_and_benders.relaxation`. With the multipliers z and :math:`\xi` of the bounds of alpha, and
the slacks v of :math:`\sigma \le 1`, c of the cones, a of the bounds of weights and t of :math:`R\sigma \le r`,
the residuals of the optimality conditions are

.. math::

    m &= e - \Gamma\alpha - Zw - yb + z - \xi, & \ell &= q^0 + Z'\alpha + Es - q, & \ell_b &= \beta^0 + y'\alpha, \\
    p_j &= w_j - \sigma_j q_j \ (\sigma_I = 1), & d &= 1 - \sigma - v, & f &= r - R_I e - R\sigma - t, \\
    k_g &= \rho_g + R_g'\mu + \lambda_g - \sum_j \Big(\tfrac12 q_j^2 - \sum_k \epsilon_k\beta_k s_k\Big) - c_g, &
    e_k &= \epsilon_k (w - \beta_k\sigma) - a_k,

and the products :math:`\alpha z,\ (C - \alpha)\xi,\ \rho v,\ \sigma c,\ s a,\ \mu t` are to change by
:math:`\tau^\alpha, \tau^\xi, \tau^\rho, \tau^\sigma, \tau^s, \tau^\mu`. The step makes the linearised residuals 0. The
products give the changes of z, xi, c, a and t, the box that of v, and :math:`p` that of q. With :math:`S = s/a` and
:math:`\kappa = \tfrac q\sigma + \sum_k S\beta` there remain, for the weights and the shares,

.. math::

    \Big(\frac1\sigma + \sum_k S\Big) dw - \kappa\, d\sigma - Z'd\alpha &=
    \ell + \sum_k \epsilon \Big(\frac{\tau^s}{a} - S e\Big) - \frac p\sigma, \\
    H d\sigma - \sum_j \kappa\, dw + R'd\mu &= \frac{\tau^\sigma}\sigma - k - \frac{\tau^\rho - \rho d}{v}
    + \sum_j \frac{q p}{\sigma} - \sum_k \epsilon\beta\Big(\frac{\tau^s}{a} - S e\Big), \\
    H &= \frac\rho v + \frac c\sigma + \sum_j \frac{q^2}{\sigma} + \sum_k S \beta^2,

The shares are eliminated: :math:`\Delta = \tfrac1\sigma + \sum_k S - \kappa H^{-1} \kappa'` has a block for each group,
and is the diagonal :math:`h / (\sigma (h + q^2))`, :math:`h = c + \sigma\rho/v`, of columns that are groups of their
own without bounds; it is 1 for selected features. With :math:`G = \kappa H^{-1} R'`, the diagonal
:math:`\Theta^{-1} = \Gamma + z/\alpha + \xi/(C - \alpha)` and :math:`S = R H^{-1} R' + \mathrm{diag}(t/\mu)` the step
of alpha, of the hyperplane (w, b) and of mu solves

.. math::

    \Theta^{-1} d\alpha + Z\,dw + y\,db = s, \qquad
    \Delta\,dw - Z'd\alpha + G_w\,d\mu = g_w, \qquad \epsilon\,db - y'd\alpha = g_b, \qquad
    G'd(w, b) - S\,d\mu = h.

With a norm of w in place of its squares, and no free features, it is :math:`\gamma w = q`: gamma is the multiplier of
:math:`\tfrac12 w'w + t = r`, or :math:`1/\mu` for the penalty :math:`\sqrt{2r}\,\|w\| = \min_{\mu > 0} w'w/(2\mu) +
\mu r` and its slack :math:`t = r - \tfrac12 \|w/\mu\|^2`. Then :math:`\Delta = \gamma`, :math:`G = \gamma'(\mu) w`,
:math:`S = t/\mu`, or :math:`-t/\mu - w'w/\mu^3`, where the last equation is negative.

*By features*, alpha is eliminated: one Cholesky factor of order p + 1, for

.. math:: \big(\mathrm{diag}(\Delta, \epsilon) + [Z\ y]'\Theta\,[Z\ y]\big)\,d(w, b) = g + [Z\ y]'\Theta s - G\,d\mu,
          \qquad d\alpha = \Theta\,(s - Z\,dw - y\,db).

*By samples*, where there are fewer of them, w is: one factor of order n, with :math:`B = \Theta^{1/2} Z \Delta^{-1/2}`,

.. math:: (I + BB')\,u = \Theta^{1/2}\big(s - Z\Delta^{-1}(g_w - G_w d\mu) - y\,db\big), \qquad
          d\alpha = \Theta^{1/2} u, \qquad dw = \Delta^{-1}(g_w - G_w d\mu + Z'd\alpha),

and db follows from the equation of the balance. The eigenvalues of this matrix are at least 1.
In both, mu is eliminated last, by its Schur complement of order k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.data.hyperplanes import dual_curvature, dual_slopes
from fsopt.linear.pieces import by_features, by_samples
from fsopt.search.branch_and_benders.relaxation import InteriorPoint, NodeRelaxation, Number, inner, sizes
from fsopt.typing import Matrix, Vector

RIDGE = 1e-15
"""Smallest diagonal of the features with a norm of w, as a share of the trace of the matrix that it is added to."""
Steps = tuple[Vector, Vector, Vector]
"""Steps of alpha (n,), of the hyperplane (p + 1,) and of mu (k,)."""
Solve = Callable[[Vector, Vector, Vector], Steps]
"""The solution of a reduced system for s (n,), g (p + 1,) and h (k,)."""
Direction = tuple[Vector, Vector, Vector, Vector, Number]
"""Steps of x, z, q and (w, b), and the largest length at which x and z are not negative."""


class System(NamedTuple):
    """The linear system of a step at an iterate, with the residuals of the optimality conditions.

    Attributes
    ----------
    regular : whether it has a solution in floating point.
    margin, linear, weight, cone, box, left, bound : the residuals m, (l, l_b), p, k, d, f and e.
    theta, share, slope, inverse, G : Theta, sigma and kappa of each column, 1 / H, and G.
    reduced : the system that is left.
    """

    regular: bool
    margin: Vector
    linear: Vector
    weight: Vector
    cone: Vector
    box: Vector
    left: Vector
    bound: Vector
    theta: Vector
    share: Vector
    slope: Vector
    inverse: Vector
    G: Matrix
    reduced: Any


def system(p: NodeRelaxation, at: InteriorPoint) -> System:
    """Return the system of a step."""
    _, s, F, f, k = sizes(p)
    alpha, rest, rho, sigma, pulls, mu = p.split(at.x)
    z, xi, v, slack, away, t = p.split(at.z)
    q, w = at.q, at.hyperplane[:-1]
    theta, margin = of_sample(alpha, rest, z, xi, at.hyperplane @ p.A, p.caps, p.gamma, p.entropy)
    linear = p.A @ alpha
    linear[:F] += p.q - q
    linear[F] += p.balance
    slope, bound = q, away
    own = inverse = sigma
    share, delta = np.ones(F), np.ones(F)
    if p.columns is not None:
        column, sign, end = p.columns.ends
        share, by_column = p.each(sigma, 1.0), p.columns.by_column
        stiff = pulls / away
        linear[:F] += by_column(sign * pulls)
        own = p.sums(p.columns.charges(q, pulls))
        slope = q / share
        curved = q * slope + by_column(stiff * end * end)
        slope += by_column(stiff * end)
        inverse = 1.0 / (rho / v + slack / sigma + p.sums(curved))
        bound = sign * (w[column] - end * share[column]) - away
        together = p.columns.of[:, None] == p.columns.of
        delta = np.diag(1.0 / share + by_column(stiff)) - together * np.outer(slope * p.each(inverse, 0.0), slope)
    elif f:
        share[s:], free = sigma, q[s:]
        h, square = slack + sigma * (rho / v), free * free
        curved, own = h + square, 0.5 * square
        slope = q / share
        delta[s:], inverse = h / (sigma * curved), sigma / curved
    cone, box = rho + mu @ p.R + p.lam - own - slack, 1.0 - sigma - v
    weight, left = w - share * q, p.r - p.R @ sigma - t
    G, S = np.zeros((k, F + 1)), np.zeros((k, k))
    if k:
        R = p.R * inverse
        G[:, :F] = p.each(R, 0.0) * slope
        S = R @ p.R.T + np.diag(t / mu)
    if p.norm:
        delta[:], weight, G[0, :F], S, left = of_norm(p, at, float(mu[0]), float(t[0]))
        share = 1.0 / delta
    reduced = reduced_system(p.A, theta, delta, G, S)
    if p.norm and reduced is None:
        # Features that depend on each other, and gamma next to 0. Of samples of norm 1 the trace is theta's sum.
        reduced = reduced_system(p.A, theta, np.maximum(delta, RIDGE * float(theta.sum())), G, S)
    residuals = margin, linear, weight, cone, box, left, bound
    return System(reduced is not None, *residuals, theta, share, slope, inverse, G, reduced)


@inner
def of_sample(
    alpha: Number, rest: Number, z: Number, xi: Number, score: Number, caps: Number, gamma: Number, entropy: bool
) -> tuple[Number, Number]:
    """Return Theta and the residual m of a sample, or of each."""
    product = alpha * rest
    theta = product / (z * rest + xi * alpha + dual_curvature(alpha, caps, gamma, entropy) * product)
    return theta, dual_slopes(alpha, caps, gamma, entropy) - score + z - xi


def of_norm(p: NodeRelaxation, at: InteriorPoint, m: float, t: float) -> tuple[float, Vector, Vector, Matrix, Vector]:
    """Return Delta, residual of w, G, S and residual of mu, for gamma w = q of a ball (gamma = m) or a norm (1 / m)."""
    w = at.hyperplane[:-1]
    if p.norm > 0:
        return m, w - at.q / m, w, np.full((1, 1), t / m), p.r - 0.5 * float(w @ w) - t
    square, weight = float(at.q @ at.q), w - m * at.q
    left = 0.5 * square + t - p.r + float(at.q @ weight) / m
    return 1.0 / m, weight, -at.q / m, np.full((1, 1), -(t + square) / m), left


def direction(
    p: NodeRelaxation, at: InteriorPoint, of: System, aim: Number, d_x: Vector, d_z: Vector, d_q: Vector
) -> Direction:
    """Return the step to complementary products xz + d_x d_z of an aim, as :data:`Direction` says.

    The steps d_x, d_z and d_q of a predictor give the products of second order, those of p and of k too.
    """
    wanted, ratio = (aim - at.x * at.z - d_x * d_z) / at.x, at.x / at.z
    to_alpha, to_rest, to_rho, to_sigma, to_pull, to_mu = p.split(wanted)
    right, weight = of.linear.copy(), of.weight
    cone = of.cone
    missing = of.left - (-to_mu if p.norm < 0 else to_mu)
    shared = len(of.box) > 0 or p.columns is not None
    if shared:
        weight, cone = weight - p.each(p.split(d_x)[3], 0.0) * d_q, cone - 0.5 * p.sums(d_q * d_q)
    right[:-1] -= weight / of.share
    if shared:
        _, _, lift, _, stiff, _ = p.split(ratio)
        lifted, pull = (to_rho - of.box) * lift, (to_pull - of.bound) * stiff
        push = at.q * weight / of.share
        if p.columns is not None:
            column, sign, end = p.columns.ends
            push -= p.columns.by_column(sign * end * pull)
            right[:-1] += p.columns.by_column(sign * pull)
        apart = (to_sigma - cone - lifted + p.sums(push)) * of.inverse
        right[:-1] += of.slope * p.each(apart, 0.0)
        missing -= p.R @ apart
    d_alpha, hyperplane, d_mu = of.reduced(of.margin + to_alpha - to_rest, right, missing)
    d_w = hyperplane[:-1]
    d_q, parts = d_w + weight, [d_alpha, -d_alpha]
    if shared:
        d_sigma = apart + (p.sums(of.slope * d_w) - d_mu @ p.R) * of.inverse
        d_share = p.each(d_sigma, 0.0)
        d_q -= at.q * d_share
        if p.columns is not None:
            pull -= stiff * sign * (d_w[column] - end * d_share[column])
        parts += [lifted + lift * d_sigma, d_sigma, pull]
    d_q /= of.share
    if p.norm:
        d_q += d_mu @ of.G[:, :-1]
    d_x = np.concatenate([*parts, d_mu])
    relative = d_x / at.x
    d_z = wanted - at.z * relative
    return d_x, d_z, d_q, hyperplane, -1.0 / min(relative.min(), (d_z / at.z).min(), -1e-300)


def reduced_system(A: Matrix, theta: Vector, delta: Matrix, G: Matrix, S: Matrix) -> Solve | None:
    """Return the solution of the reduced system of a step; None where its matrix is singular in floating point.

    Parameters
    ----------
    A : (p + 1, n) signed samples and labels, one feature after another.
    theta, delta : (n,) diagonal, and (p,) or blocks (p, p).
    G, S : (k, p + 1) and (k, k).

    Raises
    ------
    OutOfTimeError : the time limit passed within the factorisation.
    """
    clock.check()
    eliminated = (by_samples if A.shape[1] < A.shape[0] and delta.ndim == 1 else by_features)(A, theta, delta)
    if eliminated is None:
        return None
    on_alpha, border = eliminated(np.zeros((len(G), len(theta))), G) if len(G) else (np.zeros((0, len(theta))), G)
    schur = S + G @ border.T

    def solve(s: Vector, g: Vector, h: Vector) -> Steps:
        alpha, hyperplane = (found[0] for found in eliminated(s[None], g[None]))
        if not len(h):
            return alpha, hyperplane, h
        missing = G @ hyperplane - h
        mu = missing / schur[0] if len(h) == 1 else np.linalg.lstsq(schur, missing, rcond=None)[0]
        return alpha - mu @ on_alpha, hyperplane - mu @ border, mu

    return solve
