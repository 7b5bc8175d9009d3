r"""The cost of the violations at a point: what its objective value is once the point meets every constraint.

A violation that is small in the units of the program may be all of a constraint whose terms are smaller still. A margin
:math:`\gamma \le 10^7` gives its slacks :math:`\xi \ge 0` the unit :math:`10^7`; where the margin is 21, slacks of
-0.015 are within every tolerance in this unit, and change the objective by a third of a percent. So the bound of a
solver is compared with the value of a point that was repaired, not with that of the point itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.residuals import block_norms, primal_residual
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.typing import Vector

SMALL = 1e-8
"""Lower bound of the slope of a general constraint, by which its violation is divided, see :func:`violation`."""
ROUNDING = 1e-13
"""A relative violation that is the error of the evaluation: there is nothing to repair."""
ROUNDS = 4
"""Linear programs of a repair: each leaves the square of the violation before it."""
LEFT = 1e-3
"""Share of the violation that may be left by a repair."""
REACH = (10.0, 1e3, 1e6, np.inf)
"""Largest change of a variable in a repair, as multiples of the violation; a unit plus the size of x at most."""
STEP = 1e-3
"""Price of a change of a variable by its reach, in that of the dearest variable: of equal steps the shortest."""


def minimised(program: Program, x: Vector) -> float:
    """Return the objective value of the minimisation form at x, with all terms."""
    other = float(derivatives_of(program).values(x)[-1]) if program.objective_terms else 0.0
    return program.sign * program.objective_at(x) + other


def slopes(program: Program, x: Vector) -> Vector:
    """Return for each general constraint its largest change, to first order, by a change of one variable.

    The change of a variable is its unit plus its absolute value.
    """
    J = abs(derivatives_of(program).jacobian(x)[:-1])
    change = J.multiply(program.scaling.columns + np.abs(x)).tocsr()
    largest: Vector = change.max(axis=1).toarray().ravel() if change.shape[0] else np.zeros(0)
    return np.maximum(largest, SMALL)


def violation(program: Program, x: Vector) -> float:
    """Return the largest violation of a general constraint at x, as a relative distance to first order.

    A violation e of g(x) <= u is repaired, to first order, by a relative change e / slope of one variable, whatever the
    units of g. Near a point with slope 0, the apex of a cone written as a quadratic constraint for example, a small
    violation is a large distance. The slope is at least :data:`SMALL`, as the quotient means nothing at slope 0.
    """
    if not program.general:
        return 0.0
    other = derivatives_of(program)
    g = other.values(x)[:-1]
    excess = np.maximum(np.maximum(other.lo - g, g - other.hi), 0.0) / slopes(program, x)
    return float(np.where(np.isnan(excess), np.inf, excess).max())


def repair_cost(program: Program, x: Vector) -> float:
    """Return by how much the repair of x (n,) raises the minimisation form; infinity where no repair was found."""
    point = repaired(program, x)
    return np.inf if point is None else max(minimised(program, point) - minimised(program, x), 0.0)


def repaired(program: Program, x: Vector) -> Vector | None:
    r"""Return a point near x (n,) that meets every constraint, with the same integers; None where none was found.

    Each round solves the linear program

    .. math::

        \min_d\ \nabla f(x)'d + \epsilon \|d\| \quad \text{s.t.}\quad
        & \ell \le A(x + d) \le u, \quad \underline x \le x + d \le \overline x, \quad |d_j| \le \rho\,(v_j + |x_j|) \\
        & \underline g \le g(x) + \nabla g(x)d \le \overline g, \quad
          \|s_k\| + s_k'(G_kd) / \|s_k\| \le t_k + a_k'd

    for the first reach rho in :data:`REACH` at which x + d has a smaller violation, with the units v of the variables
    and each cone :math:`(t_k, s_k)` and its gradient at x, and goes to x + d. Near the apex of a cone the gradient says
    little of other points, and the cheapest step may violate more than x does: the shortest step, without the term of
    f, is tried next. The point that comes out is evidence whatever way led to it: it has no violation beyond the error
    of its evaluation, and its value bounds the optimum.
    """
    first = short = _short(program, x)
    for _ in range(ROUNDS):
        if short <= ROUNDING:
            break
        better = next(((y, left) for y in _repairs(program, x, short) if (left := _short(program, y)) < short), None)
        if better is None:
            break
        x, short = better
    return x if short <= max(ROUNDING, LEFT * first) else None


def _repairs(program: Program, x: Vector, short: float) -> Iterator[Vector]:
    """Yield the points of one round, for each reach the cheapest and the shortest step from x."""
    for reach in REACH:
        for price in (_gradient(program, x), np.zeros(program.n)):
            step = _step(program, x, min(reach * short, 1.0), price)
            if step is None:
                break
            yield x + step


def _short(program: Program, x: Vector) -> float:
    return max(primal_residual(program, x), violation(program, x))


def _step(program: Program, x: Vector, reach: float, price: Vector) -> Vector | None:
    """Return the step d (n,) of least price in a reach; None where the linear program has no point or no numbers."""
    from scipy.optimize import linprog

    unit = np.where(program.integer, 0.0, reach * (program.scaling.columns + np.abs(x)))
    low = np.where(program.integer, 0.0, np.maximum(-unit, program.lb - x))
    low = np.where(program.integer, 0.0, np.minimum(low, np.maximum(program.ub - x, -unit)))
    high = np.where(program.integer, 0.0, np.maximum(low, np.minimum(unit, program.ub - x)))
    rows, least, most = _linearised(program, x)
    size = np.maximum(np.abs(low), np.abs(high))
    far = abs(rows) @ size
    kept = np.flatnonzero((far > 0.0) & ((least > -far) | (most < far)))
    rows, far = rows[kept], far[kept]
    scaled = sp.csr_matrix(sp.diags(1.0 / far) @ rows @ sp.diags(size))
    least, most = least[kept] / far, most[kept] / far
    below, above = least > -1.0, most < 1.0
    sides = sp.vstack([scaled[above], -scaled[below]])
    price = price * size
    if not (np.isfinite(price).all() and np.isfinite(sides.data).all()):
        return None
    price /= max(float(np.abs(price).max(initial=0.0)), 1e-300)
    low, high = (np.divide(v, size, out=np.zeros_like(v), where=size > 0.0) for v in (low, high))
    ends = [np.maximum(v, 0.0) for v in (low, high, -high, -low)]
    found = linprog(
        np.append(STEP + price, STEP - price),
        A_ub=sp.hstack([sides, -sides]) if sides.shape[0] else None,
        b_ub=np.append(most[above], -least[below]) if sides.shape[0] else None,
        bounds=np.column_stack([np.append(ends[0], ends[2]), np.append(ends[1], ends[3])]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False},
    )
    return (found.x[: program.n] - found.x[program.n :]) * size if found.status == 0 else None


def _linearised(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector]:
    """Return a matrix and the bounds of its product with a step: linear and general constraints, and cones, at x."""
    other, cones = derivatives_of(program), program.cones
    activity, g = program.A @ x, other.values(x)[:-1]
    parts = [program.A, other.jacobian(x)[:-1]]
    least = [program.lo - activity, other.lo - g]
    most = [program.hi - activity, other.hi - g]
    if len(cones):
        s, heads = cones.G @ x + cones.h, cones.starts[:-1]
        tails = np.sqrt(np.maximum(block_norms(program, s) ** 2 - s[heads] ** 2, 0.0))
        weights = s / np.repeat(np.where(tails > 0.0, tails, 1.0), cones.sizes)
        weights[heads] = -1.0
        weights[np.repeat(cones.orders > 0, cones.sizes)] = 0.0  # a semidefinite cone has no such gradient
        sums = sp.csr_matrix((weights, np.arange(len(s)), cones.starts), shape=(len(cones), len(s)))
        parts.append(sums @ cones.G)
        least.append(np.full(len(cones), -np.inf))
        most.append(np.where(cones.orders > 0, np.inf, s[heads] - tails))
    return sp.csr_matrix(sp.vstack(parts)), np.concatenate(least), np.concatenate(most)


def _gradient(program: Program, x: Vector) -> Vector:
    """Return the gradient (n,) of the minimisation form at x."""
    gradient: Vector = program.P @ x + program.c
    if program.objective_terms:
        gradient = gradient + derivatives_of(program).jacobian(x)[-1].toarray().ravel()
    return gradient
