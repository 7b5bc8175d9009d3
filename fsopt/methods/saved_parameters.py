"""The parameters of a saved fit or a study that a method would refuse, found before it runs and whatever it uses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from fsopt.answers.schema import is_parameter
from fsopt.common.arguments import ALL, own_number, plain, range_of, within
from fsopt.data.kernels import KERNELS
from fsopt.data.losses import LOSSES
from fsopt.drivers.gbd.settings import MASTER_STARTS, MASTERS, STABILISATIONS
from fsopt.drivers.kernel_scaling.driver import SCALINGS
from fsopt.drivers.penalties.registry import PENALTIES
from fsopt.errors import ParameterError, shown
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
    "master_start": MASTER_STARTS,
    "preset": PRESETS,
    "rsvm.route": RSVM_ROUTES,
    "rule": RULES,
    "scale": SCALES,
    "scaling": SCALINGS,
    "stabilisation": STABILISATIONS,
    "units": UNITS,
}
"""Name of a parameter, or ``method.name``, -> its words."""
SIMPLE = re.compile(r"(float|int|bool|str|None)( \| (float|int|bool|str|None))*")
"""Annotation of a parameter that takes neither lists nor objects."""


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
    params = {name: v for name, v in params.items() if plain(v) or name not in spec.objects}  # no file has objects
    names += [name for name in params if name not in spec.parameters]
    names += [name for name, v in params.items() if name in known and not is_parameter(known[name].annotation, v)]
    names += [name for name, value in params.items() if name not in names and not _taken(spec.name, name, value)]
    return names + [name for name in SET_BY_METHOD if name in details and not _taken(spec.name, name, details[name])]


def check_values(method: str, fit: Callable[..., Any], params: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first number or word that a method, its fit, refuses whatever the data."""
    known = inspect.signature(fit).parameters
    for name, given in params.items():
        value = own_number(given)
        if not isinstance(value, str | bool | int | float):
            continue
        said = f"parameter '{name}' of '{method}' is {shown(value)}"
        kind = known[name].annotation if name in known else None
        if isinstance(kind, str) and SIMPLE.fullmatch(kind) and not is_parameter(kind, value):
            raise ParameterError(said, f"its type is {kind}")
        if not _taken(method, name, value):
            words = WORDS.get(f"{method}.{name}", WORDS.get(name))
            allowed = f"inside {range_of(method, name)}" if words is None else f"of {', '.join(map(str, words))}"
            raise ParameterError(said, f"give a value {allowed}")


def _taken(method: str, name: str, value: Any) -> bool:
    """Return whether a method takes a word or number; a list, and a parameter left open, are looked at elsewhere."""
    if value is None or isinstance(value, list | tuple):
        return True
    words = WORDS.get(f"{method}.{name}", WORDS.get(name))
    if words is not None:
        return isinstance(value, str | bool) and value in words
    interval = range_of(method, name)
    return interval == ALL or (isinstance(value, int | float) and within(value, interval))
