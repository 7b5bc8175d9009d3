"""Answers of other software to a model, read from their solution files."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.label import cpxlp_label_from_name
from pyomo.opt import ReaderFactory

from fsopt.answers.records import plain
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import intact, numbers, outcome, point_from
from fsopt.certificates.model import point_of_prices, priced
from fsopt.certificates.points import minimised
from fsopt.common.arguments import PATH, checked
from fsopt.common.files import brief, check_readable, unpacked
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.compiler.program import MODEL
from fsopt.errors import FileError, SolverError, foreign
from fsopt.formats.algebraic import algebraic
from fsopt.formats.read import contents
from fsopt.typing import Vector

CLAIMS: Mapping[str, Status] = {
    "optimal": Status.OPTIMAL,
    "optimal solution found": Status.OPTIMAL,
    "stationary": Status.STATIONARY,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
}
"""What the programs write -> the claim; any other word claims a feasible point and no more."""
ADDED = ("quadobjvar", "qmatrixvar", "nlobjvar")
"""Variables by which SCIP states a nonlinear objective."""
WRITTEN = re.compile(r"[cr]_[elu]_(.*)_")
"""A constraint's name in the .lp and .mps files that Pyomo writes: its kind and its label."""


@dataclass
class Stated:
    """The content of a solution file: values and duals by name, None for what it has not; whether zeros are left out.

    ``evidence`` has the points ``evidence``, ``ray`` and ``direction`` of fsopt's own files, as plain data.
    """

    software: str
    status: Status
    objective: float | None = None
    bound: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    duals: Mapping[str, float] | None = None
    sparse: bool = False
    evidence: Mapping[str, Any] = field(default_factory=dict)


@checked(path=PATH, model=MODEL)
def read_solution(path: str | os.PathLike[str], model: pyo.ConcreteModel) -> SolveResult:
    """Return the answer of another program to a model, as it is claimed: nothing is verified yet.

    Files of HiGHS in its raw style, lines ``name value`` (SCIP, Gurobi), AMPL's .sol for the .nl file of
    :func:`fsopt.export`, and answers of ``fsopt solve FILE -o`` are known by their content. Names are those of the
    model, or what :func:`fsopt.export` makes of them. A variable that the file leaves out has the value 0 where SCIP
    leaves zeros out, and the value of its bounds where these are equal; any other one is an error.

    Parameters
    ----------
    path : str | os.PathLike[str]
        The solution file.
    model : pyo.ConcreteModel
        Of :func:`fsopt.read_model`, or the model itself.

    Returns
    -------
    SolveResult
        With the claimed status and objective value, and the multipliers that the file has; :func:`fsopt.verify`
        recomputes what they show.

    Raises
    ------
    FileError : the file is damaged, of an unknown format, or of another model.
    """
    source = check_readable(path)
    try:
        return _result(compile_model(model), _stated(source, model))
    except FileError as error:
        raise FileError(f"'{brief(source)}': {error.message}", error.hint) from error


def solution_record(model: pyo.ConcreteModel, result: SolveResult, path: str) -> dict[str, Any]:
    """Return the JSON object of a solve of a model that was read from a file, which :func:`read_solution` reads."""
    program = compile_model(model)
    own = result.point is not None and result.point.y is not None
    names = _names(model, program.variables)
    record = {
        "model": path,
        "file": contents(model, path),
        **outcome(result),
        "variables": None if result.point is None else dict(zip(names, result.point.x, strict=True)),
        "evidence": result.point if own else result.evidence,
        "evidence_source": result.solver if own else result.evidence_source,
    }
    return {k: plain(v) for k, v in record.items()}


def _names(model: pyo.ConcreteModel, parts: Sequence[Any]) -> list[str]:
    """Return the names of variables or constraints, those of the file where the model was read from one."""
    return [str(part.index() if hasattr(model, "read_by") else part.name) for part in parts]


def _stated(source: Path, model: pyo.ConcreteModel) -> Stated:
    """Return what a solution file states; its format is known from its content."""
    with foreign("its reader", "the solution file is damaged", "write it again", FileError, passed=()):
        content = source.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = unpacked(content, "the text of the packed file", error=FileError)
        text = content.decode("utf-8")
        for begins, read in FORMATS:
            if begins.search(text):
                return read(text)
        if re.search(r"(?m)^Options\s*$", text):
            return _ampl(text, model)
        first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
        if re.fullmatch(r".*\S\s+[-+]?\.?\d\S*\s*", first):
            return _lines(text)
    raise FileError(
        "the solution file has no format that is known",
        "give HiGHS's raw style, lines 'name value' as of SCIP and Gurobi, AMPL's .sol, or an answer of fsopt",
    )


