"""Model files .lp and .mps as HiGHS reads them, as Pyomo models."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.common.arguments import PATH, checked
from fsopt.common.files import brief, check_readable, unpacked
from fsopt.compiler.expressions import Dot, dot
from fsopt.errors import FileError, foreign
from fsopt.solvers.highs import silent

FILE = re.compile(r".*\.(lp|mps|nl|gms|cbf|dat-s|opb)(\.gz)?", re.IGNORECASE | re.DOTALL)
"""Names of model files, of which the first two kinds are read."""
READ = re.compile(r".*\.(lp|mps)(\.gz)?", re.IGNORECASE | re.DOTALL)
INSTEAD = "its own solver reads it; for fsopt build the model with fsopt.build, or in Pyomo"


def is_model_file(path: str) -> bool:
    """Return whether a text is the path of a model file, read by fsopt or not."""
    return FILE.fullmatch(path) is not None


@checked(path=PATH)
def read_model(path: str | os.PathLike[str]) -> pyo.ConcreteModel:
    """Read an .lp or .mps file of a linear, quadratic or mixed-integer program, packed or not, by HiGHS.

    The model is the program as HiGHS reads it; what HiGHS reads with a warning comes with that warning.

    Parameters
    ----------
    path : str | os.PathLike[str]
        Ends in .lp or .mps, or one of them and .gz.

    Returns
    -------
    pyo.ConcreteModel
        With variables ``x[name]``, constraints ``row[name]`` and ``objective``, by the names of the file; ``read_by``
        is the version of HiGHS.

    Raises
    ------
    FileError : another suffix, a file that cannot be read, or one that HiGHS refuses, with its reason: quadratic
        constraints, special ordered sets, indicators; also semicontinuous variables and numbers that are not finite.
    """
    source = check_readable(path)
    if READ.fullmatch(source.name) is None:
        raise FileError(f"'{brief(source)}' is not read: fsopt reads .lp and .mps, by HiGHS", INSTEAD)
    _refuse_packed(source)
    found, version = _by_highs(source)
    lp = found.lp_
    columns, rows = list(lp.col_names_), list(lp.row_names_)
    _refuse(source, found, columns, rows)
    m = pyo.ConcreteModel(name=source.name.partition(".")[0] or "model")
    m.read_by = version
    m.x = pyo.Var(columns)
    x = list(m.x.values())
    kinds = lp.integrality_ or [highspy.HighsVarType.kContinuous] * len(x)
    for variable, low, high, kind in zip(x, _ends(lp.col_lower_), _ends(lp.col_upper_), kinds, strict=True):
        variable.setlb(low)
        variable.setub(high)
        if kind == highspy.HighsVarType.kInteger:
            variable.domain = pyo.Integers
    sense = pyo.maximize if lp.sense_ == highspy.ObjSense.kMaximize else pyo.minimize
    m.objective = pyo.Objective(expr=_objective(found, x), sense=sense)
    A = sp.csc_matrix(_entries(lp.a_matrix_), shape=(len(rows), len(x))).tocsr()
    bodies = []
    for start, end in pairwise(A.indptr.tolist()):
        part = slice(start, end)
        none = start == end  # Pyomo needs a variable
        bodies.append(dot([0.0], x[:1]) if none else Dot(A.data[part], tuple(x[j] for j in A.indices[part].tolist())))
    relations = zip(_ends(lp.row_lower_), bodies, _ends(lp.row_upper_), strict=True)
    stated = iter([body == low if low == high else (low, body, high) for low, body, high in relations])
    m.row = pyo.Constraint(rows, rule=lambda m, name: next(stated))
    return m


def _refuse_packed(source: Path) -> None:
    """Raise FileError for a packed file that is damaged, or longer than FSOPT_DATA_LIMIT allows."""
    if source.suffix.lower() == ".gz":
        with foreign("gzip", f"cannot read '{brief(source)}'", "check the file", FileError, passed=()):
            unpacked(source.read_bytes(), "the text of the packed file", error=FileError)


def _by_highs(source: Path) -> tuple[Any, str]:
    """Return a file as HiGHS reads it, and the version of HiGHS; raises FileError with the reason where it does not."""
    h, said = silent(), []
    h.setOptionValue("log_to_console", False)
    h.cbLogging += lambda event: said.append(str(event.message).strip())
    h.setOptionValue("output_flag", True)
    version = f"HiGHS {h.version()}"
    try:
        status = h.readModel(str(source))
    except UnicodeDecodeError as error:  # of a message that quotes the file
        raise FileError(f"'{brief(source)}' is not a text file", "give a file in text form") from error
    heads = [text.splitlines() for text in said]
    if status == highspy.HighsStatus.kError:
        lines = next((lines for lines in heads if lines and lines[0].startswith("ERROR")), ["no reason is given"])
        where = next((f", line {place[1]}" for line in lines if (place := re.search(r"--> .*:(\d+):\d+$", line))), "")
        reason = brief(lines[0].removeprefix("ERROR:").strip())
        raise FileError(f"{version} cannot read '{brief(source)}': {reason}{where}", INSTEAD)
    remarks = [lines[0].removeprefix("WARNING:").strip() for lines in heads if lines and "WARNING" in lines[0]]
    if remarks:
        warnings.warn(f"{version} reads '{brief(source)}' with {len(remarks)} remarks: {remarks[0]}", stacklevel=3)
    return h.getModel(), version


def _refuse(source: Path, found: Any, columns: list[str], rows: list[str]) -> None:
    """Raise FileError for a program without variables or names, and for what neither a solver nor a proof takes."""
    lp, failed = found.lp_, f"'{brief(source)}' is not read"
    if not lp.num_col_:
        raise FileError(f"{failed}: it has no variables", "check that it is whole")
    for what, names, count in (("variables", columns, lp.num_col_), ("constraints", rows, lp.num_row_)):
        twice = next((name for name, times in Counter(names).items() if times > 1), "")
        if twice or len(names) != count:
            raise FileError(f"{failed}: two {what} have one name {twice}".rstrip(), "give each a name of its own")
    for name, kind in zip(columns, lp.integrality_, strict=False):
        if kind not in (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger):
            raise FileError(f"{failed}: '{name}' is semicontinuous", f"state it by a binary variable, or: {INSTEAD}")
    numbers = (lp.col_cost_, [lp.offset_], lp.a_matrix_.value_, found.hessian_.value_)
    bounds = (lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_)
    if not all(np.all(np.isfinite(part)) for part in numbers) or any(np.isnan(part).any() for part in bounds):
        raise FileError(f"{failed}: it has a number that is not finite", "correct the file")


def _ends(bounds: Any) -> list[float | None]:
    return [bound if np.isfinite(bound) else None for bound in np.array(bounds, dtype=float).tolist()]


def _entries(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the entries of a matrix by columns, as HiGHS's readers have them."""
    return np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)


