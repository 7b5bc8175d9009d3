"""The registered approximations of the number of nonzeros, as data: name -> entry; and :func:`approximation`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.errors import ParameterError, shown

_MODULES = (
    "exponential",
    "logarithm",
    "capped_l1",
    "scad",
    "power",
)
"""The modules of this package that end in a ``SPEC``, in the order of tables and messages."""


def _registered() -> Mapping[str, PenaltySpec]:
    specs: list[PenaltySpec] = [import_module(f"fsopt.drivers.penalties.{module}").SPEC for module in _MODULES]
    penalties = {spec.name: spec for spec in specs}
    if len(penalties) != len(specs):
        raise RuntimeError("a penalty name is registered twice")
    return MappingProxyType(penalties)


PENALTIES = _registered()
"""Name -> entry; the names are the words of ``approx`` in :func:`fsopt.methods.mpm.l0_mpm.fit_l0_mpm`."""


def approximation(name: str, alpha: float) -> Approximation:
    """Return a registered approximation; raises ParameterError for another name, or an alpha that is not positive."""
    if not isinstance(name, str) or name not in PENALTIES:
        table = "; ".join(f"{spec.name}: {spec.formula}" for spec in PENALTIES.values())
        raise ParameterError(f"approx is {shown(name)}", f"one of {table}")
    return PENALTIES[name].make(alpha)
