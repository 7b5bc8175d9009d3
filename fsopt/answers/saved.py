"""Answers as JSON, and back: plain data alone, so that reading a file runs no code from it.

Types are the schema of a file: their strict decoding is the one look at it before anything is made of it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.records import FORMAT, digest, plain
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.trained import Trained, fingerprint
from fsopt.common.files import check_readable
from fsopt.compiler import Program
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.data.encoding import EncodedColumn, Encoding
from fsopt.data.hyperplanes import Kernel
from fsopt.data.layout import MISSING, Layout
from fsopt.data.matrices import Preprocessing
from fsopt.errors import FileError, FsoptError, reading, shown

T = TypeVar("T")
Finite: TypeAlias = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Plain: TypeAlias = dict[str, Any]
"""Numbers, texts, lists and mappings that whoever uses them looks at."""


class _Saved(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The parts of every saved answer."""

    params: Plain
    status: Status
    labels: tuple[str, str]
    data_sha256: str
    data: str = "data"
    layout: Layout = Layout()
    objective: Finite | None = None
    bound: float | None = None
    stop: str = ""
    solver: str = ""
    iterations: Count = 0
    seconds: dict[str, Finite] = {}
    certificate: Plain | None = None
    format: Count = 0
    digest: str = ""

    def __post_init__(self) -> None:
        _need(self.labels[0] != self.labels[1], "labels are not two different texts")
        _need(self.bound is None or not math.isnan(self.bound), "bound is not a number")


class SolveFile(_Saved):
    """A saved solve: the attributes of :class:`fsopt.SolveResult`, and the values of the variables by name."""

    model: str
    scale: Literal["none", "center", "standard"] = "none"
    message: str = ""
    point: Point | None = None
    evidence: Point | None = None
    evidence_source: str = ""
    ray: Point | None = None
    direction: Point | None = None
    solution: Plain | None = None
    verify: Plain | None = None


class FitFile(_Saved):
    """A saved fit: the attributes of :class:`fsopt.Fit` and of its :class:`fsopt.answers.trained.Trained`."""

    method: str
    coef: tuple[Finite, ...]
    intercept: Finite
    support: tuple[Count, ...]
    preprocessing: Preprocessing
    columns: tuple[str, ...]
    features: tuple[str, ...] = ()
    history: tuple[Plain, ...] = ()
    warnings: tuple[str, ...] = ()
    details: Plain = {}
    kernel: Kernel | None = None
    train: dict[str, Finite] = {}
    deviation: tuple[Finite, ...] = ()
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shift, scale = self.preprocessing.shift, self.preprocessing.scale
        p, encoding = (len(self.columns),), self.encoding
        _need(shift.shape == scale.shape == p, "shift, scale and columns differ in length")
        _need(len(self.deviation) in (0, *p), "deviation and columns differ in length")
        shape = p * 2 if self.kernel is None else self.kernel.patterns.shape
        _need((len(self.coef), *p) == shape, "coef, columns and patterns differ in length")
        _need(np.isfinite([shift, scale]).all() and (scale > 0).all(), "shift or scale is no map")
        increasing = sorted(set(self.support)) == list(self.support) and max(self.support, default=-1) < len(self.coef)
        _need(increasing, "support is not a list of increasing places in 0..p-1")
        _need(len(set(self.columns)) == len(self.columns), "columns are not different texts")
        if encoding is not None:
            known = encoding.missing in (None, *MISSING) and all(map(_sound, encoding.columns))
            _need(known and encoding.features == self.columns, "encoding is not that of the columns")


def _sound(column: EncodedColumn) -> bool:
    """Return whether the levels of a column differ, and its substitute is one of them, or a number without any."""
    levels, fill = column.levels, column.fill
    return len(set(levels)) == len(levels) and (fill in (None, *levels) if levels else not isinstance(fill, str))


def _need(holds: Any, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


def _array(kind: Any, value: Any) -> Any:
    """Return lists of numbers, or of lists of them, as an array."""
    nested = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return np.array(msgspec.convert(value, list[list[float]] if nested else list[float]), dtype=float)


def converted(value: Any, kind: type[T]) -> T:
    """Return plain data as a value of a type; raises ValueError that names the part of another kind."""
    try:
        return msgspec.convert(value, kind, dec_hook=_array)
    except (msgspec.ValidationError, FsoptError) as error:
        raise ValueError(str(error).replace("$.", "").replace("`", "'")) from error


def file_of(record: Mapping[str, Any], path: str | Path) -> FitFile | SolveFile:
    """Return a saved answer by its types; raises FileError, with the part, where one is missing, odd or of no use."""
    kind: type[FitFile | SolveFile] = FitFile if "method" in record else SolveFile
    try:
        return converted(record, kind)
    except ValueError as error:
        raise FileError(f"'{path}' is not a saved answer: {error}", "save it again") from error


KINDS: Mapping[str, Any] = {"float": float, "int": Whole, "bool": bool, "str": str, "None": None, "Mapping": dict}
"""Word of an annotation -> type; every other word is that of a list."""


def is_parameter(annotation: Any, value: Any) -> bool:
    """Return whether a saved parameter is of an outermost kind that its annotation, a text, names: ``float | None``."""
    if not isinstance(annotation, str):
        return True
    kinds = [KINDS.get(kind.strip().partition("[")[0], list) for kind in annotation.split("|")]
    try:
        found = msgspec.convert(value, reduce(or_, kinds))
        return bool(found == found)  # nan is no number
    except msgspec.ValidationError:
        return False


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
    record = {"model": slug, "data": source, "params": params, **outcome(result)}
    record |= {"solution": all_values(model) if result.point is not None else None, "point": result.point}
    return dict(plain(record | {"labels": data.labels, "data_sha256": fingerprint(data)}))


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
    """Return a saved fit, whose certificate :func:`fsopt.verify` and ``fsopt check`` recompute from the data.

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
    record = read_record(path)
    if not intact(record):
        raise FileError(f"'{path}' was changed after it was saved: its digest is another one", "save it again")
    return fit_from(record, path)


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
