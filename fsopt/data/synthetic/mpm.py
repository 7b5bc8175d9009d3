"""Synthetic data of Yang & Ju."""

from __future__ import annotations

import numpy as np

from fsopt.data.dataset import Dataset
from fsopt.data.synthetic.draws import generator, signs, whole


def mpm_synthetic(n: int = 50, seed: int = 0, p: int = 1000, literal: bool = False) -> Dataset:
    r"""Draw the synthetic data set of Yang & Ju: ten relevant features of equal strength.

    .. math::
        y = \pm 1 \text{ with probability } 1/2, \qquad
        x_i \mid y \sim y \, N(-1, 1), \; i = 1 \dots 10, \qquad x_j \sim N(0, 1), \; j > 10.

    Parameters
    ----------
    n : int
        Samples, at least 2; the paper has 50.
    seed : int
        Seed, not negative.
    p : int
        Features, at least 10; the paper has 1000.
    literal : bool
        Use the mean -i of the print instead of -1.

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
    Yang & Ju, section 4.2. The print has :math:`y N(-i, 1)`. The tenth feature alone would then separate the classes,
    which contradicts the results of the paper.
    """
    whole("n", n, 2)
    whole("p", p, 10)
    rng = generator(seed)
    y = signs(rng, n)
    X = rng.standard_normal((n, p))
    means = np.arange(1.0, 11.0) if literal else np.ones(10)
    X[:, :10] = y[:, None] * (X[:, :10] - means)
    return Dataset(X, y, name="mpm-synthetic")


def mpm_synthetic_bayes() -> float:
    r"""Return the Bayes error rate of :func:`mpm_synthetic`, :math:`\Phi(-\sqrt{10})`."""
    from scipy.stats import norm

    return float(norm.cdf(-np.sqrt(10.0)))
