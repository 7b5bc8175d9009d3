"""The ranges of parameters: what a builder, driver or method takes by a name, and what its saved answer may hold."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ALL = "[-inf, inf]"
"""The interval of all numbers."""
RANGES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("alpha", "big_m", "h_cap", "r_plus", "r_minus", "upper"), "(0, inf)"),
        **dict.fromkeys(("c", "w_cap"), "[1e-100, 1e100]"),
        **dict.fromkeys(("c_plus", "c_minus"), "[1e-9, 1e100]"),
        **dict.fromkeys(("beta", "delta", "theta", "validation"), "(0, 1)"),
        **dict.fromkeys(("budget", "capacity", "e_cap", "lam", "omega", "radius", "tolerance", "within"), "[0, inf]"),
        **dict.fromkeys(("epsilon", "ridge"), "[0, inf)"),
        "share": "(0, 1]",
        "bins": "[2, 100000]",
        "jobs": "[1, 1024]",
        "m": "[1, inf)",
        "l1_ratio": "[0, 1]",
        "max_cuts": "[2, 100000]",
        "max_iterations": "[1, 100000]",
        "max_nodes": "[0, 1000000000000]",
        "neighbours": "[1, 100000]",
        "turns": "[1, 1000000000]",
        "n_partitions": "[1, 100000]",
        "n_starts": "[1, 1000000]",
        "patience": "[1, 100000]",
        "root_cuts": "[0, 100000]",
        "seed": "[0, 4294967295]",
        "step": "[1, 100000]",
        **dict.fromkeys(("fsv.lam", "fsv-step.lam", "fsv-exact.lam"), "[0, 1]"),
        **dict.fromkeys(("kernel_mop.c", "kernel-scaling.c", "kernel-scaling-step.c"), "[0, inf]"),
        **dict.fromkeys(("kernel_scaling.c", "mop.c", "mopfs.c"), "[0, inf]"),
        **dict.fromkeys(("gmeb.r_plus", "gmeb.r_minus"), "(0, inf]"),
        "l0-mpm.tolerance": "[1e-9, 1)",
        "s-mpm.lam": "[0, 1e9]",
        "vs-ssvm.seed": "[0, 9223372036854775807]",
    }
)
"""Name of a parameter, or ``owner.name`` where an owner has another range by the name -> interval."""


def range_of(owner: str, name: str) -> str:
    """Return the interval of a parameter of a model, driver or method; without an entry it is that of all numbers."""
    return RANGES.get(f"{owner}.{name}", RANGES.get(name, ALL))


def ends(interval: str) -> tuple[float, float]:
    """Return the ends of an interval such as ``(0, 1]``."""
    low, high = (int(end) if end.isdigit() else float(end) for end in interval[1:-1].split(", "))
    return low, high


def within(value: float, interval: str) -> bool:
    """Return whether a number is in an interval; NaN is in none."""
    low, high = ends(interval)
    inside = low <= value <= high
    return inside and not (value == low and interval[0] == "(") and not (value == high and interval[-1] == ")")
