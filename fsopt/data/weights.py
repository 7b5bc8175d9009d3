"""Weights of samples: by class and by sample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fsopt.common.arguments import NUMBER, word
from fsopt.errors import ParameterError, shown
from fsopt.typing import Vector


def weights_of_samples(
    y: Vector,
    labels: tuple[str, str],
    class_weight: str | Mapping[str | int, float] | None,
    sample_weight: Vector | None,
) -> Vector | None:
    """Return the products of sample and class weights (n,), see :meth:`fsopt.Dataset.weighted`; None for equal ones."""
    if class_weight is None:
        return sample_weight
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    up = y > 0
    if isinstance(class_weight, Mapping):
        plus, minus = _given(class_weight, labels)
    else:
        word("class weight", class_weight, ("balanced",))
        plus, minus = (weights.sum() / (2.0 * weights[part].sum()) for part in (up, ~up))
    return np.asarray(weights * np.where(up, plus, minus))


def _given(class_weight: Mapping[str | int, float], labels: tuple[str, str]) -> tuple[float, float]:
    """Return the weights of +1 and -1 in a mapping by texts of labels or by -1 and +1."""
    names = {"-1": -1, "1": 1, "+1": 1, labels[0]: -1, labels[1]: 1}
    factors = {-1: 1.0, 1: 1.0}
    for name, value in class_weight.items():
        if str(name) not in names:
            raise ParameterError(
                f"the class weights name a class '{name}'", f"the classes are '{labels[0]}' and '{labels[1]}'"
            )
        if not NUMBER.holds(value) or value <= 0:
            raise ParameterError(f"the weight of class '{name}' is {shown(value)}", "give a number > 0")
        factors[names[str(name)]] = float(value)
    return factors[1], factors[-1]


def loss_weights(c: float, weights: Vector | None) -> float | Vector:
    """Return the penalty weights C_i of the samples: c itself for equal weights, else c times the weights (n,)."""
    return c if weights is None else np.asarray(c * weights)


def weights_of_classes(y: Vector, weights: Vector | None) -> tuple[float, float]:
    """Return the weight of the class +1 and that of -1; raises ParameterError where they differ within a class."""
    found = by_class(y, weights)
    if found is None:
        raise ParameterError("the weights differ within a class", "give class weights, such as 'balanced'")
    return found


def by_class(y: Vector, weights: Vector | None) -> tuple[float, float] | None:
    """Return the weight of the samples with y = +1 and y = -1; None where weights differ within a class."""
    if weights is None:
        return 1.0, 1.0
    classes = weights[y > 0], weights[y < 0]
    if any(np.ptp(part) > 1e-12 * part.max() for part in classes):
        return None
    return float(classes[0][0]), float(classes[1][0])
