"""Selected features: the rule of Peleg & Meir, section 6.2, and the threshold of every method.

A feature is selected if the size of its weight is at least a threshold times the largest size and not 0. The size is
that of the weight of the preprocessed feature, or the one that the method's parameters ``rule``, ``units`` and
``epsilon`` ask for. All thresholds are in :data:`THRESHOLDS`; no method has one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fsopt.common.arguments import word
from fsopt.models.blocks import number
from fsopt.typing import Vector

THRESHOLDS: Mapping[str, float] = MappingProxyType(
    {
        # The cone programs (15) and (16) end with about 1e-10 of the largest weight in place of its zeros.
        "gmeb": 1e-5,
        # Its linear programs end at vertices, whose zeros are exact up to rounding.
        "gmeb-penalised": 1e-9,
        # Nothing is sparse: the same threshold as for the other minimax probability machines.
        "mpm": 1e-4,
        # The 1-norm in a cone program leaves about 1e-7 of the largest weight in place of zeros, more near alpha*.
        "s-mpm": 1e-4,
        "l1-mpm": 1e-4,
        "l0-mpm": 1e-4,
        # Nothing is sparse.
        "svm-norm": 1e-6,
        # Vertices of linear programs with costs near 0: zeros are exact up to the solver's tolerance.
        "misclass": 1e-6,
        "pmm": 1e-6,
        "fsv": 1e-6,
        # Vertices too, in scaled units.
        "onsvm": 1e-6,
        # Features outside sigma have weight 0; one of sigma that does not improve the classifier has solver noise.
        "gbd": 1e-6,
        "gbd-lambda": 1e-6,
        # Nothing is sparse, but a constant feature has a weight of 1e-17 instead of 0.
        "rsvm": 1e-9,
        # Scales are exact zeros of linear programs, and weights are multiplied by them.
        "mopfs": 1e-9,
        # Nothing is sparse, but a feature that does not improve the classifier has solver noise instead of 0.
        "svm": 1e-6,
        # The rule of the paper, on raw weights.
        "l1-svm": 0.01,
        # The weights of the last support vector machine on the features that were selected before it.
        "rfe": 1e-6,
        "infogain": 1e-6,
        "pearson": 1e-6,
        "fisher": 1e-6,
        "ks": 1e-6,
        "vs-ssvm": 1e-6,
    }
)
"""Method -> its threshold epsilon, relative to the largest weight, with the reason above it."""

_OWN: dict[str, float] = {}
"""The thresholds of the user's own methods."""

SUPPORT_VECTORS = 1e-6
"""The threshold of multipliers, relative to the largest one: interior points end with about 1e-9 in place of zeros."""

ROUNDING = 1e-10
"""Change of a score, next to the margin 1, below which a weight is a rounded 0 of the solver."""

RULES = ("relative", "absolute", "either")
UNITS = ("raw", "scaled")


def check_rule(rule: str, units: str, epsilon: float) -> None:
    """Raise ParameterError for a rule that :func:`select_by_size` does not know, before anything is solved."""
    for name, value, words in (("rule", rule, RULES), ("units", units, UNITS)):
        word(name, value, words)
    number("selection rule", "epsilon", epsilon, low=0.0, high=float(np.finfo(float).max))


@dataclass(frozen=True)
class SelectionRule:
    """The parameters of :func:`select_by_size`.

    Attributes
    ----------
    rule, units, epsilon : of :func:`select_by_size`; by default those of the tables in Peleg & Meir.

    Raises
    ------
    ParameterError : another word, or an epsilon that is not a number >= 0.
    """

    rule: str = "relative"
    units: str = "raw"
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        check_rule(self.rule, self.units, self.epsilon)

    def select(self, coef: Vector, deviation: Vector) -> tuple[int, ...]:
        """Return the features that weights (p,) of raw features with standard deviations (p,) select."""
        return select_by_size(coef, deviation, rule=self.rule, units=self.units, epsilon=self.epsilon)


def select_by_size(
    coef: Vector, deviation: Vector, *, rule: str = "relative", units: str = "raw", epsilon: float = 0.01
) -> tuple[int, ...]:
    r"""Return the features that a linear classifier selects by the size of their weights.

    .. math::

        \text{absolute: } |w_j| \ge \epsilon, \qquad
        \text{relative: } |w_j| \ge \epsilon \max_k |w_k|

    A weight of 0 is never selected. Raw weights depend on the units of the features, scaled ones do not.

    Parameters
    ----------
    coef : (p,) weights w of raw features.
    deviation : (p,) standard deviations of raw features over the training samples.
    rule : ``relative`` (default), ``absolute``, or ``either`` of them.
    units : ``raw`` (default): the weights themselves; ``scaled``: weight times deviation.
    epsilon : >= 0; 0.01 in the paper.

    Raises
    ------
    ParameterError : another word, or a negative epsilon.

    Notes
    -----
    Peleg & Meir, section 6.2, whose text is ``either``; the counts in its tables agree with ``relative``.
    """
    check_rule(rule, units, epsilon)
    size = np.abs(coef) if units == "raw" else np.abs(coef) * deviation
    limits = {"relative": epsilon * size.max(initial=0.0), "absolute": epsilon}
    return _at_least(size, limits.get(rule, min(limits.values())))


def set_threshold(method: str, epsilon: float) -> None:
    """Set the threshold of a method of the user's own; raises ParameterError for a number that is negative."""
    _OWN[method] = number("selection rule", "threshold", epsilon, low=0.0)


def select(method: str, w: Vector) -> tuple[int, ...]:
    """Return the features that the weights (p,) of preprocessed features select, by the threshold of the method."""
    threshold = _OWN[method] if method in _OWN else THRESHOLDS[method]
    return _at_least(np.abs(w), threshold * np.abs(w).max(initial=0.0))


def support_vectors(multipliers: Vector) -> tuple[int, ...]:
    """Return the samples whose multipliers (n,) >= 0 are above :data:`SUPPORT_VECTORS` of the largest."""
    return _at_least(multipliers, SUPPORT_VECTORS * multipliers.max(initial=0.0))


def without_rounding(w: Vector, spread: Vector) -> Vector:
    """Return weights (p,) with exact zeros in place of those that move scores by less than :data:`ROUNDING`.

    Parameters
    ----------
    w : (p,) weights.
    spread : (p,) sizes of the features in the units of the weights: largest absolute values or standard deviations.
    """
    return np.where(np.abs(w) * spread > ROUNDING, w, 0.0)


def _at_least(size: Vector, limit: float) -> tuple[int, ...]:
    """Return the places where a size is at least the limit and not 0."""
    return tuple(np.flatnonzero((size >= limit) & (size > 0)).tolist())
