"""What is recomputed about a claim: a record of residuals, a bound, and whether all of them hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

TOLERANCE = 1e-6
"""Largest residual, relative, with which a certificate holds."""


class Kind(StrEnum):
    """What a certificate certifies."""

    CONVEX = "convex"
    """A global optimum: primal and dual residuals and the gap between the two values."""
    MIXED_INTEGER = "mixed-integer"
    """Feasibility, integrality, and the gap to a bound whose source is named."""
    GLOBAL = "global"
    """Feasibility, and the gap to a bound whose source is named, of a program without integers."""
    GBD = "gbd"
    """Benders cuts recomputed from their multipliers, and the gap between the bounds."""
    KKT = "kkt"
    """First-order conditions."""
    DCA = "dca"
    """Criticality of a difference of convex functions, and monotone descent."""
    SLA = "sla"
    """The minimum principle of a concave function over a polyhedron."""
    PMM = "pmm"
    """The minimum principle of the bilinear program with one misclassified sample less."""
    MOP = "mop"
    """Monotone histories of the alternating loop, and the least loss for its last scales."""
    FEASIBLE = "feasible"
    """A feasible point and nothing more."""
    INFEASIBLE = "infeasible"
    """A Farkas vector."""
    NONE = "none"
    """Nothing: there is no point."""


@dataclass(frozen=True)
class Certificate:
    """What was recomputed about an answer.

    Attributes
    ----------
    kind : what is certified.
    ok : whether every residual is within ``tolerance``.
    residuals : name -> relative residual or gap, each of which must be small.
    objective, bound : recomputed value and bound, in the model's own sense; None where there is none.
    bound_source : where the bound comes from: ``dual point`` (recomputed here) or the solver that claims it.
    tolerance : what the residuals are compared with.
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


def make(kind: Kind, residuals: Mapping[str, float], *, tolerance: float = TOLERANCE, **rest: Any) -> Certificate:
    """Return a certificate that holds iff every residual is a number within the tolerance."""
    ok = all(np.isfinite(v) and v <= tolerance for v in residuals.values())
    return Certificate(kind, ok, dict(residuals), tolerance=tolerance, **rest)
