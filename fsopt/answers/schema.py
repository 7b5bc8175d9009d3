"""The schema of saved answers: types whose strict decoding is the one look at a file before anything is made of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.data.encoding import EncodedColumn, Encoding
from fsopt.data.hyperplanes import Kernel
from fsopt.data.layout import MISSING, Layout
from fsopt.data.matrices import Preprocessing
from fsopt.errors import FileError, FsoptError

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
    if levels:
        return len(set(levels)) == len(levels) and fill in (None, *levels)
    return fill is None or (isinstance(fill, float) and math.isfinite(fill))


def _need(holds: Any, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


def _array(kind: Any, value: Any) -> Any:
    """Return lists of numbers, or of lists of them, as an array."""
    nested = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return np.array(msgspec.convert(value, list[list[float]] if nested else list[float]), dtype=float)


def _known(value: Any, found: Any) -> bool:
    """Return whether every key of plain data is a part of what was made of them; dataclasses ignore unknown ones."""
    parts = getattr(found, "__dataclass_fields__", getattr(found, "__struct_fields__", None))
    if parts is not None:
        return all(name in parts and _known(one, getattr(found, name)) for name, one in value.items())
    return not isinstance(found, tuple) or all(map(_known, value, found))


def converted(value: Any, kind: type[T]) -> T:
    """Return plain data as a value of a type; raises ValueError that names the part of another kind."""
    try:
        found = msgspec.convert(value, kind, dec_hook=_array)
    except (msgspec.ValidationError, FsoptError) as error:
        raise ValueError(str(error).replace("$.", "").replace("`", "'")) from error
    _need(_known(value, found), "a part has keys that are none of its own")
    return found


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
