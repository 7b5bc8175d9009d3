r"""Certificates of programs that are not known to be convex: feasibility, first-order conditions, bounds of solvers.

With general constraints :math:`\ell \le g(x) \le u` and multipliers :math:`y_A, y_g, z` of linear constraints, general
constraints and cones, the reduced costs are

.. math:: r = \nabla f(x) - A'y_A - \nabla g(x)'y_g - G'z.

A multiplier in y or r is positive at a lower bound and negative at an upper bound. The residual ``stationarity`` is the
largest reduced cost without a bound, relative to the sum of its own terms, with :math:`|\nabla^2 L||x|` for the
functions L. The residual ``complementarity`` is the sum of each multiplier times the distance of its constraint to its
bound, relative to the objective value. Both vanish at a Karush-Kuhn-Tucker point. Such a point is stationary; it need
not be a minimum.

The bound of a solver is its word. It counts where the bounds of the variables, or ranges by propagation, give every
term that is not convex an estimator: a solver that searches a box of its own bounds another program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyomo.common.collections import ComponentMap
from pyomo.common.errors import InfeasibleConstraintException, IntervalException
from pyomo.contrib.fbbt.expression_bounds_walker import ExpressionBoundsVisitor
from pyomo.core.expr.numeric_expr import PowExpression, UnaryFunctionExpression
from pyomo.core.expr.numvalue import is_potentially_variable
from pyomo.core.expr.visitor import identify_variables

from fsopt.answers.certificate import FEASIBLE, REMAINDER, TOLERANCE, WORD, Certificate, Kind, make, merged
from fsopt.answers.results import Point
from fsopt.certificates import bounds
from fsopt.certificates.bounds import cleaned, ranges
from fsopt.certificates.convex import at_point, certify_convex, gap, open_gap
from fsopt.certificates.points import infeasibility, integrality, judged_point, minimised, ratio
from fsopt.compiler import Program
from fsopt.compiler.derivatives import Derivatives, derivatives_of
from fsopt.compiler.expressions import read
from fsopt.errors import SolverError
from fsopt.typing import Vector

DIRECTIONS = 8
"""Directions of negative curvature along which a better point than a solver's is looked for."""
LARGEST = 300
"""Variables in the objective up to which that is done."""


def certify_nonconvex(program: Program, point: Point, *, bound: float | None, source: str) -> Certificate:
    """Return the certificate of a point of a program that is not known to be convex.

    It is of kind ``global`` (``mixed-integer`` with integer variables) with the lower bound of the minimisation form
    that a solver, its source, reported; ``kkt`` with multipliers; ``feasible`` otherwise, and ``none`` if fsopt cannot
    evaluate a function of the program.
    """
    x = judged_point(program, point.x)
    try:
        value, residuals = minimised(program, x), at_point(program, point.x)
    except SolverError as error:
        return Certificate(Kind.NONE, False, {}, notes=(f"not checked: {error.message}",))
    objective = program.sign * value
    if program.discrete:
        residuals["integrality"] = integrality(program, point.x)
    notes: tuple[str, ...] = ()
    if bound is not None:
        name = _without_range(program, value)
        closed = gap(program, value, bound) <= TOLERANCE
        below = minimised(program, descended(program, x)) if closed else value
        if below < value and gap(program, value, below) > TOLERANCE:
            notes = (f"the bound of {source} does not hold: a feasible point has the value {program.sign * below:.9g}",)
        elif not name:
            residuals["gap"] = open_gap(program, x, value, bound)
            kind = Kind.MIXED_INTEGER if program.discrete else Kind.GLOBAL
            found = {"objective": objective, "bound": program.sign * bound}
            return make(kind, residuals, bound_source=f"{WORD}{source}", **found)
        else:
            notes = (f"the bound of {source} does not count: '{name}' has no range, by bounds or by propagation",)
    rows = program.A.shape[0] + len(program.general)
    if program.discrete or point.y is None or point.z is None or len(point.y) != rows:
        return make(Kind.FEASIBLE, residuals, objective=objective, notes=notes)
    first = _first_order(program, Point(x, point.y, point.z), value)
    return make(Kind.KKT, residuals | first, objective=objective, notes=notes)


