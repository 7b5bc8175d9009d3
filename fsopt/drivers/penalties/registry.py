"""The registered approximations of the number of nonzeros, name -> entry; and :func:`approximation`."""

from __future__ import annotations

from typing import Any

from fsopt.common.registry import Registry, check_function
from fsopt.drivers.penalties.approximations import Penalty, PenaltySpec
from fsopt.errors import ParameterError, shown

PENALTIES = Registry(
    PenaltySpec,
    "penalty",
    "fsopt.drivers.penalties",
    ("approximations",),
    listing="fsopt methods l0-mpm",
    check=lambda spec: check_function(f"the penalty '{spec.name}'", spec.make),
)
"""Name -> entry; the names are the words of ``approx`` in the methods ``l0-mpm`` and ``fsv``."""


def approximation(approx: str | Penalty, alpha: float) -> Penalty:
    """Return the registered approximation of a name at a steepness, or the penalty that is given itself.

    Raises
    ------
    ParameterError : another name, an object that is no penalty, or an alpha that is not positive.
    """
    if isinstance(approx, str) and approx in PENALTIES:
        return PENALTIES[approx].make(alpha)
    if isinstance(approx, Penalty):
        return approx
    table = "; ".join(f"{spec.name}: {spec.formula}" for spec in PENALTIES.values())
    raise ParameterError(
        f"approx is {shown(approx)}", f"an object with slope, value(w) and gradient(w), or one of {table}"
    )


def words_of(penalty: Penalty) -> dict[str, Any]:
    """Return ``approx`` and ``alpha`` of the registered approximation that a penalty equals; empty for another one."""
    alpha = getattr(penalty, "alpha", penalty.slope)
    named = (spec.name for spec in PENALTIES.values() if spec.make(alpha) == penalty)
    return next(({"approx": name, "alpha": alpha} for name in named), {})


def register_penalty(spec: PenaltySpec, *, replace: bool = False) -> PenaltySpec:
    """Add a penalty of your own: ``approx`` of the methods ``l0-mpm`` and ``fsv`` takes it by its name from then on.

    Parameters
    ----------
    spec : PenaltySpec
        Its entry, as at the end of the modules of this package.
    replace : bool, default False
        Take the place of a penalty of your own that has the name already, as in a notebook.

    Returns
    -------
    PenaltySpec
        The entry.

    Raises
    ------
    ParameterError : the name is taken, or ``make`` is no function.
    """
    return PENALTIES.register(spec, replace=replace)
