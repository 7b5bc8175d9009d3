r"""The number of variables of a logistic classifier by cross-validated log-loss, and how good the whole choice is.

A configuration is the penalty weight of the path that selects, and that of the classifier on what it selects. The
log-loss :math:`L(M)` of M variables is that of its best configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from fsopt.data import Dataset
from fsopt.data.dataset import smaller_class, stratified_folds, train_and_test
from fsopt.data.hyperplanes import area, loss_weights
from fsopt.data.matrices import Preprocessing
from fsopt.linear.logistic_path import LogisticPath
from fsopt.typing import Indices, Matrix, Vector

SEARCHES = (0.03, 0.3)
"""Penalty weights of the paths that select."""
CLASSIFIERS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
"""Penalty weights of the classifiers on what a path selects."""
RIDGES = (0.001, 0.01, 0.1, 1.0)
"""Penalty weights of the classifiers on all features."""
ONE_BY_ONE, LARGEST = 10, (12, 15, 20, 25)
"""Number of variables up to which each is tried, and the larger ones that are."""
SAMPLES = 5
"""Fewest samples for each variable."""
GAIN, ALLOWED = 0.05, 0.02
"""Share of the fall of the log-loss, and log-loss, that fewer variables may cost."""
SMOOTH = (0.25, 0.5, 0.25)
"""Weights of the log-losses of neighbouring numbers of variables."""
RARE = 0.2
"""Share of the smaller class below which both classes have the same weight in the log-loss."""
RULES = ("log-loss", "shortest")
TIE = 1e-12
DRAWS = 200
"""Bootstrap draws of the samples."""
LEVEL = 0.95
"""Of the intervals."""
NONE = np.empty(0, dtype=int)


@dataclass(frozen=True)
class Choice:
    """The number of variables and the configuration that cross-validated scores choose.

    Attributes
    ----------
    m, c_path, c : number of variables, and penalty weights of the path and of the classifier.
    sizes, losses : largest numbers of variables (a path may end earlier), and the smallest mean log-loss of each.
    """

    m: int
    c_path: float
    c: float
    sizes: tuple[int, ...]
    losses: Vector


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of samples by classifiers that were fitted without them.

    Attributes
    ----------
    values : (r, n, s, k) for repetitions, samples, numbers of variables and configurations.
    sizes : these numbers (s,), increasing from 0.
    y, weights : labels and weights in the log-loss (n,).
    units : of each sample (n,) its place, or that of its group.
    folds : of each repetition, the samples of each fold.
    """

    values: Matrix
    sizes: tuple[int, ...]
    y: Vector
    weights: Vector
    units: Indices
    folds: list[list[Indices]]

    @cached_property
    def losses(self) -> Matrix:
        """The log-losses (n, s, k), means over the repetitions."""
        return np.asarray(np.logaddexp(0.0, -self.y[:, None, None] * self.values).mean(axis=0))