def _objective(found: Any, x: list[Any]) -> Any:
    """Return the objective c'x + x'Qx/2 + a constant; of Q the file's triangle is given."""
    lp, Q = found.lp_, found.hessian_
    costs = np.array(lp.col_cost_, dtype=float)
    places = np.flatnonzero(costs).tolist()
    linear = Dot(costs[places], tuple(x[j] for j in places)) if places else dot([0.0], x[:1])
    if not Q.dim_:
        return linear + lp.offset_
    q = sp.csc_matrix(_entries(Q), shape=(Q.dim_, Q.dim_)).tocoo()
    entries = [(i, j, v) for i, j, v in zip(q.row.tolist(), q.col.tolist(), q.data.tolist(), strict=True) if v]
    return linear + lp.offset_ + pyo.quicksum((0.5 * v if i == j else v) * x[i] * x[j] for i, j, v in entries)


def contents(model: pyo.ConcreteModel, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is said of the file of a model in an answer: its reader, its sizes, and its digest."""
    return {
        "read_by": model.read_by,
        "constraints": len(model.row),
        "variables": len(model.x),
        "integers": sum(v.is_integer() for v in model.x.values()),
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
    }


def told(file: Mapping[str, Any]) -> str:
    """Return these facts as one line."""
    numbers = [f"{file[name]} {name}" for name in ("constraints", "variables", "integers") if file[name]]
    return ", ".join([f"read by {file['read_by']}", *numbers, f"sha256 {str(file['sha256'])[:12]}"])
