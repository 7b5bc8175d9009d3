"""The answer of :func:`fsopt.select`: a selection with its scores, its proof, and how sure both are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.analysis.alternatives import Alternatives
from fsopt.analysis.held_out import Choice, Nested, Substitute
from fsopt.answers.fits import Fit
from fsopt.answers.questions import Answer
from fsopt.answers.results import Status
from fsopt.certificates.points import relative_gap
from fsopt.common.figures import new_figure
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
from typing import TYPE_CHECKING

from fsopt.common.figures import BLUE, ORANGE, plain
from fsopt.typing import Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LEVEL = 0.05
"""Level of the test of a feature against permuted columns."""
LEAST_AHEAD = 0.001
"""Share above the optimum below which the sentence on the features that every selection has says nothing."""
ENDED = {"interrupted": "Ctrl-C ended its search", "time_limit": "its search came to the time limit"}
"""Why a list of other selections is not complete."""
MOST_NAMED = 3
"""Features that are named as able to stand for another one."""


def in_words(names: Sequence[str]) -> str:
    """Return names joined by "or": the first ones, and how many more there are."""
    more = len(names) - MOST_NAMED
    return " or ".join([*names[:MOST_NAMED], *([f"{more} others" if more > 1 else names[-1]] if more > 0 else [])])


@dataclass(frozen=True)
class Selection(Answer):
    """The best few features: how many, which, how good their classifier is, and how sure that is.

    Attributes
    ----------
    data, n, y, all_features : name of the data, number of samples, labels, and names of all features.
    fit : the selection: method ``best-subset``, with its evidence and with probabilities.
    numbers, choice : the numbers of features that were tried, and what their scores chose.
    rule, score : of the choice; ``given`` for a number that was given.
    nested : scores of the whole choice on samples that it did not see.
    larger : share of the larger class.
    halves : the selections of random halves of the data.
    displaced : selected feature -> number of draws in which a permuted column in its place lowers the objective value.
    alternatives : the other selections with nearly the objective value of the optimum.
    substitutes : those of them within one standard error of the score of the selection, the best first.
    scores : (n,) of each sample, by the fit to the samples of the other folds.
    draws : draws of permuted columns.
    exact : the word of the verification in rational arithmetic; None where it was not asked for.
    """

    data: str
    n: int
    y: Vector = field(repr=False)
    all_features: tuple[str, ...]
    fit: Fit
    choice: Choice
    numbers: tuple[int, ...]
    rule: str
    score: str
    nested: Nested
    larger: float
    halves: tuple[tuple[str, ...], ...] = field(repr=False)
    displaced: Mapping[str, int]
    alternatives: Alternatives = field(repr=False)
    substitutes: tuple[Substitute, ...]
    scores: Vector = field(repr=False)
    draws: int
    exact: str | None = None

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of the selection is closed, else ``feasible``."""
        return self.fit.status

    @property
    def gap(self) -> float:
        """The relative optimality gap of the selection."""
        return relative_gap(float(self.fit.objective or 0.0), float(self.fit.bound or 0.0))

    @cached_property
    def shares(self) -> dict[str, float]:
        """Feature -> share of the halves that select it."""
        return {name: sum(name in half for half in self.halves) / len(self.halves) for name in self.all_features}

    @property
    def chance(self) -> float:
        """The share of the halves that would select a feature if all were noise: selected features by all features."""
        return float(np.mean([len(half) for half in self.halves]) / len(self.all_features))

    @property
    def p_values(self) -> dict[str, float]:
        """Selected feature -> p-value of the test against permuted columns, (1 + displaced) / (1 + draws)."""
        return {name: (1 + count) / (1 + self.draws) for name, count in self.displaced.items()}

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The selected features that are no better than permuted columns."""
        return tuple(name for name, value in self.p_values.items() if value > LEVEL)

    @property
    def needed(self) -> tuple[str, ...]:
        """The features that every listed selection has, where none is missing from the list up to its limit."""
        if not self.alternatives.complete:
            return ()
        return tuple(name for name, share in self._listed.items() if share > 1.0 - 1e-9)

    @property
    def _listed(self) -> dict[str, float]:
        return dict(zip(self.all_features, self.alternatives.shares.tolist(), strict=True))

    @property
    def exchanges(self) -> dict[str, list[str]]:
        """Selected feature -> features that can stand for it within one standard error of the score.

        A feature that is no better than noise has none: whatever stood for it would be a recommendation of noise.
        """
        own, found = set(self.fit.features), dict[str, list[str]]()
        for one in self.substitutes:
            gone, new = own - set(one.features), set(one.features) - own
            if len(gone) == len(new) == 1 and not gone & set(self.doubtful):
                found.setdefault(gone.pop(), []).append(new.pop())
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against the selection, a sentence each."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        for name in self.doubtful:
            count = self.displaced[name]
            yield (
                f"'{name}' is no better than noise beside the others: a permuted column replaces it in {count} of "
                f"{self.draws} draws (p = {self.p_values[name]:.2f})"
            )
        if self.score == "accuracy" and self.nested.mean - self.nested.error <= self.larger:
            yield f"the classifier is no better than the larger class, which is {self.larger:.1%} of the samples"
        if self.status is not Status.OPTIMAL:
            yield f"the selection is not proved: its optimality gap is {self.gap:.2%}; give more seconds"
        yield from self.fit.warnings

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words."""
        fit, word = self.fit, self.score.replace("_", " ")
        good = f"{word} {self.nested.mean:.3f} ± {self.nested.error:.3f} (nested cross-validation)"
        why = {"one-se": "the rule of one standard error", "min": "the best score", "given": "request"}[self.rule]
        lines = [
            f"{len(fit.features)} of {len(self.all_features)} features, by {why}: {', '.join(fit.features)}; {good}.",
            self._proof(),
        ]
        shares = [self.shares[name] for name in fit.features]
        if shares:
            least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
            lines.append(
                f"Of {len(self.halves)} halves of the data, {least if least == most else f'{least} to {most}'} select "
                f"each of these; a feature of noise is expected in {self.chance:.0%}."
            )
            lines.append(
                f"A feature of noise passes the test of permuted columns with a probability of at most about {LEVEL}."
            )
        swaps = [f"{in_words(new)} can stand for {old}" for old, new in self.exchanges.items()]
        if swaps:
            lines.append(f"Within one standard error of the score: {'; '.join(swaps)}.")
        if not self.alternatives.complete:
            ended = ENDED.get(self.alternatives.stop, "its search ended before its gap was closed")
            lines.append(f"The list of other selections is not complete: {ended}.")
        ahead = self.alternatives.limit / self.alternatives.optimum - 1.0 if self.alternatives.optimum else 0.0
        if self.needed and ahead >= LEAST_AHEAD:
            lines.append(f"Every selection within {ahead:.1%} of the optimum has {', '.join(self.needed)}.")
        return tuple(lines)

    def _proof(self) -> str:
        exact = "" if self.exact is None else f" ({self.exact})"
        most = f"at most {self.choice.m} features" if self.choice.m > 1 else "one feature"
        if self.status is Status.OPTIMAL:
            return f"No other selection of {most} has a smaller objective value{exact}."
        return f"A better selection of {most} is smaller by {self.gap:.2%} at most{exact}."

    @property
    def heading(self) -> dict[str, Any]:
        """The answer in words, and the numbers behind it."""
        sigmoid = self.fit.details["calibration"]
        return {
            "answer_in_words": list(self.sentences),
            "warnings": list(self.warnings),
            "data": self.data,
            "n": self.n,
            "p": len(self.all_features),
            "m": self.choice.m,
            "c": self.choice.c,
            "rule": self.rule,
            "score": self.score,
            "nested_scores": list(self.nested.scores),
            "nested_numbers": list(self.nested.numbers),
            "status": self.status,
            "objective": self.fit.objective,
            "bound": self.fit.bound,
            "gap": self.gap,
            "exact": self.exact,
            "needed": list(self.needed),
            "alternatives": {"listed": len(self.alternatives.support), "complete": self.alternatives.complete},
            "substitutes": [{"features": list(one.features), "score": one.score} for one in self.substitutes],
            "larger_class": self.larger,
            "probability": {name: sigmoid[name] for name in ("slope", "intercept")},
            "counts": self.counts,
        }

    @property
    def counts(self) -> list[dict[str, Any]]:
        """One record for each number of features: mean score, its standard error, and the penalty weight."""
        at = self.choice
        rows = zip(self.numbers, at.means.tolist(), at.errors.tolist(), at.weights, strict=True)
        return [{"m": m, "score": mean, "error": error, "c": c} for m, mean, error, c in rows]

    def summary(self) -> str:
        """Return the answer in words, the warnings, and the selected features as a table."""
        frame = self.to_frame()
        frame["substitutes"] = [in_words(record["substitutes"]) or "-" for record in self.to_records()]
        listing = frame.to_string(index=False, na_rep="-", float_format="{:.3g}".format)
        return "\n".join([*self.sentences, *(f"Warning: {text}." for text in self.warnings), "", listing])

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each selected feature, in order of the standardised weight."""
        return [
            {
                "feature": name,
                "weight": weight,
                "standardised": standardised,
                "share": self.shares[name],
                "share_of_noise": self.chance,
                "p_value": self.p_values[name],
                "needed": name in self.needed,
                "substitutes": self.exchanges.get(name, []),
            }
            for name, weight, standardised in self.fit.to_frame().itertuples(index=False)
        ]

    def plot(self) -> Figure:
        """Return the scores by number of features, the shares of the halves, and the calibration, side by side."""
        panels = tuple(self._panels.values())
        figure = new_figure(len(panels))
        for axes, draw in zip(figure.axes, panels, strict=True):
            draw(axes)
        return figure

    def figures(self) -> dict[str, Figure]:
        """Return the three panels of :meth:`plot` by their captions."""
        found = {}
        for caption, draw in self._panels.items():
            found[caption] = new_figure(1)
            draw(found[caption].axes[0])
        return found

    @property
    def _panels(self) -> dict[str, Callable[[Axes], None]]:
        word, sigmoid = self.score.replace("_", " "), self.fit.details["calibration"]
        probability = 0.5 * (1.0 + np.tanh(0.5 * (sigmoid["slope"] * self.scores + sigmoid["intercept"])))
        return {
            "score of cross-validation by number of features, with one standard error": partial(
                draw_scores, numbers=self.numbers, choice=self.choice, word=word
            ),
            "share of halves of the data that select a feature": partial(
                draw_shares, shares=self.shares, selected=self.fit.features, chance=self.chance
            ),
            "calibration: share of positive samples by held-out probability": partial(
                draw_calibration, positive=self.y > 0, probability=probability
            ),
        }


MOST_BARS = 20
"""Features in the picture of the halves."""


def draw_scores(axes: Axes, numbers: Sequence[int], choice: Choice, word: str) -> None:
    """Draw the mean score of each number of features with one standard error, and the number that was chosen."""
    mean = "mean of the folds"
    axes.errorbar(numbers, choice.means, yerr=choice.errors, fmt="o-", color=BLUE, capsize=2, label=mean)
    level = choice.means[choice.best] - choice.errors[choice.best]
    axes.axhline(level, color="tab:gray", linestyle="--", label="best less one error")
    axes.axvline(choice.m, color=ORANGE, label=f"{choice.m} features")
    axes.set(xlabel="number of features", ylabel=word)
    axes.locator_params(axis="x", integer=True)
    axes.legend(fontsize="small")


def draw_shares(axes: Axes, shares: Mapping[str, float], selected: Sequence[str], chance: float) -> None:
    """Draw the share of the halves that select each feature, those of the selection in colour."""
    names = sorted(shares, key=lambda name: -shares[name])
    names = [name for name in names if shares[name] > 0][:MOST_BARS][::-1]
    axes.barh(
        range(len(names)), [shares[name] for name in names], color=[BLUE if n in selected else "0.7" for n in names]
    )
    axes.set_yticks(range(len(names)), [plain(name) for name in names], fontsize="small")
    axes.axvline(chance, color=ORANGE, linestyle="--", label="expected of noise")
    axes.set(xlabel="share of the halves", xlim=(0.0, 1.0))
    axes.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))  # bars may fill the frame


def draw_calibration(axes: Axes, positive: Mask, probability: Vector) -> None:
    """Draw the share of positive samples among those of like held-out probability."""
    from sklearn.calibration import calibration_curve

    share, mean = calibration_curve(positive, probability, n_bins=8, strategy="quantile")
    axes.plot([0, 1], [0, 1], color="tab:gray", linestyle="--", label="perfect")
    axes.plot(mean, share, "o-", color=BLUE, label="held-out samples")
    axes.set(xlabel="probability", ylabel="share of positive samples")
    axes.legend(fontsize="small")
