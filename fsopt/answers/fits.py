"""A fitted classifier with its evidence, which reads itself: in words, as a table, as a picture, and from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.certificate import Certificate
from fsopt.answers.records import plain, sealed
from fsopt.answers.results import Status
from fsopt.answers.trained import Trained
from fsopt.answers.weights import OF_UNIT_ROWS, Weight, by_size, weight_texts, weights_of
from fsopt.common import arguments
from fsopt.common.arguments import word
from fsopt.common.figures import history_figure, scores_figure, weights_figure
from fsopt.common.files import write_text
from fsopt.data import Dataset
from fsopt.data.given import Given, Table, dataset_of
from fsopt.data.hyperplanes import measures
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import Preprocessing, is_sparse, largest_values, row_blocks
from fsopt.data.validation import values_of_labels
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Mask, Matrix, Samples, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST_FEATURES = 20
"""Weights that a summary lists."""
KINDS = ("weights", "convergence", "scores")


@dataclass(frozen=True)
class Fit:
    """A fitted classifier ``sign(w'x + b)`` with the evidence for it and the record of its computation.

    With a ``kernel`` the classifier is ``sign(w'k(x) + b)``. The vector k(x) (n,) holds the kernel values of the
    preprocessed sample x with the n preprocessed training samples, the patterns. The patterns then take the place of
    the features in all attributes.

    Attributes
    ----------
    method, params : name of the method and its parameters.
    features, support : names and 0-based indices of the selected features (the pattern ``row 17`` has index 16).
    coef, intercept : ``w`` (p,) and ``b`` in the units of the raw features; with the preprocessing ``unit-rows`` the
        score is ``w'(x - shift) / ||(x - shift) / scale|| + b``.
    objective : objective value of the method's problem at the classifier.
    status, stop, bound, iterations, history, certificate, solver, seconds : as in :class:`DriverResult`.
    preprocessing : the map of the samples before the model, or the kernel matrix, was built.
    warnings : remarks for the user (separable data, dropped features, ...).
    details : further numbers of the method (duals, cuts, histories) that the verification of a saved fit needs.
    kernel : the kernel with its patterns; None for a hyperplane in the space of the features.
    trained : names, labels, encoding and digest of the training data; None for a fit that :func:`fsopt.fit` did not
        make.
    """

    method: str
    params: Mapping[str, Any]
    features: tuple[str, ...]
    support: tuple[int, ...]
    coef: Vector
    intercept: float
    objective: float | None
    status: Status
    stop: str
    bound: float | None
    iterations: int
    history: tuple[Mapping[str, Any], ...]
    certificate: Certificate | None
    solver: str
    seconds: Mapping[str, float]
    preprocessing: Preprocessing
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    kernel: Kernel | None = None
    trained: Trained | None = field(default=None, repr=False)

    @property
    def needed(self) -> Mask:
        """Whether a score depends on each of the p features; only these are needed for predictions."""
        if self.kernel is not None or self.preprocessing.unit_rows:
            return np.ones(len(self.preprocessing.shift), dtype=bool)
        return np.asarray(self.coef != 0.0)

    def _samples(self, X: Samples | Dataset | Table) -> Matrix:
        """Return samples as a matrix (n, p) in the order of the fit; raises DataError where they are none."""
        p = len(self.preprocessing.shift)
        known = self.trained or Trained.unknown(p)
        return known.samples(X, self.needed)

    def decision_function(self, X: Samples | Dataset | Table) -> Vector:
        """Return the scores (n,) of samples.

        Parameters
        ----------
        X : (n, p) array or sparse matrix in raw units and in the order of the training data, or a DataFrame or
            :class:`fsopt.Dataset`, whose columns are found by their names; only those with a weight are needed.

        Raises
        ------
        DataError : a column is missing, a value is missing and the training data tell no substitute, or values are so
            large that a score overflows.
        """
        Z = self._samples(X)
        linear = self.kernel is None and not self.preprocessing.unit_rows
        blocks = is_sparse(Z) and not linear and (self.kernel is not None or self.preprocessing.shift.any())
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.concatenate([self._scores(part) for part in (row_blocks(Z) if blocks else (Z,))])
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise DataError(
                f"the score of row {bad[0] + 1} overflows: the largest value is {largest_values(Z).max():.2g}",
                "give the samples in the units of the training data",
            )
        return scores

    def _scores(self, Z: Matrix) -> Vector:
        """Return the scores (n,) of samples in the order of the fit."""
        if self.kernel is not None:
            score = self.kernel.matrix(self.preprocessing.apply(Z)) @ self.coef
        elif self.preprocessing.unit_rows:
            score = self.preprocessing.shifted(Z) @ self.coef / self.preprocessing.row_norms(Z)
        else:
            score = Z @ self.coef
        result: Vector = score + self.intercept
        return result

    def predict(self, X: Samples | Dataset | Table) -> Vector:
        """Return the classes (n,), -1 and +1, of samples as in :meth:`decision_function`; a score of 0 counts as -1."""
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)

    def predict_labels(self, X: Samples | Dataset | Table) -> NDArray[Any]:
        """Return the labels (n,) of samples as :meth:`predict`, in the words or numbers of the training data.

        ``fit("svm", X, y).predict_labels(X)`` has the labels of ``y``: the integers 0 and 1, also where they were 0.0
        and 1.0, other numbers, False and True, or two texts.
        """
        words = values_of_labels(("-1", "+1") if self.trained is None else self.trained.labels)
        found: NDArray[Any] = words[(self.predict(X) > 0).astype(int)]
        return found

    def predict_proba(self, X: Samples | Dataset | Table) -> Matrix:
        """Return the probabilities (n, 2) of the labels -1 and +1 of samples as in :meth:`decision_function`.

        Raises
        ------
        ParameterError : the loss of the fit is not the logistic one, whose scores alone are log-odds.
        """
        if self.params.get("loss") != "logistic":
            raise ParameterError(
                f"the scores of a fit by '{self.method}' with this loss are no probabilities",
                "take loss='logistic' or fsopt.select, or calibrate them with CalibratedClassifierCV of scikit-learn",
            )
        positive = 0.5 * (1.0 + np.tanh(0.5 * self.decision_function(X)))
        return np.column_stack([1.0 - positive, positive])

    def scores(self, data: Given) -> dict[str, float]:
        """Return :func:`fsopt.data.hyperplanes.measures` on data as in :func:`fsopt.fit`: accuracy, MCC ..."""
        known = dataset_of(data)
        return measures(known.y, self.decision_function(known))

    def kept_of(self, data: Dataset) -> Trained:
        """Return what the fit keeps of its training data: names, encoding, digest, and its scores there."""
        return Trained.of(data, measures(data.y, self.decision_function(data.X)) if self.status.solved else {})

    def save(self, path: str | Path) -> None:
        """Save the fit as JSON, whole or not at all: for ``fsopt check``, ``fsopt predict`` and fsopt.load_fit.

        Raises
        ------
        FileError : the file cannot be written.
        """
        name = "data" if self.trained is None else self.trained.name
        write_text(path, json.dumps(sealed(fit_record(self, source=name)), allow_nan=False, indent=1) + "\n")

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

    def summary(self) -> str:
        """Return what was found and what is known of it, as text: status, certificate, weights of the classifier."""
        (heads, *rows), intercept = weight_texts(self, standardised=True)
        facts = [*self._facts(), ("intercept", intercept)]
        width = max(len(name) for name, _ in facts)
        lines = [f"{name:<{width}}  {text}" for name, text in facts]
        if rows:
            table = [heads, *rows[:MOST_FEATURES]]
            wide = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines.append("")
            for name, *numbers in table:
                cells = [f"{text:>{max(least, 12)}}" for text, least in zip(numbers, wide[1:], strict=True)]
                lines.append("  ".join([f"{name:<{wide[0]}}", *cells]))
        lines += self._below(len(rows))
        return "\n".join(lines)

    def _below(self, listed: int) -> list[str]:
        """Return the lines below a table of so many weights."""
        lines = [f"and {listed - MOST_FEATURES} more: to_frame() has all"] if listed > MOST_FEATURES else []
        return [*lines, OF_UNIT_ROWS] if listed and self.kernel is None and self.preprocessing.unit_rows else lines

    def _repr_html_(self) -> str:
        """Return the summary as tables for notebooks; names of data and features are escaped."""
        table, intercept = weight_texts(self, standardised=True)
        heads, *rows = [[escape(text) for text in row] for row in table]
        facts = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in (*self._facts(), ("intercept", intercept))
        )
        cells = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows[:MOST_FEATURES])
        rest = "".join(f"<tr><td colspan='{len(heads)}'>{text}</td></tr>" for text in self._below(len(rows)))
        listed = f"<table><tr><th>{'</th><th>'.join(heads)}</th></tr>{cells}{rest}</table>" if rows else ""
        return f"<table>{facts}</table>{listed}"

    def to_frame(self, folds: Sequence[Fit] = ()) -> DataFrame:
        """Return the weights of the classifier as a pandas DataFrame.

        Parameters
        ----------
        folds : fits to parts of the data, such as those of a cross-validation.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``weight`` (raw units), ``standardised`` (weight times standard deviation),
            ``selected``, false where the rule of selection leaves out a feature that the score depends on, ``shift``
            and ``scale`` of the preprocessing where samples are divided by their norm, and, with ``folds``, ``folds``:
            the number of these that select the feature. In order of the standardised size.
        """
        import pandas as pd

        frame = pd.DataFrame(by_size(weights_of(self)), columns=["feature", *Weight._fields[1:]])
        if self.kernel is not None or not self.preprocessing.unit_rows:
            frame = frame.drop(columns=["shift", "scale"])
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
            rows = [row for row in by_size(weights_of(self)) if row.selected]
            if not rows:
                raise ParameterError(f"the fit of '{self.method}' selects no feature", "choose other parameters")
            return weights_figure([row[:3] for row in rows[:MOST_FEATURES]])
        if data is None:
            raise ParameterError("scores are those of a data set, and there is none", "give data=")
        return scores_figure(self.decision_function(data), data.y, data.labels)


def fit_record(fit: Fit, *, source: str, data: Dataset | None = None) -> dict[str, Any]:
    """Return the JSON object of a fit.

    Parameters
    ----------
    source : path or name of the data, as the user gave it.
    data : the training data; None takes what the fit knows of them.

    Raises
    ------
    ParameterError : the fit knows nothing of its training data, and there are none.
    """
    trained = fit.trained if data is None else fit.kept_of(data)
    if trained is None:
        raise ParameterError("the fit does not know its training data", "save a fit that fsopt.fit returned")
    for name, value in fit.params.items():
        if not arguments.plain(value):
            raise ParameterError(
                f"the fit cannot be saved: its parameter '{name}' is {shown(value)}, which a file cannot name",
                "register it, for example with fsopt.extend.register_penalty, and fit with its name",
            )
    record = {part.name: getattr(fit, part.name) for part in fields(fit) if part.name != "trained"} | {
        "data": source,
        "train": trained.scores,
        "labels": trained.labels,
        "columns": trained.features,
        "deviation": trained.deviation,
        "encoding": None if trained.encoding is None else trained.encoding.plain,
        "data_sha256": trained.digest,
    }
    return {k: plain(v) for k, v in record.items()}
