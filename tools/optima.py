"""The optimum of an instance as files beside it: ``optimum.json``, and AMPL's ``.sol`` for its .nl file.

Values depend on solver and machine in their last digits, and where an optimum is not unique in all of them. An existing
point stays where it is one of the instance and has its value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import FEASIBLE
from fsopt.answers.results import SolveResult
from fsopt.certificates.convex import at_point
from fsopt.certificates.points import integrality
from fsopt.common.files import write_text
from fsopt.compiler import Program, compile_model
from fsopt.typing import Vector

JSON = "optimum.json"
DIGITS = 12
CLOSE = 1e-7
"""Largest relative difference of its value."""


def write_optimum(folder: Path, slug: str, model: pyo.ConcreteModel, result: SolveResult) -> list[Path]:
    """Write the optimum of a model beside its instance, unless a good one is there; return the files.

    Parameters
    ----------
    folder : with the instance.
    slug : stem of its files.
    model, result : as solved.
    """
    program = compile_model(model)
    place, sol = folder / JSON, folder / f"{slug}.sol"
    stays = place.is_file() and is_optimum(program, json.loads(place.read_text(encoding="utf-8")), result.objective)
    if not stays:
        write_text(place, json.dumps(record(program, result), indent=1) + "\n")
    names, stored = folder / f"{slug}.col", json.loads(place.read_text(encoding="utf-8"))
    # The file of an MPEC has variables of its complementarities, that solved one has binaries.
    if not names.is_file() or not set(names.read_text(encoding="utf-8").split()) <= set(stored["variables"]):
        return [place]
    if not (stays and sol.is_file()):
        write_text(sol, ampl_solution(slug, folder, stored))
    return [place, sol]


def record(program: Program, result: SolveResult) -> dict[str, Any]:
    """Return objective value, values of the variables and shadow prices of the constraints by name, as plain data."""
    assert result.point is not None
    variables = zip((v.name for v in program.variables), result.point.x.tolist(), strict=True)
    prices = {} if program.integer.any() else {c.name: _short(value) for c, value in result.constraint_duals}
    return {
        "objective": _short(result.objective),
        "status": str(result.status),
        "solver": result.solver,
        "variables": {name: _short(value) for name, value in variables},
        "duals": {name: value for name, value in prices.items() if value is not None},
    }


def point_of(program: Program, stored: Mapping[str, Any]) -> Vector:
    """Return the values (n,) of a stored optimum in the order of a program; nan for a variable that it lacks."""
    return np.array([stored["variables"].get(v.name, np.nan) for v in program.variables], dtype=float)


def is_optimum(program: Program, stored: Mapping[str, Any], objective: float | None) -> bool:
    """Return whether a stored optimum is a point of a program, and states the objective value of its optimum."""
    x = point_of(program, stored)
    value = stored["objective"]
    if objective is None or value is None or not np.all(np.isfinite(x)):
        return False
    away = max(at_point(program, x).values())
    return max(away, integrality(program, x)) <= FEASIBLE and abs(value - objective) <= CLOSE * max(1.0, abs(objective))


def ampl_solution(slug: str, folder: Path, stored: Mapping[str, Any]) -> str:
    """Return the text of a .sol file, in the order of the .row and .col files of an .nl file."""
    columns = (folder / f"{slug}.col").read_text(encoding="utf-8").split()
    rows = (folder / f"{slug}.row").read_text(encoding="utf-8").split()[:-1]  # the last one is the objective
    primal = [stored["variables"][name] for name in columns]
    # A solution without multipliers of every constraint states none.
    dual = [stored["duals"][name] for name in rows] if all(name in stored["duals"] for name in rows) else []
    head = [f"{slug}: optimum {stored['objective']!r} by {stored['solver']}", "", "Options", "3", "0", "1", "0"]
    counts = [len(rows), len(dual), len(columns), len(primal)]
    return "\n".join([*head, *map(str, counts), *map(repr, [*dual, *primal]), "objno 0 0"]) + "\n"


def _short(value: float | None) -> float | None:
    """Return a number with twelve digits, None for one that is not finite."""
    if value is None or not np.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}") + 0.0
