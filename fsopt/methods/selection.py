"""Selected features: the rule of Peleg & Meir, section 6.2, and the threshold of every method.

A feature is selected if the size of its weight is at least a threshold times the largest size and not 0. The size is
that of the weight of the preprocessed feature, or the one that the method's parameters ``rule``, ``units`` and
``epsilon`` ask for. The threshold of a method is in its entry, :class:`fsopt.methods.spec.MethodSpec`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.common.arguments import word
from fsopt.models.blocks import number
from fsopt.typing import Vector

THRESHOLD = 1e-6
"""The threshold of a method whose entry states no other one: above the noise of solvers in place of zeros."""
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
    number("selection rule", "epsilon", epsilon)


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


def selection(w: Vector, threshold: float = THRESHOLD) -> tuple[int, ...]:
    """Return the features that the weights (p,) of preprocessed features select, by a threshold of the largest size."""
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
