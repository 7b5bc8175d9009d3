"""From a solver's outcome to a result with the status of its certificate, and into the Pyomo model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.common.collections import ComponentMap

from fsopt.answers.certificate import FEASIBLE, Certificate, Kind, make
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.certificates import arithmetic
from fsopt.certificates.bounds import crossed
from fsopt.certificates.convex import proves
from fsopt.certificates.model import StatedBound, certify_point, certify_without_point
from fsopt.certificates.nonconvex import reduced_costs
from fsopt.certificates.points import cone_errors, infeasibility, judged_point, minimised, ratio, row_violations
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.compiler.scaling import segment_max
from fsopt.solvers.spec import Outcome
from fsopt.typing import Vector

PROVES = {
    Kind.CONVEX: Status.OPTIMAL,
    Kind.MIXED_INTEGER: Status.OPTIMAL,
    Kind.GLOBAL: Status.OPTIMAL,
    Kind.KKT: Status.STATIONARY,
}
"""Kind of a certificate that holds -> the status that it verifies."""
APEX = 1e-9
"""A cone with a head below this is at its apex, in the units of the cone."""
LEAK = 1e-3
"""Largest leak at which a solver's bound counts. False optima of CBC and SCIP were found from 0.03 on."""


def step_result(program: Program, outcome: Outcome, solver: str) -> SolveResult | None:
    """Return the result of a step of a loop as its solver gives it, with its point measured and without a bound.

    None where that is no optimum, or its point is not next to one that meets every constraint: where its violations,
    but for those of a program with integers, are not as small beside the largest terms.
    """
    if outcome.status is not Status.OPTIMAL or outcome.point is None:
        return None
    x = judged_point(program, outcome.point.x)
    if program.discrete or not program.convex:
        return certified_result(program, outcome, solver) if infeasibility(program, x) <= FEASIBLE else None
    activity = arithmetic.plain(program.A, x)
    (violation, terms), cones = row_violations(program, x, activity), float(cone_errors(program, x).max(initial=0.0))
    violation += activity.error
    if not max(float(violation.max(initial=0.0)), cones) <= FEASIBLE * float(terms.max(initial=1.0)):
        return None
    residuals = {"infeasibility": max(float(ratio(violation, terms).max(initial=0.0)), cones)}
    certificate = make(Kind.FEASIBLE, residuals, objective=program.sign * minimised(program, x))
    point = replace(outcome.point, x=x)
    status = Status.FEASIBLE if certificate.ok else Status.NONE
    return _result(program, outcome, solver, status, certificate, point)


def certified_result(program: Program, outcome: Outcome, solver: str) -> SolveResult:
    """Turn a solver's outcome into a result.

    A point has the status that its certificate verifies, never the solver's own: ``optimal`` needs residuals and a gap
    recomputed here, and a point that meets the constraints is ``feasible`` whatever the solver says. The bound of a
    convex program is the value of a dual point that holds, else there is none; the bound of another program is the
    solver's, and the certificate names its source. A solver whose integer tolerance leaks through the large
    coefficients of a program has no bound, see ``believed``.
    """
    sign = program.sign
    outcome, doubt = believed(program, outcome, solver)
    if outcome.point is None or crossed(program):
        return _without_point(program, outcome, solver)
    point = replace(outcome.point, x=np.clip(outcome.point.x, program.lb, program.ub))
    bound = outcome.bound if outcome.bound is not None and np.isfinite(outcome.bound) else None
    stated = StatedBound(bound, solver, outcome.evidence, outcome.evidence_source)
    certificate = certify_point(program, point, stated)
    if doubt:
        certificate = replace(certificate, notes=(*certificate.notes, doubt))
    excluded = _excluded(certificate, sign)  # a point beyond a proved bound violates what it costs
    if certificate.kind is Kind.CONVEX:
        bound = sign * certificate.bound if proves(certificate) and certificate.bound is not None else None
    elif certificate.bound is None or excluded:
        bound = None
    feasible = supporting(program, certificate, Status.FEASIBLE, bounded=bound is not None)
    if certificate.ok or not feasible.ok:
        status = PROVES.get(certificate.kind, Status.FEASIBLE) if certificate.ok else Status.NONE
    else:
        status = Status.NONE if excluded and certificate.kind is Kind.CONVEX else Status.FEASIBLE
    said = certificate.notes if certificate.kind is Kind.FEASIBLE else None
    shown = feasible if status is Status.FEASIBLE else certificate
    result = _result(program, outcome, solver, status, shown, point, said)
    return replace(result, bound=None if bound is None else sign * bound)


