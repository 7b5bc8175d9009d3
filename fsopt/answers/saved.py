"""Answers as JSON, and back: plain data only, so that reading a file runs no code from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.records import FORMAT, digest, plain
from fsopt.answers.results import Point, SolveResult
from fsopt.answers.schema import FitFile, converted, file_of
from fsopt.answers.trained import Trained, fingerprint
from fsopt.common.files import check_readable
from fsopt.compiler import Program
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.errors import FileError, reading, shown

NAMES = ("labels", "features", "columns", "data", "layout", "encoding")
"""Parts with names, which stay texts where they are the words 'inf' or 'nan'."""


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
    """Return the JSON object of the solved model ``slug`` with ``params`` for data that the user calls ``source``."""
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
    found: dict[str, Any] = plain(record)
    return found


def intact(record: Mapping[str, Any]) -> bool:
    """Return whether a record is as it was sealed; one that was not, as no file has it, counts as intact."""
    return "format" not in record or record.get("digest") == digest(record)


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a saved answer; raises FileError for another format, or parts of another kind."""
    hint = "give a file that 'fsopt solve -o', 'fsopt fit -o' or the method save wrote"
    try:
        found = msgspec.json.decode(check_readable(path).read_bytes())
        held = found if isinstance(found, dict) else {}
        record = {name: value if name in NAMES else numbers(value) for name, value in held.items()}
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise FileError(f"'{path}' is not JSON: {error}", hint) from error
    if record.get("format") != FORMAT:
        number = f"the format {shown(record['format'])}" if "format" in record else "no format"
        raise FileError(
            f"'{path}' is not a saved answer of the format {FORMAT}, which this version reads: it has {number}",
            "compute the answer again, and save it with 'fsopt solve -o', 'fsopt fit -o' or the method save",
        )
    file_of(record, path)
    return record


def fit_from(record: Mapping[str, Any], path: str | Path) -> Fit:
    """Return the Fit of a saved record, without its certificate, which is to be recomputed; raises FileError."""
    file = file_of(record, path)
    if not isinstance(file, FitFile):
        raise FileError(f"'{path}' is a solved model, not a fit", "save one with 'fsopt fit METHOD ... -o FIT.json'")
    own = {part.name: getattr(file, part.name) for part in fields(Fit) if part.name != "trained"}
    trained = Trained(**{part.name: getattr(file, part.name) for part in fields(Trained)})
    return Fit(**own | {"coef": np.array(file.coef), "certificate": None}, trained=trained)


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
    if not intact(record):
        raise FileError(f"'{path}' was changed after it was saved: its digest is another one", "save it again")
    return record


def point_from(value: Any, program: Program) -> Point:
    """Return a primal-dual point of a program from plain data; raises FileError if its parts do not fit the program."""
    lengths = {"x": program.n, "y": program.A.shape[0] + len(program.general), "z": len(program.cones.h)}
    with reading("point"):
        point = value if isinstance(value, Point) else converted(value, Point)
        for name, length in lengths.items():
            part = getattr(point, name)
            if part is not None and part.shape != (length,):
                raise ValueError(f"{name} has {part.size} entries, not {length}")
        return point
