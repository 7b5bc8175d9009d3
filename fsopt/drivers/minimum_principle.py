"""Certificates of SLA: the minimum principle of a vertex, or a global minimum at the lower bound of all terms."""

from __future__ import annotations

from fsopt.answers.certificate import TOLERANCE, Certificate, Kind, make
from fsopt.answers.results import Status
from fsopt.certificates.points import relative_gap

NONNEGATIVE = "every term of the objective is nonnegative"
"""Source of the lower bound that makes the value 0 a global minimum."""


def certify_vertex(value: float, lower: float, principle: float, tolerance: float) -> Certificate:
    """Certify the end of SLA: a global minimum where the value is its lower bound, else the minimum principle.

    Parameters
    ----------
    value, lower : objective value, and the sum of the lower bounds of its terms over their variables' bounds.
    principle : relative decrease that the linearisation at the vertex still allows.
    tolerance : the epsilon of the stopping criterion.
    """
    gap = relative_gap(value, lower)
    if gap <= TOLERANCE:
        return make(Kind.GLOBAL, {"gap": gap}, objective=value, bound=lower, bound_source=NONNEGATIVE)
    return make(Kind.SLA, {"minimum principle": float(principle)}, tolerance=max(1e-7, 10 * tolerance))


def status_of(certificate: Certificate, *, stationary: bool) -> Status:
    """Return the status that a certificate of SLA is evidence for; ``stationary``: the stopping criterion held."""
    if certificate.ok and certificate.kind is Kind.GLOBAL:
        return Status.OPTIMAL
    return Status.STATIONARY if certificate.ok and stationary else Status.FEASIBLE