def supporting(program: Program, found: Certificate, status: Status, *, bounded: bool) -> Certificate:
    """Return the certificate of a point as that of a claimed status: ``feasible`` needs no gap."""
    if status is not Status.FEASIBLE or found.ok or found.kind is Kind.NONE or program.unsupported:
        return found
    names = ["infeasibility", "rounding", "bounds", "integrality", *["remainder"] * bounded]
    residuals = {name: found.residuals[name] for name in names if name in found.residuals}
    return replace(found, kind=Kind.FEASIBLE, ok=make(Kind.FEASIBLE, residuals).ok, residuals=residuals)


def _result(
    program: Program,
    outcome: Outcome,
    solver: str,
    status: Status,
    certificate: Certificate,
    point: Point | None = None,
    said: Sequence[str] | None = None,
) -> SolveResult:
    """Return a result with the evidence of an outcome, without a bound; with its words where nothing else is said."""
    return SolveResult(
        status=status,
        stop=outcome.stop,
        objective=certificate.objective,
        bound=None,
        solver=solver,
        seconds={},
        iterations=outcome.iterations,
        certificate=certificate,
        point=point,
        message="; ".join(part for part in (*((outcome.message,) if said is None else said), outcome.failed) if part),
        constraint_duals=() if point is None else _shadow_prices(program, point),
        ray=outcome.ray if point is None else None,
        direction=outcome.direction if point is None else None,
        evidence=outcome.evidence,
        evidence_source=outcome.evidence_source,
    )


def _excluded(certificate: Certificate, sign: float) -> bool:
    """Return whether a feasible point has a value beyond the bound of the solver, which is then none."""
    if certificate.bound is None or certificate.objective is None or not proves(certificate):
        return False
    excess = sign * (certificate.bound - certificate.objective)
    return excess > certificate.tolerance * max(1.0, abs(certificate.objective))


def _without_point(program: Program, outcome: Outcome, solver: str) -> SolveResult:
    """Return the result of a solve without a point: infeasible or unbounded only with a certificate that holds."""
    # The word of a solver whose search cannot be repeated is its reason to stop, and no status.
    certificate = certify_without_point(program, outcome.ray, outcome.direction, outcome.evidence)
    if not certificate.ok and outcome.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        note = f"that it is {outcome.status} is the word of {solver}, whose search is not repeated"
        certificate = Certificate(Kind.NONE, False, {}, bound_source=solver, notes=(note,))
    bound = None if certificate.ok or outcome.bound is None else program.sign * outcome.bound
    stop = str(Status.INFEASIBLE) if crossed(program) else outcome.stop
    result = _result(program, outcome, solver, Status(certificate.kind) if certificate.ok else Status.NONE, certificate)
    return replace(result, bound=bound, stop=stop, objective=None)


def _shadow_prices(program: Program, point: Point) -> tuple[tuple[pyo.Constraint, float], ...]:
    """Return pairs of a constraint and d objective / d right-hand side, for linear constraints and for cones."""
    # A cone is the constraint q(x) = f(|t|^2 - s_0^2) <= 0 of the user with (s_0, t) = Gx + h. Its shadow price lambda
    # satisfies lambda grad q = G'z with the multipliers z of the cone, so z = 2 lambda f (-s_0, t), and lambda = -z_0 /
    # (2 f s_0). At the apex the gradient vanishes: nan.
    if point.y is None or point.z is None:
        return ()
    rows = (*program.constraints, *(row.constraint for row in program.general))
    prices = zip(rows, (program.sign * point.y).tolist(), strict=False)
    cones = program.cones
    if not len(cones):
        return tuple(prices)
    heads = (cones.G @ point.x + cones.h)[cones.starts[:-1]]
    at_apex = np.abs(heads) < APEX
    quadratic = -point.z[cones.starts[:-1]] / (2 * np.where(at_apex, np.nan, heads)) / cones.scale
    return (*prices, *zip(cones.constraints, (program.sign * cones.sense * quadratic).tolist(), strict=True))


