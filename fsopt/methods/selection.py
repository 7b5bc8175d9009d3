"""Which weights count as selected: the rules, and a threshold for each method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.typing import Vector

RULES = ("relative", "absolute", "either")


UNITS = ("raw", "scaled")


NOISE = 1e-10
"""What moves scores by less than this, next to a margin of 1, is a solver's rounding."""


def check_rule(rule: str, units: str, epsilon: float) -> None:
    """Raise ParameterError for a selection rule that :func:`choose` does not know, before anything is solved."""
    for name, value, words in (("rule", rule, RULES), ("units", units, UNITS)):
        if value not in words:
            raise ParameterError(f"{name} is {value!r}", f"one of {', '.join(words)}")
    number("selection rule", "epsilon", epsilon, low=0.0)


def select_by_size(
    coef: Vector, deviation: Vector, *, rule: str = "relative", units: str = "raw", epsilon: float = 0.01
) -> tuple[int, ...]:
    r"""Return the features that a linear classifier selects by the size of their weights.

    .. math::

        \text{absolute: } |w_j| \ge \epsilon, \qquad
        \text{relative: } |w_j| \ge \epsilon \max_k |w_k|

    A weight of 0 is never selected. Raw weights depend on the units of the columns, scaled ones do not.

    Parameters
    ----------
    coef : (p,) weights w of raw columns.
    deviation : (p,) training standard deviations of raw columns.
    rule : ``relative`` (default), ``absolute``, or ``either`` of them.
    units : ``raw`` (default): the weights themselves; ``scaled``: weight times deviation.
    epsilon : >= 0, the paper has 0.01.

    Raises
    ------
    ParameterError : another word, or a negative epsilon.

    Notes
    -----
    Paper 1, section 6.2, whose text is ``either``; the counts in its tables agree with ``relative``.
    """
    check_rule(rule, units, epsilon)
    size = np.abs(coef) if units == "raw" else np.abs(coef) * deviation
    limits = {"relative": epsilon * size.max(initial=0.0), "absolute": epsilon}
    limit = limits.get(rule, min(limits.values()))
    return tuple(np.flatnonzero((size >= limit) & (size > 0)).tolist())


@dataclass(frozen=True)
class SelectionRule:
    """A rule of :func:`select_by_size`, with its parameters; a wrong one raises ParameterError when it is made."""

    rule: str = "relative"
    units: str = "raw"
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        check_rule(self.rule, self.units, self.epsilon)

    def select(self, coef: Vector, deviation: Vector) -> tuple[int, ...]:
        """Return the features that weights (p,) of raw columns with these standard deviations (p,) select."""
        return select_by_size(coef, deviation, rule=self.rule, units=self.units, epsilon=self.epsilon)


def without_rounding(w: Vector, X: Vector) -> Vector:
    """Return weights (p,) without those that move no score of X (n, p) beyond :data:`NOISE`: rounded zeros."""
    return np.where(np.abs(w) * np.abs(X).max(axis=0) > NOISE, w, 0.0)


def select(w: Vector, threshold: float) -> tuple[int, ...]:
    """Return the features that preprocessed weights select: rule 6.2 of paper 1, relative, in their own units."""
    return select_by_size(w, np.ones(len(w)), epsilon=threshold)
