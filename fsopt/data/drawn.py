"""Synthetic data of the papers: one seeded function for each law, drawn with ``numpy.random.default_rng``.

Labels are random, so a small sample may hold one class only; that is a DataError (choose another seed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsopt.common.arguments import WHOLE, with_keywords_of
from fsopt.data.dataset import Dataset
from fsopt.errors import ParameterError, shown
from fsopt.typing import Indices, Matrix, Vector


class SyntheticInstance(NamedTuple):
    """Training, validation and test set, support (m,) of the true hyperplane, and its weights w (p,)."""

    train: Dataset
    validation: Dataset
    test: Dataset
    support: Indices
    w: Vector


def gbd_set_one(p: int, n: int, k: int, root: int = 2013) -> SyntheticInstance:
    r"""Draw an instance of data set one of Aytug, with the number of relevant features in bin k // 2.

    With the generator ``default_rng([root, p, n, k])`` and b = k // 2, in this order:

    .. math::
        m \sim U\{\lfloor 0.2 b p \rfloor + 1, \dots, \lfloor 0.2 (b + 1) p \rfloor\}, \; m \le p - 1, \qquad
        w_S \sim N(0, I), \; S \text{ a random set of } m \text{ features}, \; w_j = 0 \text{ elsewhere},

    then three sets of n samples :math:`x = g / \|g\|_2`, :math:`g \sim N(0, I)`, with y = +1 where
    :math:`w'x \ge 0` and -1 elsewhere.

    Parameters
    ----------
    p, n, k : int
        Features, at least 5; samples in each of the three sets, at least 2; number of the instance, 0 to 9.
    root : int
        First number of the seed; other roots give fresh instances of the same law.

    Returns
    -------
    SyntheticInstance
        Three data sets (n, p), the relevant features, 0-based and increasing, and the hyperplane through the origin.

    Raises
    ------
    ParameterError : an argument is out of range.
    DataError : all n labels of a set are the same.

    Notes
    -----
    Aytug, section 4, data set one. The seeds and the law of the weights are not published; this is fsopt's reading.
    """
    _check(p=(p, 5), n=(n, 2), k=(k, 0, 9), root=(root, 0))
    rng = np.random.default_rng([root, p, n, k])
    b = k // 2
    m = min(int(rng.integers(b * p // 5 + 1, (b + 1) * p // 5 + 1)), p - 1)
    return _instance(rng, p, n, m, f"gbd-one-{p}-{n}-{k}")


@with_keywords_of(gbd_set_one)
def gbd_set_two(m: int, k: int, root: int = 2014, p: int = 800, n: int = 1000) -> SyntheticInstance:
    r"""Draw an instance of data set two of Aytug, with a given number m of relevant features.

    The law is that of :func:`gbd_set_one` with m given, the generator is ``default_rng([root, p, n, m, k])``.

    Parameters
    ----------
    m, k : int
        Relevant features, 1 to `p`; number of the instance, not negative.
    root : int
        First number of the seed; other roots give fresh instances of the same law.
    p, n : int
        Features, and samples in each of the three sets, at least 2; the paper has 800 and 1000.

    Notes
    -----
    Aytug, section 4, data set two, in fsopt's reading.
    """
    _check(p=(p, 1), n=(n, 2), m=(m, 1, p), k=(k, 0), root=(root, 0))
    return _instance(np.random.default_rng([root, p, n, m, k]), p, n, m, f"gbd-two-{m}-{k}")


def _instance(rng: np.random.Generator, p: int, n: int, m: int, name: str) -> SyntheticInstance:
    support = rng.choice(p, m, replace=False)
    w = np.zeros(p)
    w[support] = rng.standard_normal(m)
    sets = []
    for part in ("train", "valid", "test"):
        X = rng.standard_normal((n, p))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        sets.append(Dataset(X, np.where(X @ w >= 0, 1.0, -1.0), name=f"{name}-{part}"))
    train, validation, test = sets
    return SyntheticInstance(train, validation, test, np.sort(support), w)


def gmeb_type1(n: int, seed: int, p: int = 202) -> Dataset:
    r"""Draw the first synthetic data set of Peleg & Meir: two cases, six relevant features.

    .. math::
        y &= \pm 1 \text{ with probability } 1/2, \qquad i = 1, 2, 3, \\
        \text{case I } (0.7) &: \; x_i \mid y \sim N(y i, 1), \; x_{i+3} \sim N(0, 1), \\
        \text{case II } (0.3) &: \; x_i \sim N(0, 1), \; x_{i+3} \mid y \sim N(y i, 1),

    and noise :math:`x_j \sim N(0, 20)`, :math:`j = 7 \dots p`, where 20 is the variance.

    Parameters
    ----------
    n, seed : int
        Samples, at least 2; seed, not negative.
    p : int
        Features, at least 6; the paper has 202.

    Returns
    -------
    Dataset
        (n, p)

    Raises
    ------
    ParameterError : an argument is out of range.
    DataError : all n labels drawn are the same.

    Notes
    -----
    Peleg & Meir, section 6.3.1, item 1 and Table 1, after Weston et al. (2000). :math:`x_i y \sim` in the table is read
    as :math:`x_i \mid y \sim`; this reading reproduces the baselines of the paper.
    """
    _check(n=(n, 2), p=(p, 6), seed=(seed, 0))
    rng = np.random.default_rng(seed)
    y = _signs(rng, n)
    first = rng.random(n) < 0.7
    X = rng.standard_normal((n, p))
    means = np.outer(y, [1.0, 2.0, 3.0])
    X[:, 0:3] += np.where(first[:, None], means, 0.0)
    X[:, 3:6] += np.where(first[:, None], 0.0, means)
    X[:, 6:] *= np.sqrt(20.0)
    return Dataset(X, y, name="gmeb-type1")


@with_keywords_of(gmeb_type1)
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
    n, seed : int
        Samples, at least 2; seed, not negative, of V as well.
    p, n_informative : int
        Features; relevant ones, at least 1, the first of them.

    Notes
    -----
    Peleg & Meir, section 6.3.1, item 2.
    """
    _check(n=(n, 2), n_informative=(n_informative, 1), p=(p, n_informative))
    V, rng = orthogonal(seed, n_informative)
    y = _signs(rng, n)
    X = rng.standard_normal((n, p))
    scale = np.sqrt(np.arange(1.0, n_informative + 1))
    X[:, :n_informative] = y[:, None] + (X[:, :n_informative] * scale) @ V.T
    return Dataset(X, y, name="gmeb-type2")


