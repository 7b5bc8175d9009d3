r"""Quadratic constraints as cones with rational coefficients, the same set of points without any rounding.

Every cone has the one form

.. math:: \sum_k \omega_k v_k(x)^2 \le l(x)\, r(x), \qquad l(x) \ge 0,\ r(x) \ge 0,

with affine forms v_k, l and r and rational weights :math:`\omega_k > 0`. Square roots of coefficients, which the
arrays for solvers need, do not occur: :math:`\|x\|^2 \le W` has l = W and r = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fsopt.certificates.exact.forms import ZERO, Form
from fsopt.compiler import Program
from fsopt.compiler.rows import read_row
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats


@dataclass(frozen=True)
class Cone:
    """The constraint ``sum_k weights_k tails_k(x)^2 <= left(x) right(x)`` with ``left, right >= 0``."""

    tails: tuple[Form, ...]
    weights: tuple[Fraction, ...]
    left: Form
    right: Form

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms left, right and the tails, in this order."""
        return (self.left, self.right, *self.tails)


def cone_of(program: Program, place: int) -> Cone:
    """Return the place-th second-order cone of a program, from the constraint behind it.

    Raises
    ------
    NotShownError : the quadratic part is neither a sum of squares nor a sum of squares less one product.
    """
    row = read_row(program.cones.constraints[place], program.column)
    sign = 1 if program.cones.sense[place] > 0 else -1
    bound = Fraction(row.hi if sign > 0 else row.lo)
    quadratic: dict[tuple[int, int], Fraction] = {}
    for i, j, v in row.terms.quadratic:
        key = (min(i, j), max(i, j))
        quadratic[key] = quadratic.get(key, ZERO) + sign * Fraction(v)
    linear = {j: sign * Fraction(v) for j, v in row.terms.affine(program.column).items() if v}
    constant = sign * (Fraction(row.terms.constant) - bound)
    cone = factored({k: v for k, v in quadratic.items() if v}, linear, constant)
    if cone.right.columns and not all(_nonnegative(program, form) for form in (cone.left, cone.right)):
        raise NotShownError("the factors of a cone are not nonnegative by their bounds", "give them lower bounds 0")
    return cone


def _nonnegative(program: Program, form: Form) -> bool:
    """Return whether the bounds of the variables imply that a form without a constant is nonnegative."""
    pairs = zip(form.columns, form.values, strict=True)
    return all(program.lb[j] >= 0 if v > 0 else program.ub[j] <= 0 for j, v in pairs)


def factored(quadratic: Mapping[tuple[int, int], Fraction], linear: Mapping[int, Fraction], constant: Fraction) -> Cone:
    """Return the cone of ``q(x) <= 0``, q given by its coefficients.

    Raises
    ------
    NotShownError : q has another form than those of the module.
    """
    squares = {i: v for (i, j), v in quadratic.items() if i == j and v > 0}
    others = {key: v for key, v in quadratic.items() if key not in {(i, i) for i in squares}}
    tails = tuple(Form.of([j], [Fraction(1)]) for j in squares)
    weights = tuple(squares.values())
    if not others:
        bound = Form.of(list(linear), [-v for v in linear.values()], -constant)
        return Cone(tails, weights, bound, Form.of([], [], Fraction(1)))
    common = set.intersection(*({i, j} for i, j in others))
    if linear or constant or not common:
        raise NotShownError("a quadratic constraint is no sum of squares less one product", "write it as w^2 <= s t")
    head = min(common)
    partners = {(j if i == head else i): -v for (i, j), v in others.items()}
    return Cone(tails, weights, Form.of([head], [Fraction(1)]), Form.of(list(partners), partners.values()))


def dual_of(cone: Cone, functional: Floats, constant: float) -> list[float]:
    r"""Return :math:`(\alpha, \beta, \gamma)` with :math:`\alpha l + \beta r + \gamma'v` near a linear functional.

    Parameters
    ----------
    functional, constant : coefficients (n,) and constant of the functional, the product of a multiplier of the arrays
        with its cone.
    """
    left, right = (_array(form, len(functional)) for form in (cone.left, cone.right))
    gammas = []
    for tail in cone.tails:
        (column,) = tail.columns
        inner = left[column] != 0 or right[column] != 0
        gammas.append(0.0 if inner else float(functional[column]) / float(tail.coefficient(0)))
    target = np.append(functional, constant)
    used = np.flatnonzero(left) if not right.any() else np.flatnonzero((left != 0) | (right != 0))
    pair = np.column_stack([left, right])[used]
    if not len(used):
        return [0.0, 0.0, *gammas]
    (alpha, beta), _, rank, _ = np.linalg.lstsq(pair, target[used], rcond=None)
    if rank < 2:  # l is a multiple of r: the two shares are best where their products with l and r are equal
        place = int(used[0])
        half = 0.5 * (alpha * left[place] + beta * right[place])
        alpha, beta = half / left[place], half / right[place]
    return [float(alpha), float(beta), *gammas]


def _array(form: Form, n: int) -> Floats:
    """Return the coefficients of a form in floats, its constant last."""
    array = np.zeros(n + 1)
    for k, j in enumerate(form.columns):
        array[j] = float(form.coefficient(k))
    array[n] = float(form.offset)
    return array
