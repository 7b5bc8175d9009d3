"""The parameters in a saved fit that its method would have refused, whether its certificate uses them or not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from fsopt.answers.schema import is_parameter
from fsopt.data.kernels import KERNELS
from fsopt.drivers.gbd.settings import STABILISATIONS
from fsopt.drivers.kernel_scaling.driver import SCALINGS
from fsopt.drivers.penalties.registry import PENALTIES
from fsopt.methods.baselines.subset_svm import MACHINES
from fsopt.methods.gbd.decomposition import PRESETS
from fsopt.methods.gmeb.formulations import ROUTES as GMEB_ROUTES
from fsopt.methods.mop.rsvm_training import ROUTES as RSVM_ROUTES
from fsopt.methods.preprocessing import SCALES
from fsopt.methods.selection import RULES, UNITS
from fsopt.methods.spec import SET_BY_METHOD, MethodSpec

WORDS: Mapping[str, Collection[str | bool]] = {
    "approx": PENALTIES,
    "generate": ("auto", True, False),
    "kernel": KERNELS,
    "machine": MACHINES,
    "route": ("auto", *GMEB_ROUTES, *RSVM_ROUTES),
    "preset": tuple(PRESETS),
    "rule": RULES,
    "scale": SCALES,
    "scaling": SCALINGS,
    "stabilisation": STABILISATIONS,
    "units": UNITS,
}
"""Name of a parameter -> its words."""
OWN_WORDS: Mapping[tuple[str, str], tuple[str | bool, ...]] = {
    ("gmeb", "route"): ("auto", *GMEB_ROUTES),
    ("rsvm", "route"): RSVM_ROUTES,
}
"""Method and parameter -> the words of this method, where another method has others by the same name."""


def _positive(value: float) -> bool:
    return value > 0


def _not_negative(value: float) -> bool:
    return value >= 0


def _share(value: float) -> bool:
    return 0 < value <= 1


RANGES: Mapping[str, Callable[[float], bool]] = {
    **dict.fromkeys(("alpha", "c", "c_plus", "c_minus", "r_plus", "r_minus", "w_cap"), _positive),
    **dict.fromkeys(("bins", "m", "max_cuts", "max_iterations", "n_partitions", "n_starts"), _positive),
    **dict.fromkeys(("jobs", "patience", "step"), _positive),
    **dict.fromkeys(("epsilon", "lam", "max_nodes", "ridge", "root_cuts", "seed", "tolerance"), _not_negative),
    **dict.fromkeys(("delta", "share", "theta", "validation"), _share),
}
"""Name of a parameter -> whether a number is in its range, for every method."""
OWN_RANGES: Mapping[tuple[str, str], Callable[[float], bool]] = {("mopfs", "c"): _not_negative}
"""Method and parameter -> the range of this method."""


def refused(spec: MethodSpec, params: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    """Return the names of saved parameters that are missing, unknown, of another kind, or out of their range.

    Parameters
    ----------
    spec : of the method.
    params : the saved parameters.
    details : of the saved fit, with the parameters that its method set itself.
    """
    known = inspect.signature(spec.fit).parameters
    names = [name for name, default in spec.parameters.items() if default is not None and name not in params]
    names += [name for name in params if name not in spec.parameters]
    names += [name for name, v in params.items() if name in known and not is_parameter(known[name].annotation, v)]
    names += [name for name, value in params.items() if name not in names and not _taken(spec.name, name, value)]
    return names + [name for name in SET_BY_METHOD if name in details and not _taken(spec.name, name, details[name])]


def _taken(method: str, name: str, value: Any) -> bool:
    """Return whether a method takes a word or number; a list, and a parameter left open, are looked at elsewhere."""
    if value is None or isinstance(value, list | tuple):
        return True
    words = OWN_WORDS.get((method, name), WORDS.get(name))
    if words is not None:
        return isinstance(value, str | bool) and value in words
    inside = OWN_RANGES.get((method, name), RANGES.get(name))
    return inside is None or (isinstance(value, int | float) and inside(value))
