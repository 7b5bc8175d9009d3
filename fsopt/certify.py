r"""Numbers that fsopt recomputes from a compiled model and a point, without any solver.

For a convex program in the form of :mod:`fsopt.compiler.program`, a point x with multipliers y (rows) and
z (cones, :math:`z \in \mathcal{Q}`) and :math:`r = Px + c - A'y - G'z` gives the lower bound

.. math:: -\tfrac12 x'Px + \sum_i \begin{cases} y_i \ell_i & y_i > 0\\ y_i u_i & y_i < 0 \end{cases}
          + \sum_j \begin{cases} r_j \underline{x}_j & r_j > 0\\ r_j \overline{x}_j & r_j < 0 \end{cases}
          - h'z + c_0

wherever the sides that occur are finite; what falls on an infinite side is the dual residual. All residuals
are relative to the largest term of their row, and a cone is measured by the distance to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.results import Point, SolveResult

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.compiler import Program

Vector = NDArray[np.float64]
TOLERANCE = 1e-6
"""Largest residual, relative, with which a certificate holds."""


@dataclass(frozen=True)
class Certificate:
    """What was recomputed about an answer.

    Attributes
    ----------
    kind : what is certified: ``convex``, ``mixed-integer``, ``global``, ``kkt``, ``feasible``, ``infeasible``,
        ``dca``, ``sla``, ``gbd``, ``mop``.
    ok : whether every residual is within ``tolerance``.
    residuals : name -> relative residual or gap, each of which must be small.
    objective, bound : recomputed value and bound, in the model's own sense; None where there is none.
    bound_source : where the bound comes from: ``dual point`` (recomputed here) or the solver that claims it.
    tolerance : what the residuals are compared with.
    """

    kind: str
    ok: bool
    residuals: Mapping[str, float]
    objective: float | None = None
    bound: float | None = None
    bound_source: str = ""
    tolerance: float = TOLERANCE
    notes: tuple[str, ...] = field(default=())

    @property
    def worst(self) -> float:
        """The largest residual."""
        return max(self.residuals.values(), default=0.0)


def make(kind: str, residuals: Mapping[str, float], *, tolerance: float = TOLERANCE, **rest: Any) -> Certificate:
    """Return a certificate that holds iff every residual is a number within the tolerance."""
    ok = all(np.isfinite(v) and v <= tolerance for v in residuals.values())
    return Certificate(kind, ok, dict(residuals), tolerance=tolerance, **rest)


def certify(model: pyo.ConcreteModel, result: SolveResult) -> Certificate:
    """Recompute the certificate of a solve from the model as it is now and the point in the result.

    Parameters
    ----------
    model : the Pyomo model that was solved.
    result : what :func:`fsopt.solve` returned.

    Returns
    -------
    Certificate
        Of kind ``convex`` (primal and dual residual and gap), ``mixed-integer`` (primal residual, integrality
        and the gap to the solver's bound), ``global`` (the same without integers), ``kkt`` (first-order
        conditions), ``infeasible`` (Farkas), or ``feasible`` (primal residual only, without multipliers). It
        holds for the model's arrays, whatever the solver says; for no point of a model with constraints that they
        do not have: complementarities, SOS, disjunctions, logical ones.
    """
    from fsopt.compiler import compile_model

    program = compile_model(model)
    if result.point is None and result.ray is not None:
        return farkas(program, result.ray)
    if result.point is None:
        return Certificate("none", False, {}, notes=("there is no point to check",))
    bound = None if result.bound is None else program.sign * result.bound
    certificate = certify_point(program, result.point, bound=bound, source=result.solver)
    if program.beyond:
        unseen = ", ".join(f"{kind} ('{name}')" for kind, name in program.beyond.items())
        return dataclasses.replace(certificate, ok=False, notes=(f"not looked at: {unseen}", *certificate.notes))
    return certificate


def certify_point(program: Program, point: Point, *, bound: float | None = None, source: str = "") -> Certificate:
    """Certify a point of a program; ``bound`` is a claimed lower bound of its minimisation form.

    The claim is not used for a convex program with multipliers, which is bounded by its own dual point.
    """
    from fsopt.classify import convex
    from fsopt.kkt import certify_nonconvex

    if program.unsupported or not convex(program.P):
        return certify_nonconvex(program, point, bound=bound, source=source)
    x = point.x
    residuals = {"primal": primal_residual(program, x)}
    value = program.sign * program.objective_at(x)
    objective = program.sign * value
    if program.integer.any():
        residuals["integrality"] = float(np.abs(x - np.round(x))[program.integer].max(initial=0.0))
        if bound is None:
            return make("feasible", residuals, objective=objective)
        residuals["gap"] = relative_gap(value, bound)
        return make("mixed-integer", residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    if point.y is None or point.z is None:
        if bound is None:
            return make("feasible", residuals, objective=objective)
        residuals["gap"] = relative_gap(value, bound)
        return make("global", residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    dual_bound, dual = dual_point(program, point)
    residuals |= dual | {"gap": relative_gap(value, dual_bound)}
    return make("convex", residuals, objective=objective, bound=program.sign * dual_bound, bound_source="dual point")


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1, |value|)``: a bound above the value is as wrong as one below."""
    return abs(value - bound) / max(1.0, abs(value))


