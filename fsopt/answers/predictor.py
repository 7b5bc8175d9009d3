"""The classifier of a fit in numpy alone; ``fsopt.export_predictor`` writes this file with the numbers of a fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


class Predictor:
    """The classifier sign(score) of a fit of fsopt, in numpy alone and without its evidence.

    Samples are an array (n, p) in the order of ``features``, or a DataFrame or dict of columns, found by their names.

    Parameters
    ----------
    record : Mapping[str, Any]
        Each attribute by its name, as plain data.

    Attributes
    ----------
    features : names of the p features.
    coef, intercept : w (p,), or a weight for each pattern of a kernel, and b.
    shift, scale : (p,) of the preprocessing.
    unit_rows : whether preprocessed samples are divided by their norm.
    labels : of -1 and +1.
    loss : of the fit; the scores of the ``logistic`` one are log-odds.
    kernel : name, parameters and patterns of a kernel, or None.
    columns : of the table that the features are made of, or None where the features are its columns.
    """

    features: Sequence[str]
    coef: Any
    intercept: float
    shift: Any
    scale: Any
    unit_rows: bool
    labels: Sequence[Any]
    loss: str | None
    kernel: Mapping[str, Any] | None
    columns: Sequence[Mapping[str, Any]] | None

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.__dict__.update(record)
        self.coef, self.shift, self.scale = (np.array(record[name], dtype=float) for name in ("coef", "shift", "scale"))

    def decision_function(self, X: Any) -> Any:
        """Return the scores (n,) of samples; raises ValueError where a value that is needed is missing."""
        Z = self._matrix(X)
        if self.kernel is not None:
            score = _kernel((Z - self.shift) / self.scale / self._norms(Z)[:, None], self.kernel) @ self.coef
        elif self.unit_rows:
            score = (Z - self.shift) @ self.coef / self._norms(Z)
        else:
            score = Z @ self.coef
        return score + self.intercept

    def predict(self, X: Any) -> Any:
        """Return the classes (n,) of samples, -1 and +1; a score of 0 counts as -1."""
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)

    def predict_labels(self, X: Any) -> Any:
        """Return the labels (n,) of samples, in the words or numbers of the training data."""
        return np.array(self.labels)[(self.predict(X) > 0).astype(int)]

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities (n, 2) of -1 and +1; raises ValueError for another loss than the logistic one."""
        if self.loss != "logistic":
            raise ValueError("the scores are no probabilities: the loss of the fit is not the logistic one")
        positive = 0.5 * (1.0 + np.tanh(0.5 * self.decision_function(X)))
        return np.column_stack([1.0 - positive, positive])

    def _matrix(self, X: Any) -> Any:
        """Return samples as (n, p); columns without a weight are not looked at where samples have names."""
        found = list(X.columns) if hasattr(X, "columns") else list(X) if isinstance(X, dict) else []
        p = len(self.features)
        if found == list(range(len(found))):
            Z = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64, order="C")
            if Z.ndim != 2 or Z.shape[1] != p:
                raise ValueError(f"the samples have the shape {Z.shape}: give (n, {p})")
            return self._finite(Z, range(p))
        names = {str(name): name for name in found}
        if len(names) < len(found):
            raise ValueError("two columns of the samples have one name")
        Z, j = np.zeros((len(X[found[0]]), p)), 0
        looked_at: list[int] = []
        for column in self.columns or [{"name": name, "kind": "number"} for name in self.features]:
            own = range(
                j, j + (len(column["words"]) if column["kind"] == "text" else 1) + column.get("indicator", False)
            )
            if self.unit_rows or self.kernel is not None or self.coef[own].any():
                if column["name"] not in names:
                    raise ValueError(f"the samples have no column '{column['name']}'")
                Z[:, own] = _encoded(list(X[names[column["name"]]]), column)
                looked_at += own
            j = own.stop
        return self._finite(Z, looked_at)

    def _finite(self, Z: Any, places: Iterable[int]) -> Any:
        """Return samples; raises ValueError for one that is not finite in these places."""
        bad = [j for j in places if not np.isfinite(Z[:, j]).all()]
        if bad:
            row = np.flatnonzero(~np.isfinite(Z[:, bad[0]]))[0] + 1
            raise ValueError(f"the value of '{self.features[bad[0]]}' in row {row} is missing or infinite")
        return Z

    def _norms(self, Z: Any) -> Any:
        """Return the norms (n,) by which preprocessed samples are divided."""
        if not self.unit_rows:
            return np.ones(len(Z))
        squares = np.square((Z - self.shift) / self.scale).T
        exact = squares.size <= 5_000_000
        norms = np.sqrt([math.fsum(row) for row in squares.T.tolist()] if exact else squares.sum(axis=0))
        return np.where(norms > 0, norms, 1.0)


def _kernel(Z: Any, kernel: Mapping[str, Any]) -> Any:
    """Return the kernel values (n, m) of preprocessed samples and patterns."""
    patterns = np.array(kernel["patterns"])
    if kernel["name"] == "gaussian":
        squares = np.zeros((len(Z), len(patterns)))
        for own, other in zip(Z.T, patterns.T, strict=True):
            squares += (own[:, None] - other) ** 2
        return np.exp(-squares / (2.0 * kernel["width"] ** 2))
    products = Z @ patterns.T
    return products if kernel["name"] == "linear" else (products + kernel["offset"]) ** kernel["degree"]


def _encoded(values: Sequence[Any], column: Mapping[str, Any]) -> Any:
    """Return the features (n, k) of the values of a column of a table."""
    name, fill = column["name"], column.get("fill")
    indicator = column.get("indicator", False)
    gone = [_missing(value) for value in values]
    if any(gone) and fill is None and not indicator:
        raise ValueError(f"column '{name}' has no value in row {gone.index(True) + 1}")
    read = _text if column["kind"] == "text" else _number
    try:
        known = [fill if absent else read(value) for value, absent in zip(values, gone, strict=True)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"column '{name}' holds other values than {column['kind']}s: {error}") from None
    parts = [[float(text == level) for text in known] for level in column["words"]] if read is _text else [known]
    return np.array([*parts, gone] if indicator else parts, dtype=float).T


def _missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("", "?", "nan", "na", "n/a", "null")
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _text(value: Any) -> str:
    text = str(value).strip()
    return text if isinstance(value, str) else text.removesuffix(".0")


def _number(value: Any) -> float:
    words = {"true": 1.0, "false": 0.0}
    return words.get(str(value).strip().lower(), math.nan) if str(value).strip().lower() in words else float(value)
