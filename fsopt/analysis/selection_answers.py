"""The answer of ``fsopt.select``: its sentences, its table, and its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.analysis.chance import PERMUTATIONS
from fsopt.analysis.few_features import Choice, columns_of_variables, quality
from fsopt.answers.fits import Fit
from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.common.figures import BLUE, ORANGE, new_figure, plain
from fsopt.common.texts import counted, one_line
from fsopt.data import Dataset
from fsopt.data.dataset import smaller_class
from fsopt.linear.logistic_path import LogisticPath
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 20
"""Features in the picture of the halves."""
SELDOM = 0.1
"""Sensitivity or specificity below which a warning says so."""
OFTEN, SPARSE = 0.5, 0.5
"""Share of the halves that is most of them, and share of missing values that a warning names."""
NOISE = 0.05
"""P-value of permuted labels, and of halves, up to which an answer is better than noise."""
WHY = {
    "log-loss": "the fewest whose smoothed log-loss has 95 % of the best gain and is within 0.02 of the best",
    "shortest": "the fewest within one standard error of the best AUC",
    "given": "request",
}
"""Rule -> its words."""
PRINTED = {"odds_low": "from", "odds_high": "to", "share": "halves", "p_value": "p"}
"""Column of the records -> its heading where 80 columns are all there is."""


@dataclass(frozen=True)
class Selection(Answer):
    """The best few features: how many, which, how good their classifier is, and how sure that is.

    Attributes
    ----------
    data : the data without what was left out; their ``story`` and ``facts`` are what became of the table.
    left_out : features that number the samples.
    fit : the logistic classifier on the selected features, which are fixed: its status is that of its weights.
    proof : the selection of smallest objective value, with its lower bound; None for no feature, or for lack of time.
    choice, rule : what cross-validation chose, and how; ``given`` for a number that was given.
    p_value : of permuted labels.
    held_out : labels and scores of the samples in nested cross-validation.
    nested, intervals : measures of these scores, and their 95 % intervals; empty where no feature is selected.
    whole : AUC of all features by the folds of the nested cross-validation, of the best of four penalty weights.
    shares, p_values : of each variable, the share of the halves that select it, and its p-value by tests on the others.
    weight_ends : (2, k) of 95 % intervals of the weights of :meth:`to_records`, by the bootstrap, for this selection.
    questions : what the user is asked: of features that may be known only after the label, of samples that are copies.
    exact : the word of the verification in rational arithmetic; None where it was not asked for.
    """

    data: Dataset
    left_out: tuple[str, ...]
    fit: Fit
    proof: Fit | None = field(repr=False)
    choice: Choice
    rule: str
    p_value: float
    held_out: tuple[Vector, Vector] = field(repr=False)
    nested: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    whole: float
    shares: Vector = field(repr=False)
    p_values: Vector = field(repr=False)
    weight_ends: Matrix = field(repr=False)
    questions: tuple[str, ...]
    exact: str | None = None

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of the selection is closed, else ``feasible``; that of the classifier for none."""
        if self.proof is None:
            return Status.FEASIBLE if self.fit.features else self.fit.status
        return self.proof.status

    @property
    def gap(self) -> float | None:
        """The optimality gap of the selection relative to its objective value; None without a lower bound."""
        return None if self.proof is None else 1.0 - (self.proof.bound or 0.0) / (self.proof.objective or 1.0)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables: features, or columns of a table of which several features were made."""
        encoded = self.data.encoded
        return self.data.features if encoded is None else tuple(column.name for column in encoded.encoding.columns)

    @cached_property
    def owner(self) -> dict[str, int]:
        """Feature -> the place of the variable that it is made of."""
        return {self.data.features[j]: k for k, group in enumerate(columns_of_variables(self.data)) for j in group}

    @property
    def selected(self) -> tuple[str, ...]:
        """The names of the selected variables."""
        own = {self.owner[name] for name in self.fit.features}
        return tuple(self.variables[k] for k in sorted(own))

    @property
    def story(self) -> tuple[str, ...]:
        """What is predicted, and what became of the table, a sentence each."""
        labels = "labels: -1 is '{}', +1 is '{}'".format(*self.data.labels)
        return tuple(f"{text[0].upper()}{text[1:]}." for text in (*(self.data.story or (labels,)), *self.data.facts))

    @property
    def sure(self) -> tuple[str, ...]:
        """The selected variables that the tests on halves tell from noise."""
        known = dict(zip(self.variables, self.p_values.tolist(), strict=True))
        return tuple(name for name in self.selected if known[name] <= NOISE)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against the selection, a sentence each."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        larger = float(max(np.mean(self.data.y > 0), np.mean(self.data.y < 0)))
        if self.selected and self.intervals["accuracy"][0] <= larger:
            yield f"the accuracy is not told apart from that of the larger class, {larger:.1%} of the samples"
        if self.fit.features and self.status is not Status.OPTIMAL:
            known = "" if self.gap is None else f": its optimality gap is {self.gap:.2%}"
            yield f"the selection is not proved{known}; give more seconds"
        low = min(("sensitivity", "specificity"), key=lambda name: self.nested.get(name, 1.0))
        if self.nested.get(low, 1.0) < SELDOM:
            at = self.at_prevalence()
            yield (
                f"the {low} is {self.nested[low]:.2f}: class_weight='balanced' counts both "
                f"classes alike; with as many called '{self.data.labels[1]}' as there are, sensitivity and PPV are "
                f"{at['sensitivity']:.2f}, specificity and NPV {at['specificity']:.2f}"
            )
        encoded = self.data.encoded
        missing = {} if encoded is None else encoded.source[list(self.selected)].isna().mean().to_dict()
        many = ((name, share) for name, share in missing.items() if share > SPARSE)
        yield from (f"'{name}' is selected, and {share:.0%} of its values are missing" for name, share in many)
        yield from self.fit.warnings if self.selected else ()

    @property
    def calibration_slope(self) -> float:
        """The slope of the logistic regression of the held-out labels on their scores: 1 where these are calibrated."""
        y, scores = self.held_out
        at = LogisticPath(scores[:, None], y, np.ones(len(y)), [np.array([0])])
        return float(at.fit(np.array([0]), np.array([1e6]))[0][0, 0])

    def at_prevalence(self) -> dict[str, float]:
        """Return measures of the held-out scores where as many samples are called +1 as there are."""
        y, scores = self.held_out
        last, first = np.sort(scores)[::-1][int(np.sum(y > 0)) - 1 :][:2]
        return quality(y, scores - 0.5 * (last + first))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words: questions first, where there are some."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield from self.questions
        least = "p =" if self.p_value > 1.0 / (PERMUTATIONS + 1) else "p <="
        whole, tested = len(self.variables), f"{least} {self.p_value:.2g} by {PERMUTATIONS} permutations of the labels"
        if not self.selected:
            why = "no better than noise" if self.p_value > NOISE else "none lowers the log-loss"
            yield f"0 of {counted(whole, 'feature')}: {why} ({tested})."
            return
        yield f"{len(self.selected)} of {counted(whole, 'feature')}, {WHY[self.rule]}: {', '.join(self.selected)}."
        better = "better" if self.p_value <= NOISE else "no better"
        yield f"{self._measured('AUC')}, {self._measured('accuracy')}; {better} than noise ({tested})."
        yield (
            f"S{self._measured('sensitivity')[1:]} for '{self.data.labels[1]}', {self._measured('specificity')} for "
            f"'{self.data.labels[0]}' (nested cross-validation, 95 % intervals)."
        )
        yield f"All {counted(len(self.owner), 'column')}: AUC {self.whole:.3f}, by the best ridge on the same folds."
        yield self._proved()
        sure = ", ".join(self.sure) or "none of these"
        yield f"Told from noise one by one, on halves of the data: {sure}."
        known = dict(zip(self.variables, self.shares.tolist(), strict=True))
        differ = [name for name in self.selected if known[name] >= OFTEN and name not in self.sure]
        if differ:
            yield (
                f"Selected by most halves, but with p > {NOISE}: {', '.join(differ)}. Whether a feature tells "
                "something says p; the share of the halves says how often new data would select it again."
            )

    def _measured(self, name: str) -> str:
        low, high = self.intervals[name]
        return f"{name} {self.nested[name]:.3f} [{low:.3f}, {high:.3f}]"

    def _proved(self) -> str:
        exact = "" if self.exact is None else f" ({self.exact})"
        most = f"at most {counted(len(self.selected), 'feature')} at C = {self.choice.c_path:g}"
        if self.gap is None:
            return f"A selection of {most} may have a smaller objective value: there was no time for a bound."
        if self.status is Status.OPTIMAL:
            return f"No other selection of {most} is better, up to a gap of {self.gap:.1e}{exact}."
        return f"A better selection of {most} is smaller by {self.gap:.2%} at most{exact}."

    @property
    def heading(self) -> dict[str, Any]:
        """The answer in words, and the numbers behind it."""
        negative, positive = self.data.labels
        return {
            "answer_in_words": list(self.sentences),
            "warnings": list(self.warnings),
            "story": list(self.story),
            "n": self.data.n,
            "p": len(self.variables),
            "positive": positive,
            "classes": {positive: len(self.data.positive), negative: len(self.data.negative)},
            "units": len(self.data.units[1]),
            "m": len(self.selected),
            "rule": self.rule,
            "p_value": self.p_value,
            "nested": dict(self.nested),
            "all_features": {"AUC": self.whole},
            "calibration_slope": self.calibration_slope if self.selected else None,
            "events_per_feature": smaller_class(self.data) / max(len(self.fit.features), 1),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "sure": list(self.sure),
            "status": self.status,
            "c": {"selection": self.choice.c_path, "classifier": self.choice.c},
            "objective": None if self.proof is None else self.proof.objective,
            "bound": None if self.proof is None else self.proof.bound,
            "gap": self.gap,
            "exact": self.exact,
            "log_loss": dict(zip(map(str, self.choice.sizes), self.choice.losses.tolist(), strict=True)),
        }

    def summary(self) -> str:
        """Return the answer in words, the warnings, the selected features as a table, and what became of the data."""
        said = [one_line(text) for text in (*self.sentences, *(f"Warning: {text}." for text in self.warnings))]
        story = [one_line(text) for text in self.story]
        if not self.fit.features:
            return "\n".join([*said, *story])
        rows, intercept = self.fit.printed()
        shown = self.to_frame().assign(weight=[row["weight"] for row in rows])
        shown = shown.drop(columns="standardised").rename(columns=PRINTED)
        table = shown.to_string(index=False, na_rep="-", float_format="{:.3g}".format)
        return "\n".join([*said, "", table, f"intercept {intercept}", "", *story])

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each selected feature, in order of the standardised weight.

        ``weight`` is for one unit of the feature, ``standardised`` for one standard deviation; ``odds_ratio`` is the
        factor of the odds of the label +1 for one ``step`` more, the unit of a feature of two values 0 and 1, one
        standard deviation of any other; its 95 % interval is from ``odds_low`` to ``odds_high``.
        """
        rows = []
        for row, ends in zip(self.fit.to_frame().itertuples(), self.weight_ends.T.tolist(), strict=True):
            k, values = self.owner[row.feature], self.data.X[:, self.data.features.index(row.feature)]
            step = 1.0 if np.isin(values, (0.0, 1.0)).all() else float(values.std())
            odds = np.exp(np.clip(step * np.array([row.weight, *ends]), -700.0, 700.0)).tolist()
            rows.append(
                {
                    "feature": row.feature,
                    "weight": row.weight,
                    "standardised": row.standardised,
                    "step": step,
                    **dict(zip(("odds_ratio", "odds_low", "odds_high"), odds, strict=True)),
                    "share": float(self.shares[k]),
                    "p_value": float(self.p_values[k]),
                }
            )
        return rows

    def plot(self) -> Figure:
        """Return log-loss by number of features, and shares of the halves, side by side."""
        figure = new_figure(2)
        axes, shares = figure.axes
        self._draw_shares(shares)
        axes.plot(self.choice.sizes, self.choice.losses, "o-", color=BLUE, label="mean of the samples")
        axes.axvline(self.choice.m, color=ORANGE, label=counted(self.choice.m, "feature"))
        axes.set(xlabel="number of features", ylabel="log-loss")
        axes.locator_params(axis="x", integer=True)
        axes.legend(fontsize="small")
        return figure

    def _draw_shares(self, axes: Axes) -> None:
        """Draw the share of the halves that select each feature, those of the selection in colour."""
        order = np.argsort(-self.shares, kind="stable")[:MOST_BARS]
        order = order[self.shares[order] > 0][::-1]
        names = [self.variables[k] for k in order]
        colours = [BLUE if name in self.selected else "0.7" for name in names]
        axes.barh(range(len(names)), self.shares[order], color=colours)
        axes.set_yticks(range(len(names)), [plain(name) for name in names], fontsize="small")
        axes.set(xlabel="share of the halves", xlim=(0.0, 1.0))
