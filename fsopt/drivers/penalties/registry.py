"""The approximations of the number of nonzeros, as data: name -> class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.drivers.penalties.capped_l1 import CappedL1
from fsopt.drivers.penalties.exponential import Exponential
from fsopt.drivers.penalties.logarithm import Logarithm
from fsopt.drivers.penalties.power import Power
from fsopt.drivers.penalties.scad import Scad
from fsopt.errors import ParameterError

PENALTIES: Mapping[str, Callable[[float], Approximation]] = MappingProxyType(
    {"exp": Exponential, "log": Logarithm, "capped-l1": CappedL1, "scad": Scad, "lp": Power}
)
"""Name -> function of alpha; the names are the words of ``approx`` in :func:`fsopt.methods.mpm.l0_mpm.fit_l0_mpm`."""


def approximation(name: str, alpha: float) -> Approximation:
    """Return a registered approximation; raises ParameterError for another name, or an alpha that is not positive."""
    if name not in PENALTIES:
        raise ParameterError(f"approx is {name!r}", f"one of {', '.join(PENALTIES)}")
    return PENALTIES[name](alpha)