def descended(program: Program, x: Vector) -> Vector:
    """Return a feasible point (n,) that is no worse than x: by steps along negative curvature and single variables.

    A solver that takes an indefinite form for a sum of squares stops where such a step leads to a corner of the box.
    """
    width = np.where(np.isfinite(program.ub - program.lb), program.ub - program.lb, np.maximum(np.abs(x), 1.0))
    curved = np.flatnonzero(((np.diff(program.P.indptr) > 0) | (program.c != 0.0)) & ~program.integer & (width > 0.0))
    if program.objective_terms or program.convex or not 0 < len(curved) <= LARGEST:
        return x
    unit = width[curved]
    values, vectors = np.linalg.eigh(unit[:, None] * program.P[curved][:, curved].toarray() * unit)
    bent = np.flatnonzero(values < 0.0)[:DIRECTIONS]
    directions = np.zeros((len(bent) + len(curved), program.n))
    directions[:, curved] = np.vstack([unit * vectors[:, bent].T, np.diag(unit)])
    for direction in np.tile(directions, (2, 1)):
        x = _lowest(program, x, direction)
    return x


def _lowest(program: Program, x: Vector, direction: Vector) -> Vector:
    """Return the best point (n,) on the line through x within bounds and rows, or x where other constraints end it."""
    rates = np.append(direction, program.A @ direction)
    at, low, high = (np.append(*v) for v in ((x, program.A @ x), (program.lb, program.lo), (program.ub, program.hi)))
    moving = rates != 0.0
    ends = np.sort([(side - at)[moving] / rates[moving] for side in (low, high)], axis=0)
    first, last = min(float(ends[0].max()), 0.0), max(float(ends[1].min()), 0.0)
    slope, curve = float((program.P @ x + program.c) @ direction), float(direction @ (program.P @ direction))
    steps = np.array([first, last, np.clip(-slope / curve, first, last) if curve > 0.0 else 0.0])
    steps = steps[np.isfinite(steps)]
    step = steps[np.argmin(slope * steps + 0.5 * curve * steps**2)]
    found = np.clip(x + step * direction, program.lb, program.ub)
    better = step != 0.0 and minimised(program, found) < minimised(program, x)
    return found if better and infeasibility(program, found) <= FEASIBLE else x


