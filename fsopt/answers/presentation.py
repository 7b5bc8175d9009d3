"""A fit in words, as a table and as a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.results import Status
from fsopt.answers.trained import Trained
from fsopt.common.arguments import word
from fsopt.common.figures import history_figure, scores_figure, weights_figure
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import ParameterError
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST_FEATURES = 20
"""Features that a summary lists."""
KINDS = ("weights", "convergence", "scores")


class Presented(ABC):
    """What a fit shows of itself: in words, as a table, as a picture. The attributes are those of the fit."""

    method: str
    features: tuple[str, ...]
    support: tuple[int, ...]
    coef: Vector
    objective: float | None
    status: Status
    stop: str
    bound: float | None
    history: tuple[Mapping[str, Any], ...]
    certificate: Certificate | None
    solver: str
    seconds: Mapping[str, float]
    warnings: tuple[str, ...]
    kernel: Kernel | None
    trained: Trained | None

    @abstractmethod
    def decision_function(self, X: Dataset) -> Vector:
        """Return the scores (n,) of samples."""

    def _facts(self) -> Iterator[tuple[str, str]]:
        """Yield names and texts of what a fit says."""
        yield "method", self.method
        if self.trained is not None:
            yield "data", f"{self.trained.name}, +1 is '{self.trained.labels[1]}', -1 is '{self.trained.labels[0]}'"
        yield "status", f"{self.status} ({self.stop})"
        for name, value in (("objective", self.objective), ("lower bound", self.bound)):
            if value is not None:
                yield name, f"{value:.6g}"
        certificate = self.certificate
        if certificate is not None:
            verdict = "holds" if certificate.ok else "does not hold"
            yield "certificate", f"{certificate.kind}, {verdict}, largest residual {certificate.worst:.1e}"
        for name, score in (self.trained.scores if self.trained is not None else {}).items():
            yield f"training {name.replace('_', ' ')}", f"{score:.4f}"
        noun = "features" if self.kernel is None else "patterns"
        yield noun, f"{len(self.support)} of {len(self.coef)}"
        yield "solver", self.solver
        if "total" in self.seconds:
            yield "seconds", f"{self.seconds['total']:.2f}"
        for warning in self.warnings:
            yield "warning", warning

    def _weights(self) -> list[tuple[str, float, float]]:
        """Return name, weight and standardised weight of the selected features, in order of the standardised size."""
        known = self.trained.deviation if self.trained is not None else ()
        deviation = (
            np.asarray(known) if self.kernel is None and len(known) == len(self.coef) else np.ones(len(self.coef))
        )
        found = [
            (name, float(self.coef[j]), float(self.coef[j] * deviation[j]))
            for name, j in zip(self.features, self.support, strict=True)
        ]
        return sorted(found, key=lambda row: -abs(row[2]))

    def summary(self) -> str:
        """Return what was found and what is known of it, as text: status, certificate, features with their weights."""
        facts = list(self._facts())
        width = max(len(name) for name, _ in facts)
        lines = [f"{name:<{width}}  {text}" for name, text in facts]
        rows = self._weights()
        if rows:
            wide = max(len("feature"), *(len(name) for name, _, _ in rows[:MOST_FEATURES]))
            lines += ["", f"{'feature':<{wide}}  {'weight':>12}  {'standardised':>12}"]
            lines += [f"{name:<{wide}}  {w:>12.5g}  {s:>12.5g}" for name, w, s in rows[:MOST_FEATURES]]
        if len(rows) > MOST_FEATURES:
            lines.append(f"and {len(rows) - MOST_FEATURES} more: to_frame() has all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the summary as tables for notebooks; names of data and features are escaped."""
        facts = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._facts())
        rows = self._weights()
        cells = "".join(
            f"<tr><td>{escape(name)}</td><td>{w:.5g}</td><td>{s:.5g}</td></tr>" for name, w, s in rows[:MOST_FEATURES]
        )
        more = len(rows) - MOST_FEATURES
        rest = f"<tr><td colspan='3'>and {more} more</td></tr>" if more > 0 else ""
        heads = "<tr><th>feature</th><th>weight</th><th>standardised</th></tr>"
        listed = f"<table>{heads}{cells}{rest}</table>" if rows else ""
        return f"<table>{facts}</table>{listed}"

    def to_frame(self, folds: Sequence[Presented] = ()) -> DataFrame:
        """Return the selected features as a pandas DataFrame.

        Parameters
        ----------
        folds : fits to parts of the data, such as those of a cross-validation.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``weight`` (raw units), ``standardised`` (weight times standard deviation) and, with
            ``folds``, ``folds``: the number of these that select the feature. In order of the standardised size.
        """
        import pandas as pd

        frame = pd.DataFrame(self._weights(), columns=["feature", "weight", "standardised"])
        if folds:
            frame["folds"] = [sum(name in fold.features for fold in folds) for name in frame["feature"]]
        return frame

    def plot(self, kind: str | None = None, data: Dataset | None = None) -> Figure:
        """Return a figure.

        Parameters
        ----------
        kind : ``weights`` of the selected features; ``convergence``, objective and bound over time; ``scores`` of a
            data set by class. By default the convergence of a loop, and else the weights.
        data : for the scores.

        Raises
        ------
        ParameterError : another word, no history, no features, or no data.
        PackageError : matplotlib is not installed.
        """
        records: list[Any] = [h for h in self.history if isinstance(h.get("objective"), float)]
        chosen = ("convergence" if records else "weights") if kind is None else kind
        word("the kind of plot", chosen, KINDS)
        if chosen == "convergence":
            if not records:
                raise ParameterError(
                    f"the fit of '{self.method}' has no history to plot", "plot its weights, or a fit of a loop"
                )
            return history_figure(records)
        if chosen == "weights":
            rows = self._weights()
            if not rows:
                raise ParameterError(f"the fit of '{self.method}' selects no feature", "choose other parameters")
            return weights_figure(rows[:MOST_FEATURES])
        if data is None:
            raise ParameterError("scores are those of a data set, and there is none", "give data=")
        return scores_figure(self.decision_function(data), data.y, data.labels)
