"""Formulas of a step of the interior point, of one sample or feature, or of each: numpy gives arrays, loops numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.data.losses import dual_curvature, dual_slopes
from fsopt.search.branch_and_benders.marks import inner
from fsopt.search.branch_and_benders.stacks import Number


@inner
def balance(up: Number, down: Number, balance: Number) -> tuple[Number, Number, Any]:
    """Return factors of the multipliers of both classes, whose sums are up and down, and whether these balance them."""
    least = np.minimum(up + balance, down)
    feasible = (least >= 0.0) & (least >= balance)
    on_plus = np.minimum(np.maximum(least - balance, 0.0) / np.maximum(up, 1e-300), 1.0)
    return on_plus, np.maximum(least, 0.0) / np.maximum(down, 1e-300), feasible


@inner
def of_sample(
    alpha: Number, rest: Number, z: Number, xi: Number, score: Number, caps: Number, gamma: Number, entropy: bool
) -> tuple[Number, Number]:
    """Return Theta and the residual m of a sample, or of each."""
    product = alpha * rest
    theta = product / (z * rest + xi * alpha + dual_curvature(alpha, caps, gamma, entropy) * product)
    return theta, dual_slopes(alpha, caps, gamma, entropy) - score + z - xi


@inner
def of_feature(
    rho: Number, sigma: Number, v: Number, slack: Number, q: Number
) -> tuple[Number, Number, Number, Number, Number]:
    """Return rho / v, 1 / h, sigma q / h, Delta and sigma / (h + q^2) of a free feature, or of each."""
    ratio = rho / v
    h = slack + sigma * ratio
    curved = h + q * q
    return ratio, 1.0 / h, q * sigma / h, h / (sigma * curved), sigma / curved


@inner
def before(
    to_rho: Number,
    to_sigma: Number,
    v: Number,
    sigma: Number,
    ratio: Number,
    box: Number,
    cone: Number,
    inverse_h: Number,
) -> tuple[Number, Number]:
    """Return the parts of d rho and d sigma of a free feature, or of each, that no other step changes."""
    first = to_rho / v - ratio * box
    return first, (to_sigma - sigma * (first + cone)) * inverse_h


@inner
def after(
    d_q: Number,
    paid: Number,
    first: Number,
    second: Number,
    sigma: Number,
    ratio: Number,
    inverse_h: Number,
    slope: Number,
    delta: Number,
) -> tuple[Number, Number, Number]:
    """Return d q, d sigma and d rho of a free feature, or of each, that pays R'd mu."""
    d_q = (d_q + slope * paid) * delta
    d_sigma = second - sigma * inverse_h * paid + slope * d_q
    return d_q, d_sigma, first + ratio * d_sigma


@inner
def longest(fall: Number) -> Number:
    """Return the largest length of a step at which nothing is negative, given the smallest relative change."""
    return -1.0 / np.minimum(fall, -1e-300)
