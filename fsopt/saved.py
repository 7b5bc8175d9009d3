"""Answers as JSON, and back: plain data only, so that reading a file runs no code from it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Certificate
from fsopt.compiler import Program
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import FileError, FsoptError, reading
from fsopt.files import check_readable
from fsopt.results import Fit, Point, Preprocessing, SolveResult, Status
from fsopt.schema import check_parts
from fsopt.typing import Vector

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


def numbers(value: Any) -> Any:
    """Return plain JSON data with the words 'inf', '-inf' and 'nan' as numbers again."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return value


def fingerprint(data: Dataset) -> str:
    """Return the SHA-256 of X and y, which ties a saved answer to its data."""
    digest = hashlib.sha256(repr(data.X.shape).encode())
    digest.update(np.ascontiguousarray(data.X).tobytes())
    digest.update(np.ascontiguousarray(data.y).tobytes())
    return digest.hexdigest()


def solve_record(
    model: pyo.ConcreteModel,
    result: SolveResult,
    *,
    slug: str,
    data: Dataset,
    source: str,
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the JSON object of a solve.

    Parameters
    ----------
    model : the solved model. ``slug``, ``params`` : its name and the parameters of its builder.
    data : the data set. ``source`` : its path or name, as the user gave it.
    """
    record = {
        "model": slug,
        "data": source,
        "params": params,
        "solver": result.solver,
        "status": result.status,
        "stop": result.stop,
        "objective": result.objective,
        "bound": result.bound,
        "seconds": result.seconds,
        "iterations": result.iterations,
        "message": result.message,
        "certificate": result.certificate,
        "solution": all_values(model) if result.point is not None else None,
        "point": result.point,
        "evidence": result.evidence,
        "evidence_source": result.evidence_source,
        "cuts": result.cuts,
        "ray": result.ray,
        "direction": result.direction,
        "labels": data.labels,
        "data_sha256": fingerprint(data),
    }
    return {k: plain(v) for k, v in record.items()}


def fit_record(fit: Fit, *, data: Dataset, source: str) -> dict[str, Any]:
    """Return the JSON object of a fit to a data set; ``source`` is the path or name of the data."""
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
        "train": fit.scores(data),
        "labels": data.labels,
        "data_sha256": fingerprint(data),
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


def intact(record: Mapping[str, Any]) -> bool:
    """Return whether a record is as it was sealed; one of version 0.1.0 has no seal and counts as intact."""
    return record.get("format", 1) < FORMAT or record.get("digest") == digest(record)


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a saved answer, with the words 'inf' and 'nan' as numbers.

    Raises
    ------
    FileError : the file cannot be read, or is not a saved answer whose parts have the kinds and lengths of
        :mod:`fsopt.schema`.
    """
    hint = "give a file that 'fsopt solve' or 'fsopt fit' saved with -o"
    try:
        record = json.loads(check_readable(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror}", hint) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"'{path}' is not JSON: {error}", hint) from error
    if not isinstance(record, dict):
        raise FileError(f"'{path}' is not a saved answer: it is no JSON object", hint)
    if record.get("format", 1) not in range(1, FORMAT + 1):
        raise FileError(f"'{path}' has the format {record['format']!r}, unknown to this version", "update fsopt")
    # Names of labels, features and data may be the words 'inf' or 'nan' and stay texts.
    words = {k: record[k] for k in ("labels", "features", "columns", "data", "label") if k in record}
    record = {**numbers(record), **words}
    check_parts(record, path)
    return record


def fit_from(record: Mapping[str, Any], path: str | Path) -> Fit:
    """Return the Fit of a saved record, without its certificate, which is to be recomputed.

    Raises
    ------
    FileError : a part is missing or damaged, or parts do not fit together; the message names ``path``.
    """
    try:
        map_ = record["preprocessing"]
        coef, shift, scale = (_finite(values) for values in (record["coef"], map_["shift"], map_["scale"]))
        support = tuple(_whole(j) for j in record["support"])
        kernel = None if record.get("kernel") is None else Kernel(**record["kernel"])
        shape = coef.shape * 2 if kernel is None else kernel.patterns.shape
        if coef.ndim != 1 or (*coef.shape, *shift.shape) != shape or scale.shape != shift.shape:
            raise ValueError("coef, shift, scale and patterns differ in length")
        if not np.all(scale > 0):
            raise ValueError("a scale is not positive")
        if list(support) != sorted(set(support)) or not all(0 <= j < len(coef) for j in support):
            raise ValueError("the support is not an increasing list of places in 0..p-1")
        if not all(isinstance(part, Mapping) for part in (record["params"], record.get("details", {}))):
            raise ValueError("params or details have no names")
        return Fit(
            method=str(record["method"]),
            params=record["params"],
            features=tuple(record.get("features", ())),
            support=support,
            coef=coef,
            intercept=float(_finite(record["intercept"])),
            objective=_optional(record.get("objective")),
            status=Status(record["status"]),
            stop=str(record.get("stop", "")),
            bound=_optional(record.get("bound")),
            iterations=_whole(record.get("iterations", 0)),
            history=tuple(record.get("history", ())),
            certificate=None,
            solver=str(record.get("solver", "")),
            seconds=record.get("seconds", {}),
            preprocessing=Preprocessing(str(map_["kind"]), shift, scale),
            warnings=tuple(record.get("warnings", ())),
            details=record.get("details", {}),
            kernel=kernel,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, FsoptError) as error:
        raise FileError(f"'{path}' is not a saved fit: {error}", "save it again with 'fsopt fit ... -o'") from error


def _finite(values: Any) -> Vector:
    """Return saved numbers as an array; raises ValueError where one is not finite."""
    array = np.array(values, dtype=float)
    if not np.all(np.isfinite(array)):
        raise ValueError("a number is not finite")
    return array


def _whole(value: Any) -> int:
    """Return a saved whole number; raises ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _optional(value: Any) -> float | None:
    """Return a saved number or None; raises ValueError for any other value."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def point_from(value: Any, program: Program) -> Point:
    """Return a primal-dual point of a program from plain data; raises FileError if its parts do not fit the program."""
    lengths = {"x": program.n, "y": program.A.shape[0] + len(program.general), "z": len(program.cones.h)}
    with reading("point"):
        if isinstance(value, Point):
            value = vars(value)
        parts = {k: None if value[k] is None else np.array(value[k], dtype=float) for k in lengths}
        for name, part in parts.items():
            if part is not None and part.shape != (lengths[name],):
                raise ValueError(f"{name} has {part.size} entries, not {lengths[name]}")
        x = parts["x"]
        if x is None:
            raise ValueError("x is missing")
        return Point(x, parts["y"], parts["z"])
