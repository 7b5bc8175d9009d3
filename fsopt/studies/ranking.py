"""Means of the rows of studies, and the tests by which methods are told apart on one data set and over several."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from fsopt.common.texts import counted
from fsopt.studies.units import DONE
from fsopt.typing import Vector

LEVEL = 0.05
FEW = 5
"""Scores of a method below which the test tells only large differences apart."""
LEADING = 5
"""Methods with which a table begins."""
TINY = 1e-12
USELESS = "not shown above the larger class"
MEANS = ("accuracy", "balanced_accuracy", "mcc", "recall", "auc", "n_features", "seconds", "cpu_seconds")
"""Columns of rows that have means."""


@dataclass(frozen=True)
class Line:
    """The rows of one data set, method and parameters.

    Attributes
    ----------
    data, method, title : names; the last one with the parameters in which the lines of the method differ.
    params : of the rows.
    rows : of all samples and of folds, these in the order of seeds and folds.
    """

    data: str
    method: str
    title: str
    params: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def folds(self) -> list[Mapping[str, Any]]:
        """The rows with test samples; all where there are none."""
        return [row for row in self.rows if row["fold"] is not None] or list(self.rows)

    @property
    def whole(self) -> Mapping[str, Any]:
        """The row of all samples, empty where there is none."""
        return next((row for row in self.rows if row["fold"] is None), {})

    @property
    def states(self) -> dict[str, int]:
        """Status -> number of rows with it: a mean says nothing of what was not proved."""
        return dict(Counter(row["status"] for row in self.folds))

    @property
    def finished(self) -> int:
        """Number of rows with a result."""
        return sum(row["state"] == DONE for row in self.rows)

    def values(self, name: str) -> list[float]:
        """Return the numbers of a column; none where one is unknown, whose mean would be one over the easier folds."""
        found = [row.get(name) for row in self.folds if row["state"] == DONE]
        return [] if None in found or len(found) < len(self.folds) else [float(v) for v in found if v is not None]

    def spread(self, name: str) -> tuple[float, float] | None:
        """Return mean and standard deviation (0 of one value) of a column, None where one is unknown."""
        found = self.values(name)
        return (float(np.mean(found)), float(np.std(found, ddof=1)) if len(found) > 1 else 0.0) if found else None

    def mean(self, name: str) -> float | None:
        """Return the mean of a column."""
        found = self.spread(name)
        return None if found is None else found[0]


def lines_of(rows: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return a line for each data set, method and parameters, in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        solver = {"solver": row["solver_asked"]} if row["solver_asked"] else {}
        asked = json.dumps({**row["params"], **solver, "folds": row["folds"]}, sort_keys=True)
        groups.setdefault((row["data"], row["method"], asked), []).append(row)
    found, params = [], {key: json.loads(key[2]) for key in groups}
    for key, of_group in groups.items():
        others = [params[other] for other in groups if other[1] == key[1]]
        apart = {k: v for k, v in params[key].items() if any(other.get(k) != v for other in others)}
        ordered = sorted(of_group, key=lambda row: (row["seed"] or 0, -1 if row["fold"] is None else row["fold"]))
        found.append(Line(*key[:2], _title(key[1], apart), params[key], tuple(ordered)))
    return found


def _title(method: str, params: Mapping[str, Any]) -> str:
    parts = [f"{k}={json.dumps(v)}" for k, v in params.items() if k != "tuned"]
    parts += [f"tuned {', '.join(next(iter(params['tuned']), {}))}"] if "tuned" in params else []
    return f"{method} ({', '.join(parts)})" if parts else method


def friedman(scores: Mapping[str, Sequence[float]]) -> tuple[dict[str, float], float, float]:
    """Return average ranks (1 is the best), the p-value of Friedman's test, and Nemenyi's critical difference at 0.05.

    Parameters
    ----------
    scores : method -> score for each block, the larger the better. The p-value is nan for fewer than three methods.

    Notes
    -----
    J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), sections 3.2.2 and 3.2.4.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = np.array(list(scores.values()), dtype=float)
    k, n = table.shape
    ranks = dict(zip(scores, rankdata(-table, axis=0).mean(axis=1).tolist(), strict=True))
    alike = k < 3 or n < 2 or bool((table == table[0]).all())
    p_value = float("nan") if alike else float(friedmanchisquare(*table).pvalue)
    quantile = studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0)
    return ranks, p_value, float(quantile * np.sqrt(k * (k + 1) / (6.0 * n)))


@dataclass(frozen=True)
class Standing:
    """Where a method stands among others on one data set.

    Attributes
    ----------
    p_value : that its mean score is as good as that of the best method, see :func:`corrected_t_test`; 1 for the best.
    front : whether no method has a better mean score with as few features, or as good a one with fewer.
    interval : 95 % interval of its mean score, with the variance of :func:`corrected_t_test`.
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
    order = sorted(scores, key=lambda name: (-float(np.mean(scores[name])), counts[name]))
    found, fewest = dict[str, Standing](), np.inf
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


def line_standings(lines: Sequence[Line], larger: float | None) -> dict[str, Standing]:
    """Return the standings by accuracy of methods that have it on all folds, compared fold by fold."""
    folds = max((line.params["folds"] for line in lines), default=0)
    scores = {line.title: values for line in lines if (values := line.values("accuracy"))}
    longest = max(map(len, scores.values()), default=0)
    scores = {title: values for title, values in scores.items() if len(values) == longest}
    return standings(scores, line_counts(lines), folds, larger) if folds > 1 and longest > 1 else {}


def line_counts(lines: Sequence[Line]) -> dict[str, float]:
    """Return title -> number of features selected on all samples, where they are fitted, and else the mean of folds."""
    counts = {line.title: line.whole.get("n_features") for line in lines}
    means = {line.title: line.mean("n_features") or 0.0 for line in lines}
    return {title: means[title] if count is None else float(count) for title, count in counts.items()}


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
    """Return the mean Jaccard index of all pairs of selections, 1 for equal ones; None of fewer than two."""
    if len(selections) < 2:
        return None
    pairs = combinations(map(frozenset, selections), 2)
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]))
