"""Claims on optima, each with the exact interval that its evidence proves, or the reason why it proves none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fsopt.certificates.exact.encoding import Part, encoded
from fsopt.certificates.exact.forms import decimal, rounded
from fsopt.certificates.exact.intervals import Pair, repaired_dual
from fsopt.certificates.exact.program import ExactProgram
from fsopt.certificates.exact.proofs import (
    Slope,
    claim_of,
    confirmed,
    dual_data,
    program_data,
    slope_costs,
)
from fsopt.errors import NotShown
from fsopt.typing import Vector as Floats

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
    part : the evidence in plain data; None where there is none.
    """

    name: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    holds: bool = False
    reason: str = ""
    part: Part | None = None

    @property
    def width(self) -> Fraction | None:
        """The width of the interval, relative to its larger end or 1."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / max(Fraction(1), abs(self.upper), abs(self.lower))

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


def claim_of_part(name: str, part: Part, sign: int = 1) -> Claim:
    """Return the claim that a part of a proof makes, looked at in rational numbers.

    Parameters
    ----------
    sign : +1 for a minimum, -1 for a maximum; the part is on the minimisation form.
    """
    try:
        lower, upper = confirmed(part)
    except NotShown as error:
        return Claim(name, reason=error.message)
    if sign < 0:
        lower, upper = None if upper is None else -upper, None if lower is None else -lower
    return Claim(name, lower, upper, holds=True, part={"name": name, **part})


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
    closed = word != "optimal" or _closed(pair, Fraction(gap))
    part = {
        "kind": "convex",
        **evidence,
        "claim": claim_of(word if closed else "feasible", pair.lower, pair.upper, Fraction(gap)),
    }
    found = claim_of_part(name, part, pair.program.sign)
    if status == "optimal" and (word != status or not closed):
        reason = "; ".join(pair.reasons) or "the interval is wider than the claimed gap"
        return replace(found, holds=False, reason=reason)
    return found


def _closed(pair: Pair, gap: Fraction) -> bool:
    """Return whether the interval, its ends rounded outward, is as narrow as is claimed."""
    assert pair.lower is not None
    assert pair.upper is not None
    lower, upper = rounded(pair.lower, up=False), rounded(pair.upper, up=True)
    return upper - lower <= gap * max(Fraction(1), abs(upper))


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
    except NotShown as error:
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
