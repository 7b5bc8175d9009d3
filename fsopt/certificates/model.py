"""Certificates of solved models: evidence for each problem class, recomputed from the arrays."""

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
    """Return the certificate of a solve, recomputed from the present state of the model and the point in the result.

    Parameters
    ----------
    model : the Pyomo model that was solved.
    result : the result of :func:`fsopt.solve`.

    Returns
    -------
    Certificate
        Of kind ``convex`` (primal and dual residual and gap), ``mixed-integer`` (primal residual, integrality
        and the gap to the solver's bound), ``global`` (the same without integer variables), ``kkt`` (first-order
        conditions), ``infeasible`` (Farkas), or ``feasible`` (primal residual only, without multipliers).

    Notes
    -----
    The certificate is verified numerically, for the arrays of the model and independently of the solver's status. It is
    never valid for a model with constraints that the arrays do not contain: complementarities, SOS, disjunctions and
    logical constraints.
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
        return dataclasses.replace(certificate, ok=False, notes=(f"not checked: {unseen}", *certificate.notes))
    return certificate


def certify_point(program: Program, point: Point, *, bound: float | None = None, source: str = "") -> Certificate:
    """Return the certificate of a point of a program.

    Parameters
    ----------
    bound : lower bound of the minimisation form that a solver reported. It is not used for a convex program with
        multipliers: there the dual point gives the bound.
    source : name of the solver.
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
