"""Synthetic data of Peleg & Meir."""

from __future__ import annotations

import numpy as np

from fsopt.data.dataset import Dataset
from fsopt.data.synthetic.draws import generator, signs, whole
from fsopt.typing import Matrix


def gmeb_type1(n: int, seed: int, p: int = 202) -> Dataset:
    r"""Draw the first synthetic data set of Peleg & Meir: two cases, six relevant features.

    .. math::
        y &= \pm 1 \text{ with probability } 1/2, \qquad i = 1, 2, 3, \\
        \text{case I } (0.7) &: \; x_i \mid y \sim N(y i, 1), \; x_{i+3} \sim N(0, 1), \\
        \text{case II } (0.3) &: \; x_i \sim N(0, 1), \; x_{i+3} \mid y \sim N(y i, 1),

    and noise :math:`x_j \sim N(0, 20)`, :math:`j = 7 \dots p`, where 20 is the variance.

    Parameters
    ----------
    n : int
        Samples, at least 2.
    seed : int
        Seed, not negative.
    p : int
        Features, at least 6; the paper has 202.

    Returns
    -------
    Dataset
        (n, p)

    Raises
    ------
    ParameterError
        If an argument is out of range.
    DataError
        If all n labels drawn are the same.

    Notes
    -----
    Peleg & Meir, section 6.3.1, item 1 and Table 1, after Weston et al. (2000). :math:`x_i y \sim` in the table is read
    as :math:`x_i \mid y \sim`; this reading reproduces the baselines of the paper.
    """
    whole("n", n, 2)
    whole("p", p, 6)
    rng = generator(seed)
    y = signs(rng, n)
    first = rng.random(n) < 0.7
    X = rng.standard_normal((n, p))
    means = np.outer(y, [1.0, 2.0, 3.0])
    X[:, 0:3] += np.where(first[:, None], means, 0.0)
    X[:, 3:6] += np.where(first[:, None], 0.0, means)
    X[:, 6:] *= np.sqrt(20.0)
    return Dataset(X, y, name="gmeb-type1")


def gmeb_type2(n: int, seed: int, p: int = 100, n_informative: int = 10) -> Dataset:
    r"""Draw the second synthetic data set of Peleg & Meir: correlated relevant features and white noise.

    .. math::
        y = \pm 1 \text{ with probability } 1/2, \qquad
        (x_1, \dots, x_s) \mid y \sim N(y \mathbf 1, V D V'), \; D = \operatorname{diag}(1, \dots, s), \qquad
        x_j \sim N(0, 1), \; j > s,

    with s = `n_informative` and V a uniformly random orthogonal matrix: the factor Q of a Gaussian matrix in the QR
    decomposition with a positive diagonal of R.

    Parameters
    ----------
    n : int
        Samples, at least 2.
    seed : int
        Seed, not negative; V depends on it as well.
    p : int
        Features, at least `n_informative`.
    n_informative : int
        Relevant features, the first ones, at least 1.

    Returns
    -------
    Dataset
        (n, p)

    Raises
    ------
    ParameterError
        If an argument is out of range.
    DataError
        If all n labels drawn are the same.

    Notes
    -----
    Peleg & Meir, section 6.3.1, item 2.
    """
    whole("n", n, 2)
    whole("n_informative", n_informative, 1)
    whole("p", p, n_informative)
    V, rng = orthogonal(seed, n_informative)
    y = signs(rng, n)
    X = rng.standard_normal((n, p))
    scale = np.sqrt(np.arange(1.0, n_informative + 1))
    X[:, :n_informative] = y[:, None] + (X[:, :n_informative] * scale) @ V.T
    return Dataset(X, y, name="gmeb-type2")


def orthogonal(seed: int, size: int) -> tuple[Matrix, np.random.Generator]:
    """Return the random orthogonal matrix V of a seed, and the generator that drew it; raises ParameterError."""
    rng = generator(seed)
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0), rng


def gmeb_type1_bayes() -> float:
    r"""Return the Bayes error rate of :func:`gmeb_type1`, by one integral.

    With :math:`s_1 = \sum_i i\,x_i` and :math:`s_2 = \sum_i i\,x_{i+3}` the densities of the classes have the ratio
    of :math:`.7e^{ys_1} + .3e^{ys_2}`, so that the best classifier is the sign of
    :math:`.7\sinh s_1 + .3\sinh s_2`. In case I :math:`s_1 \sim N(14y, 14)` and :math:`s_2 \sim N(0, 14)`, in
    case II the other way round. The features of noise do not matter.
    """
    from scipy.integrate import quad
    from scipy.stats import norm

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
    r"""Return the Bayes error rate of :func:`gmeb_type2` at a seed.

    .. math:: \Phi\Big(-\sqrt{\mathbf 1'(VDV')^{-1}\mathbf 1}\Big)

    depends on the random orthogonal matrix V, thus on the seed.

    Raises
    ------
    ParameterError : n_informative < 1, or a seed that is not a whole number >= 0.
    """
    from scipy.stats import norm

    whole("n_informative", n_informative, 1)
    V, _ = orthogonal(seed, n_informative)
    turned = V.T @ np.ones(n_informative)
    return float(norm.cdf(-np.sqrt(np.sum(turned**2 / np.arange(1.0, n_informative + 1)))))