def sizes_of(groups: int, samples: int, wanted: int | None = None) -> tuple[int, ...]:
    """Return the numbers of variables that are tried: a fifth of the samples at most, but for one that is wanted."""
    tried = (m for m in (*range(ONE_BY_ONE + 1), *LARGEST) if m <= max(samples // SAMPLES, 1))
    return tuple(sorted({min(m, groups) for m in (*tried, *([] if wanted is None else [wanted]))}))


def columns_of_variables(data: Dataset) -> list[Indices]:
    """Return the features of each variable: those that were made of one column of a table are one variable."""
    if data.encoded is None:
        return [np.array([j]) for j in range(data.p)]
    sizes = [len(column.features) for column in data.encoded.encoding.columns]
    return np.split(np.arange(data.p), np.cumsum(sizes)[:-1])


def path_of(data: Dataset) -> tuple[LogisticPath, Preprocessing]:
    """Return the program of the selections of standardised variables, and the map of the samples."""
    # Estimates: the sums of floats do, in place of the correctly rounded ones of a program that is proved.
    scaler = StandardScaler().fit(data.X, sample_weight=data.weights)
    map_ = Preprocessing("standard", scaler.mean_, scaler.scale_)
    weights = np.broadcast_to(loss_weights(1.0, data.weights), data.n)
    return LogisticPath(map_.apply(data.X), data.y, weights, columns_of_variables(data)), map_


def scores_of_fold(train: Dataset, test: Dataset, sizes: tuple[int, ...], wanted: int | None) -> Matrix:
    """Return the scores (n, s, k) of test samples, of all numbers of variables and configurations."""
    problem, map_ = path_of(train)
    Z, cs = map_.apply(test.X), np.array(CLASSIFIERS)
    found = np.empty((test.n, len(sizes), len(SEARCHES), len(cs)))
    for k, search in enumerate(SEARCHES):
        path = problem.path(search, sizes[-1], wanted or 0)
        for i, m in enumerate(sizes):
            columns = problem.columns(path[min(m, len(path) - 1)])
            theta, _ = problem.fit(columns, cs)
            found[:, i, k] = Z[:, columns] @ theta[:, :-1].T + theta[:, -1]
    return found.reshape(test.n, len(sizes), -1)


def cross_validated(data: Dataset, wanted: int | None, folds: int, repeats: int, seed: int) -> Scores:
    """Return the scores of all samples by repeated cross-validation, of a wanted number of variables too."""
    units, labels = data.units
    sizes = sizes_of(len(columns_of_variables(data)), len(labels), wanted)
    values = np.empty((repeats, data.n, len(sizes), len(SEARCHES) * len(CLASSIFIERS)))
    splits = [stratified_folds(data, folds, seed + r) for r in range(repeats)]
    for r, split in enumerate(splits):
        for fold in split:
            values[r, fold] = scores_of_fold(*train_and_test(data, fold), sizes, wanted)
    weights = np.array(np.broadcast_to(loss_weights(1.0, data.weights), data.n))
    classes = [data.positive, data.negative]
    if min(map(len, classes)) < RARE * data.n:
        for members in classes:
            weights[members] *= 0.5 / weights[members].sum()
    return Scores(values, sizes, data.y, weights, units, splits)


def choose(scores: Scores, rule: str, wanted: int | None = None, weights: Vector | None = None) -> Choice:
    r"""Return the number of variables, or a wanted one, and its configuration, by weights (n,) of the samples.

    .. math:: \min \{M : L(M) \le L^* + \min(0.05\,(L(0) - L^*),\ 0.02)\}, \qquad L^* = \min_M L(M)

    on the curve of the log-loss, each number averaged with its neighbours by the weights 1/4, 1/2, 1/4: the smallest of
    many noisy numbers is smaller than what it estimates. With the rule ``shortest`` the fewest whose AUC, a mean over
    the folds, is within one standard error of the best.
    """
    means = np.average(scores.losses, axis=0, weights=scores.weights if weights is None else weights)
    at = means.argmin(axis=1)
    curve: Vector = means[np.arange(len(at)), at]
    if wanted is not None:
        i = scores.sizes.index(wanted)
    elif rule == "shortest":
        chosen = scores.values[:, :, np.arange(len(at)), at]
        folds = [(one, fold) for one, split in zip(chosen, scores.folds, strict=True) for fold in split]
        areas = np.array([[area(scores.y[fold], column) for column in one[fold].T] for one, fold in folds])
        mean = areas.mean(axis=0)
        best = int(np.argmax(mean))
        error = areas[:, best].std(ddof=1) / np.sqrt(len(areas))
        i = int(np.argmax(mean >= mean[best] - error - TIE))
    else:
        smooth = np.convolve(np.pad(curve, 1, mode="edge"), SMOOTH, "valid")
        gain = float(smooth[0] - smooth.min())
        i = int(np.argmax(smooth <= smooth.min() + min(GAIN * gain, ALLOWED) + TIE))
    k, c = divmod(int(at[i]), len(CLASSIFIERS))
    return Choice(scores.sizes[i], SEARCHES[k], CLASSIFIERS[c], scores.sizes, curve)


def nested_scores(data: Dataset, fold: Indices, folds: int, seed: int, rule: str, wanted: int | None) -> Vector:
    """Return the scores of the samples of a fold by the choice of number and weights on the other samples."""
    train, test = train_and_test(data, fold)
    groups, folds = len(columns_of_variables(train)), min(folds, smaller_class(train))
    wanted = None if wanted is None else min(wanted, groups)
    choice = choose(cross_validated(train, wanted, folds, 1, seed), rule, wanted)
    problem, map_ = path_of(train)
    columns = problem.columns(problem.path(choice.c_path, choice.m, choice.m)[-1])
    theta = problem.fit(columns, np.array([choice.c]))[0][0]
    return np.asarray(map_.apply(test.X)[:, columns] @ theta[:-1] + theta[-1])


def area_of_all(data: Dataset, split: list[Indices], without: Indices = NONE) -> float:
    """Return the AUC of ridge logistic regression on all features but some, of the best of a few penalty weights."""
    from sklearn.linear_model import LogisticRegression

    problem, held_out = path_of(data)[0], np.empty((len(RIDGES), data.n))
    Z = np.delete(problem.Z, without, axis=1)
    for fold in split:
        train = np.setdiff1d(np.arange(data.n), fold)
        for k, c in enumerate(RIDGES):
            machine = LogisticRegression(C=c, tol=1e-3, max_iter=1000).fit(Z[train], data.y[train], problem.g[train])
            held_out[k, fold] = machine.decision_function(Z[fold])
    return max(area(data.y, scores) for scores in held_out)


def quality(y: Vector, scores: Vector) -> dict[str, float]:
    """Return AUC, accuracy, sensitivity, specificity, log-loss and Brier score of scores, which are log-odds."""
    right = (scores > 0) == (y > 0)
    return {
        "AUC": area(y, scores),
        "accuracy": float(right.mean()),
        "sensitivity": float(right[y > 0].mean()),
        "specificity": float(right[y < 0].mean()),
        "log-loss": float(np.logaddexp(0.0, -y * scores).mean()),
        "Brier score": float(((expit(scores) - (y > 0)) ** 2).mean()),
    }


def intervals(
    scores: Scores, nested: Mapping[str, float], rule: str, wanted: int | None, seed: int
) -> dict[str, tuple[float, float]]:
    """Return an interval for each measure, by bootstrap draws: the choice is repeated, and scored on the units left.

    The distances of its quantiles from their mean are those of the interval from the nested measure. A share of none or
    of all, which have no spread, has the exact interval of Clopper and Pearson for so many units.

    Notes
    -----
    Tsamardinos, Greasidou and Borboudakis, Bootstrapping the out-of-sample predictions, Machine Learning 107 (2018).
    """
    rng, mean_scores = np.random.default_rng(seed), scores.values.mean(axis=0)
    found = []
    for _ in range(DRAWS):
        drawn = drawn_units(scores.units, rng)
        left = drawn == 0
        if len(set(scores.y[left].tolist())) < 2 or len(set(scores.y[~left].tolist())) < 2:
            continue
        choice = choose(scores, rule, wanted, drawn * scores.weights)
        k = SEARCHES.index(choice.c_path) * len(CLASSIFIERS) + CLASSIFIERS.index(choice.c)
        found.append(quality(scores.y[left], mean_scores[left, scores.sizes.index(choice.m), k]))
    parts = {"accuracy": scores.y != 0.0, "sensitivity": scores.y > 0.0, "specificity": scores.y < 0.0}
    counts, ends = {name: len(np.unique(scores.units[part])) for name, part in parts.items()}, {}
    for name, value in nested.items():
        if name in counts and value in (0.0, 1.0):
            far = 1.0 - (0.5 - LEVEL / 2) ** (1.0 / counts[name])
            ends[name] = (0.0, far) if value == 0.0 else (1.0 - far, 1.0)
            continue
        values = np.array([one[name] for one in found])
        both = value - values.mean() + np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
        low, high = np.clip(both, 0.0, np.inf if name == "log-loss" else 1.0).tolist()
        ends[name] = (low, high)
    return ends


def drawn_units(units: Indices, rng: np.random.Generator) -> Indices:
    """Return how often each sample (n,) is in a bootstrap draw of the units."""
    k = int(units.max()) + 1
    return np.asarray(np.bincount(rng.integers(0, k, k), minlength=k)[units])


def weight_intervals(data: Dataset, n: int, weights: Mapping[str, float], c: float, seed: int) -> Matrix:
    """Return the ends (2, k) of bootstrap intervals of weights in raw units, by a part of the n samples of a fit."""
    if not weights:
        return np.empty((2, 0))
    part = data.columns([data.features.index(name) for name in weights])
    problem, map_ = path_of(part)
    rng, columns = np.random.default_rng(seed), np.arange(part.p)
    start, found = problem.fit(columns, np.array([c]))[0][0], []
    for _ in range(DRAWS):
        drawn = drawn_units(part.units[0], rng)
        kept = np.flatnonzero(drawn)
        if len(set(part.y[kept].tolist())) == 2:
            resampled = LogisticPath(problem.Z[kept], part.y[kept], problem.g[kept] * drawn[kept], problem.groups)
            found.append(resampled.fit(columns, np.array([c]), start)[0][0, :-1] / map_.scale)
    values = np.array(found)
    far = np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0) - values.mean(axis=0)
    return np.asarray(np.array(list(weights.values())) + far * np.sqrt(part.n / n))
