"""The registry of methods, and :func:`fit`, which runs one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fsopt import clock
from fsopt.arguments import FUNCTION, OPTIONS, PATH, SECONDS, TEXT, checked, optional
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.drivers.run import Progress, Run
from fsopt.errors import MemoryLimit, ParameterError, unknown
from fsopt.locks import alone
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_parameters
from fsopt.results import Fit

_MODULES = (
    "gmeb.gmeb",
    "gmeb.gmeb_penalised",
    "mpm.mpm",
    "mpm.s_mpm",
    "mpm.l1_mpm",
    "mpm.l0_mpm",
    "sla.misclass",
    "sla.pmm",
    "sla.fsv",
    "baselines.onsvm",
    "gbd.gbd",
    "gbd.gbd_lambda",
    "mop.rsvm",
    "mop.mopfs",
    "baselines.svm",
    "baselines.l1_svm",
    "baselines.rfe",
    "baselines.infogain",
    "baselines.pearson",
    "baselines.fisher",
    "baselines.ks",
    "baselines.vs_ssvm",
)
"""The modules below this package, each of which ends in its ``SPEC``: the order of tables and comparisons."""

FEWER = "keep fewer features first (pearson, fisher), or take onsvm, fsv or svm"
"""What helps where data are too large for a method."""


def _registered() -> Mapping[str, MethodSpec]:
    specs: list[MethodSpec] = [import_module(f"fsopt.methods.{module}").SPEC for module in _MODULES]
    methods = {spec.name: spec for spec in specs}
    if len(methods) != len(specs):
        raise RuntimeError("a method name is registered twice")
    return MappingProxyType(methods)


METHODS = _registered()


def method_spec(name: str) -> MethodSpec:
    """Return a method's entry; raises UnknownNameError."""
    if name not in METHODS:
        raise unknown("method", name, METHODS, "fsopt methods")
    return METHODS[name]


@checked(
    name=TEXT,
    data=DATASET,
    solver=optional(TEXT),
    time_limit=optional(SECONDS),
    options=optional(OPTIONS),
    progress=optional(FUNCTION),
    checkpoint=optional(PATH),
    resume=optional(PATH),
)
def fit(
    name: str,
    data: Dataset,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    **params: Any,
) -> Fit:
    """Run a method on a data set, end to end.

    Parameters
    ----------
    name : one of ``fsopt.METHODS``.
    data : the training data, in raw units: methods preprocess it themselves, see their parameter ``scale``.
    solver : for the continuous problems of the method; None takes the preferred one of their class.
    time_limit : seconds for the whole method.
    options : options of the solver, as in :func:`fsopt.solve`.
    progress : called with the record of each iteration.
    checkpoint : file that is replaced after each iteration, whole or not at all; only for methods that can. A second
        process with the same file is refused.
    resume : checkpoint of the same data and parameters to go on from.
    params : the method's own keywords; unknown names are refused.

    Returns
    -------
    Fit

    Raises
    ------
    UnknownNameError, ParameterError, InfeasibleError, SolverError, FileError
    OutOfTime : the time limit passed before there was a hyperplane.
    MemoryLimit : the arrays of the method do not fit into the memory.
    """
    entry = method_spec(name)
    check_parameters("method", name, params, entry.parameters)
    if not entry.resumable and (checkpoint is not None or resume is not None):
        able = ", ".join(spec.name for spec in METHODS.values() if spec.resumable)
        raise ParameterError(f"method '{name}' writes no checkpoints and cannot resume", f"methods that do: {able}")
    places = [None if path is None else Path(path) for path in (checkpoint, resume)]
    defaults = {k: v for k, v in entry.parameters.items() if v is not None}
    try:
        with alone(places[0]), clock.limited(time_limit):
            fitted = entry.fit(data, Run(solver, time_limit, options, progress, *places), **params)
    except MemoryError as error:
        raise MemoryLimit(
            f"method '{name}' has no memory for {data.n} samples and {data.p} features ({error})",
            f"{FEWER}; docs/limits.md has the sizes that each method takes",
        ) from error
    return replace(fitted, method=name, params={**defaults, **params})
