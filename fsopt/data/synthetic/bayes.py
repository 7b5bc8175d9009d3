"""Bayes error rates of the synthetic data of the papers: the smallest error rate of any classifier."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from fsopt.data.synthetic.draws import whole
from fsopt.data.synthetic.gmeb import orthogonal


def gmeb_type1_bayes() -> float:
    r"""Return the Bayes error rate of :func:`fsopt.data.synthetic.gmeb.gmeb_type1`, by one integral.

    With :math:`s_1 = \sum_i i\,x_i` and :math:`s_2 = \sum_i i\,x_{i+3}` the densities of the classes have the ratio
    of :math:`.7e^{ys_1} + .3e^{ys_2}`, so that the best classifier is the sign of
    :math:`.7\sinh s_1 + .3\sinh s_2`. In case I :math:`s_1 \sim N(14y, 14)` and :math:`s_2 \sim N(0, 14)`, in
    case II the other way round. The features of noise do not matter.
    """
    root = np.sqrt(14.0)

    def share(s: float, weight: float, other: float, mean: float) -> float:
        """Return the density of s times the probability that the other sum turns the sign for y = +1."""
        turn = -np.arcsinh(weight / other * np.sinh(s))
        return float(norm.pdf(s, 14.0 - mean, root) * norm.cdf(turn, mean, root))

    def error(weight: float, other: float) -> float:
        """Return the error rate where the sum of this weight has mean 14; the other one has mean 0."""
        return float(quad(share, -16.0, 44.0, args=(weight, other, 0.0), limit=400, points=[0.0, 14.0])[0])

    return 0.7 * error(0.7, 0.3) + 0.3 * error(0.3, 0.7)


def gmeb_type2_bayes(seed: int, n_informative: int = 10) -> float:
    r"""Return the Bayes error rate of :func:`fsopt.data.synthetic.gmeb.gmeb_type2` at a seed.

    .. math:: \Phi\Big(-\sqrt{\mathbf 1'(VDV')^{-1}\mathbf 1}\Big)

    depends on the random orthogonal matrix V, thus on the seed.

    Raises
    ------
    ParameterError : n_informative < 1, or a seed that is not a whole number >= 0.
    """
    whole("n_informative", n_informative, 1)
    V, _ = orthogonal(seed, n_informative)
    turned = V.T @ np.ones(n_informative)
    return float(norm.cdf(-np.sqrt(np.sum(turned**2 / np.arange(1.0, n_informative + 1)))))


def mpm_synthetic_bayes() -> float:
    r"""Return the Bayes error rate of :func:`fsopt.data.synthetic.mpm.mpm_synthetic`, :math:`\Phi(-\sqrt{10})`."""
    return float(norm.cdf(-np.sqrt(10.0)))
