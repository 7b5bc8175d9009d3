"""The path over the number of features on held-out samples, and the number that its scores choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.analysis.selection_paths import incumbents_of_path
from fsopt.data import Dataset
from fsopt.data.scores import measures
from fsopt.data.splits import train_and_test
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane
from fsopt.typing import Indices, Vector

NODES = 0
"""Nodes of a search inside of folds and resamples: its root has the incumbent, without the proof."""
FOLDED = BranchSettings(1e-4, NODES, thorough=False)
"""Settings of such a search: only its selection counts."""
ONE_BY_ONE, LARGEST = 6, 50
"""Numbers of features up to which all are tried, and the largest one."""
GROWTH = 4 / 3
"""Factor between the numbers between these."""
RULES = ("one-se", "min")
TIE = 1e-12
"""Mean scores that differ by less are equal."""


@dataclass(frozen=True)
class Choice:
    """The number of features and the penalty weight that cross-validated scores choose.

    Attributes
    ----------
    m, c : the choice.
    means, errors : (k,) mean score of each number of features at its best penalty weight, and standard error of it.
    weights : (k,) these penalty weights.
    best : place of the largest mean.
    """

    m: int
    c: float
    means: Vector
    errors: Vector
    weights: tuple[float, ...]
    best: int

    def at(self, numbers: Sequence[int], m: int) -> Choice:
        """Return the choice of a given number of features."""
        return replace(self, m=m, c=self.weights[numbers.index(m)])


@dataclass(frozen=True)
class Nested:
    """Scores of nested cross-validation: on the samples of each fold, and the number of features chosen without them.

    Attributes
    ----------
    scores, numbers : one for each fold.
    """

    scores: tuple[float, ...]
    numbers: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """The standard error of the mean score."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))


@dataclass(frozen=True)
class Substitute:
    """Another selection with nearly the score of the best one: its features, and their cross-validated score."""

    features: tuple[str, ...]
    score: float


def numbers_of_features(p: int) -> list[int]:
    """Return the numbers of features that are tried: all small ones, then a third more each time, up to p or 50."""
    last = min(p, LARGEST)
    found = list(range(1, min(ONE_BY_ONE, last) + 1))
    while found[-1] < last:
        found.append(min(last, int(np.ceil(GROWTH * found[-1]))))
    return found


def path_scores(data: Dataset, fold: Indices, numbers: Sequence[int], c: float, score: str) -> list[float]:
    """Return the score on the samples of a fold of the best selection of each number of features of the others.

    Encoding, substitutes of missing values and scaling are learned on the training samples.
    """
    train, test = train_and_test(data, fold)
    kept = [min(m, train.p) for m in numbers]
    work, map_ = preprocess(train, "standard")
    found = {}
    for m, one in incumbents_of_path(work, c, kept, FOLDED).items():
        w, b = raw_hyperplane(Hyperplane(one.point["w"], one.point["b"], ()), map_)
        found[m] = measures(test.y, test.X @ w + b)[score]
    return [found[m] for m in kept]


def choose(table: NDArray[np.float64], numbers: Sequence[int], weights: Sequence[float], rule: str) -> Choice:
    """Return the choice of a rule.

    Parameters
    ----------
    table : (penalty weights, folds, numbers of features) scores.
    numbers, weights : ascending.
    rule : ``min``, the number of the best mean score, of equal ones the smallest; ``one-se``, the smallest number whose
        mean is within one standard error of the best.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), section 3.4.3. The standard error
    of a mean over K folds is the standard deviation over the folds divided by the root of K.
    """
    means = table.mean(axis=1)
    at = np.argmax(means >= means.max(axis=0) - TIE, axis=0)
    places = np.arange(len(numbers))
    curve = means[at, places]
    errors = table[at, :, places].std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    best = int(np.argmax(curve >= curve.max() - TIE))
    allowed = curve[best] - (errors[best] if rule == "one-se" else 0.0)
    chosen = int(np.argmax(curve >= allowed - TIE))
    used = tuple(weights[k] for k in at)
    return Choice(numbers[chosen], used[chosen], curve, errors, used, best)
