"""Claims on optima, each with the exact interval that its evidence proves, or the reason why it proves none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fsopt.answers.certificate import TOLERANCE
from fsopt.answers.trees import Tree
from fsopt.certificates.exact.encoding import Part, encoded
from fsopt.certificates.exact.forms import decimal, rounded
from fsopt.certificates.exact.intervals import Pair, primal_point, repaired_dual, value_at
from fsopt.certificates.exact.program import ExactProgram, exact_program
from fsopt.certificates.exact.proofs import (
    LARGEST_GAP,
    Slope,
    claim_of,
    confirmed,
    dual_data,
    program_data,
    relative_width,
    slope_costs,
)
from fsopt.certificates.exact.trees import tree_part
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats

VERIFIED = "verified exactly"
NOT_VERIFIED = "not verified exactly"


@dataclass(frozen=True)
class About:
    """The program that a claim is about.

    Attributes
    ----------
    program : slug of a model, or ``selection``.
    parameters : of the program.
    rows, columns : samples and features of it, by place; None for all.
    units : of its features after preprocessing: ``given``, or ``rms`` where each has a root mean square of 1.
    """

    program: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[int] | None = None
    columns: Sequence[int] | None = None
    units: str = "given"


@dataclass(frozen=True)
class Claim:
    """One claim of an answer.

    Attributes
    ----------
    name : what is claimed, for people.
    lower, upper : the ends of the exact interval, in the model's own sense; None for an end that is not shown.
    holds : whether the claim follows from the interval, with the claimed gap.
    reason : why it does not, or what else there is to say; empty where nothing is.
    part : the evidence in plain data; None where there is none.
    about : the program.
    sign : +1 for a minimum, -1 for a maximum, whose part is about its negative.
    """

    name: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    holds: bool = False
    reason: str = ""
    part: Part | None = None
    about: About = field(default_factory=About)
    sign: int = 1

    @property
    def width(self) -> Fraction | None:
        """The width of the interval, relative to its larger end or 1."""
        return None if self.lower is None or self.upper is None else relative_width(self.lower, self.upper)

    def plain(self) -> dict[str, Any]:
        """Return the claim as plain data: ends as fractions, decimals rounded outward beside them."""
        width = self.width
        return {
            "claim": self.name,
            "verified": VERIFIED if self.holds else NOT_VERIFIED,
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


def claim_of_part(name: str, part: Part) -> Claim:
    """Return the claim that a part of a proof makes about a minimum, verified in rational numbers."""
    try:
        lower, upper = confirmed(part)
    except NotShownError as error:
        return Claim(name, reason=error.message)
    return Claim(name, lower, upper, holds=True, part=part)


def claim_of_pair(name: str, status: str, pair: Pair, gap: float) -> Claim:
    """Return the claim of a status from a repaired primal and dual point.

    Parameters
    ----------
    status : ``optimal``; any other one claims the value of a feasible point alone.
    gap : relative to the value, the largest width of the interval of an optimum.
    """
    missing = [end for end in (pair.upper, pair.lower) if end is None]
    word = status if status == "optimal" and not missing else "feasible" if pair.upper is not None else "bounded"
    if len(missing) == 2:
        return not_shown(name, "; ".join(pair.reasons))
    evidence = {
        "program": program_data(pair.program),
        "point": None if pair.x is None else [encoded(v) for v in pair.x],
        "dual": None if pair.dual is None else dual_data(pair.program, pair.dual),
    }
    found = _in_sense(
        pair.program, claim_of_ends(name, word, {"kind": "convex", **evidence}, (pair.lower, pair.upper), gap)
    )
    if status == "optimal" and word != status:
        return replace(found, holds=False, reason="; ".join(pair.reasons))
    return found


def claim_of_tree(name: str, program: Program, tree: Tree, x: Floats | None, status: str) -> Claim:
    """Return the claim of a tree of branch and bound, and of a point where there is one.

    Parameters
    ----------
    x : (n,) the point; None for a program that has none.
    status : ``optimal``, ``feasible`` or ``infeasible``.

    Raises
    ------
    NotShownError : the program has no form in rational numbers, or a leaf of the tree is not closed there.
    """
    exact = exact_program(program)
    part, lower = tree_part(program, exact, tree, dual_data)
    part |= {"program": program_data(exact), "point": None}
    if x is None:
        return claim_of_part(name, {**part, "claim": claim_of("infeasible", None, None, None)})
    reason, word = "", status
    upper = None
    try:
        point = primal_point(exact, x)
        upper, part["point"] = value_at(exact, point), [encoded(v) for v in point]
    except NotShownError as error:
        reason, word = f"the value: {error.message}", "bounded"
    found = _in_sense(exact, claim_of_ends(name, word, part, (lower, upper), TOLERANCE))
    return replace(found, holds=False, reason=reason) if reason else found


def _in_sense(program: ExactProgram, claim: Claim) -> Claim:
    """Return a claim on the minimisation form as one in the sense of the model."""
    if program.sign > 0:
        return claim
    return replace(claim, lower=_negative(claim.upper), upper=_negative(claim.lower), sign=-1)


def _negative(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def claim_of_ends(
    name: str, status: str, part: Part, ends: tuple[Fraction | None, Fraction | None], gap: float
) -> Claim:
    """Return the claim of evidence that shows the ends of an interval.

    An interval that is wider than the gap shows no optimum: the claim is on the value of its point then, and does not
    hold.

    Parameters
    ----------
    status : ``optimal``, ``feasible``, ``bounded`` or ``exhausted``.
    gap : relative to the larger end, the largest width of the interval of an optimum; at most 1/1000.
    """
    allowed = min(Fraction(gap), LARGEST_GAP)
    lower, upper = ends
    if status == "optimal" and lower is not None and upper is not None:
        width = relative_width(rounded(lower, up=False), rounded(upper, up=True))
        if width > allowed:
            claim = {**part.get("claim", {}), **claim_of("feasible", lower, upper, None)}
            reason = f"the relative gap is {decimal(width, up=True, digits=3)}, above {float(allowed):g}"
            return replace(claim_of_part(name, {**part, "claim": claim}), holds=False, reason=reason)
    claim = claim_of(status, lower, None if status == "bounded" else upper, allowed)
    return claim_of_part(name, {**part, "claim": {**claim, **part.get("claim", {})}})


def claim_of_stationary(
    name: str, program: ExactProgram, x: Sequence[Fraction], slopes: Sequence[Slope], start: Floats, gap: float
) -> Claim:
    """Return the claim that no feasible step improves the linearised objective at x by more than the gap.

    Parameters
    ----------
    program : the linearised program; the costs of the columns in slopes are replaced by exact bounds from below.
    x : a feasible point.
    start : (dual_size,) dual variables of the linearised program.
    """
    costs = list(program.c)
    above = Fraction(0)
    for slope in slopes:
        for j, low, high in slope_costs(slope, x):
            costs[j] = rounded(low, up=False)
            above += (high - costs[j]) * x[j]
    linear = replace(program, c=tuple(costs))
    try:
        dual, lower = repaired_dual(linear, start)
    except NotShownError as error:
        return not_shown(name, f"the bound: {error.message}")
    upper = sum((c * v for c, v in zip(costs, x, strict=True)), above) + program.c0
    part = {
        "kind": "stationary",
        "program": program_data(linear),
        "point": [encoded(v) for v in x],
        "dual": dual_data(linear, dual),
        "slopes": [[encoded(f), encoded(k), list(columns)] for f, k, columns in slopes],
        "claim": claim_of("stationary", lower, upper, Fraction(gap)),
    }
    return claim_of_part(name, part)


def with_statement(claim: Claim, objective: float | None, bound: float | None, gap: float) -> Claim:
    """Return a claim after a look at the stated numbers: they must be within the claimed gap of the interval.

    Parameters
    ----------
    objective, bound : as stated, in the model's own sense; None where they are not.
    """
    if not claim.holds:
        return claim
    ends = [end for end in (claim.lower, claim.upper) if end is not None]
    for name, stated in (("objective", objective), ("bound", bound)):
        if stated is None:
            continue
        allowed = Fraction(gap) * max(Fraction(1), *(abs(end) for end in ends))
        if any(abs(Fraction(stated) - end) > allowed for end in ends):
            return replace(
                claim, holds=False, reason=f"the stated {name} is not within the claimed gap of the interval"
            )
    return claim
