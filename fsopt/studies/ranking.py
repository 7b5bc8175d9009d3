"""Means of the rows of studies, and the tests by which methods are told apart on one data set and over several."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.texts import counted
from fsopt.studies.units import DONE
from fsopt.typing import Vector

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
FEW = 5
"""Scores of a method below which the test tells only large differences apart."""
TINY = 1e-12
USELESS = "not shown above the larger class"


@dataclass(frozen=True)
class Line:
    """The rows of one data set, method and parameters; ``title`` has those in which the lines of the method differ."""

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
    def statuses(self) -> dict[str, int]:
        """Status -> number of rows with it: a mean says nothing of what was not proved."""
        return dict(Counter(row["status"] for row in self.folds))

    @property
    def finished(self) -> int:
        """Number of rows with a result."""
        return sum(row["state"] == DONE for row in self.rows)

    @property
    def n_features(self) -> float | None:
        """Number of features selected on all samples, where they are fitted, and else the mean of the folds."""
        return self.whole.get("n_features") if self.whole else self.spread("n_features")[0]

    def values(self, name: str) -> list[float]:
        """Return the numbers of a column; none where one is unknown, whose mean would be one over the easier folds."""
        found = [row.get(name) for row in self.folds if row["state"] == DONE]
        return [] if None in found or len(found) < len(self.folds) else [float(v) for v in found if v is not None]

    def spread(self, name: str) -> tuple[float, float] | tuple[None, None]:
        """Return mean and standard deviation (0 of one value) of a column, None twice where a value is unknown."""
        found = self.values(name)
        return (float(np.mean(found)), float(np.std(found, ddof=min(1, len(found) - 1)))) if found else (None, None)


def lines_of(rows: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return a line for each data set, method and parameters, in the order of the rows."""
    groups: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        solver = {"solver": row["solver_asked"]} if row["solver_asked"] else {}
        asked = json.dumps({**row["params"], **solver, "folds": row["folds"]}, sort_keys=True)
        groups.setdefault((row["data"], row["method"]), {}).setdefault(asked, []).append(row)
    found = []
    for (data, method), of_method in groups.items():
        every = {asked: json.loads(asked) for asked in of_method}
        for asked, of_line in of_method.items():
            params = every[asked]
            apart = {k: v for k, v in params.items() if any(other.get(k) != v for other in every.values())}
            ordered = sorted(of_line, key=lambda row: (row["seed"] or 0, -1 if row["fold"] is None else row["fold"]))
            parts = [f"{k}={json.dumps(v)}" for k, v in apart.items() if k != "tuned"]
            parts += [f"tuned {', '.join(next(iter(apart['tuned']), {}))}"] if "tuned" in apart else []
            title = f"{method} ({', '.join(parts)})" if parts else method
            found.append(Line(data, method, title, params, tuple(ordered)))
    return found


def standings(lines: Sequence[Line], larger: float | None = None) -> dict[str, dict[str, Any]]:
    """Return title -> standing by accuracy on a data set, the best first, of equal ones the fewest features.

    Lines have the accuracy on all folds. ``interval``: :func:`corrected_interval` of the mean. ``told_apart``: worse
    than the best, by the one-sided test at 0.05; ``worse``: by at most so much. ``front``: none is as good with fewer
    features, or better with as few. ``above_larger``: the interval is above the accuracy ``larger``, None if unknown.
    """
    folds = max((line.params["folds"] for line in lines), default=0)
    scored = {line.title: line for line in lines if line.values("accuracy") and line.n_features is not None}
    longest = max((len(line.folds) for line in scored.values()), default=0)
    scores = {title: np.array(line.values("accuracy")) for title, line in scored.items() if len(line.folds) == longest}
    if longest < 2:
        return {}
    counts = {title: float(scored[title].n_features or 0.0) for title in scores}
    order = sorted(scores, key=lambda title: (-float(scores[title].mean()), counts[title]))
    found, fewest = dict[str, dict[str, Any]](), np.inf
    for title in order:
        low, high = corrected_interval(scores[title], folds)
        behind = scores[order[0]] - scores[title]
        apart = corrected_interval(behind, folds, 1.0 - 2.0 * LEVEL)[0] > TINY
        above = None if larger is None else low > larger + TINY
        front = counts[title] < fewest
        fewest = min(fewest, counts[title])
        # A method that may be useless is not said to be near the best.
        words = {"not told apart": not apart and above is not False, "front": front, USELESS: above is False}
        found[title] = {
            "standing": ", ".join(word for word, holds in words.items() if holds),
            "interval": (max(low, 0.0), min(high, 1.0)),
            "told_apart": apart,
            "worse": corrected_interval(behind, folds)[1],
            "front": front,
            "above_larger": above,
            "answer": False,
        }
    near = [title for title, one in found.items() if not one["told_apart"] and one["above_larger"] is not False]
    if near:
        found[min(near, key=counts.__getitem__)]["answer"] = True
    return found


