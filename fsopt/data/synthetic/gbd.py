"""Synthetic data of Aytug."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsopt.data.dataset import Dataset
from fsopt.data.synthetic.draws import whole
from fsopt.typing import Indices, Vector


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
    p : int
        Features, at least 5.
    n : int
        Samples in each of the three sets, at least 2.
    k : int
        Number of the instance, 0 to 9.
    root : int
        First number of the seed; other roots give fresh instances of the same law.

    Returns
    -------
    train, validation, test : Dataset
        (n, p) each
    support : (m,) array of int
        Relevant features, 0-based, increasing.
    w : (p,) array
        Weights of the hyperplane through the origin.

    Raises
    ------
    ParameterError
        If an argument is out of range.
    DataError
        If all n labels of a set are the same.

    Notes
    -----
    Aytug, section 4, data set one. The seeds and the law of the weights are not published; this is fsopt's reading.
    """
    whole("p", p, 5)
    whole("n", n, 2)
    whole("k", k, 0, 9)
    whole("root", root, 0)
    rng = np.random.default_rng([root, p, n, k])
    b = k // 2
    m = min(int(rng.integers(b * p // 5 + 1, (b + 1) * p // 5 + 1)), p - 1)
    return _instance(rng, p, n, m, f"gbd-one-{p}-{n}-{k}")


def gbd_set_two(m: int, k: int, root: int = 2014, p: int = 800, n: int = 1000) -> SyntheticInstance:
    r"""Draw an instance of data set two of Aytug, with a given number m of relevant features.

    The law is that of :func:`gbd_set_one` with m given, the generator is ``default_rng([root, p, n, m, k])``.

    Parameters
    ----------
    m : int
        Relevant features, 1 to `p`.
    k : int
        Number of the instance, not negative.
    root : int
        First number of the seed; other roots give fresh instances of the same law.
    p : int
        Features; the paper has 800.
    n : int
        Samples in each of the three sets, at least 2; the paper has 1000.

    Returns
    -------
    train, validation, test : Dataset
        (n, p) each
    support : (m,) array of int
        Relevant features, 0-based, increasing.
    w : (p,) array
        Weights of the hyperplane through the origin.

    Raises
    ------
    ParameterError
        If an argument is out of range.
    DataError
        If all n labels of a set are the same.

    Notes
    -----
    Aytug, section 4, data set two, in fsopt's reading.
    """
    whole("p", p, 1)
    whole("n", n, 2)
    whole("m", m, 1, p)
    whole("k", k, 0)
    whole("root", root, 0)
    return _instance(np.random.default_rng([root, p, n, m, k]), p, n, m, f"gbd-two-{m}-{k}")


def _instance(rng: np.random.Generator, p: int, n: int, m: int, name: str) -> SyntheticInstance:
    support = rng.choice(p, m, replace=False)
    w = np.zeros(p)
    w[support] = rng.standard_normal(m)
    train = _sample(rng, w, n, f"{name}-train")
    validation = _sample(rng, w, n, f"{name}-valid")
    test = _sample(rng, w, n, f"{name}-test")
    return SyntheticInstance(train, validation, test, np.sort(support), w)


def _sample(rng: np.random.Generator, w: Vector, n: int, name: str) -> Dataset:
    X = rng.standard_normal((n, w.size))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Dataset(X, np.where(X @ w >= 0, 1.0, -1.0), name=name)
