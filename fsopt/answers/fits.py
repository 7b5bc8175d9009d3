"""A fitted classifier with its evidence, which reads itself: in words, as a table, as a picture, and from a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.certificate import Certificate, certificate_line, status_line
from fsopt.answers.records import MOST_ROWS, Told, as_text, plain, sealed
from fsopt.answers.results import Status
from fsopt.answers.trained import Trained, fingerprint
from fsopt.common import arguments
from fsopt.common.arguments import word
from fsopt.common.clock import NUMBER, require
from fsopt.common.figures import bars_figure, history_figure
from fsopt.common.files import write_text
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.given import Given, Table, dataset_of
from fsopt.data.hyperplanes import Kernel, measures
from fsopt.data.matrices import Preprocessing, column_deviations, is_sparse, largest_values
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Indices, Mask, Matrix, Samples, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ZERO = 1e-6
"""Share of the largest standardised weight up to which one that is not selected is a rounded 0 of a solver."""
DIGITS = 6
"""Significant digits of printed weights; there are more where the terms of a score cancel."""
OF_UNIT_ROWS = (
    "score = sum of weight * (x - shift) / norm + intercept, norm = root of the sum of ((x - shift) / scale)^2, "
    "both over all features"
)
"""The classifier of samples that are divided by their norm."""


@dataclass(frozen=True)
class Fit(Told):
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
    status, stop, bound, iterations, history, certificate, solver, seconds : as in :class:`fsopt.DriverResult`.
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
    def of_unit_rows(self) -> bool:
        """Whether the samples are divided by their norm, so that a score depends on all features."""
        return self.kernel is None and self.preprocessing.unit_rows

    @property
    def needed(self) -> Mask:
        """Whether a score depends on each of the p features; only these are needed for predictions."""
        whole = self.kernel is not None or self.of_unit_rows
        return np.ones(len(self.preprocessing.shift), dtype=bool) if whole else np.asarray(self.coef != 0.0)

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
        known = self.trained or Trained.unknown(len(self.preprocessing.shift))
        Z = known.samples(X, self.needed)
        if is_sparse(Z) and (self.kernel is not None or (self.of_unit_rows and self.preprocessing.shift.any())):
            require(2 * NUMBER * Z.shape[0] * Z.shape[1], "dense samples", "give fewer samples at a time")
            Z = Z.toarray()  # type: ignore[attr-defined]
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel is not None:
                score = self.kernel.matrix(self.preprocessing.apply(Z)) @ self.coef
            elif self.of_unit_rows:
                score = self.preprocessing.shifted(Z) @ self.coef / self.preprocessing.row_norms(Z)
            else:
                score = Z @ self.coef
            scores: Vector = score + self.intercept
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise DataError(
                f"the score of row {bad[0] + 1} overflows: the largest value is {largest_values(Z).max():.2g}",
                "give the samples in the units of the training data",
            )
        return scores

    def predict(self, X: Samples | Dataset | Table) -> Vector:
        """Return the classes (n,), -1 and +1, of samples as in :meth:`decision_function`; a score of 0 counts as -1."""
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)

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
        encoding = None if data.encoded is None else data.encoded.encoding
        deviation = tuple((data.deviations if data.weights is None else column_deviations(data.X)).tolist())
        scores = measures(data.y, self.decision_function(data.X)) if self.status.solved else {}
        return Trained(data.name, data.labels, data.features, fingerprint(data), deviation, encoding, scores)

    def save(self, path: str | Path) -> None:
        """Save the fit as JSON, whole or not at all: for ``fsopt check``, ``fsopt predict`` and fsopt.load_fit.

        Raises FileError where the file cannot be written.
        """
        name = "data" if self.trained is None else self.trained.data
        write_text(path, json.dumps(sealed(fit_record(self, source=name)), allow_nan=False, indent=1) + "\n")

    def told(self, certificate: Mapping[str, Any] | None) -> str:
        """Return the summary with a certificate as plain data, such as that of a saved fit."""
        evidence, (weights, intercept) = certificate or {}, self.printed()
        status = status_line(self.status, evidence.get("bound_source", ""), evidence.get("notes", ()))
        facts = [("method", self.method), ("status", status + f", {self.stop}" * (self.stop != str(self.status)))]
        numbers = {"objective": self.objective, "lower bound": self.bound}
        facts += [(name, f"{value:.6g}") for name, value in numbers.items() if value is not None]
        facts += [("certificate", certificate_line(certificate)), *(("warning", text) for text in self.warnings)]
        if self.trained is not None:
            down, up = self.trained.labels
            facts.insert(1, ("data", f"{self.trained.data}, +1 is '{up}', -1 is '{down}'"))
            scores = [f"{name.replace('_', ' ')} {value:.4f}" for name, value in self.trained.train.items()]
            facts += [("training", ", ".join(scores))] if scores else []
        if "worst_case" in self.details:
            facts.append(("worst case", "class +1 {:.4f}, class -1 {:.4f}".format(*self.details["worst_case"])))
        names = f": {', '.join(self.features)}" if 0 < len(self.support) < len(self.coef) else ""
        noun = "features" if self.kernel is None else "patterns"
        spent = f"{counted(self.iterations, 'iteration')}, {self.seconds.get('total', 0.0):.2f} s"
        facts += [(noun, f"{len(self.support)} of {len(self.coef)}{names}"), ("solver", f"{self.solver}, {spent}")]
        return as_text([*facts, ("intercept", intercept)], weights, OF_UNIT_ROWS * self.of_unit_rows)

    def summary(self) -> str:
        """Return what was found and what is known of it, as text: status, certificate, weights of the classifier."""
        return self.told(plain(self.certificate))

    def to_frame(self) -> DataFrame:
        """Return the weights of the classifier as a pandas DataFrame.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``weight`` (raw units), ``standardised`` (weight times standard deviation, the weight
            where no deviations are known), ``selected``, false where the rule of selection leaves out a feature that
            the score depends on, and ``shift`` and ``scale`` of the preprocessing where samples are divided by their
            norm. In order of the standardised size; the index is the place.
        """
        import pandas as pd

        places, found = self._listed()
        return pd.DataFrame(found, index=places).astype({"feature": object})

    def _listed(self) -> tuple[Indices, dict[str, Any]]:
        """Return the index and the columns of :meth:`to_frame`; a summary of a fit needs no pandas."""
        trained = None if self.kernel is not None else self.trained
        standardised = self.coef * (np.array(trained.deviation) if trained and len(trained.deviation) else 1.0)
        sizes, weights = np.abs(standardised), np.abs(self.coef)
        selected = np.isin(np.arange(len(weights)), self.support)
        # A rounded zero of a solver is listed where it is selected, or where the norm of the sample depends on it.
        counts = np.where(sizes > 0.0, sizes > ZERO * sizes.max(initial=0.0), weights > ZERO * weights.max(initial=0.0))
        listed = np.flatnonzero(counts | selected | self.of_unit_rows)
        places = listed[np.argsort(-sizes[listed], kind="stable")]
        columns = {"weight": self.coef, "standardised": standardised, "selected": selected}
        if self.of_unit_rows:
            columns |= {"shift": self.preprocessing.shift, "scale": self.preprocessing.scale}
        own, stem = dict(zip(self.support, self.features, strict=True)), "row " if self.kernel is not None else "x"
        names = [own.get(j) or (trained.columns[j] if trained else f"{stem}{j + 1}") for j in places.tolist()]
        return places, {"feature": names, **{name: column[places] for name, column in columns.items()}}

    def printed(self) -> tuple[list[dict[str, str]], str]:
        """Return the rows of :meth:`to_frame` as texts, and the intercept: they are the classifier, written down.

        The text ``selected`` is there where a listed feature is not selected. A sum of the printed terms has an
        error of about 1e-3 of the largest standardised weight at most. Far from 0 the mean times a rounded zero
        counts: the intercept has what is not listed.
        """
        places, found = self._listed()
        size = np.abs(found["standardised"]).max(initial=0.0)
        terms = self.coef * (0.0 if self.kernel is not None else self.preprocessing.shift)
        lost = max(abs(self.intercept), np.abs(terms).max(initial=0.0)) / size if size > 0 else 1.0
        # So many digits that the error of a score is small beside its largest weight, where its terms cancel.
        digits = min(17, max(DIGITS, math.ceil(4 + math.log10(lost)))) if 0 < lost < math.inf else DIGITS
        number, every = f"{{:.{digits}g}}".format, found["selected"].all()
        rest = number(self.intercept + np.delete(terms, places).sum())
        forms: Any = {"standardised": "{:.5g}".format, "selected": {True: "yes", False: "no"}.get, "feature": str}
        texts = {k: map(forms.get(k, number), v) for k, v in found.items() if k != "selected" or not every}
        return [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)], rest

    def plot(self, kind: str | None = None) -> Figure:
        """Return a figure.

        Parameters
        ----------
        kind : ``weights`` of the selected features, or ``convergence``, objective and bound over time. By default the
            convergence of a loop, and else the weights.

        Raises
        ------
        ParameterError : another word, no history, or no features.
        PackageError : matplotlib is not installed.
        """
        records: list[Any] = [h for h in self.history if isinstance(h.get("objective"), float)]
        chosen = ("convergence" if records else "weights") if kind is None else kind
        word("the kind of plot", chosen, ("weights", "convergence"))
        if chosen == "convergence" and records:
            return history_figure(records)
        frame = self.to_frame().query("selected").head(MOST_ROWS)
        if chosen == "convergence" or frame.empty:
            lacks = "has no history to plot" if chosen == "convergence" else "selects no feature"
            raise ParameterError(f"the fit of '{self.method}' {lacks}", "plot another kind, or another fit")
        return bars_figure(frame["feature"].tolist(), frame["standardised"].tolist(), "weight x standard deviation")


def fit_record(fit: Fit, *, source: str, data: Dataset | None = None) -> dict[str, Any]:
    """Return the JSON object of a fit to data, those that it knows for None, which the user calls ``source``."""
    trained = fit.trained if data is None else fit.kept_of(data)
    if trained is None:
        raise ParameterError("the fit does not know its training data", "save a fit that fsopt.fit returned")
    for name, value in fit.params.items():
        if not arguments.plain(value):
            raise ParameterError(
                f"the fit cannot be saved: its parameter '{name}' is {shown(value)}, which a file cannot name",
                "return plain numbers, texts and arrays as parameters of a fit",
            )
    record = {part.name: getattr(fit, part.name) for part in fields(fit) if part.name != "trained"}
    record |= {part.name: getattr(trained, part.name) for part in fields(trained)} | {"data": source}
    return dict(plain(record))
