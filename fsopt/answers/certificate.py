"""The record of a certificate: residuals, a bound, and whether all residuals are within the tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

TOLERANCE = 1e-6
"""Largest relative residual of a valid certificate."""
FEASIBLE = 1e-9
"""Largest relative backward error of a constraint at a feasible point, see :mod:`fsopt.certificates.points`."""
REMAINDER = 1e-12
"""Largest share of its own terms at which a number counts as 0, see :mod:`fsopt.certificates.bounds`."""
LIMITS: Mapping[str, float] = MappingProxyType({"infeasibility": FEASIBLE, "remainder": REMAINDER, "ray": REMAINDER})
"""First word of a residual -> the largest valid one, where it is smaller than that of the certificate."""
WORD = "the word of "
"""Start of the source of a bound that nothing but the search of a solver supports."""
NUMERICALLY = "numerically"
"""First word of a note on a remainder that counts as 0, and of the status line of a verdict that rests on it."""
WIDEST = 1e-3
"""Largest relative gap of an answer that is called optimal, whatever tolerance a search was given."""


class Kind(StrEnum):
    """The statement of a certificate."""

    CONVEX = "convex"
    """A global optimum: a feasible point and a lower bound recomputed from multipliers, equal up to the tolerance."""
    MIXED_INTEGER = "mixed-integer"
    """Feasibility, integrality, and the gap to a bound with a named source."""
    GLOBAL = "global"
    """Feasibility, and the gap to a bound with a named source, of no integer program, or by a loop of relaxations."""
    GBD = "gbd"
    """Benders cuts recomputed from their multipliers, and the gap to the bound of the master, or of a search's tree."""
    KKT = "kkt"
    """First-order conditions."""
    DCA = "dca"
    """Criticality of a difference of convex functions, and monotone descent."""
    SLA = "sla"
    """The minimum principle of a concave function over a polyhedron."""
    PMM = "pmm"
    """The minimum principle for the bilinear program with one misclassified sample fewer."""
    MOP = "mop"
    """Monotone histories of the alternating loop, and the minimum loss for its last scales."""
    FEASIBLE = "feasible"
    """A feasible point."""
    INFEASIBLE = "infeasible"
    """A Farkas vector."""
    UNBOUNDED = "unbounded"
    """A feasible point and a recession direction of descent."""
    NONE = "none"
    """Nothing: there is no point."""


@dataclass(frozen=True)
class Certificate:
    """The recomputed evidence for an answer.

    Attributes
    ----------
    kind : the statement.
    ok : whether every residual is within ``tolerance``.
    residuals : name -> relative residual or gap; each must be small.
    objective, bound : recomputed objective value and bound, in the model's own sense; None if there is none.
    bound_source : the origin of the bound: ``dual point`` or ``branch and bound`` (recomputed here), ``the word of``
        the solver that searched an integer or nonconvex program; empty for none.
    tolerance : largest valid residual, except for those in :data:`LIMITS`.
    notes : remarks, for example constraints that were not checked.
    """

    kind: Kind
    ok: bool
    residuals: Mapping[str, float]
    objective: float | None = None
    bound: float | None = None
    bound_source: str = ""
    tolerance: float = TOLERANCE
    notes: tuple[str, ...] = field(default=())

    @property
    def worst(self) -> float:
        """The largest residual."""
        return max(self.residuals.values(), default=0.0)

    def refused(self) -> dict[str, float]:
        """Return the residuals that are too large, or no numbers."""
        return {name: v for name, v in self.residuals.items() if not valid(name, v, self.tolerance)}


def status_line(status: str, bound_source: str = "", notes: Iterable[str] = ()) -> str:
    """Return a status with whose word its bound is, ``optimal (bound: highs)``, or ``unbounded (numerically)``."""
    words = [f"bound: {bound_source.removeprefix(WORD)}"] * bound_source.startswith(WORD)
    words += [NUMERICALLY] * any(note.startswith(NUMERICALLY) for note in notes)
    return f"{status} ({', '.join(words)})" if words else str(status)


def certificate_line(found: Mapping[str, Any] | None) -> str:
    """Return a certificate, as plain data, in one line: ``convex, holds: infeasibility 0, gap 3e-09``."""
    if found is None:
        return "none: the solver's claim was not verified"
    ends = [found[name] for name in ("objective", "bound")]
    known = all(isinstance(end, float) for end in ends)  # an infinite bound is a word in plain data
    gap = abs(ends[0] - ends[1]) / max(1.0, abs(ends[0])) if known else 0.0
    words = [f"gap {gap:.1e}"] * (gap > TOLERANCE and "gap" not in found["residuals"])
    words += [f"{name} {float(v):.0e}" if v else f"{name} 0" for name, v in found["residuals"].items()]
    return f"{found['kind']}, {'holds' if found['ok'] else 'does NOT hold'}{': ' * bool(words)}{', '.join(words)}"


def valid(name: str, residual: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether a residual is finite and within the limit of its name, or the tolerance where it has none."""
    limit = LIMITS.get(name.partition(" ")[0], tolerance)
    return math.isfinite(residual) and bool(residual <= limit)


def gap_allowed(tolerance: float) -> float:
    """Return the relative gap up to which an answer of a search with this tolerance is called optimal."""
    return min(max(float(tolerance), 0.0), WIDEST)


def reason_to_stop(stop: str, gap: float, tolerance: float) -> str:
    """Return why a search stopped: ``within 10`` where it ended at a gap of at most 10 that no optimum has."""
    allowed = max(gap_allowed(tolerance), FEASIBLE)
    return stop if stop != "optimal" or gap <= allowed else f"within {max(gap, tolerance):.3g}"


def make(kind: Kind, residuals: Mapping[str, float], *, tolerance: float = TOLERANCE, **rest: Any) -> Certificate:
    """Return a certificate; it holds iff every residual is valid."""
    ok = all(valid(name, v, tolerance) for name, v in residuals.items())
    return Certificate(kind, ok, dict(residuals), tolerance=tolerance, **rest)


def merged(*parts: Mapping[str, float]) -> dict[str, float]:
    """Return residuals of several sources by name; of a name that occurs twice the largest, NaN before any number."""
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = float(max(found.get(name, value), value, key=lambda v: (math.isnan(v), v)))
    return found


def bound_residual(stated: Any, recomputed: float | None, sign: float) -> float:
    """Return by how much a stated bound claims more than the recomputed one; infinite where none is stated."""
    if stated is None or math.isnan(stated):
        return math.inf
    claimed, proved = sign * float(stated), -math.inf if recomputed is None else sign * recomputed
    return 0.0 if claimed <= proved else (claimed - proved) / max(1.0, abs(recomputed or 0.0))
