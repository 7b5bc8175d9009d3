"""Measures of predicted labels and of scores."""

from __future__ import annotations

import numpy as np

from fsopt.typing import Vector

MEASURES = ("accuracy", "mcc", "balanced_accuracy", "recall", "auc")
"""The measures of :func:`measures`, each 1 at its best."""


def measures(y: Vector, score: Vector) -> dict[str, float]:
    r"""Return measures of the scores (n,) of samples with labels (n,) in {-1, +1}.

    ``accuracy``; ``mcc``, Matthews' correlation coefficient; ``balanced_accuracy``, the mean of the accuracies of both
    classes; ``recall``, the accuracy of the class +1; ``auc``, the area under the receiver operating characteristic:
    the share of the pairs of a positive and a negative sample of which the positive one has the larger score, where
    equal scores count as one half. A score of 0 is the label -1.
    """
    labels = np.where(score > 0, 1.0, -1.0)
    right = labels == y
    by_class = [float(right[y == sign].mean()) for sign in (1.0, -1.0) if np.any(y == sign)]
    return {
        "accuracy": float(np.mean(right)),
        "mcc": matthews(y, labels),
        "balanced_accuracy": float(np.mean(by_class)),
        "recall": by_class[0],
        "auc": area(y, score),
    }


def area(y: Vector, score: Vector) -> float:
    """Return the area under the receiver operating characteristic, by the ranks of the scores; 0.5 for one class."""
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = (np.cumsum(count) - (count - 1) / 2.0)[place]
    up = y > 0
    pairs = float(up.sum()) * float((~up).sum())
    above = float(mean_rank[up].sum()) - up.sum() * (up.sum() + 1) / 2.0
    return float(above / pairs) if pairs else 0.5


def matthews(y: Vector, labels: Vector) -> float:
    """Return Matthews' correlation coefficient of two label vectors (n,) in {-1, +1}; 0 where one is constant."""
    true, found = y > 0, labels > 0
    both, neither = float(np.sum(true & found)), float(np.sum(~true & ~found))
    only_found, only_true = float(np.sum(~true & found)), float(np.sum(true & ~found))
    product = (both + only_found) * (both + only_true) * (neither + only_found) * (neither + only_true)
    return (both * neither - only_found * only_true) / product**0.5 if product > 0 else 0.0
