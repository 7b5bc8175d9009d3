"""The rows of a comparison of methods, with means over the folds, and all of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.common.figures import BLUE, new_figure, plain
from fsopt.data import Dataset
from fsopt.data.hyperplanes import MEASURES
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.studies.methods import study_spec
from fsopt.studies.ranking import Standing, answer, leading, standings
from fsopt.studies.store import Row
from fsopt.studies.summary import Spread, spread
from fsopt.studies.units import TIMEOUT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STANDING = ("interval", "told_apart", "worse", "front", "above_larger")
"""What a record has of the standing of its method: null for one without a score."""


@dataclass(frozen=True)
class ComparedMethod:
    """One method in the comparison on one data set.

    Attributes
    ----------
    data : name of the data set.
    method : name in the registry, or of a peer.
    paper : its key in :data:`fsopt.models.papers.PAPERS`; None for a baseline.
    params : that were given or chosen; others are those of comparisons.
    status, stop, objective, bound, solver, warnings : of the fit to all samples.
    n_features, features : of the same fit, the number and the names of the selected features.
    cv_accuracy, cv_mcc, cv_balanced_accuracy, cv_recall, cv_auc : means over the folds, see
        :func:`fsopt.data.hyperplanes.measures`; None where a fold failed, or where the fit of one was ended early.
    spreads : name of these means -> standard deviation over the folds.
    certificate : parts of the certificate of the fit to all samples.
    seconds, cpu_seconds : of this fit, by the clock and of the processor; None where its process ended early.
    error : messages of the fits that failed; empty where none did.
    ended_early : number of fits, on all samples and on folds, that the time limit ended before their own criterion.
    fold_accuracies : accuracy on the samples of each fold; empty where ``cv_accuracy`` is None.
    exact : the word of an exact check of the fit to all samples; None where it was not asked for.
    """

    data: str
    method: str
    paper: str | None
    params: Mapping[str, Any]
    status: str
    stop: str
    objective: float | None
    bound: float | None
    n_features: int | None
    features: tuple[str, ...]
    cv_accuracy: float | None
    cv_mcc: float | None
    cv_balanced_accuracy: float | None
    cv_recall: float | None
    cv_auc: float | None
    spreads: Mapping[str, float]
    certificate: Mapping[str, Any] | None
    solver: str
    seconds: float
    warnings: tuple[str, ...]
    error: str
    ended_early: int = 0
    exact: str | None = None
    cpu_seconds: float | None = None
    fold_accuracies: tuple[float, ...] = ()

    @property
    def lacking(self) -> str:
        """What a method without an answer has not: a fit to all samples, or scores, by an error; empty for none.

        A fit that the time limit ended with a classifier is no error, though there are no means then.
        """
        if self.status == Status.NONE:
            return "no fit"
        return "no scores" if self.error and self.cv_accuracy is None else ""


@dataclass(frozen=True)
class Comparison(Answer):
    """Methods side by side.

    Attributes
    ----------
    data, sizes : names of the data sets, and their numbers of samples and features.
    rows : one for each data set and method.
    folds, seed, tune : as they were given.
    majority : data set -> scores of the classifier that always says the larger class.
    interrupted : whether Ctrl-C ended the comparison; the rows are those that were complete.
    """

    data: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    rows: tuple[ComparedMethod, ...]
    folds: int
    seed: int
    tune: bool
    majority: Mapping[str, Mapping[str, float]]
    interrupted: bool = False
    shown = (
        "method",
        "standing",
        "status",
        "n_features",
        "cv_accuracy",
        "cv_balanced_accuracy",
        "cv_mcc",
        "objective",
        "solver",
        "seconds",
    )

    @property
    def heading(self) -> dict[str, Any]:
        """Data sets with their sizes, the split, the larger class, the answer, and the methods without one."""
        (n, p), one = zip(*self.sizes, strict=True), len(self.data) == 1
        return {
            "data": self.data[0] if one else list(self.data),
            "n": n[0] if one else list(n),
            "p": p[0] if one else list(p),
            "folds": self.folds,
            "seed": self.seed,
            "tune": self.tune,
            "majority": self.majority,
            "answer_in_words": self.sentences,
            "leading": {name: leading(found) for name in self.data if (found := self.standings(name))},
            "own_parameters": self.own_parameters,
            "unanswered": [
                {"data": row.data, "method": row.method, "lacking": row.lacking} for row in self.rows if row.lacking
            ],
        }

    def standings(self, data: str) -> dict[str, Standing]:
        """Return method -> its standing by accuracy on a data set, the best first; without methods without a score."""
        rows = [row for row in self.rows if row.data == data and row.fold_accuracies and row.n_features is not None]
        return standings(
            {row.method: row.fold_accuracies for row in rows},
            {row.method: int(row.n_features or 0) for row in rows},
            larger=self.majority[data]["cv_accuracy"],
        )

    @property
    def sentences(self) -> dict[str, str]:
        """Data set -> the method of fewest features that is not told apart from the best; none without scores."""
        return {name: self._sentence(name, found) for name in self.data if (found := self.standings(name))}

    def _sentence(self, data: str, found: Mapping[str, Standing]) -> str:
        rows = {row.method: row for row in self.rows if row.data == data and row.method in found}
        return answer(
            found,
            {name: row.cv_accuracy or 0.0 for name, row in rows.items()},
            {name: row.n_features or 0 for name, row in rows.items()},
            {name: row.features for name, row in rows.items()},
        )

    @property
    def own_parameters(self) -> dict[str, str]:
        """Data set -> the parameters that methods have in comparisons in place of their defaults, in words."""
        found = {}
        for name, (_, p) in zip(self.data, self.sizes, strict=True):
            parts = [
                f"{row.method} {key}={value}"
                for row in self.rows
                for key, value in study_spec(row.method).compare(p).items()
                if row.data == name and row.params.get(key, value) == value
            ]
            found[name] = f"in comparisons: {', '.join(parts)}" if parts else ""
        return found

    def to_records(self) -> list[dict[str, Any]]:
        """Return a record for each row: the fields of a :class:`ComparedMethod`, and its standing on its data set."""
        found = {name: self.standings(name) for name in self.data}
        records = []
        for row in self.rows:
            one = found[row.data].get(row.method)
            own = {"standing": one and one.in_words, **{name: getattr(one, name, None) for name in STANDING}}
            records.append(asdict(row) | own)
        return records

    def plot(self) -> Figure:
        """Return the cross-validated accuracies with their standard deviations, a panel for each data set."""
        figure = new_figure(len(self.data), height=1.2 + 0.25 * len(self.rows) / len(self.data))
        for axes, name in zip(figure.axes, self.data, strict=True):
            rows = [row for row in self.rows if row.data == name and row.cv_accuracy is not None][::-1]
            means = [100.0 * (row.cv_accuracy or 0.0) for row in rows]
            spreads = [100.0 * row.spreads.get("cv_accuracy", 0.0) for row in rows]
            axes.errorbar(means, range(len(rows)), xerr=spreads, fmt="o", color=BLUE)
            axes.axvline(100.0 * self.majority[name]["cv_accuracy"], color="tab:gray", label="the larger class")
            axes.set_yticks(range(len(rows)), [row.method for row in rows])
            axes.set(title=plain(name), xlabel="accuracy of cross-validation, %")
            axes.legend()
        return figure


def summarise(rows: Sequence[Row]) -> ComparedMethod:
    """Return the row of a method from the rows of its units."""
    # In the order of the folds, not in that of their ends, which decides on the last digit of a mean.
    ordered = sorted(rows, key=lambda row: -1 if row["fold"] is None else row["fold"])
    whole, parts = ordered[0], ordered[1:]
    early = [row["state"] == TIMEOUT and row["status"] != "none" for row in ordered]
    scores: dict[str, Spread | None] = {
        name: None if any(early[1:]) else spread([row.get(name) for row in parts]) for name in MEASURES
    }
    errors = [row["error"] for row, late in zip(ordered, early, strict=True) if row["error"] and not late]
    return ComparedMethod(
        data=whole["data"],
        method=whole["method"],
        paper=study_spec(whole["method"]).paper,
        params=whole.get("fitted") or whole["params"],
        status=whole["status"],
        stop=whole["stop"],
        objective=whole.get("objective"),
        bound=whole.get("bound"),
        n_features=whole.get("n_features"),
        features=tuple(whole.get("features") or ()),
        **{f"cv_{name}": None if value is None else value.mean for name, value in scores.items()},
        spreads={f"cv_{name}": value.deviation for name, value in scores.items() if value is not None},
        certificate=whole.get("certificate"),
        solver=whole.get("solver") or "",
        seconds=whole["seconds"],
        cpu_seconds=whole.get("cpu_seconds"),
        warnings=tuple(whole.get("warnings") or ()),
        error="; ".join(dict.fromkeys(errors)),
        ended_early=sum(early),
        exact=whole.get("exact"),
        fold_accuracies=() if scores["accuracy"] is None else tuple(row["accuracy"] for row in parts),
    )


def majority(data: Dataset, folds: int, seed: int) -> dict[str, float]:
    """Return the scores of the classifier that always says the larger class of its training samples, over the folds."""
    right = []
    for test in stratified_folds(data, folds, seed):
        train, held_out = train_and_test(data, test)
        says = 1.0 if 2 * len(train.positive) >= train.n else -1.0
        right.append(float(np.mean(held_out.y == says)))
    return {"cv_accuracy": float(np.mean(right)), "cv_balanced_accuracy": 0.5, "cv_mcc": 0.0}
