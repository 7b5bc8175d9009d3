"""Answers as plain data for JSON, sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate

FORMAT = 2
"""The format of the files that this version writes and reads."""


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
