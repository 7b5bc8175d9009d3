"""Methods ranked over data sets: average ranks, the tests of Friedman and Nemenyi, stability, performance profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fsopt.common.texts import counted
from fsopt.typing import Matrix, Vector

LEVEL = 0.05
BLOCK = 256
"""Selections that are compared with all others at a time."""
FEW = 5
"""Scores of a method below which the test tells only large differences apart."""
LEADING = 5
"""Methods with which a table begins."""
TINY = 1e-12
USELESS = "not shown above the larger class"


@dataclass(frozen=True)
class Ranking:
    """Average ranks of k methods over N blocks.

    Attributes
    ----------
    methods, ranks : names and (k,) average ranks, 1 for the best; ties share their ranks.
    blocks : N.
    p_value : of Friedman's test that all methods are alike; nan for fewer than three methods or two blocks.
    distance : critical difference of Nemenyi's test at the level 0.05; two methods whose ranks differ by less are not
        told apart.

    Notes
    -----
    J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), sections 3.2.2 and 3.2.4.
    """

    methods: tuple[str, ...]
    ranks: Vector
    blocks: int
    p_value: float
    distance: float

    @property
    def groups(self) -> list[tuple[float, float]]:
        """The largest intervals of ranks that are not told apart, as pairs (best, worst) of two methods or more."""
        ordered = np.sort(self.ranks)
        spans = [(low, ordered[ordered <= low + self.distance].max()) for low in ordered]
        wide = [(low, high) for low, high in spans if high > low]
        return [one for k, one in enumerate(wide) if k == 0 or one[1] > wide[k - 1][1]]


def ranking(scores: Mapping[str, Sequence[float]]) -> Ranking:
    """Rank methods by scores, the larger the better, one for each block in the same order."""
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = np.array(list(scores.values()), dtype=float)
    k, n = table.shape
    ranks = np.mean([rankdata(-column) for column in table.T], axis=0)
    p_value = float("nan")
    if k >= 3 and n >= 2 and not (table == table[0]).all():
        p_value = float(friedmanchisquare(*table).pvalue)
    quantile = studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0) if k >= 2 else 0.0
    return Ranking(tuple(scores), ranks, n, p_value, float(quantile * np.sqrt(k * (k + 1) / (6.0 * n))))


@dataclass(frozen=True)
class Standing:
    """Where a method stands among others on one data set.

    Attributes
    ----------
    p_value : that its mean score is as good as that of the best method, see :func:`corrected_t_test`; 1 for the best.
    front : whether no method has a better mean score with as few features, or as good a one with fewer.
    interval : 95 % interval of its mean score, see :func:`corrected_interval`.
    worse : upper end of the same interval of what the best mean score is above its own.
    above_larger : whether the interval is above the score of the larger class alone; None where this is unknown.
    count : scores of each method that were compared.
    fewest : whether it has the fewest features of those that are not told apart from the best and not useless.
    """

    p_value: float
    front: bool
    interval: tuple[float, float]
    worse: float
    above_larger: bool | None
    count: int
    fewest: bool = False

    @property
    def told_apart(self) -> bool:
        """Whether the method is worse than the best one; that it is not told apart does not make it as good."""
        return self.p_value <= LEVEL

    @property
    def useless(self) -> bool:
        """Whether nothing shows that the method is better than the larger class alone."""
        return self.above_larger is False

    @property
    def in_words(self) -> str:
        """What of these holds, empty for none: a method that may be useless is not said to be near the best."""
        held = {"not told apart": not self.told_apart and not self.useless, "front": self.front, USELESS: self.useless}
        return ", ".join(word for word, holds in held.items() if holds)


def standings(
    scores: Mapping[str, Sequence[float]],
    counts: Mapping[str, float],
    folds: int | None = None,
    larger: float | None = None,
) -> dict[str, Standing]:
    """Return method -> its standing, the method of the best mean score first; of equal ones that of fewer features.

    Parameters
    ----------
    scores : method -> score in [0, 1] on the samples of each fold, the larger the better.
    counts : method -> number of features.
    folds : of each cross-validation, where it is repeated; None for one.
    larger : mean score of the classifier that always says the larger class; None where it is unknown.
    """
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    order = sorted(scores, key=lambda name: (-means[name], counts[name]))
    found, fewest = {}, np.inf
    for name in order:
        own, best = scores[name], scores[order[0]]
        low, high = corrected_interval(own, folds)
        found[name] = Standing(
            p_value=corrected_t_test(best, own, folds),
            front=counts[name] < fewest,
            interval=(max(low, 0.0), min(high, 1.0)),
            worse=corrected_interval(np.subtract(best, own), folds)[1],
            above_larger=None if larger is None else low > larger + TINY,
            count=len(own),
        )
        fewest = min(fewest, counts[name])
    near = [name for name, one in found.items() if not one.told_apart and not one.useless]
    if near:
        name = min(near, key=lambda name: counts[name])
        found[name] = replace(found[name], fewest=True)
    return found


def leading(found: Mapping[str, Standing], most: int = LEADING) -> list[str]:
    """Return the methods of the front, that of :func:`answer`, and the next best up to a number, by their scores."""
    named = {name for name, one in found.items() if one.front or one.fewest}
    others = [name for name in found if name not in named][: max(0, most - len(named))]
    return [name for name in found if name in named or name in others]


def answer(
    found: Mapping[str, Standing],
    scores: Mapping[str, float],
    counts: Mapping[str, float],
    features: Mapping[str, Sequence[str]],
) -> str:
    """Return the method of fewest features that is not told apart from the best, in one sentence without its end.

    A method that nothing shows to be better than the larger class alone is no answer.

    Parameters
    ----------
    found : standings, the best method first.
    scores, counts : method -> mean score, and number of features.
    features : method -> selected features, of the methods that have one selection.
    """
    words = {name: f"{counted(round(counts[name], 1), 'feature')}, accuracy {scores[name]:.3f}" for name in found}
    best = next(iter(found))
    count = found[best].count
    few = f"; {count} folds tell only large differences apart" if count < FEW else ""
    if found[best].useless:
        interval = "95 % interval {:.3f} to {:.3f}".format(*found[best].interval)
        return f"no method is shown to be above the larger class: {best} is best ({words[best]}, {interval}){few}"
    useless = [name for name, one in found.items() if one.useless]
    fewest = next(name for name, one in found.items() if one.fewest)
    if best == fewest:
        text = f"{best} is best ({words[best]}), and none that is not told apart from it has fewer features"
    else:
        text = f"{fewest} has the fewest features of those not told apart from the best ({words[fewest]}; {best}: "
        text += f"{words[best]}); its accuracy may be up to {found[fewest].worse:.3f} less"
    own = set(features.get(fewest, ()))
    same = [name for name in found if own and name != fewest and set(features.get(name, ())) == own]
    text += f"; the same features: {', '.join(same)}" if same else ""
    text += f"; {USELESS}: {', '.join(useless)}" if useless else ""
    return text + few


def corrected_t_test(better: Sequence[float], other: Sequence[float], folds: int | None = None) -> float:
    r"""Return the p-value of the one-sided corrected resampled t-test of two methods on the same folds.

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + 1/(K - 1))\, s^2}}

    d are the J differences, s is their standard deviation, and 1 / (K - 1) is the number of test samples by that of
    training samples, where a cross-validation has K folds (J unless it is repeated): the training sets overlap, so that
    the usual variance of the mean is too small.

    Notes
    -----
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003); repeated: Bouckaert and
    Frank, Evaluating the replicability of significance tests for comparing learning algorithms, PAKDD (2004).
    """
    from scipy.stats import t

    mean, error = _mean_and_error(np.subtract(better, other), folds)
    if not error:
        return 1.0 if abs(mean) <= TINY else float(mean < 0)
    return float(t.sf(mean / error, len(better) - 1))


def corrected_interval(values: Sequence[float] | Vector, folds: int | None = None) -> tuple[float, float]:
    """Return the 95 % interval of the mean of scores on folds, with the variance of :func:`corrected_t_test`."""
    from scipy.stats import t

    mean, error = _mean_and_error(np.asarray(values, dtype=float), folds)
    half = float(t.isf(LEVEL / 2, len(values) - 1)) * error if error else 0.0
    return mean - half, mean + half


def _mean_and_error(values: Vector, folds: int | None) -> tuple[float, float]:
    """Return the mean of numbers, one for each fold, and its corrected standard error; 0 where all are equal."""
    count, mean = len(values), float(values.mean())
    deviation = float(values.std(ddof=1)) if count > 1 else 0.0
    if deviation <= TINY * max(1.0, abs(mean)):
        return mean, 0.0
    return mean, float(deviation * np.sqrt(1.0 / count + 1.0 / ((folds or count) - 1)))


def stability(selections: Sequence[Sequence[str]]) -> float | None:
    r"""Return the mean Jaccard index of all pairs of selections, 1 for equal ones; None of fewer than two.

    With the rows :math:`a_i` of zeros and ones of the selections, the index of a pair is
    :math:`a_i^\top a_j / (|a_i| + |a_j| - a_i^\top a_j)`: all pairs are products of blocks of a matrix.
    """
    count = len(selections)
    if count < 2:
        return None
    places = {name: k for k, name in enumerate(dict.fromkeys(name for selection in selections for name in selection))}
    table = np.zeros((count, len(places)))
    for row, selection in zip(table, selections, strict=True):
        row[[places[name] for name in selection]] = 1.0
    sizes, total = table.sum(axis=1), 0.0
    for k in range(0, count, BLOCK):
        common = table[k : k + BLOCK] @ table.T
        union = sizes[k : k + BLOCK, None] + sizes - common
        total += float(np.divide(common, union, out=np.ones_like(union), where=union > 0).sum())
    return (total - count) / (count * (count - 1))


def profile(costs: Mapping[str, Sequence[float]]) -> tuple[Vector, dict[str, Matrix]]:
    """Return a performance profile: ratios, and for each method the share of blocks within each ratio of the best.

    Parameters
    ----------
    costs : method -> positive cost for each block, inf where it failed.

    Notes
    -----
    E. Dolan and J. More, Benchmarking optimization software with performance profiles, Math. Programming 91 (2002).
    """
    table = np.array(list(costs.values()), dtype=float)
    best = table.min(axis=0)
    ratios = np.divide(table, best, out=np.full_like(table, np.inf), where=np.isfinite(table) & (best > 0))
    grid = np.unique(np.concatenate([[1.0], ratios[np.isfinite(ratios)]]))
    return grid, {name: (row[None, :] <= grid[:, None]).mean(axis=1) for name, row in zip(costs, ratios, strict=True)}
