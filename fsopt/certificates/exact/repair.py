r"""Points in floats made exactly feasible: a step inward that pays for rounding, then the equations in integers.

A linear program finds a direction d that leaves the equations alone and leads into the interior of everything else.
After the step :math:`\varepsilon d` each inequality has a slack of the order of :math:`\varepsilon`, far above the
errors of the equations, which are then solved exactly. How the direction was found does not matter: only a point that
satisfies every constraint in rational numbers is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fsopt.certificates.exact.directions import inward, tight
from fsopt.certificates.exact.forms import ZERO, Form, Vector, fractions_of
from fsopt.certificates.exact.linear import solution_of
from fsopt.certificates.exact.program import PointSet
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import satisfied

STEPS = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Lengths of the step inward, relative to the units of the variables, the shortest first."""
SHARES = (1e-3, 1e-7, 1.0)
"""Units of variables that are near 0, relative to the largest one: multipliers may all be as small as their costs."""


def repaired(points: PointSet, start: Floats) -> list[Fraction]:
    """Return a point of a set near a start (size,).

    Raises
    ------
    NotShownError : no step leads into the set.
    """
    try:
        return _repaired(points, points, start)
    except NotShownError:
        places = set(tight(points)) if points.inequalities else set()
        if not places:
            raise
        listed = list(enumerate(points.inequalities))
        equations = (*points.equations, *(f for k, f in listed if k in places))
        others = tuple(f for k, f in listed if k not in places)
        return _repaired(points, replace(points, equations=equations, inequalities=others), start)


def _repaired(whole: PointSet, points: PointSet, start: Floats) -> list[Fraction]:
    """Return a point of a set near a start, by steps into ``points``, the set with some inequalities as equations."""
    start = np.nan_to_num(start)
    held = reduced(points)
    points = held.points
    lower, upper = single_bounds(points)
    for j, value in held.fixed.items():
        lower[j] = upper[j] = start[j] = float(value)
    start = np.minimum(with_raised_heads(points, np.clip(start, lower, upper)), upper)
    reason = "no step inward makes the point exactly feasible"
    for share, step in [(0.0, 0.0), *((share, step) for share in SHARES for step in STEPS)]:
        moved = start if step == 0.0 else inward(points, start, step, (lower, upper), share)
        if moved is None:
            continue
        freedom = np.minimum(moved - lower, upper - moved)
        freedom = np.where(np.isinf(freedom), 1.0 + np.abs(moved), np.minimum(freedom, 1.0 + np.abs(moved)))
        exact = fractions_of(moved.tolist())
        for j, value in held.fixed.items():
            exact[j] = value
        try:
            found = solution_of(points.equations, exact, freedom)
        except NotShownError as error:
            reason = error.message
            continue
        if violated(whole, found) is None:
            return found
    raise NotShownError(reason)


def with_raised_heads(points: PointSet, start: Floats) -> Floats:
    """Return a point (size,) whose cones hold, in floats, where a factor of their product is one variable to raise.

    Of the two factors the one that has to grow less is raised, and both to the norm of the tails where both are small.
    """
    moved = start.copy()
    for cone in points.cones:
        left, right, *tails = (float(form.offset) + _slopes(form) @ moved[list(form.columns)] for form in cone.forms)
        square = float(sum(float(w) * v * v for w, v in zip(cone.weights, tails, strict=True)))
        if square <= left * right:
            continue
        norm = np.sqrt(square)
        choices = [(max(norm - left, 0.0), max(norm - right, 0.0))]
        choices += [(square / right - left, 0.0)] if right > 0 else []
        choices += [(0.0, square / left - right)] if left > 0 else []
        forms = (cone.left, cone.right)
        able = [c for c in choices if all(not more or len(f.columns) == 1 for more, f in zip(c, forms, strict=True))]
        for more, form in zip(min(able, key=sum, default=(0.0, 0.0)), forms, strict=True):
            if more:
                moved[form.columns[0]] += more / float(form.coefficient(0))
    return moved


def _slopes(form: Form) -> Floats:
    return np.array([float(form.coefficient(k)) for k in range(len(form.columns))])