def load_values(program: Program, point: Point, shadow_prices: ComponentMap) -> None:
    """Write values, shadow prices and reduced costs into the Pyomo model, where none of an earlier solve stay."""
    for variable, value in zip(program.variables, point.x.tolist(), strict=True):
        if not variable.fixed:
            variable.set_value(value, skip_validation=True)
            variable.stale = False
    for name in ("dual", "rc"):
        if isinstance(program.model.component(name), pyo.Suffix):
            program.model.component(name).clear()
    priced = priced_variables(program, point)
    if not priced:
        return
    dual, rc = _suffix(program.model, "dual"), _suffix(program.model, "rc")
    quadratic = [c for c, order in zip(program.cones.constraints, program.cones.orders, strict=True) if not order]
    for constraint in (*program.constraints, *quadratic, *(row.constraint for row in program.general)):
        dual[constraint] = shadow_prices[constraint]
    for variable, value in priced:
        rc[variable] = value


def priced_variables(program: Program, point: Point) -> list[tuple[pyo.Var, float]]:
    """Return pairs of a variable and its reduced cost, d objective / d bound; none without multipliers of all rows."""
    y, z = point.y, point.z
    if y is None or z is None or len(y) != len(program.constraints) + len(program.general):
        return []
    return list(zip(program.variables, (program.sign * reduced_costs(program, point)).tolist(), strict=True))


def valued_variables(program: Program, point: Point) -> list[tuple[pyo.Var, float]]:
    """Return pairs of a variable and its value, for those in the objective or a constraint that are not fixed."""
    used = program.c != 0.0
    for matrix in (program.A, program.P, program.cones.G):
        used[sp.coo_matrix(matrix).col] = True
    used[derivatives_of(program).jacobian_pattern.columns] = True
    pairs = zip(program.variables, point.x.tolist(), used.tolist(), strict=True)
    return [(variable, value) for variable, value, occurs in pairs if occurs and not variable.fixed]


def _suffix(model: pyo.ConcreteModel, name: str) -> pyo.Suffix:
    if model.component(name) is None:
        model.add_component(name, pyo.Suffix(direction=pyo.Suffix.IMPORT))
    return model.component(name)


def big_m(program: Program) -> float:
    """Return the largest coefficient of an integer variable relative to the continuous terms beside it, else 0."""
    p, units = program, program.scaling
    continuous, integer = np.where(p.integer, 0.0, units.columns), p.integer.astype(float)
    whole, rest = _largest_term(p.A, integer), _largest_term(p.A, continuous)
    if len(p.cones):
        G, starts = (units.cone @ p.cones.G).tocsr(), p.cones.starts[:-1]
        whole = np.append(whole, np.maximum.reduceat(_largest_term(G, integer), starts))
        rest = np.append(rest, np.maximum.reduceat(_largest_term(G, continuous), starts))
    both = rest > 0.0
    return float((whole[both] / rest[both]).max(initial=0.0))


def believed(program: Program, outcome: Outcome, solver: str) -> tuple[Outcome, str]:
    r"""Return an outcome without the claims that a large leak invalidates, and the reason; else as it is, and "".

    A solver takes an integer within :math:`\epsilon` of a whole number for it. In :math:`w \le Mt` this allows :math:`w
    = \epsilon M` at "t = 0". The *leak* of a program is the largest :math:`\epsilon |a_{ij}|` of an integer variable in
    a linear constraint or a cone, relative to the largest term of its continuous variables at unit size, in balanced
    units. From a leak of 1 on the integers bind nothing: a relaxation looks integer, the solver ends its branch with
    the value of the rounded point, and what it calls a bound excludes the optimum. Within a leak of :data:`LEAK` an
    integer moves no continuous variable by more than this fraction of its unit. Above it the solver's bound is dropped,
    and its words infeasible, without a Farkas vector, and unbounded become the status ``none``.
    """
    if not program.integer.any() or (outcome.bound is None and outcome.point is not None):
        return outcome, ""
    largest = big_m(program)
    leak = outcome.integer_tolerance * largest
    if leak <= LEAK:
        return outcome, ""
    reason = (
        f"the bound of {solver} does not count: its integer tolerance {outcome.integer_tolerance:.0e} times a "
        f"coefficient of {largest:.1e} moves a continuous variable by {leak:.0e} of its unit, and {LEAK:g} is safe; "
        "take a smaller big-M, features of size 1 or a solver with a smaller tolerance"
    )
    stated = outcome.status in (Status.INFEASIBLE, Status.UNBOUNDED) and outcome.ray is None
    status, stop = (Status.NONE, "numerical") if stated else (outcome.status, outcome.stop)
    return replace(outcome, bound=None, status=status, stop=stop, message=reason), reason


def _largest_term(matrix: sp.csr_matrix, x: Vector) -> Vector:
    """Return the largest absolute term of each row of ``matrix @ x``."""
    return segment_max(np.abs(matrix.data * x[matrix.indices]), matrix.indptr)