def primal_residual(program: Program, x: Vector) -> float:
    """Return the largest relative violation of rows, bounds and cones at x (n,), in the program's units."""
    units = program.scaling
    rows = _relative(row_excess(program, x) * units.rows, lambda: largest_term(program.A, x) * units.rows)
    outside = bound_excess(program, x) / (units.columns + np.abs(x))
    s = units.cone @ (program.cones.G @ x + program.cones.h)
    cones = program.cones.distances(s) / (1.0 + block_norms(program, s))
    return float(max(rows, outside.max(initial=0.0), cones.max(initial=0.0)))


def row_excess(program: Program, x: Vector) -> Vector:
    """Return by how much each linear row (m,) is violated at x."""
    activity = program.A @ x
    excess: Vector = np.maximum(np.maximum(program.lo - activity, activity - program.hi), 0.0)
    return excess


def bound_excess(program: Program, x: Vector) -> Vector:
    """Return by how much each bound (n,) is violated at x."""
    excess: Vector = np.maximum(np.maximum(program.lb - x, x - program.ub), 0.0)
    return excess


def dual_point(program: Program, point: Point) -> tuple[float, dict[str, float]]:
    """Return the lower bound that the multipliers give (minimisation form) and the residuals behind it.

    ``dual`` is the largest relative violation of dual feasibility; ``cost`` is what all violations together,
    primal and dual, are worth in the objective at the multipliers' prices. The second does not depend on
    units at all: a tiny violation at a huge price is a large one.
    """
    x, y, z = point.x, point.y, point.z
    assert y is not None
    assert z is not None
    units = program.scaling
    quadratic = program.P @ x
    r = quadratic + program.c - program.A.T @ y - program.cones.G.T @ z
    rows, loose_rows = sides(y, program.lo, program.hi)
    columns, loose = sides(r, program.lb, program.ub)

    def terms() -> Vector:
        linear = np.maximum(largest_term(program.A.T.tocsr(), y), largest_term(program.cones.G.T.tocsr(), z))
        largest: Vector = np.maximum(linear, np.maximum(np.abs(program.c), np.abs(quadratic))) * units.columns
        return largest

    turned = units.uncone.T @ z
    outside = program.cones.distances(turned) / (1.0 + block_norms(program, turned))
    dual = max(
        _relative(loose * units.columns, terms),
        (loose_rows / (units.rows + np.abs(y))).max(initial=0.0),
        outside.max(initial=0.0),
    )
    bound = -0.5 * float(x @ quadratic) + rows + columns - float(program.cones.h @ z) + program.c0
    value = program.sign * program.objective_at(x)
    distances = program.cones.distances(units.cone @ (program.cones.G @ x + program.cones.h))
    price = (
        np.abs(y) @ row_excess(program, x)
        + np.abs(r) @ bound_excess(program, x)
        + block_norms(program, units.uncone.T @ z) @ distances
        + loose @ np.abs(x)
    )
    return float(bound), {"dual": float(dual), "cost": float(price) / max(1.0, abs(value))}


def farkas(program: Program, ray: Point) -> Certificate:
    """Certify infeasibility: ``A'y + G'z + r = 0`` over the bounds with a positive value of the sides."""
    assert ray.y is not None
    assert ray.z is not None
    y, z, units = ray.y, ray.z, program.scaling
    best = Certificate("infeasible", False, {"farkas": np.inf})
    for sign in (1.0, -1.0):
        size = max(np.abs(y).max(initial=0.0), np.abs(z).max(initial=0.0))
        if size == 0:
            break
        v, t = sign * y / size, z / size
        r = -(program.A.T @ v) - program.cones.G.T @ t
        rows, loose_rows = sides(v, program.lo, program.hi)
        columns, loose = sides(r, program.lb, program.ub)
        value = rows + columns - float(program.cones.h @ t)
        leftover = max(
            (loose_rows / units.rows).max(initial=0.0),
            (loose * units.columns).max(initial=0.0),
            program.cones.distances(units.uncone.T @ t).max(initial=0.0),
        )
        residual = leftover / value if value > 0 else np.inf
        if residual < best.worst:
            best = make("infeasible", {"farkas": float(residual)}, notes=(f"margin {value:.3g}",))
    return best


def sides(multiplier: Vector, low: Vector, high: Vector) -> tuple[float, Vector]:
    """Return the value that multipliers give to finite sides, and what falls on infinite ones."""
    side = np.where(multiplier > 0, low, high)
    finite = np.isfinite(side)
    total = float(multiplier[finite] @ side[finite])
    return total, np.where(finite, 0.0, np.abs(multiplier))


def _relative(absolute: Vector, terms: Callable[[], Vector]) -> float:
    """Return the largest of ``absolute / (1 + terms)``; where all are tiny, their own size, an upper bound of it."""
    worst = float(absolute.max(initial=0.0))
    if worst <= 0.01 * TOLERANCE:
        return worst
    return float((absolute / (1.0 + terms())).max(initial=0.0))


def largest_term(matrix: sp.csr_matrix, x: Vector) -> Vector:
    """Return the largest absolute term of each row of ``matrix @ x``."""
    if not matrix.nnz:
        return np.zeros(matrix.shape[0])
    terms = np.abs(matrix.data * x[matrix.indices])
    largest = np.zeros(matrix.shape[0])
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    np.maximum.at(largest, rows, terms)
    return largest


def block_norms(program: Program, s: Vector) -> Vector:
    """Return the Euclidean norm of each block of s (k,)."""
    if not len(program.cones):
        return np.zeros(0)
    norms: Vector = np.sqrt(np.add.reduceat(s**2, program.cones.starts[:-1]))
    return norms
