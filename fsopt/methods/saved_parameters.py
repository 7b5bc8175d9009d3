"""The parameters in a saved fit that its method would have refused, whether its certificate uses them or not."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from fsopt.answers.schema import is_parameter
from fsopt.common.ranges import ALL, range_of, within
from fsopt.data.kernels import KERNELS
from fsopt.data.losses import LOSSES
from fsopt.drivers.gbd.settings import MASTERS, STABILISATIONS
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
    "gmeb.route": ("auto", *GMEB_ROUTES),
    "kernel": KERNELS,
    "loss": LOSSES,
    "machine": MACHINES,
    "master": MASTERS,
    "preset": PRESETS,
    "rsvm.route": RSVM_ROUTES,
    "rule": RULES,
    "scale": SCALES,
    "scaling": SCALINGS,
    "stabilisation": STABILISATIONS,
    "units": UNITS,
}
"""Name of a parameter, or ``method.name``, -> its words."""


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
    words = WORDS.get(f"{method}.{name}", WORDS.get(name))
    if words is not None:
        return isinstance(value, str | bool) and value in words
    interval = range_of(method, name)
    return interval == ALL or (isinstance(value, int | float) and within(value, interval))
