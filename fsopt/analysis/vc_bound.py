"""The risk bound (1) of Bi, and the point of a Pareto front that it prefers."""

from __future__ import annotations

import numpy as np

from fsopt.analysis.fronts import ParetoFront
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.methods.mop.rsvm_training import squared_radius
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number
from fsopt.typing import Vector


def vc_bound(risk: float, h: float, n: int, *, delta: float = 0.05) -> float:
    r"""Return an upper bound on the risk of a classifier from a class of VC dimension h.

    .. math:: R_{\text{emp}} + \sqrt{\frac{h\,(\ln(2n/h) + 1) + \ln(4/\delta)}{n}}

    with probability 1 - delta over n samples. The paper leaves its function Psi(h / n) open; this one is Vapnik's.

    Parameters
    ----------
    risk : empirical risk, a share of misclassified samples.
    h : VC dimension, at least 1. Above n the function is no bound and falls again: its value at n is taken.
    n : number of samples.
    delta : in (0, 1).

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Bi, (1); Vapnik (1998).
    """
    h = min(number("vc_bound", "h", h, inside="[1, inf]"), float(n))
    delta = number("vc_bound", "delta", delta)
    return float(risk + np.sqrt((h * (np.log(2.0 * n / h) + 1.0) + np.log(4.0 / delta)) / n))


def vc_bounds(front: ParetoFront, data: Dataset, *, scale: str = "unit-rows", delta: float = 0.05) -> Vector:
    """Return the bound (1) at each point of a front of :func:`fsopt.analysis.fronts.pareto_front`.

    The VC dimension is estimated by R w'w + 1, (6) of the paper, an integer of at most the number of samples; the
    empirical risk is the share of misclassified training samples. ``front.columns["gamma"][k]`` is 1 / C and
    ``front.x[k]`` is W at the point k of the smallest bound: the choice of C or of W by (1).

    Parameters
    ----------
    front : of these data and this scale.
    data : raw training data.
    scale : preprocessing of the samples, that of the front.
    delta : in (0, 1), probability that the bound fails.

    Raises
    ------
    ParameterError : a front of another kind, or delta outside (0, 1).
    """
    if "train_error" not in front.columns:
        raise ParameterError("the front has no training errors", "give one of fsopt.pareto_front")
    work, _ = preprocess(data, scale)
    dimensions = np.floor(squared_radius(work) * front.x) + 1.0
    pairs = zip(front.columns["train_error"], dimensions, strict=True)
    return np.array([vc_bound(float(risk), float(h), data.n, delta=delta) for risk, h in pairs])