def _claim(words: str) -> Status:
    return CLAIMS.get(words.strip().lower(), Status.FEASIBLE)


def _highs(text: str) -> Stated:
    """Read HiGHS's raw style: sections of counted lines ``name value``."""
    lines = text.splitlines()
    found = Stated("HiGHS", _claim(lines[1]))
    part, place = "", 0
    stated = False
    tables: dict[tuple[str, str], dict[str, float] | None] = {}
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith(("# Primal", "# Dual")):
            part = line.split()[1].lower()
            stated = lines[place].strip() in (("Feasible", "Infeasible") if part == "primal" else ("Feasible",))
        elif line.startswith("# Basis"):
            break
        elif line.startswith("Objective "):
            found.objective = float(line.split()[1])
        elif line.startswith(("# Columns", "# Rows")):
            count = int(line.split()[2])
            if place + count > len(lines):
                raise ValueError(f"it ends before its {count} values")
            table = (part, line.split()[1])
            if table in tables:
                raise ValueError(f"the {part} values come twice")
            tables[table] = _pairs(lines[place : place + count]) if stated else None
            place += count
    found.values, found.duals = tables.get(("primal", "Columns")) or {}, tables.get(("dual", "Rows"))
    return found


def _lines(text: str) -> Stated:
    """Read lines ``name value``; after SCIP's head, which states status and value, zeros are left out."""
    scip = SCIP.search(text) is not None
    found = Stated("SCIP" if scip else "Gurobi" if "# Objective value" in text else "", Status.FEASIBLE, sparse=scip)
    rest = []
    for line in text.splitlines():
        if line.startswith("solution status:"):
            found.status = _claim(line.partition(":")[2])
        elif line.startswith(("objective value:", "# Objective value =")):
            found.objective = float(re.split("[:=]", line)[1])
        elif line.strip() and not line.startswith(("#", "no solution")):
            rest.append(re.sub(r"\s*\(obj:[^)]*\)\s*$", "", line))
    values = _pairs(rest)
    found.values = {name: value for name, value in values.items() if not (scip and name in ADDED)}
    return found


def _pairs(lines: Sequence[str]) -> dict[str, float]:
    """Return the values of lines ``name value``; raises ValueError for a name that comes twice."""
    values = {name.strip(): float(value) for name, value in (line.rsplit(maxsplit=1) for line in lines)}
    if len(values) < len(lines):
        raise ValueError("the values of one name come twice")
    return values


def _json(text: str) -> Stated:
    """Read fsopt's own files: an optimum of the instance library, or an answer of ``fsopt solve FILE``."""
    record: Any = numbers(json.loads(text))
    if not isinstance(record, dict) or "variables" not in record:
        raise ValueError("it has no variables")
    if not intact(record):
        raise ValueError("it was changed after it was saved: its digest is another one")
    duals = record.get("duals")
    objective, bound = (None if record.get(end) is None else float(record[end]) for end in ("objective", "bound"))
    return Stated(
        software=str(record.get("solver") or "fsopt"),
        status=Status(record.get("status", "feasible")),
        objective=objective,
        bound=bound,
        values={str(name): float(value) for name, value in (record["variables"] or {}).items()},
        duals=None if not duals else {str(name): float(value) for name, value in duals.items()},
        evidence={name: record[name] for name in ("evidence", "ray", "direction") if record.get(name) is not None},
    )


def _ampl(text: str, model: pyo.ConcreteModel) -> Stated:
    """Read AMPL's .sol by Pyomo, in the order of the names of the model's .nl file."""
    if hasattr(model, "read_by"):
        raise FileError("its values have the order of an .nl file", "give the model by its name, with its data")
    written = algebraic(model, ".nl")
    columns, rows = (written[end].decode().splitlines() for end in (".col", ".row"))
    rows.pop()  # the objective
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "answer.sol"
        place.write_text(text, encoding="utf-8")
        found = ReaderFactory("sol")(str(place), suffixes=["dual"])
    name = f"AMPL ({text.strip().splitlines()[0].split(':')[0][:40]})"
    status = _claim(str(found.solver.termination_condition))
    if not len(found.solution):
        return Stated(name, status)
    values = [float(value["Value"]) for value in found.solution.variable.values()]
    duals = [float(value["Dual"]) for value in found.solution.constraint.values() if "Dual" in value]
    if len(values) != len(columns) or len(duals) not in (0, len(rows)):
        other = f"it has {len(values)} values and {len(duals)} multipliers"
        raise FileError(
            f"{other}, the model {len(columns)} variables and {len(rows)} constraints", "give its own model"
        )
    prices = dict(zip(rows, duals, strict=True)) if duals else None
    return Stated(name, status, values=dict(zip(columns, values, strict=True)), duals=prices)


