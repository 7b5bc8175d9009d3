"""Answers as plain data for JSON, sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.trained import Trained
from fsopt.common import arguments
from fsopt.common.files import write_text
from fsopt.data import Dataset
from fsopt.errors import ParameterError, shown

if TYPE_CHECKING:
    from fsopt.answers.results import Fit

FORMAT = 2
"""The format of the files that this version writes. Files without a number, of version 0.1.0, have no digest."""


def plain(value: Any) -> Any:
    """Return a value as plain JSON data: arrays as lists, inf and nan as the words 'inf', '-inf', 'nan'."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.floating, float)):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, Certificate):
        return {**{k: plain(v) for k, v in asdict(value).items()}, "worst": plain(value.worst)}
    if is_dataclass(value) and not isinstance(value, type):
        return {k: plain(v) for k, v in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


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
    trained = fit.trained if data is None else Trained.of(data, fit)
    if trained is None:
        raise ParameterError("the fit does not know its training data", "save a fit that fsopt.fit returned")
    for name, value in fit.params.items():
        if not arguments.plain(value):
            raise ParameterError(
                f"the fit cannot be saved: its parameter '{name}' is {shown(value)}, which a file cannot name",
                "register it, for example with fsopt.extend.register_penalty, and fit with its name",
            )
    names = [
        "method",
        "params",
        "solver",
        "status",
        "stop",
        "objective",
        "bound",
        "iterations",
        "features",
        "support",
        "coef",
        "intercept",
        "history",
        "certificate",
        "seconds",
        "preprocessing",
        "warnings",
        "details",
        "kernel",
    ]
    record = {name: getattr(fit, name) for name in names}
    record |= {
        "data": source,
        "train": trained.scores,
        "labels": trained.labels,
        "columns": trained.features,
        "deviation": trained.deviation,
        "encoding": None if trained.encoding is None else trained.encoding.plain,
        "data_sha256": trained.digest,
    }
    return {k: plain(v) for k, v in record.items()}


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the number of its format and a digest of all that it holds.

    The digest shows that a file is as it was written. It says nothing about the truth of what was written.
    """
    numbered = {**record, "format": FORMAT}
    return {**numbered, "digest": digest(numbered)}


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the plain data of a record, apart from a digest in it."""
    rest = {k: v for k, v in record.items() if k != "digest"}
    return hashlib.sha256(json.dumps(plain(rest), sort_keys=True).encode()).hexdigest()


def write_fit(fit: Fit, path: str | Path) -> None:
    """Save a fit as JSON, whole or not at all; raises FileError."""
    name = "data" if fit.trained is None else fit.trained.name
    write_text(path, json.dumps(sealed(fit_record(fit, source=name)), allow_nan=False, indent=1) + "\n")