def _without_range(program: Program, value: float) -> str:
    """Return the name of a variable whose missing range leaves a term without an estimator; empty for none."""
    # The ranges are those of points which are not worse than a value. A product needs an interval for one factor and
    # an end for the other, a square that is not convex an interval, a monotone function of one affine form a smallest
    # value where it stands, and any other function intervals for all its variables.
    low, high = ranges(program, value)
    ends = np.isfinite(low).astype(int) + np.isfinite(high)
    lacking = [i if ends[i] < 2 else j for i, j in _quadratic_terms(program) if ends[i] + ends[j] < 3 + (i == j)]
    terms = [(program.sign * scale, node) for scale, node in program.objective_terms]
    for row in program.general:
        sides = [sign for sign, side in ((1.0, row.hi), (-1.0, row.lo)) if np.isfinite(side)]
        terms += [(sign * scale, node) for scale, node in row.terms.nonlinear for sign in sides]
    known = ComponentMap(zip(program.variables, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    for scale, node in terms:
        columns = [program.column[id(v)] for v in identify_variables(node)]
        if not _monotone(program, node):
            lacking += [j for j in columns if ends[j] < 2]
        elif _least(scale * node, known) == -np.inf:
            lacking += columns
    return str(program.variables[lacking[0]].name) if lacking else ""


def _monotone(program: Program, node: Any) -> bool:
    """Return whether an expression is a power, a root, an exponential or a logarithm of one affine form."""
    power = isinstance(node, PowExpression) and not is_potentially_variable(node.args[1])
    if not power and not (isinstance(node, UnaryFunctionExpression) and node.getname() in ("exp", "log", "sqrt")):
        return False
    inner = read(node.args[0], program.column)
    return inner is not None and inner.linear


def _least(term: Any, known: ComponentMap) -> float:
    """Return a number that a term is never below where its variables are in their ranges, -inf where none is found."""
    try:
        least, _ = ExpressionBoundsVisitor(known, use_fixed_var_values_as_bounds=True).walk_expression(term)
    except (InfeasibleConstraintException, IntervalException, KeyError):  # outside its domain, or an unknown function
        return -np.inf
    return float(least)


def _quadratic_terms(program: Program) -> Iterator[tuple[int, int]]:
    """Yield the columns of products, and twice that of squares, which are not convex where they stand."""
    if not program.convex_objective:
        P = program.P.tocoo()
        for i, j, v in zip(P.row.tolist(), P.col.tolist(), P.data.tolist(), strict=True):
            if i < j or (i == j and v < 0.0):
                yield i, j
    for row in program.general:
        for i, j, v in row.terms.quadratic:
            if i != j or np.isfinite(row.lo if v > 0.0 else row.hi):
                yield i, j


def reduced_costs(program: Program, point: Point) -> Vector:
    """Return the reduced costs r (n,) of the minimisation form; raises ParameterError without multipliers."""
    linear = linearised(program, point.x) if program.general or program.objective_terms else program
    return bounds.reduced_costs(linear, point.x, *point.multipliers)[0].value


def _first_order(program: Program, point: Point, value: float) -> dict[str, float]:
    """Return the residuals of the first-order conditions at a point with objective value ``value``."""
    x, linear = point.x, linearised(program, point.x)
    y, z = cleaned(linear, point)
    sums = bounds.reduced_costs(linear, x, y, z)[0]
    r, weights = sums.value, np.append(-y[program.A.shape[0] :], 1.0)
    terms = sums.terms + abs(program.P) @ np.abs(x) + _curvature(derivatives_of(program), x, weights)
    loose = ((r > 0.0) & ~np.isfinite(program.lb)) | ((r < 0.0) & ~np.isfinite(program.ub))
    products = _complementarity(y, linear.A @ x, linear.lo, linear.hi) + _complementarity(r, x, program.lb, program.ub)
    products += abs(float(z @ (program.cones.G @ x + program.cones.h)))
    stationarity = float(ratio(np.abs(r), terms)[loose].max(initial=0.0))
    return {"stationarity": stationarity, "complementarity": products / max(program.unit, abs(value))}


def _curvature(functions: Derivatives, x: Vector, weights: Vector) -> Vector:
    """Return |H||x| (n,) of the weighted sum of functions: what its gradient owes to the size of x, as |P||x|."""
    # A gradient of one term, as that of sin(x), has no other terms to be small against.
    pattern, entries = functions.hessian_pattern, np.abs(functions.hessian_values(x, weights))
    i, j = pattern.rows, pattern.columns
    sizes = np.zeros(len(x))
    np.add.at(sizes, i, entries * np.abs(x[j]))
    np.add.at(sizes, j, np.where(i == j, 0.0, entries * np.abs(x[i])))
    return sizes


def _complementarity(multiplier: Vector, activity: Vector, low: Vector, high: Vector) -> float:
    """Return the sum of the sizes of multipliers times the distances of the activities to their finite bounds."""
    bound = np.where(multiplier > 0, low, high)
    finite = np.isfinite(bound)
    return float(np.abs(multiplier[finite]) @ np.abs(activity[finite] - bound[finite]))


def certify_smooth(program: Program, point: Point, source: str) -> Certificate:
    """Return the certificate of a point of a program that is convex by its structure, with nonlinear functions.

    The program linearised there has no larger value anywhere. What is small beside gradients of single terms is 0.
    """
    x, (y, z) = judged_point(program, point.x), point.multipliers
    linear, J = linearised(program, x), derivatives_of(program).jacobian(x, absolute=True)
    r = bounds.reduced_costs(linear, x, *cleaned(linear, Point(x, y, z)))[0]
    terms = r.terms + abs(program.P) @ np.abs(x) + J.T @ np.append(np.abs(y[program.A.shape[0] :]), 1.0)
    rest = np.where(np.abs(r.value) <= REMAINDER * terms, r.value, 0.0)
    linear = replace(linear, c=linear.c - rest, c0=linear.c0 + float(rest @ x))
    found = certify_convex(linear, x, Point(x, y, z), source)
    residuals = merged(at_point(program, point.x), found.residuals)
    notes = ("numerically: the gradients of the functions are rounded", *found.notes)
    return replace(found, residuals=residuals, ok=found.ok and make(Kind.FEASIBLE, residuals).ok, notes=notes)


def linearised(program: Program, x: Vector) -> Program:
    """Return the program of the gradients of objective and constraints at a point x (n,), with the same cones."""
    other = derivatives_of(program)
    J, g = other.jacobian(x), other.values(x)
    shift = J[:-1] @ x - g[:-1]
    gradient = program.P @ x + program.c + J[-1].toarray().ravel()
    return replace(
        program,
        P=sp.csc_matrix((program.n, program.n)),
        c=gradient,
        c0=minimised(program, x) - float(gradient @ x),
        A=sp.csr_matrix(sp.vstack([program.A, J[:-1]])),
        lo=np.append(program.lo, other.lo + shift),
        hi=np.append(program.hi, other.hi + shift),
        general=[],
        objective_terms=[],
        nonconic=[],
    )
