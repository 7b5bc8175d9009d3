r"""Certificates of solved models: evidence for each problem class, recomputed from the arrays.

Shadow prices of other software are multipliers of the arrays: d objective / d right-hand side of a linear constraint is
its multiplier, and the shadow price :math:`\lambda` of a quadratic constraint
:math:`q(x) = f(\|t\|^2 - s_0^2) \le 0` with :math:`(s_0, t) = Gx + h` is the multiplier
:math:`z = 2\lambda f(-s_0, t)` of its cone, which needs :math:`s_0 > 0`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.answers.certificate import Certificate, Kind, make, merged
from fsopt.answers.results import RESULT, Point, SolveResult
from fsopt.certificates.bounds import cleaned, crossed, farkas, lower_bound, recession
from fsopt.certificates.convex import at_point, best_bound, certify_convex, correction, gap
from fsopt.certificates.nonconvex import certify_nonconvex, certify_smooth
from fsopt.certificates.points import infeasibility, integrality, judged_point, minimised, rounded_point
from fsopt.common.arguments import checked, optional
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import smoothly_convex
from fsopt.compiler.program import MODEL
from fsopt.errors import ParameterError
from fsopt.typing import Vector

APEX = 1e-9
"""A cone whose head is below this has no multiplier by a shadow price of its quadratic constraint."""
NEAR = 1e-6
"""Distance from a bound, relative to the length of the interval, up to which a variable is on it."""
DUAL_POINT = "dual point"
"""The source of a bound that was recomputed from multipliers."""


@checked(model=MODEL, result=optional(RESULT))
def certify(model: pyo.ConcreteModel, result: SolveResult | None = None) -> Certificate:
    """Return the certificate of a solve, recomputed from the present state of the model and the point in the result.

    Parameters
    ----------
    model : pyo.ConcreteModel
        The Pyomo model that was solved.
    result : SolveResult, optional
        The result of :func:`fsopt.solve`; None takes the values in the model, whoever put them there, and the
        multipliers in its suffix ``dual``, of either sign.

    Returns
    -------
    Certificate
        Of kind ``convex`` (infeasibility, remainder of the multipliers, and gap), ``mixed-integer`` (infeasibility,
        integrality and the gap to the solver's bound), ``global`` (the same without integer variables), ``kkt``
        (first-order conditions), ``infeasible`` (Farkas), or ``feasible`` (infeasibility only, without multipliers).

    Raises
    ------
    ParameterError : the model or the result is of another kind, the result is one of another model, or there is none
        and a variable has no value.

    Notes
    -----
    The certificate is verified numerically, for the arrays of the model and independently of the solver's status. It is
    never valid for a model with constraints that the arrays do not contain: complementarities, disjunctions and
    logical constraints.
    """
    program = compile_model(model)
    if result is None:
        return certify_point(program, loaded_point(program))
    lengths = (program.n, program.A.shape[0] + len(program.general), len(program.cones.h))
    held = [point for point in (result.point, result.ray, result.direction, result.evidence) if point is not None]
    for parts in ((point.x, point.y, point.z) for point in held):
        if any(v is not None and np.shape(v) != (k,) for v, k in zip(parts, lengths, strict=True)):
            raise ParameterError(
                f"the result is not one of '{program.model.name}' as it is now: its numbers of variables and "
                "constraints are others",
                "solve the model again",
            )
    return certify_result(program, result)


def certify_result(program: Program, result: SolveResult) -> Certificate:
    """Return the certificate of the result of a solve of a program."""
    if result.point is None or crossed(program):
        return certify_without_point(program, result.ray, result.direction, result.evidence)
    bound = None if result.bound is None or not np.isfinite(result.bound) else program.sign * result.bound
    claim = StatedBound(bound, result.solver, result.evidence, result.evidence_source)
    return certify_point(program, result.point, claim)


@dataclass(frozen=True)
class StatedBound:
    """The word of a solver about its point, and the primal-dual point of another solver where it has no multipliers.

    The ``bound`` is that of the minimisation form; it counts for programs with integers and nonconvex ones alone, where
    its ``source`` is named.
    """

    bound: float | None = None
    source: str = ""
    evidence: Point | None = None
    evidence_source: str = ""


def on_artificial_bound(program: Program, x: Vector) -> str:
    """Return what a point on an artificial bound says, empty where there is none.

    A builder bounds a variable for the solvers' sake, further out than any minimiser, and says so in the suffix
    ``artificial_bound`` of its model: variable -> sentence. A point there is no minimiser, whatever the solver proved:
    the infimum is not attained.
    """
    marked = program.model.component("artificial_bound")
    for variable, sentence in marked.items() if isinstance(marked, pyo.Suffix) else ():
        column = program.column[id(variable)]
        low, high = program.lb[column], program.ub[column]
        if min(x[column] - low, high - x[column]) <= NEAR * (high - low):
            return str(sentence)
    return ""


def certify_point(program: Program, point: Point, claim: StatedBound | None = None) -> Certificate:
    """Return the certificate of a point of a program.

    A convex program is bounded by a dual point alone, that of the point itself or of the evidence: the bound that a
    solver reports proves nothing there. The certificate of a model with constraints that the arrays do not contain
    never holds.
    """
    certificate = _certificate_of_arrays(program, point, claim or StatedBound())
    if program.unsupported:
        unseen = ", ".join(f"{kind} ('{name}')" for kind, name in program.unsupported.items())
        return replace(certificate, ok=False, notes=(f"not checked: {unseen}", *certificate.notes))
    return certificate


def _certificate_of_arrays(program: Program, point: Point, claim: StatedBound) -> Certificate:
    reason = on_artificial_bound(program, point.x)
    if reason:
        x = judged_point(program, point.x)
        value = program.sign * minimised(program, x)
        return make(Kind.FEASIBLE, at_point(program, point.x), objective=value, notes=(reason,))
    if program.convex and not program.discrete:
        source = DUAL_POINT if claim.evidence is None else f"{DUAL_POINT} of {claim.evidence_source}"
        return certify_convex(program, point.x, claim.evidence or point, source)
    rows = program.A.shape[0] + len(program.general)
    if point.y is not None and point.z is not None and len(point.y) == rows and smoothly_convex(program):
        smooth = certify_smooth(program, point, DUAL_POINT)
        if smooth.ok:
            return smooth
    found = certify_nonconvex(program, point, bound=claim.bound, source=claim.source)
    if claim.evidence is None or found.objective is None or not program.discrete:
        return found
    value = program.sign * found.objective  # of the convex program that is left, by the evidence
    fixed = best_bound(fixed_program(program, judged_point(program, point.x)), claim.evidence, value)
    more = {"remainder at fixed integers": fixed.remainder, "gap at fixed integers": gap(program, value, fixed.value)}
    ok = found.ok and make(Kind.FEASIBLE, more).ok
    return replace(found, residuals=merged(found.residuals, more), ok=ok)


def fixed_program(program: Program, x: Vector) -> Program:
    """Return the continuous program that is left where the integers are fixed at their values in x (n,), rounded.

    Products with them become linear terms, so that it may be convex where the program is not.
    """
    values, fixed = rounded_point(program, x), program.integer
    if not program.convex:
        known = {id(program.variables[j]): float(values[j]) for j in np.flatnonzero(fixed).tolist()}
        rest = compile_model(program.model, known)
        return rest if rest.convex_objective else with_substituted_objective(rest)
    return replace(
        program,
        lb=np.where(fixed, values, program.lb),
        ub=np.where(fixed, values, program.ub),
        integer=np.zeros_like(program.integer),
    )


def certify_without_point(
    program: Program, ray: Point | None, direction: Point | None, start: Point | None
) -> Certificate:
    """Return the certificate of infeasibility by crossed bounds or a ray, of unboundedness, or of nothing."""
    if ray is not None or crossed(program):
        return farkas(program, ray or Point(np.zeros(program.n)))
    if direction is not None and start is not None:
        return certify_unbounded(program, direction, start)
    return Certificate(Kind.NONE, False, {}, notes=("there is no point to check",))


def certify_unbounded(program: Program, direction: Point, start: Point) -> Certificate:
    """Return the certificate of a recession direction of descent that leaves from a feasible point.

    It proves nothing of a program with constraints or an objective that are no part of the arrays, nor of one with
    integers and cones. With linear constraints and rational numbers, which doubles are, some multiple of a direction is
    whole (Meyer, Mathematical Programming 7, 1974): the start needs whole integers, the direction does not.
    """
    if program.nonconic or program.unsupported or (program.discrete and len(program.cones)):
        return Certificate(Kind.UNBOUNDED, False, {}, notes=("a ray proves nothing of such a program",))
    found = recession(program, direction.x)
    missed = np.inf if correction(program, start.x) is None else infeasibility(program, start.x)
    residuals = {**found.residuals, "infeasibility": missed}
    if program.discrete:
        residuals["integrality"] = integrality(program, start.x)
    return make(Kind.UNBOUNDED, residuals, notes=found.notes)


def with_substituted_objective(program: Program) -> Program:
    r"""Return a program with the same feasible set, and an objective that is the same function on it.

    Each linear equation of one or two variables gives one of them by the other: x = Tx + t on the feasible set. The
    objective gets the arrays T'PT, T'(Pt + c) and t'Pt/2 + c't + c0; constraints and variables stay.

    With fixed :math:`\sigma`, :math:`v_j = \sigma_j w_j` is one, and :math:`v_j w_j = \sigma_j w_j^2` is convex.
    """
    T, t = _substitution(program)
    P = sp.csc_matrix(T.T @ program.P @ T)
    P.eliminate_zeros()
    c0 = program.c0 + float(program.c @ t + 0.5 * t @ (program.P @ t))
    return replace(program, P=P, c=np.asarray(T.T @ (program.P @ t + program.c)), c0=c0)


def _substitution(program: Program) -> tuple[sp.csr_matrix, Vector]:
    """Return T (n, n) and t (n,) with x = Tx + t on the feasible set."""
    A = program.A.copy()
    A.eliminate_zeros()
    lengths = np.diff(A.indptr)
    short = np.flatnonzero((program.lo == program.hi) & ((lengths == 1) | (lengths == 2)))
    T, t = sp.identity(program.n, format="lil"), np.zeros(program.n)
    replaced, kept = set[int](), set[int]()
    for i in short.tolist():
        columns = A.indices[A.indptr[i] : A.indptr[i + 1]].tolist()
        a = A.data[A.indptr[i] : A.indptr[i + 1]].tolist()
        if any(j in replaced for j in columns) or columns[0] in kept:
            continue
        replaced.add(columns[0])
        kept.update(columns[1:])
        T[columns[0], columns[0]] = 0.0
        t[columns[0]] = program.lo[i] / a[0]
        if len(columns) == 2:
            T[columns[0], columns[1]] = -a[1] / a[0]
    return T.tocsr(), t


# -- shadow prices --------------------------------------------------------------------------------------


def priced(program: Program) -> list[Any]:
    """Return the constraints with shadow prices: linear ones, general ones and those of cones."""
    return [*program.constraints, *(row.constraint for row in program.general), *program.cones.constraints]


def point_of_prices(program: Program, x: Vector, prices: Vector) -> Point | None:
    """Return the primal-dual point at x (n,) of the shadow prices of :func:`priced`; None where they say too little.

    Programs differ in the sign of shadow prices: that is taken which leaves more of them where their sides are, and of
    two that leave as much the one with the better dual bound.
    """
    candidates = [found for sign in (1.0, -1.0) if (found := _point(program, x, sign * prices)) is not None]
    if not candidates or not program.convex:
        return candidates[0] if candidates else None
    return max(candidates, key=lambda point: (_kept(program, point), lower_bound(program, point).value))


def _kept(program: Program, point: Point) -> float:
    """Return the share of the multipliers that have the signs of their sides, to six digits."""
    own, left = (np.abs(np.concatenate(pair)).sum() for pair in (point.multipliers, cleaned(program, point)))
    return round(float(left / own), 6) if own else 1.0


def _point(program: Program, x: Vector, prices: Vector) -> Point | None:
    cones, count = program.cones, len(prices) - len(program.cones)
    if cones.orders.any() or not np.all(np.isfinite(prices)):
        return None
    s = cones.G @ x + cones.h
    z = np.zeros(len(cones.h))
    for k, price in enumerate(program.sign * cones.sense * prices[count:]):
        part = slice(cones.starts[k], cones.starts[k + 1])
        if s[part][0] < APEX and price != 0.0:
            return None
        z[part] = 2.0 * price * cones.scale[k] * s[part]
        z[part.start] *= -1.0
    return Point(x, program.sign * prices[:count], z)


def loaded_point(program: Program) -> Point:
    """Return the values in a model, with the multipliers of its suffix ``dual`` where that has one of each constraint.

    ParameterError where a variable has no value.
    """
    used = (program.c != 0) | (np.diff(program.A.tocsc().indptr) > 0) | (np.diff(program.cones.G.tocsc().indptr) > 0)
    used |= bool(program.general) | (np.diff(program.P.indptr) > 0)
    missing = next((v for v, occurs in zip(program.variables, used, strict=True) if occurs and v.value is None), None)
    if missing is not None:
        raise ParameterError(f"the variable '{missing.name}' has no value", "solve the model, or give a result")
    x = program.values()
    dual = program.model.component("dual")
    constraints = priced(program)
    if not isinstance(dual, pyo.Suffix) or program.integer.any() or not all(c in dual for c in constraints):
        return Point(x)
    found = point_of_prices(program, x, np.array([dual[c] for c in constraints], dtype=float))
    return Point(x) if found is None else found
