"""A set of points without its fixed variables: what remains may have an interior, which the repair of a point needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fsopt.certificates.exact.forms import ZERO, Form
from fsopt.certificates.exact.program import PointSet
from fsopt.errors import NotShownError


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