def answer(lines: Sequence[Line], found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the method of fewest features that is not told apart from the best, in one sentence without its end."""
    of = {line.title: line for line in lines}
    words = {
        title: f"{counted(round(of[title].n_features or 0.0, 1), 'feature')}, accuracy "
        f"{of[title].spread('accuracy')[0]:.3f}"
        for title in found
    }
    best = next(iter(found))
    count = len(of[best].folds)
    few = f"; {count} folds tell only large differences apart" if count < FEW else ""
    if found[best]["above_larger"] is False:
        interval = "95 % interval {:.3f} to {:.3f}".format(*found[best]["interval"])
        return f"no method is shown to be above the larger class: {best} is best ({words[best]}, {interval}){few}"
    fewest = next(title for title, one in found.items() if one["answer"])
    if best == fewest:
        text = f"{best} is best ({words[best]}), and none that is not told apart from it has fewer features"
    else:
        text = f"{fewest} has the fewest features of those not told apart from the best ({words[fewest]}; {best}: "
        text += f"{words[best]}); its accuracy may be up to {found[fewest]['worse']:.3f} less"
    useless = [title for title, one in found.items() if one["above_larger"] is False]
    text += f"; {USELESS}: {', '.join(useless)}" if useless else ""
    return text + few


def corrected_interval(values: Vector, folds: int | None = None, level: float = 1.0 - LEVEL) -> tuple[float, float]:
    r"""Return the interval of the mean of scores, or of their differences, on the K folds of a cross-validation.

    .. math:: \bar d \pm t_{J-1} \sqrt{(1/J + 1/(K - 1))\, s^2}

    d are the J values, of deviation s; the training sets overlap, so that s^2 / J is too small. Nadeau and Bengio,
    Machine Learning 52 (2003); repeated, K < J: Bouckaert and Frank, PAKDD (2004).
    """
    from scipy.stats import t

    count, mean = len(values), float(values.mean())
    deviation = float(values.std(ddof=1)) if count > 1 else 0.0
    if deviation <= TINY * max(1.0, abs(mean)):
        return mean, mean
    low, high = t.interval(level, count - 1, mean, deviation * np.sqrt(1.0 / count + 1.0 / ((folds or count) - 1)))
    return float(low), float(high)


def friedman(scores: pd.DataFrame) -> tuple[dict[str, float], float, float]:
    """Return average ranks, 1 the best, Friedman's p-value, nan for none, and Nemenyi's critical difference at 0.05.

    ``scores`` has a row for each method, a column for each block. J. Demsar, JMLR 7 (2006), 3.2.2 and 3.2.4.
    """
    from scipy.stats import friedmanchisquare, studentized_range

    k, n = scores.shape
    alike = k < 3 or n < 2 or bool((scores == scores.iloc[0]).all(axis=None))
    p_value = float("nan") if alike else float(friedmanchisquare(*scores.to_numpy()).pvalue)
    quantile = studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0)
    ranks = scores.rank(ascending=False).mean(axis=1).sort_values()
    return ranks.to_dict(), p_value, float(quantile * np.sqrt(k * (k + 1) / (6.0 * n)))


def stability(selections: Sequence[Sequence[str]]) -> float | None:
    """Return the mean Jaccard index of all pairs of selections, 1 for equal ones; None of fewer than two."""
    pairs = [(a, b) for a, b in combinations(map(frozenset, selections), 2)]
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs])) if pairs else None