def single_bounds(points: PointSet) -> tuple[Floats, Floats]:
    """Return the bounds (size,) that inequalities and cones on one variable alone imply, in floats inside them."""
    lower, upper = np.full(points.size, -np.inf), np.full(points.size, np.inf)
    heads = [form for cone in points.cones for form in (cone.left, cone.right)]
    for form in [*points.inequalities, *heads]:
        if len(form.columns) != 1:
            continue
        column, coefficient = form.columns[0], form.coefficient(0)
        value = -form.offset / coefficient
        near = float(value)
        if coefficient > 0:
            inside = near if Fraction(near) >= value else np.nextafter(near, np.inf)
            lower[column] = max(lower[column], inside)
        else:
            inside = near if Fraction(near) <= value else np.nextafter(near, -np.inf)
            upper[column] = min(upper[column], inside)
    return lower, np.maximum(lower, upper)


def violated(points: PointSet, point: Sequence[Fraction]) -> str | None:
    """Return the kind of a constraint that a point violates, None where it satisfies all, exactly."""
    held = Vector.of(point)
    if any(form.at(held) for form in points.equations):
        return "equation"
    if any(form.at(held) < 0 for form in points.inequalities):
        return "inequality"
    if any(not satisfied("cone", [form.at(held) for form in k.forms], list(k.weights)) for k in points.cones):
        return "cone"
    for matrix in points.matrices:
        if not satisfied("matrix inequality", [form.at(held) for form in matrix.entries], matrix.order):
            return "matrix inequality"
    return None


@dataclass(frozen=True)
class Reduced:
    """A set in fewer variables, and the values of the others."""

    points: PointSet
    fixed: Mapping[int, Fraction]


def reduced(points: PointSet) -> Reduced:
    """Return a set with every variable fixed that a single constraint fixes, one after another.

    Raises
    ------
    NotShownError : two constraints fix a variable at different values, or one without variables is violated.
    """
    fixed: dict[int, Fraction] = {}
    while True:
        found = _fixed_by(points)
        if not found:
            return Reduced(points, fixed)
        fixed |= found
        points = _without(points, found)


def _fixed_by(points: PointSet) -> dict[int, Fraction]:
    """Return the variables that single equations, or bounds that meet, fix."""
    found: dict[int, Fraction] = {}
    lower: dict[int, Fraction] = {}
    upper: dict[int, Fraction] = {}
    for form in points.equations:
        if len(form.columns) == 1:
            found[form.columns[0]] = -form.offset / form.coefficient(0)
    heads = [form for cone in points.cones for form in (cone.left, cone.right)]
    for form in [*points.inequalities, *heads]:
        if len(form.columns) != 1:
            continue
        j, value = form.columns[0], -form.offset / form.coefficient(0)
        if form.values[0] > 0:
            lower[j] = max(lower.get(j, value), value)
        else:
            upper[j] = min(upper.get(j, value), value)
    return found | {j: v for j, v in lower.items() if upper.get(j) == v}


def _without(points: PointSet, values: Mapping[int, Fraction]) -> PointSet:
    """Return a set with some variables replaced by their values."""
    equations = [_at(form, values) for form in points.equations]
    inequalities = [_at(form, values) for form in points.inequalities]
    cones = []
    for cone in points.cones:
        left, right, *tails = (_at(form, values) for form in cone.forms)
        if any(not form.columns and not form.constant for form in (left, right)):
            equations += tails
            inequalities += [left, right]
        else:
            cones.append(replace(cone, tails=tuple(tails), left=left, right=right))
    if any(not f.columns and f.constant for f in equations) or any(
        not f.columns and f.constant < 0 for f in inequalities
    ):
        raise NotShownError("the fixed variables violate a constraint exactly")
    return replace(
        points,
        equations=tuple(f for f in equations if f.columns),
        inequalities=tuple(f for f in inequalities if f.columns),
        cones=tuple(cones),
        matrices=tuple(replace(m, entries=tuple(_at(f, values) for f in m.entries)) for m in points.matrices),
    )


def _at(form: Form, values: Mapping[int, Fraction]) -> Form:
    """Return a form with some variables replaced by their values."""
    if not any(j in values for j in form.columns):
        return form
    pairs = [(j, form.coefficient(k)) for k, j in enumerate(form.columns)]
    constant = form.offset + sum((v * values[j] for j, v in pairs if j in values), ZERO)
    rest = [(j, v) for j, v in pairs if j not in values]
    return Form.of([j for j, _ in rest], [v for _, v in rest], constant)
