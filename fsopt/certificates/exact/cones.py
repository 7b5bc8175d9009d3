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

from fsopt.certificates.exact.forms import ZERO, Form, stacked
from fsopt.compiler import Program
from fsopt.compiler.expressions import read_row
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
    """Return the place-th second-order cone of a program, from the constraint behind it, as :func:`factored`."""
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
    """Return the cone of ``q(x) <= 0``, q given by its coefficients; NotShownError for one of another form."""
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
    coefficients, offsets = stacked(cone.forms, len(functional))
    forms = np.column_stack([coefficients.toarray(), offsets])
    used, sizes = forms.any(axis=0), np.linalg.norm(forms, axis=1)
    sizes[sizes == 0.0] = 1.0  # of forms of unit size that are alike, the shares are: their product is largest
    target = np.append(functional, constant)[used]
    shares = np.linalg.lstsq((forms[:, used] / sizes[:, None]).T, target, rcond=None)[0]
    return [float(v) for v in shares / sizes]
