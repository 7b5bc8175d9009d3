r"""Claims on optima, each with the exact interval that its evidence proves, or the reason why it proves none.

The interval around the optimum of a convex program ends at the value of a point, and at the bound of a dual point:

.. math::

    -\tfrac12 \hat x'P\hat x + c_0 + \sum_{y_i > 0} y_i \ell_i + \sum_{y_i < 0} y_i u_i
    + \sum_{r_j > 0} r_j \underline x_j + \sum_{r_j < 0} r_j \overline x_j
    - \sum (\alpha l_0 + \beta r_0 + \gamma'v_0) - \sum \langle Z, S_0 \rangle

is a lower bound, with the reduced costs r of :attr:`ExactProgram.reduced_costs` and the constants of the forms of cones
and matrices. Its proof is in docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.exact.program import ExactProgram, bounded, dual_start, exact_program, unit
from fsopt.certificates.exact.proofs import About, Part, Slope, evidence_data, program_data, statement
from fsopt.certificates.exact.repair import repaired
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import slopes
from fsopt.verifier.rationals import decimal
from fsopt.verifier.verify import LARGEST_GAP

VERIFIED = "verified exactly"
NOT_VERIFIED = "not verified exactly"


@dataclass(frozen=True)
class Claim:
    """One claim of an answer.

    Attributes
    ----------
    name : what is claimed, for people.
    lower, upper : the ends of the exact interval, in the model's own sense; None for an end that is not shown.
    holds : whether the claim follows from the interval, with the claimed gap.
    reason : why it does not, or what else there is to say; empty where nothing is.
    part : statement, program and evidence as plain data, one claim of a proof file; None where there is no evidence.
    about : from what the program is built.
    """

    name: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    holds: bool = False
    reason: str = ""
    part: Part | None = field(default=None, repr=False)
    about: About = field(default_factory=About)

    @property
    def width(self) -> Fraction | None:
        """The width of the interval, relative to its larger end or 1."""
        gap = None if self.part is None else self.part["statement"]["gap"]
        return None if gap is None else Fraction(gap)

    @property
    def status(self) -> str:
        """The status of the statement; empty where there is none."""
        return "" if self.part is None else str(self.part["statement"]["status"])

    def plain(self) -> dict[str, Any]:
        """Return the claim as plain data: ends as fractions, decimals rounded outward beside them."""
        width = self.width
        return {
            "claim": self.name,
            "verified": VERIFIED if self.holds else NOT_VERIFIED,
            "program": None if self.part is None else self.part["statement"]["program"],
            "lower": None if self.lower is None else str(self.lower),
            "upper": None if self.upper is None else str(self.upper),
            "interval": [
                None if self.lower is None else decimal(self.lower, up=False),
                None if self.upper is None else decimal(self.upper, up=True),
            ],
            "relative_width": None if width is None else decimal(width, up=True, digits=3),
            "reason": self.reason,
        }


def not_shown(name: str, reason: str) -> Claim:
    """Return a claim without an exact interval."""
    return Claim(name, reason=reason)


def claim_of(name: str, status: str, program: Part, evidence: Part, gap: float = 0.0) -> Claim:
    """Return the claim that evidence supports, its ends rounded outward to short numbers.

    ``optimal`` and ``stationary`` do not hold where the interval is wider than the gap, relative to its larger end;
    another status but ``infeasible`` claims the ends that there are.
    """
    try:
        found = statement(program, evidence)
    except NotShownError as error:
        return not_shown(name, error.message)
    if (found["status"] == "infeasible") != (status == "infeasible"):
        return not_shown(name, "there may be a feasible point" if status == "infeasible" else "nothing is shown")
    lower, upper, wide = (None if found[k] is None else Fraction(found[k]) for k in ("lower", "upper", "gap"))
    allowed, reason = min(Fraction(gap), LARGEST_GAP), ""
    if status in ("optimal", "stationary") and wide is not None and wide > allowed:
        reason = f"the relative gap is {decimal(wide, up=True, digits=3)}, above {float(allowed):g}"
    part = {"statement": {**found, "origin": None}, "program": program, "evidence": evidence}
    return Claim(name, lower, upper, holds=not reason, reason=reason, part=part)


@dataclass(frozen=True)
class Pair:
    """An exactly feasible point and dual point of a program; None where none was found, and the reasons say why."""

    program: ExactProgram
    x: tuple[Fraction, ...] | None
    dual: tuple[Fraction, ...] | None
    reasons: tuple[str, ...] = ()


def pair_of(program: Program, x: Floats, multipliers: Point | Floats | None) -> Pair:
    """Return the repaired primal and dual point of a convex program, its integers fixed at those of x (n,), rounded.

    The multipliers are those of a point, or the dual variables; NotShownError for a program without a form
    in rational numbers.
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
    """Return a feasible dual point near dual variables; NotShownError without one."""
    return tuple(repaired(exact.relaxed.duals, start))


def primal_point(exact: ExactProgram, x: Floats) -> tuple[Fraction, ...]:
    """Return a feasible point near x (n,), its integers at whole numbers; NotShownError without one."""
    points, rounded = exact.points, np.where(exact.integer, np.rint(x), x)
    integers = np.flatnonzero(exact.integer).tolist()
    values = [Fraction(rounded[j]) for j in integers]
    whole = bounded(map(unit, integers), values, values)
    return tuple(repaired(replace(points, constraints=(*points.constraints, *whole)), rounded))


def claim_of_pair(name: str, status: str, pair: Pair, gap: float, concave: Sequence[Slope] = ()) -> Claim:
    """Return the claim of a status, as :func:`claim_of`, from a repaired primal and dual point.

    The dual point is that of the linearisation of the ``concave`` terms of the objective.
    """
    if pair.x is None and pair.dual is None:
        return not_shown(name, "; ".join(pair.reasons))
    evidence = evidence_data(pair.program, pair.x, pair.dual)
    found = claim_of(name, status, program_data(pair.program, concave), evidence, gap)
    if status == "optimal" and pair.reasons and found.part is not None:
        return replace(found, holds=False, reason="; ".join(pair.reasons))
    return found


def claim_of_stationary(
    name: str, program: ExactProgram, x: tuple[Fraction, ...], concave: Sequence[Slope], start: Floats, gap: float
) -> Claim:
    """Return the claim that no feasible step improves the linearised objective at x by more than the gap.

    The costs of the columns of the concave terms are replaced in the program, and ``start`` are dual
    variables of the linearised one.
    """
    costs = list(program.c)
    for j, low, _ in slopes([(f, k, list(columns)) for f, k, columns in concave], list(x)):
        costs[j] = low
    try:
        dual = repaired_dual(replace(program, c=tuple(costs)), start)
    except NotShownError as error:
        return not_shown(name, f"the bound: {error.message}")
    return claim_of_pair(name, "stationary", Pair(program, x, dual), gap, concave)


def with_statement(claim: Claim, objective: float | None, bound: float | None, gap: float) -> Claim:
    """Return a claim after a look at the stated numbers: they must be within the claimed gap of the interval."""
    if not claim.holds:
        return claim
    ends = [end for end in (claim.lower, claim.upper) if end is not None]
    allowed = Fraction(gap) * max(Fraction(1), *map(abs, ends))
    for name, stated in (("objective", objective), ("bound", bound)):
        if stated is not None and any(abs(Fraction(stated) - end) > allowed for end in ends):
            reason = f"the stated {name} is not within the claimed gap of the interval"
            return replace(claim, holds=False, reason=reason)
    return claim
