"""The kinds of certificates that are evidence for a status."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fsopt.answers.certificate import Kind
from fsopt.answers.results import Status

_GLOBAL = frozenset({Kind.CONVEX, Kind.MIXED_INTEGER, Kind.GLOBAL, Kind.GBD})
_LOCAL = frozenset({Kind.KKT, Kind.DCA, Kind.SLA, Kind.PMM})
EVIDENCE: Mapping[Status, frozenset[Kind]] = MappingProxyType(
    {
        Status.OPTIMAL: _GLOBAL,
        Status.STATIONARY: _LOCAL | {Kind.GLOBAL},  # a global optimum satisfies every first-order condition
        Status.FEASIBLE: _GLOBAL | _LOCAL | {Kind.MOP, Kind.FEASIBLE},
        Status.INFEASIBLE: frozenset({Kind.INFEASIBLE}),
        Status.UNBOUNDED: frozenset({Kind.UNBOUNDED}),
    }
)
"""Claimed status -> kinds of certificates that are sufficient evidence for it, if they hold."""
