"""The best known point and bound of an instance: of a solver, or of the exact search of its problem.

Each route gives a point, a bound or both. The best point is published with the best bound, and with the proof of that
bound where it has one that ``fsopt-verify`` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind
from fsopt.answers.fits import Fit
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.certificates.points import infeasibility
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import fit
from fsopt.methods.verdict import assembled
from fsopt.models.blocks import hinge_point, weight_parts
from fsopt.solvers.base import solve
from fsopt.typing import Vector
from fsopt.verification.verify import verify

SEARCHED = {"fsp-m-bigm": "best-subset"}
"""Model -> the method that searches its optimum: the bound of the method is one of the model, which has its optimum."""
TOLERANCE = 1e-4
"""Relative gap at which the exact search ends."""
CLOSE = 1e-6
"""Relative difference of bounds that are equal, the better evidence first; and the largest residual of a point."""


@dataclass(frozen=True)
class BestKnown:
    """The best known answer of an instance.

    Attributes
    ----------
    result : with the best point. ``bound`` : the best bound, None without any.
    proved_by : who proved the bound, in words.
    proof : content of a file for ``fsopt-verify``, None where there is none.
    """

    result: SolveResult
    bound: float | None
    proved_by: str
    proof: Mapping[str, Any] | None = None


def best_known(
    model: pyo.ConcreteModel,
    raw: Dataset,
    built: tuple[str, Mapping[str, Any]],
    solver: str | None,
    limits: tuple[float, float],
    stored: Vector | None = None,
) -> BestKnown:
    """Return the best known answer of a model.

    Parameters
    ----------
    model : on the standardised data.
    raw : the data before.
    built : name and parameters of the model.
    solver : of the first route; None for the preferred one.
    limits : seconds of the solver, and those of the exact search.
    stored : values (n,) of the best point so far, which stays where none is better; None for none.
    """
    program = compile_model(model)
    seconds, search = limits
    result = solve(model, solver, time_limit=seconds)
    routes = [BestKnown(result, result.bound, proved_by(result, seconds))]
    if not program.integer.any():
        return routes[0]
    if stored is not None:
        result = better(program, result, Point(stored))
    slug, params = built
    if slug in SEARCHED:
        found = fit(SEARCHED[slug], raw, scale="standard", tolerance=TOLERANCE, time_limit=search, **params)
        result = better(program, result, _point(model, program, raw, found))
        evidence = verify(found, raw, exact=True)
        lower = evidence.claims[0].lower  # the bound that is published is that of the proof
        bound = found.bound if lower is None else float(lower)
        routes.append(BestKnown(result, bound, f"{found.method} of fsopt, {found.stop}", evidence.proof()))
    return replace(best_bound(routes, program.sign), result=result)


def best_bound(routes: list[BestKnown], sign: float) -> BestKnown:
    """Return the route of the best bound, the last of those within :data:`CLOSE`; sign is -1 for a maximum."""

    def size(route: BestKnown) -> float:
        return -np.inf if route.bound is None else sign * route.bound

    most = max(size(route) for route in routes)
    return [route for route in routes if size(route) >= most - CLOSE * max(1.0, abs(most))][-1]


def proved_by(result: SolveResult, seconds: float) -> str:
    """Return who proved the bound: fsopt by a dual point, or the search of a solver, which is not repeated."""
    certificate = result.certificate
    if certificate is None or result.bound is None:
        return "nobody"
    if certificate.kind is Kind.CONVEX:
        return f"a dual point of {result.solver}, whose value fsopt recomputed"
    ended = "complete" if result.status == "optimal" else f"ended after {seconds:g} seconds"
    return f"the search of {result.solver}, {ended}"


def beaten(rows: list[dict[str, Any]], pages: Path) -> list[str]:
    """Return the instances whose value or bound is worse than one of a page of results.

    Parameters
    ----------
    rows : facts of the instances.
    pages : folder of a page of results with exact searches, ``exact.jsonl``, of which those of the same data, m and C
        are of the same problem.
    """
    searches = _records(pages / "exact.jsonl")
    found = []
    for row in rows:
        at = row["parameters"]
        alike = [
            r for r in searches if row["model"] in SEARCHED and (r["instance"], r["c"]) == (_name(row, at), at.get("c"))
        ]
        slack = CLOSE * max(1.0, abs(row["best"]))
        values = [r["objective"] for r in alike if r["objective"] is not None]
        bounds = [r["bound"] for r in alike if r["bound"] is not None]
        if min(values, default=np.inf) < row["best"] - slack:
            found.append(f"{row['name']}: {row['best']:.8g}, and a page of results has {min(values):.8g}")
        bound = -np.inf if row["bound"] is None else row["bound"]
        if not _closed(row) and max(bounds, default=-np.inf) > bound + slack:
            found.append(f"{row['name']}: bound {row['bound']}, and a page of results has {max(bounds):.8g}")
    return found


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def solu(rows: list[dict[str, Any]]) -> str:
    """Return best values and bounds in the form of MIPLIB's .solu files."""
    lines = []
    for row in rows:
        best, bound = row["best"], row["bound"]
        closed = _closed(row)
        lines.append(f"{'=opt=' if closed else '=best='} {row['name']} {best:.12g}")
        if not closed and bound is not None:
            lines.append(f"=bestdual= {row['name']} {bound:.12g}")
    return "\n".join(lines) + "\n"


def _closed(row: Mapping[str, Any]) -> bool:
    best, bound = row["best"], row["bound"]
    return bound is not None and abs(best - bound) <= TOLERANCE * max(1.0, abs(best))


def _name(row: Mapping[str, Any], at: Mapping[str, Any]) -> str:
    return f"{row['data']['name']}-{at.get('m')}"


def _point(model: pyo.ConcreteModel, program: Program, raw: Dataset, found: Fit) -> Point:
    """Return the point of a fit in the program of its problem."""
    map_ = found.preprocessing
    w, b = found.coef * map_.scale, found.intercept + float(found.coef @ map_.shift)
    values = hinge_point(preprocess(raw, "standard")[0], w, b)
    sigma = np.isin(np.arange(raw.p), found.support).astype(float)
    return Point(assembled(model, program, {**values, **weight_parts(w), "u": w, "sigma": sigma}, np.zeros(program.n)))


def better(program: Program, result: SolveResult, point: Point) -> SolveResult:
    """Return a result with a point in the place of its own where that has a smaller value and is feasible."""
    value = program.objective_at(point.x)
    worse = result.objective is not None and program.sign * (value - result.objective) >= 0.0
    if worse or not np.isfinite(value) or infeasibility(program, point.x) > CLOSE:
        return result
    return replace(result, status=Status.FEASIBLE, objective=value, bound=None, point=point, evidence=None)
