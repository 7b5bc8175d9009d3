"""Suffixes of .nl files: those that state a part of the program, and those that leave it as it is."""

from __future__ import annotations

SETS = ("sosno", "ref")
"""Suffixes of variables: the number of a special ordered set, and the weight in it."""
INNER_SETS = ("sos", "sosref")
"""Suffixes by which AMPL states its own sets, those of piecewise linear terms."""
HARMLESS = frozenset(
    {"sstatus", "priority", "direction", "scaling_factor", "lazy", "dual", "rc", "slack", "up", "down", "current"}
    | {"unbdd", "dunbdd", "iis", "initial", "separate", "propagate", "dynamic", "removable"}
    | {"ipopt_zL_in", "ipopt_zU_in", "ipopt_zL_out", "ipopt_zU_out"}
)
"""Suffixes that guide a solver or report its answer, and leave the program as it is; those of any other name may change
the program, as ``relax`` does, which takes the integrality of a variable."""


def changing(name: str) -> bool:
    """Return whether a suffix may change the program for a reader; neither written nor read, one rule for both."""
    return name not in HARMLESS
