r"""The bound of Theorem 9 of Peleg & Meir as its proof has it: (21) at fixed scales, (22) over a grid of them.

Theorem 9 rounds the scales of (22) up once more, so that (22) is smaller wherever its own logarithm is. With Remark 10
the norm of w is any :math:`\ell_a` norm, :math:`a \ge 1`. The tighter bound by the entropy method that the proof leaves
to future work is that of :class:`Confidence`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsopt.common.arguments import word
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.bound_terms import RiskBound, ScaledClassifier, check_numbers, conditions, margin_loss
from fsopt.typing import Matrix, Vector


def khintchine(a: float, p: int = 1) -> float:
    r"""Return the constant k(a) of the bound with the norm :math:`\|w\|_a \le B`.

    .. math::

        E_\epsilon \Big\|\sum_i \epsilon_i z_i\Big\|_q \le
        k(a)\, \Big\|\Big(\sqrt{\textstyle\sum_i z_{ij}^2}\Big)_j\Big\|_q, \qquad 1/a + 1/q = 1

    :math:`k = 1` for :math:`q \le 2` (Jensen), :math:`\sqrt2\,(\Gamma((q+1)/2)/\sqrt\pi)^{1/q}` for
    :math:`2 < q < \infty` (Haagerup's constants), and :math:`\sqrt{2\ln 2p}` for :math:`q = \infty` (Massart).

    Parameters
    ----------
    a : >= 1, exponent of the norm of w; infinity is allowed.
    p : number of features, for a = 1.
    """
    q = dual_exponent(a)
    if q <= 2.0:
        return 1.0
    if math.isinf(q):
        return math.sqrt(2.0 * math.log(2.0 * p))
    return math.sqrt(2.0) * math.exp((math.lgamma((q + 1.0) / 2.0) - 0.5 * math.log(math.pi)) / q)


def dual_exponent(a: float) -> float:
    """Return q with 1/a + 1/q = 1; raises ParameterError for a < 1."""
    if not a >= 1.0:
        raise ParameterError(f"the exponent of the norm is {a}", "give a number >= 1, or inf")
    return math.inf if a == 1.0 else 1.0 if math.isinf(a) else a / (a - 1.0)


CONCENTRATIONS = ("mcdiarmid", "entropy")


@dataclass(frozen=True)
class Confidence:
    r"""The probability of a bound, and the inequality by which the Rademacher complexity is near the empirical one.

    .. math::

        R_n - \hat R_n \le K\sqrt{\frac{2L}{n}} \ \text{(McDiarmid)}, \qquad
        R_n - \hat R_n \le \frac Kn\Big(L + \sqrt{L^2 + 2L\,\frac{n \hat R_n}{K}}\Big) \ \text{(entropy method)}

    each with probability :math:`1 - e^{-L}`. The sum :math:`Z = n \hat R_n / K` is self-bounding for functions of size
    at most K: without one sample it is smaller by 0 to 1, and these differences add up to at most Z. So
    :math:`P(Z \le EZ - t) \le e^{-t^2/(2EZ)}`, and the second bound solves :math:`EZ \le Z + \sqrt{2L\,EZ}`. It is the
    smaller one for many samples, of the order :math:`n^{-3/4}` instead of :math:`n^{-1/2}`.

    Attributes
    ----------
    delta : in (0, 1); the bound holds with probability 1 - delta.
    concentration : ``mcdiarmid``, as in the paper, or ``entropy``.
    log_shares : logarithm of the number of bounds that share delta.

    Raises
    ------
    ParameterError : delta out of range, or another inequality.

    Notes
    -----
    Peleg & Meir, appendix A, whose remark 3 leaves the entropy method to future work; Boucheron, Lugosi & Massart, A
    sharp concentration inequality with applications, Random Structures and Algorithms 16, 2000.
    """

    delta: float = 0.05
    concentration: str = "mcdiarmid"
    log_shares: float = 0.0

    def __post_init__(self) -> None:
        check_numbers("confidence", delta=self.delta)
        word("concentration", self.concentration, CONCENTRATIONS)

    @property
    def log(self) -> float:
        r"""The logarithm :math:`L = \ln(4/\delta)` of (21), of the share of this bound."""
        return math.log(4.0 / self.delta) + self.log_shares

    def deviation(self, complexity: float, n: int, k: float) -> float:
        """Return the bound on the difference, from the empirical complexity or an upper bound on it."""
        if self.concentration == "mcdiarmid":
            return k * math.sqrt(2.0 * self.log / n)
        return k / n * (self.log + math.sqrt(self.log**2 + 2.0 * self.log * n * complexity / k))


def fixed_scale_terms(
    X: Matrix,
    y: Vector,
    classifier: ScaledClassifier,
    scales: Vector,
    *,
    r: float,
    gamma: float = 1.0,
    delta: float | Confidence = 0.05,
    norm: float = 1.0,
    exponent: float = 2.0,
) -> RiskBound:
    r"""Return the bound (21): for all classifiers whose scales are at most s, fixed before the sample is seen.

    .. math::

        P(y f(x) \le 0) \le \hat E_n \phi_\gamma(y f(x)) + \frac{2 B k}{\gamma n}\sum_{\pm} \sqrt{n_\pm}
        \Big\|\big(s_j \sqrt{v_j^\pm}\big)_j\Big\|_q + \frac{2r}{\gamma\sqrt n}
        + \Big(\frac2\gamma + 1\Big) K \sqrt{\frac{2\ln(4/\delta)}{n}}, \qquad K = (B \bar s + 1)\, r

    with :math:`\|w\|_a \le B`, 1/a + 1/q = 1, k of :func:`khintchine`, and :math:`\bar s` the largest
    :math:`\|(s_j x_j)\|_q` of a unit vector x: :math:`\max_j s_j` for :math:`q \ge 2`, and :math:`p^{1/q - 1/2}` times
    that below. The paper has a = 2 and k = 1. By the entropy method :class:`Confidence` has another factor of
    :math:`2/\gamma` in the last term, from the terms before it.

    Parameters
    ----------
    X, y, classifier, r, gamma : as in :func:`fsopt.methods.gmeb.bound_terms.scaled_bound_terms`.
    scales : (p,) s >= 0.
    delta : in (0, 1), or a :class:`Confidence`.
    norm, exponent : B > 0 and a >= 1.

    Returns
    -------
    Bound
        Terms ``margin loss``, ``class +1``, ``class -1``, ``intercept``, ``confidence``; void where a scale of the
        classifier is above s.

    Raises
    ------
    ParameterError : a number outside its range, or a negative scale.

    Notes
    -----
    Peleg & Meir, appendix A, (21), and Remark 10, whose bounds the paper does not state.
    """
    check_numbers("fixed_scale_terms", gamma=gamma, r=r, norm=norm, delta=0.5)
    confidence = delta if isinstance(delta, Confidence) else Confidence(delta)
    if np.any(classifier.sigma < 0) or np.any(scales < 0):
        raise ParameterError("a scale is negative", "give sigma >= 0, not squared")
    n, p = X.shape
    q = dual_exponent(exponent)
    largest = float(scales.max(initial=0.0)) * (p ** (1.0 / q - 0.5) if q < 2.0 else 1.0)
    k = (norm * largest + 1.0) * r
    factor = 2.0 * norm * khintchine(exponent, p) / (gamma * n)
    classes = {
        f"class {label:+d}": factor * float(np.linalg.norm(scales * np.sqrt((X[y == label] ** 2).sum(axis=0)), ord=q))
        for label in (1, -1)
    }
    intercept = 2.0 * r / (gamma * math.sqrt(n))
    complexity = 0.5 * gamma * (sum(classes.values()) + intercept)
    more = 2.0 / gamma * confidence.deviation(complexity, n, k)
    terms = {
        "margin loss": margin_loss(y * classifier.scores(X), gamma),
        **classes,
        "intercept": intercept,
        "confidence": more + k * math.sqrt(2.0 * confidence.log / n),
    }
    met = conditions(X, classifier.w, classifier.b, r=r, norm=norm, exponent=exponent)
    return RiskBound(terms, {**met, "sigma <= s": bool(np.all(classifier.sigma <= scales * (1.0 + 1e-12)))})


def grid_bound_terms(
    X: Matrix,
    y: Vector,
    classifier: ScaledClassifier,
    *,
    sigma0: float = 1e-6,
    delta: float = 0.05,
    concentration: str = "mcdiarmid",
    **rest: float,
) -> RiskBound:
    r"""Return the bound (22): (21) at the smallest point of a grid that is not below the scales.

    .. math::

        s_j = \sigma_0 2^{i_j},\quad i_j = \max(1, \lceil\log_2(\sigma_j/\sigma_0)\rceil),\quad
        i \le \prod_j i_j,\quad \delta_i = \frac{\delta}{i(i+1)}

    Parameters
    ----------
    X, y, classifier, sigma0, delta : as in :func:`fsopt.methods.gmeb.bound_terms.scaled_bound_terms`.
    concentration : of :class:`Confidence`.
    rest : ``r``, ``gamma``, ``norm`` and ``exponent`` of :func:`fixed_scale_terms`.

    Returns
    -------
    Bound
        The terms of (21); ``confidence`` pays for the union over the grid.

    Raises
    ------
    ParameterError : a number outside its range, or a negative scale.

    Notes
    -----
    Peleg & Meir, appendix A, (20) and (22), with the upper bound of the index i.
    """
    check_numbers("grid_bound_terms", sigma0=sigma0, delta=delta)
    if np.any(classifier.sigma < 0):
        raise ParameterError("a scale is negative", "give sigma >= 0, not squared")
    places = np.maximum(np.ceil(np.log2(np.maximum(classifier.sigma, sigma0) / sigma0) - 1e-12), 1.0)
    # The product of the i_j overflows for hundreds of features: ln(i (i + 1)) from its logarithm.
    log_index = float(np.log(places).sum())
    log_share = log_index + (log_index + math.log1p(math.exp(-log_index)))
    confidence = Confidence(delta, concentration, log_share)
    return fixed_scale_terms(X, y, classifier, sigma0 * 2.0**places, delta=confidence, **rest)
