"""Answers of other software to a model, read from their solution files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.label import cpxlp_label_from_name

from fsopt.answers.records import plain
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import outcome, point_from
from fsopt.certificates.points import minimised
from fsopt.certificates.shadow_prices import point_of_prices, priced
from fsopt.common.arguments import PATH, checked
from fsopt.common.files import brief, check_readable
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.compiler.cones import blocks
from fsopt.compiler.expressions import read
from fsopt.compiler.program import MODEL
from fsopt.compiler.rows import read_row
from fsopt.errors import FileError, SolverError
from fsopt.formats.names import name_of
from fsopt.formats.reading import text_of
from fsopt.formats.solution_files import stated_in
from fsopt.formats.stated import Stated
from fsopt.typing import Vector

WRITTEN = re.compile(r"[cr]_[elu]_(.*)_")
"""A constraint's name in the .lp and .mps files that Pyomo writes: its kind and its label."""


@checked(path=PATH, model=MODEL)
def read_solution(path: str | os.PathLike[str], model: pyo.ConcreteModel) -> SolveResult:
    """Return the answer of another program to a model, as it is claimed: nothing is verified yet.

    Files of HiGHS (both styles), SCIP, CBC, GLPK (``--write`` with all digits, ``--output`` with six), Gurobi, CPLEX,
    AMPL and fsopt are recognised by their content. Names are those of the model, or what Pyomo's writers make of them.
    A variable that the file leaves out has the value 0 where the format leaves zeros out, and the value of its bounds
    where these are equal; any other one is an error.

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
    program = compile_model(model)
    try:
        stated = stated_in(text_of(source))
        return _result(program, stated)
    except FileError as error:
        raise FileError(f"'{brief(source)}': {error.message}", error.hint) from error


def solution_record(model: pyo.ConcreteModel, result: SolveResult, path: str) -> dict[str, Any]:
    """Return the JSON object of a solve of a model that was read from a file, which :func:`read_solution` reads.

    Parameters
    ----------
    path : of the file.
    """
    program = compile_model(model)
    names = [name_of(program.model, v) for v in program.variables]
    own = result.point is not None and result.point.y is not None
    record = {
        "model": path,
        "file": contents(model, path),
        **outcome(result),
        "variables": None if result.point is None else dict(zip(names, result.point.x, strict=True)),
        "evidence": result.point if own else result.evidence,
        "evidence_source": result.solver if own else result.evidence_source,
    }
    return {k: plain(v) for k, v in record.items()}


def _result(program: Program, stated: Stated) -> SolveResult:
    if stated.order and getattr(program.model, "read_from_file", None) != stated.order:
        hint = f"give the {stated.order} file of its model"
        raise FileError(f"its values have no names, and the order of a {stated.order} file", hint)
    evidence: dict[str, Any] = {name: point_from(value, program) for name, value in stated.evidence.items()}
    source = stated.software if evidence else ""
    result = SolveResult(stated.status, "", None, None, stated.software, {}, 0, evidence_source=source, **evidence)
    if not len(stated.values):
        if stated.status.solved:
            raise FileError("it has no values", "write the solution again, with its variables")
        return result
    x = _values(program, stated)
    objective = _objective(program, x, stated.objective)
    point = _with_multipliers(program, x, stated)
    convex = program_class(program) in CONVEX
    supported = point is not None or result.evidence is not None
    bound = None
    if stated.status is Status.OPTIMAL:  # the word of the software, where the program is not convex
        bound = stated.objective if not convex else objective if supported else None
    return replace(result, point=Point(x) if point is None else point, objective=objective, bound=bound)


def _objective(program: Program, x: Vector, stated: float | None) -> float | None:
    """Return the stated objective value; the recomputed one where none is stated, None where it cannot be computed."""
    try:
        return program.sign * minimised(program, x) if stated is None else stated
    except SolverError:
        return None


def _read(program: Program) -> bool:
    """Return whether a model was read from a file."""
    return bool(getattr(program.model, "read_from_file", False))


def _values(program: Program, stated: Stated) -> Vector:
    """Return the values (n,) of all variables."""
    names = [name_of(program.model, v) for v in program.variables]
    defined = _defined(program, names)
    free = [j for j in range(program.n) if j not in defined]
    x = np.full(program.n, np.nan)
    if isinstance(stated.values, Mapping):
        _put_names(program, x, names, stated, set(defined))
    elif len(stated.values) != len(free):
        raise FileError(f"it has {len(stated.values)} values, the model {len(free)} variables", "give its own model")
    else:
        x[free] = list(stated.values)
    for j, row in defined.items():
        if np.isnan(x[j]):
            part = slice(program.A.indptr[row], program.A.indptr[row + 1])
            columns, coefs = program.A.indices[part], program.A.data[part]
            others = columns != j
            x[j] = (program.lo[row] - coefs[others] @ x[columns[others]]) / coefs[columns == j][0]
    if not np.all(np.isfinite(x)):
        raise FileError(f"the value of '{names[int(np.argmax(~np.isfinite(x)))]}' is not finite", "check the file")
    return x


def _put_names(program: Program, x: Vector, names: Sequence[str], stated: Stated, defined: set[int]) -> None:
    """Enter values by name; raise FileError for a missing name, and for a further one beside missing ones."""
    assert isinstance(stated.values, Mapping)
    place = {name: j for j, name in enumerate(names)}
    labels = {cpxlp_label_from_name(name): j for j, name in enumerate(names)}
    further = []
    for name, value in stated.values.items():
        j = place.get(name, labels.get(cpxlp_label_from_name(name)))
        if j is None:
            further.append(name)
        elif np.isfinite(value):
            x[j] = value
        else:
            raise FileError(f"the value of '{name}' is not finite", "write the solution again")
    missing = [j for j in range(program.n) if np.isnan(x[j]) and j not in defined]
    if further and (missing or stated.sparse):
        raise FileError(
            f"the model has no variable '{further[0]}' (and {len(further)} such names)", "give its own model"
        )
    fixed = [j for j in missing if program.lb[j] == program.ub[j]]
    x[fixed] = program.lb[fixed]
    if stated.sparse:
        x[[j for j in missing if j not in set(fixed)]] = 0.0
    elif len(missing) > len(fixed):
        name = names[next(j for j in missing if j not in set(fixed))]
        raise FileError(f"it has no value of '{name}'", "give the whole solution file of this model")


def _defined(program: Program, names: Sequence[str]) -> dict[int, int]:
    """Return column -> row of the variables that the reader of cones or matrices added, each defined by an equation."""
    rows = {id(c): i for i, c in enumerate(program.constraints)}
    found = {}
    if _read(program):
        row = program.model.component("row")
        for name, j in ((name, j) for j, name in enumerate(names) if name.startswith("(row ") and name in row):
            found[j] = rows[id(row[name])]
    for block in blocks(program.model):
        if _read(program):
            found |= {program.column[id(block.S[index])]: rows[id(row)] for index, row in block.entry.items()}
    return found


def _with_multipliers(program: Program, x: Vector, stated: Stated) -> Point | None:
    """Return the point with the multipliers of the file, None where one is missing."""
    if stated.duals is None or program.integer.any():  # those of fixed integers bound nothing
        return None
    prices = _prices(program, stated.duals)
    if prices is None:
        return None
    return point_of_prices(program, x, prices)


def _prices(program: Program, duals: Mapping[str, float] | Sequence[float]) -> Vector | None:
    """Return the shadow prices of linear constraints, general constraints and cones, None where one is missing."""
    listed = priced(program)
    if not isinstance(duals, Mapping):
        # The order of the file is that of the model's constraints.
        order = {id(c): i for i, c in enumerate(program.model.component_data_objects(pyo.Constraint, active=True))}
        places = [order.get(id(c), -1) for c in listed]
        return np.array(duals, float)[places] if len(duals) == len(order) and min(places, default=0) >= 0 else None
    names = [str(c.index() if _read(program) else c.name) for c in listed]
    by_label: dict[str, float] = {}
    for name, value in duals.items():
        inner = WRITTEN.fullmatch(name)
        label = cpxlp_label_from_name(name) if inner is None else inner[1]
        by_label[label] = by_label.get(label, 0.0) + value  # of the two rows of a range one has the multiplier
    listed_prices = [_price(name, duals, by_label, program.sign) for name in names]
    return np.array(listed_prices, dtype=float) if all(price is not None for price in listed_prices) else None


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


def contents(model: pyo.ConcreteModel, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the sizes of the model of a file, and the digest of the file.

    Parameters
    ----------
    model : of :func:`fsopt.read_model`.
    path : of the file, packed or not.

    Returns
    -------
    dict
        Numbers of ``constraints``, ``variables``, ``nonzeros`` (coefficients of linear terms that are not 0, those of
        the objective included), ``nonlinear`` (terms of any other kind), ``integers``, ``sets`` (special ordered ones)
        and ``matrices`` (linear matrix inequalities); ``sha256`` of the bytes of the file.
    """
    variables = list(model.x.values())
    column = {id(v): j for j, v in enumerate(model.component_data_objects(pyo.Var, descend_into=True))}
    forms = [read_row(row, column).terms for row in model.row.values()] + [read(model.objective.expr, column)]
    linear = [sum(map(bool, t.values)) + sum(np.count_nonzero(dot.coefs) for _, dot in t.dots) for t in forms]
    return {
        "constraints": len(model.row),
        "variables": len(variables),
        "nonzeros": int(sum(linear)),
        "nonlinear": sum(len(t.quadratic) + len(t.nonlinear) for t in forms),
        "integers": sum(v.is_integer() for v in variables),
        "sets": sum(1 for _ in model.component_data_objects(pyo.SOSConstraint)),
        "matrices": len(blocks(model)),
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
    }


def told(sizes: Mapping[str, Any]) -> str:
    """Return the sizes that are not 0 as one line."""
    numbers = [f"{value} {name}" for name, value in sizes.items() if value and name != "sha256"]
    return ", ".join([*numbers, f"sha256 {str(sizes['sha256'])[:12]}"])