SCIP = re.compile(r"\A(solution status:|objective value:|no solution available)")
FORMATS: Sequence[tuple[re.Pattern[str], Callable[[str], Stated]]] = (
    (re.compile(r"\A\s*\{"), _json),
    (re.compile(r"\AModel status\b"), _highs),
    (SCIP, _lines),
)
"""Beginning of a file -> its reader."""


def _result(program: Program, stated: Stated) -> SolveResult:
    evidence: dict[str, Any] = {name: point_from(value, program) for name, value in stated.evidence.items()}
    source = stated.software if evidence else ""
    ends = (stated.objective, stated.bound)
    result = SolveResult(stated.status, "", *ends, stated.software, {}, 0, evidence_source=source, **evidence)
    if not stated.values:
        if stated.status.solved:
            raise FileError("it has no values", "write the solution again, with its variables")
        return result
    x = _values(program, stated)
    objective = stated.objective
    try:
        objective = program.sign * minimised(program, x) if objective is None else objective
    except SolverError:  # the point has no value
        objective = None
    own = None if result.evidence is None else replace(result.evidence, x=x)
    point, bound = _with_multipliers(program, x, stated) or own, stated.bound
    if stated.status is Status.OPTIMAL and bound is None:  # the word of the software, where the program is not convex
        bound = stated.objective if program_class(program) not in CONVEX else objective if point else None
    return replace(result, point=point or Point(x), objective=objective, bound=bound)


def _values(program: Program, stated: Stated) -> Vector:
    """Return the values (n,) of all variables; raises FileError for a missing one, and for names of another model."""
    names = _names(program.model, program.variables)
    place = {name: j for j, name in enumerate(names)}
    labels = {cpxlp_label_from_name(name): j for j, name in enumerate(names)}
    x = np.full(program.n, np.nan)
    further = []
    for name, value in stated.values.items():
        j = place.get(name, labels.get(cpxlp_label_from_name(name)))
        if j is None:
            further.append(name)
        elif np.isfinite(value):
            x[j] = value
        else:
            raise FileError(f"the value of '{name}' is not finite", "write the solution again")
    missing = np.isnan(x)
    if further and (missing.any() or stated.sparse):
        raise FileError(
            f"the model has no variable '{further[0]}' (and {len(further)} such names)", "give its own model"
        )
    fixed = missing & (program.lb == program.ub)
    x[fixed] = program.lb[fixed]
    if (rest := missing & ~fixed).any():
        if not stated.sparse:
            raise FileError(f"it has no value of '{names[int(np.argmax(rest))]}'", "give the whole file of this model")
        x[rest] = 0.0
    return x


def _with_multipliers(program: Program, x: Vector, stated: Stated) -> Point | None:
    """Return the point with the multipliers of the file, None where one is missing."""
    if stated.duals is None or program.integer.any():  # those of fixed integers bound nothing
        return None
    by_label: dict[str, float] = {}
    for name, value in stated.duals.items():
        inner = WRITTEN.fullmatch(name)
        label = cpxlp_label_from_name(name) if inner is None else inner[1]
        by_label[label] = by_label.get(label, 0.0) + value  # of the two rows of a range one has the multiplier
    names = _names(program.model, priced(program))
    prices = [_price(name, stated.duals, by_label, program.sign) for name in names]
    if any(price is None for price in prices):
        return None
    return point_of_prices(program, x, np.array(prices, dtype=float))


def _price(name: str, duals: Mapping[str, float], by_label: Mapping[str, float], sign: float) -> float | None:
    """Return the shadow price of a constraint, None where there is none by its name."""
    if name in duals:
        return duals[name]
    value = by_label.get(cpxlp_label_from_name(name))
    written = WRITTEN.fullmatch(name)
    if value is None and written is not None:
        value = by_label.get(written[1])
        if value is not None and name.startswith("r_") and (sign * value > 0) != name.startswith("r_l_"):
            return 0.0  # of the two rows of a range the other one has the multiplier
    return value