def orthogonal(seed: int, size: int) -> tuple[Matrix, np.random.Generator]:
    """Return the random orthogonal matrix V of a seed, and the generator that drew it; raises ParameterError."""
    _check(n_informative=(size, 1), seed=(seed, 0))
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0), rng


def gmeb_type2_bayes(seed: int, n_informative: int = 10) -> float:
    r"""Return the Bayes error rate of :func:`gmeb_type2` at a seed.

    .. math:: \Phi\Big(-\sqrt{\mathbf 1'(VDV')^{-1}\mathbf 1}\Big)

    depends on the random orthogonal matrix V, thus on the seed. Raises the errors of that function.
    """
    from scipy.stats import norm

    V, _ = orthogonal(seed, n_informative)
    turned = V.T @ np.ones(n_informative)
    return float(norm.cdf(-np.sqrt(np.sum(turned**2 / np.arange(1.0, n_informative + 1)))))


@with_keywords_of(gmeb_type1)
def mpm_synthetic(n: int = 50, seed: int = 0, p: int = 1000) -> Dataset:
    r"""Draw the synthetic data set of Yang & Ju: ten relevant features of equal strength.

    .. math::
        y = \pm 1 \text{ with probability } 1/2, \qquad
        x_i \mid y \sim y \, N(-1, 1), \; i = 1 \dots 10, \qquad x_j \sim N(0, 1), \; j > 10.

    Parameters
    ----------
    n, seed, p : int
        Samples, at least 2; seed, not negative; features, at least 10. The paper has 50 samples of 1000 features.

    Notes
    -----
    Yang & Ju, section 4.2. The print has :math:`y N(-i, 1)`. The tenth feature alone would then separate the classes,
    which contradicts the results of the paper.
    """
    _check(n=(n, 2), p=(p, 10), seed=(seed, 0))
    rng = np.random.default_rng(seed)
    y = _signs(rng, n)
    X = rng.standard_normal((n, p))
    X[:, :10] = y[:, None] * (X[:, :10] - 1.0)
    return Dataset(X, y, name="mpm-synthetic")


def _signs(rng: np.random.Generator, n: int) -> Vector:
    """Return n independent labels, -1 or +1 with probability 1/2."""
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def _check(**given: tuple[int, ...]) -> None:
    """Raise ParameterError for the first (value, low) or (value, low, high) whose value is no whole number there."""
    for name, (value, low, *high) in given.items():
        if not WHOLE.holds(value) or value < low or any(value > end for end in high):
            allowed = f"{low} to {high[0]}" if high else f"at least {low}"
            raise ParameterError(f"{name} is {shown(value)}", f"{name} is a whole number, {allowed}")
