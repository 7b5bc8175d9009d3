r"""Points in floats made exactly feasible: a step inward that pays for rounding, then the equations in integers.

The least change (:mod:`fsopt.certificates.near`) that leaves each inequality a slack of the order of
:math:`\varepsilon` leads into the interior of everything but the equations. The slack is far above their errors, and
they are then solved exactly. How the change was found does not matter: only a point that satisfies every constraint in
rational numbers is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.certificates.exact.linear import solution_of, stacked
from fsopt.certificates.exact.program import CONE, PointSet, times
from fsopt.certificates.near import inward
from fsopt.compiler import Program, compile_model
from fsopt.compiler.cones import ConeStack
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import satisfied
from fsopt.verifier.rationals import common

STEPS = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Lengths of the step inward, relative to the units of the variables, the shortest first."""
SHARES = (1e-3, 1e-7)
"""Units of variables that are near 0, relative to the largest one: multipliers may all be as small as their costs."""
TIGHT = 1e-5
"""Slack of an inequality that may be an equation at every point near a start, in the units of its variables."""


def repaired(points: PointSet, start: Floats) -> list[Fraction]:
    """Return a point of a set near a start (size,), by the shortest step inward that leaves the equations a solution.

    Where no step leads inward, the inequalities that the start meets with equality are equations, too. NotShownError
    where none leads into the set.
    """
    arrays = in_floats(points)
    start = np.clip(np.nan_to_num(start), arrays.lb, arrays.ub)
    lower, upper = points.limits
    fixed = {j: value for j, value in lower.items() if upper.get(j) == value}
    activity, near = arrays.A @ start, TIGHT * (abs(arrays.A) @ _units(start, SHARES[0]))
    equal = arrays.lo == arrays.hi
    low, high = activity - arrays.lo <= near, arrays.hi - activity <= near
    reason = "no step inward makes the point exactly feasible"
    for at_low, at_high in ((equal, equal), (equal | low, equal | (high & ~low))):
        held = replace(arrays, lo=np.where(at_high, arrays.hi, arrays.lo), hi=np.where(at_low, arrays.lo, arrays.hi))
        ends = zip(points.rows, at_low.tolist(), at_high.tolist(), strict=True)
        equations = [form.less(lo if first else hi) for (form, lo, hi), first, last in ends if first or last]
        for step, share in [(0.0, 0.0), *product(STEPS, SHARES)]:
            moved = start if step == 0.0 else inward(held, start, _units(start, share), step)
            if moved is None:
                continue
            freedom = np.minimum.reduce([moved - held.lb, held.ub - moved, 1.0 + np.abs(moved)])
            doubles = [fixed.get(j, Fraction(value)) for j, value in enumerate(moved.tolist())]
            try:
                found = solution_of(equations, doubles, freedom)
                if inside(points, found):
                    return found
            except (NotShownError, ValueError) as error:  # numbers without a common denominator, too
                reason = str(error)
    raise NotShownError(reason)


def _units(start: Floats, share: float) -> Floats:
    """Return by how much each variable may change: its size, and at least a share of the largest one, or 1."""
    units: Floats = np.abs(start) + (share * np.abs(start).max(initial=0.0) or 1.0)
    return units


def in_floats(points: PointSet) -> Program:
    """Return a set as arrays: bounds of single variables inside them, everything else rounded."""
    A, _ = stacked([form for form, *_ in points.rows], points.size)
    lo = np.array([-np.inf if low is None else float(low - form.offset) for form, low, _ in points.rows])
    hi = np.array([np.inf if high is None else float(high - form.offset) for form, _, high in points.rows])
    G, h = stacked([form for _, forms, _ in points.others for form in forms], points.size)
    turns = [
        sp.block_diag([[[0.5, 0.5], [0.5, -0.5]], *np.sqrt(np.array(rule, dtype=float))])
        if kind == CONE
        else sp.diags(np.sqrt(times(kind, forms, rule)))
        for kind, forms, rule in points.others
    ]
    turn = sp.block_diag(turns, format="csr") if turns else sp.csr_matrix((0, 0))
    orders = np.array([0 if kind == CONE else rule for kind, _, rule in points.others], dtype=int)
    cones = ConeStack(
        G=sp.csr_matrix(turn @ G),
        h=turn @ h,
        starts=np.cumsum([0, *(part.shape[0] for part in turns)]),
        constraints=[None] * len(orders),
        pairs=(orders == 0).astype(int),
        scale=np.full(len(orders), np.nan),
        sense=np.ones(len(orders)),
        orders=orders,
    )
    lower, upper = single_bounds(points)
    return replace(
        compile_model(pyo.ConcreteModel()),
        P=sp.csc_matrix((points.size, points.size)),
        c=np.zeros(points.size),
        A=A,
        lo=lo,
        hi=hi,
        lb=lower,
        ub=upper,
        integer=np.zeros(points.size, dtype=bool),
        cones=cones,
    )


def single_bounds(points: PointSet) -> tuple[Floats, Floats]:
    """Return the bounds (size,) that constraints on one variable alone imply, in floats inside them."""
    lower, upper = np.full(points.size, -np.inf), np.full(points.size, np.inf)
    for ends, limits, way in zip((lower, upper), points.limits, (1, -1), strict=True):
        for j, value in limits.items():
            near = float(value)
            ends[j] = np.nextafter(near, way * np.inf) if way * Fraction(near) < way * value else near
    return lower, np.maximum(lower, upper)


def inside(points: PointSet, point: Sequence[Fraction]) -> bool:
    """Return whether a point satisfies every constraint of a set, exactly."""
    held = common(point)
    return all(satisfied(kind, [form.at(held) for form in forms], rule) for kind, forms, rule in points.constraints)
