r"""The exact interval around the optimum of a convex program: the value of a point, and the bound of a dual point.

.. math::

    -\tfrac12 \hat x'P\hat x + c_0 + \sum_{y_i > 0} y_i \ell_i + \sum_{y_i < 0} y_i u_i
    + \sum_{r_j > 0} r_j \underline x_j + \sum_{r_j < 0} r_j \overline x_j
    - \sum (\alpha l_0 + \beta r_0 + \gamma'v_0) - \sum \langle Z, S_0 \rangle

is a lower bound, with the reduced costs r of :attr:`ExactProgram.reduced_costs` and the constants of the forms of cones
and matrices. Its proof is in docs/exact.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.exact.program import ExactProgram, dual_start, exact_program
from fsopt.certificates.exact.repair import repaired
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats


@dataclass(frozen=True)
class Pair:
    """An exactly feasible point and an exactly feasible dual point of one program.

    Attributes
    ----------
    program : in rational numbers.
    x, dual : the two points; None where none was found, and then ``reasons`` says why.
    """

    program: ExactProgram
    x: tuple[Fraction, ...] | None
    dual: tuple[Fraction, ...] | None
    reasons: tuple[str, ...] = ()


def pair_of(program: Program, x: Floats, multipliers: Point | Floats | None) -> Pair:
    """Return the repaired primal and dual point of a convex program.

    Parameters
    ----------
    x : (n,) a point; integers are fixed at their rounded values.
    multipliers : a point with multipliers, or the dual variables (dual_size,) themselves; None for none.

    Raises
    ------
    NotShownError : the program has no form in rational numbers.
    """
    exact = exact_program(program)
    reasons = []
    primal = dual = None
    try:
        primal = primal_point(exact, x)
    except NotShownError as error:
        reasons.append(f"the value: {error.message}")
    if multipliers is None or (isinstance(multipliers, Point) and multipliers.y is None):
        reasons.append("the bound: the answer has no multipliers")
    else:
        try:
            start = dual_start(program, exact, multipliers) if isinstance(multipliers, Point) else multipliers
            dual = repaired_dual(exact, start)
        except NotShownError as error:
            reasons.append(f"the bound: {error.message}")
    return Pair(exact, primal, dual, tuple(reasons))


def repaired_dual(exact: ExactProgram, start: Floats) -> tuple[Fraction, ...]:
    """Return a feasible dual point near dual variables (dual_size,); NotShownError without one."""
    return tuple(repaired(exact.relaxed.duals, start))


def primal_point(exact: ExactProgram, x: Floats) -> tuple[Fraction, ...]:
    """Return a feasible point near x (n,), its integers at whole numbers.

    Raises
    ------
    NotShownError : none was found.
    """
    whole = {j: Fraction(int(np.rint(x[j]))) for j in np.flatnonzero(exact.integer).tolist()}
    for j, value in whole.items():
        lo, hi = exact.lb[j], exact.ub[j]
        if (lo is not None and value < lo) or (hi is not None and value > hi):
            raise NotShownError("an integer is outside its bounds")
    fixed = exact.with_fixed(whole) if whole else exact
    return tuple(repaired(fixed.points, np.where(exact.integer, np.rint(x), x)))
