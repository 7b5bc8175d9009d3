"""Certificates of solved models: the evidence that fits the problem class, recomputed from the arrays."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.convex import dual_point, farkas
from fsopt.certificates.nonconvex import certify_nonconvex
from fsopt.certificates.residuals import primal_residual, relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import convex
from fsopt.results import Point, SolveResult


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
    program = compile_model(model)
    if result.point is None and result.ray is not None:
        return farkas(program, result.ray)
    if result.point is None:
        return Certificate(Kind.NONE, False, {}, notes=("there is no point to check",))
    bound = None if result.bound is None else program.sign * result.bound
    certificate = certify_point(program, result.point, bound=bound, source=result.solver)
    if program.unsupported:
        unseen = ", ".join(f"{kind} ('{name}')" for kind, name in program.unsupported.items())
        return dataclasses.replace(certificate, ok=False, notes=(f"not looked at: {unseen}", *certificate.notes))
    return certificate


def certify_point(program: Program, point: Point, *, bound: float | None = None, source: str = "") -> Certificate:
    """Certify a point of a program; ``bound`` is a claimed lower bound of its minimisation form.

    The claim is not used for a convex program with multipliers, which is bounded by its own dual point.
    """
    if program.nonconic or not convex(program.P):
        return certify_nonconvex(program, point, bound=bound, source=source)
    x = point.x
    residuals = {"primal": primal_residual(program, x)}
    value = program.sign * program.objective_at(x)
    objective = program.sign * value
    if program.integer.any():
        residuals["integrality"] = float(np.abs(x - np.round(x))[program.integer].max(initial=0.0))
        if bound is None:
            return make(Kind.FEASIBLE, residuals, objective=objective)
        residuals["gap"] = relative_gap(value, bound)
        return make(Kind.MIXED_INTEGER, residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    if point.y is None or point.z is None:
        if bound is None:
            return make(Kind.FEASIBLE, residuals, objective=objective)
        residuals["gap"] = relative_gap(value, bound)
        return make(Kind.GLOBAL, residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    dual_bound, dual = dual_point(program, point)
    residuals |= dual | {"gap": relative_gap(value, dual_bound)}
    return make(Kind.CONVEX, residuals, objective=objective, bound=program.sign * dual_bound, bound_source="dual point")
