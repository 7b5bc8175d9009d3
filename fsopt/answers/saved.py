"""Answers as JSON, and back: plain data only, so that reading a file runs no code from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.records import FORMAT, digest, plain
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.schema import check_parts
from fsopt.answers.trained import Trained, fingerprint
from fsopt.common.files import check_readable
from fsopt.compiler import Program
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.data.encoding import Encoding
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import Preprocessing
from fsopt.errors import FileError, FsoptError, reading, shown


def numbers(value: Any) -> Any:
    """Return plain JSON data with the words 'inf', '-inf' and 'nan' as numbers again."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return value


def outcome(result: SolveResult) -> dict[str, Any]:
    """Return the parts of a result that a saved one has by the same names, whatever its model is."""
    others = ("point", "constraint_duals")
    return {part.name: getattr(result, part.name) for part in fields(result) if part.name not in others}


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
        **outcome(result),
        "solution": all_values(model) if result.point is not None else None,
        "point": result.point,
        "labels": data.labels,
        "data_sha256": fingerprint(data),
    }
    return {k: plain(v) for k, v in record.items()}


def intact(record: Mapping[str, Any]) -> bool:
    """Return whether a record is as it was sealed; one that was not, as no file has it, counts as intact."""
    return "format" not in record or record.get("digest") == digest(record)


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a saved answer, with the words 'inf' and 'nan' as numbers.

    Raises
    ------
    FileError : the file cannot be read, is of another format, or is not a saved answer whose parts have the kinds and
        lengths of :mod:`fsopt.answers.schema`.
    """
    hint = "give a file that 'fsopt solve -o', 'fsopt fit -o' or the method save wrote"
    try:
        record = json.loads(check_readable(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror}", hint) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"'{path}' is not JSON: {error}", hint) from error
    if not isinstance(record, dict):
        raise FileError(f"'{path}' is not a saved answer: it is no JSON object", hint)
    if record.get("format") != FORMAT:
        number = f"the format {shown(record['format'])}" if "format" in record else "no format"
        raise FileError(
            f"'{path}' is not a saved answer of the format {FORMAT}, which this version reads: it has {number}",
            "compute the answer again, and save it with 'fsopt solve -o', 'fsopt fit -o' or the method save",
        )
    # Names of labels, features and data may be the words 'inf' or 'nan' and stay texts.
    words = {
        k: record[k] for k in ("labels", "features", "columns", "data", "label", "layout", "encoding") if k in record
    }
    record = {**numbers(record), **words}
    check_parts(record, path)
    return record


def fit_from(record: Mapping[str, Any], path: str | Path) -> Fit:
    """Return the Fit of a saved record, without its certificate, which is to be recomputed.

    Raises
    ------
    FileError : a part is missing or damaged, or parts do not fit together; the message names ``path``.
    """
    check_parts(record, path)
    try:
        map_ = record["preprocessing"]
        coef, shift, scale = (np.array(part, dtype=float) for part in (record["coef"], map_["shift"], map_["scale"]))
        support = tuple(record["support"])
        kernel = None if record.get("kernel") is None else Kernel(**record["kernel"])
        shape = coef.shape * 2 if kernel is None else kernel.patterns.shape
        if (*coef.shape, *shift.shape) != shape:
            raise ValueError("coef, shift, scale and patterns differ in length")
        if not np.all(scale > 0):
            raise ValueError("a scale is not positive")
        if list(support) != sorted(set(support)) or not all(0 <= j < len(coef) for j in support):
            raise ValueError("the support is not an increasing list of places in 0..p-1")
        return Fit(
            method=record["method"],
            params=record["params"],
            features=tuple(record.get("features", ())),
            support=support,
            coef=coef,
            intercept=float(record["intercept"]),
            objective=_number(record.get("objective")),
            status=Status(record["status"]),
            stop=record.get("stop", ""),
            bound=_number(record.get("bound")),
            iterations=record.get("iterations", 0),
            history=tuple(record.get("history", ())),
            certificate=None,
            solver=record.get("solver", ""),
            seconds=record.get("seconds", {}),
            preprocessing=Preprocessing(map_["kind"], shift, scale),
            warnings=tuple(record.get("warnings", ())),
            details=record.get("details", {}),
            kernel=kernel,
            trained=_trained(record),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, FsoptError) as error:
        raise FileError(f"'{path}' is not a saved fit: {error}", "save it again with 'fsopt fit ... -o'") from error


def load_fit(path: str | Path) -> Fit:
    """Return a fit that ``Fit.save`` or ``fsopt fit -o`` saved.

    Its certificate is not read: :func:`fsopt.verify` and ``fsopt check`` recompute it from
    the data.

    Parameters
    ----------
    path : str | Path
        Of the file.

    Returns
    -------
    Fit
        As it was saved, without its certificate.

    Raises
    ------
    FileError : the file cannot be read, is not a saved fit, or was changed after it was saved.
    """
    return fit_from(read_fit(path), path)


def read_fit(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a saved fit as it was saved; raises FileError, as :func:`load_fit`."""
    record = read_record(path)
    if "method" not in record:
        raise FileError(f"'{path}' is a solved model, not a fit", "save one with 'fsopt fit METHOD ... -o FIT.json'")
    if not intact(record):
        raise FileError(f"'{path}' was changed after it was saved: its digest is another one", "save it again")
    return record


def _trained(record: Mapping[str, Any]) -> Trained:
    """Return the description of the training data in a saved fit."""
    encoding = None if record.get("encoding") is None else Encoding.of_plain(record["encoding"])
    features = tuple(record["columns"])
    if encoding is not None and encoding.features != features:
        raise ValueError("the columns are not those of the encoding")
    negative, positive = record["labels"]
    return Trained(
        name=record.get("data", "data"),
        labels=(negative, positive),
        features=features,
        digest=record["data_sha256"],
        deviation=tuple(map(float, record.get("deviation", ()))),
        encoding=encoding,
        scores=record.get("train", {}),
    )


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


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
