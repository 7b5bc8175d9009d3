"""The methods, as data: name -> function, paper, models and driver; and :func:`fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fsopt.data import Dataset
from fsopt.drivers.recorder import Progress
from fsopt.errors import ParameterError, unknown
from fsopt.methods import (
    filters,
    gbd,
    gmeb,
    l0_mpm,
    machines,
    mopfs,
    mpm,
    penalised,
    pmm,
    polyhedral,
    rfe,
    rsvm,
    s_mpm,
    vs_ssvm,
)
from fsopt.methods.common import Run
from fsopt.models.registry import check_parameters, parameters
from fsopt.results import Fit


@dataclass(frozen=True)
class MethodSpec:
    """One method.

    Attributes
    ----------
    name : registry name.
    function : takes a data set, a :class:`fsopt.methods.common.Run` and keywords, returns a Fit.
    paper, equation : where it comes from.
    models : slugs of the models that it solves.
    driver : name of the driver; empty where one solve is all.
    resumable : whether it can write checkpoints and go on from one.
    """

    name: str
    function: Callable[..., Fit]
    paper: str
    equation: str
    models: tuple[str, ...]
    driver: str = ""
    resumable: bool = False

    @property
    def summary(self) -> str:
        """What the method does, one line."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0].removeprefix("Fit ").rstrip(".")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name -> default of the parameters."""
        return parameters(self.function)


_ENTRIES = (
    MethodSpec(
        "gmeb", gmeb.fit_gmeb, "GMEB", "(15)-(17)",
        ("gmeb-dual", "gmeb-primal", "gmeb-sdp", "gmeb-cuts", "gmeb-hard-margin"), "theta-cuts",
    ),
    MethodSpec(
        "gmeb-penalised", penalised.fit_gmeb_penalised, "GMEB", "(7)/(10)", ("gmeb-weighted-l1",), "scale-search"
    ),
    MethodSpec("mpm", mpm.fit_mpm, "L0-MPM", "(3)-(5)", ("mpm",)),
    MethodSpec("s-mpm", s_mpm.fit_s_mpm, "L0-MPM", "S-MPM, section 1", ("s-mpm",)),
    MethodSpec("l1-mpm", mpm.fit_l1_mpm, "L0-MPM", "(12)-(15)", ("l1-mpm",)),
    MethodSpec("l0-mpm", l0_mpm.fit_l0_mpm, "L0-MPM", "(32)-(46)", ("l0-mpm-step",), "dca"),
    MethodSpec("misclass", polyhedral.fit_misclass, "SLA", "(20)", ("misclass-step",), "sla"),
    MethodSpec("pmm", pmm.fit_pmm, "SLA", "(16), Table 1", ("misclass-step",), "pmm"),
    MethodSpec("fsv", polyhedral.fit_fsv, "SLA", "(21)", ("fsv-step",), "sla"),
    MethodSpec("onsvm", machines.fit_onsvm, "GBD", "(ONSVM)", ("onsvm",)),
    MethodSpec("gbd", gbd.fit_gbd, "GBD", "(5)-(10)", ("fsp-sub", "fsp-master"), "gbd", resumable=True),
    MethodSpec(
        "gbd-lambda", gbd.fit_gbd_lambda, "GBD", "(12)-(15)", ("fsp-sub", "fsp-master"), "gbd", resumable=True
    ),
    MethodSpec("rsvm", rsvm.fit_rsvm, "MOP", "(13), (14)", ("rsvm-dual", "rsvm", "rsvm-least-norm")),
    MethodSpec(
        "mopfs", mopfs.fit_mopfs, "MOP", "(13)-(15)",
        ("rsvm-dual", "kernel-scaling-step", "rsvm-least-norm"), "mop",
    ),
    MethodSpec("svm", machines.fit_svm, "GBD", "(1)", ("svm",)),
    MethodSpec("l1-svm", machines.fit_l1_svm, "GMEB", "6.1", ("onsvm",)),
    MethodSpec("rfe", rfe.fit_rfe, "GMEB", "6.1", ("fsp-sub",), "rfe"),
    MethodSpec("infogain", filters.fit_infogain, "GBD", "4", ("svm", "rsvm-dual", "rsvm-least-norm")),
    MethodSpec("pearson", filters.fit_pearson, "MOP", "7", ("rsvm-dual", "rsvm-least-norm", "svm")),
    MethodSpec("fisher", filters.fit_fisher, "MOP", "7", ("rsvm-dual", "rsvm-least-norm", "svm")),
    MethodSpec("ks", filters.fit_ks, "MOP", "7", ("rsvm-dual", "rsvm-least-norm", "svm")),
    MethodSpec(
        "vs-ssvm", vs_ssvm.fit_vs_ssvm, "MOP", "7", ("onsvm", "rsvm-dual", "rsvm-least-norm", "svm"), "partitions"
    ),
)  # fmt: skip

METHODS: Mapping[str, MethodSpec] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
if len(METHODS) != len(_ENTRIES):
    raise RuntimeError("a method name is registered twice")


def method_spec(name: str) -> MethodSpec:
    """Return a method's entry; raises UnknownNameError."""
    if name not in METHODS:
        raise unknown("method", name, METHODS, "fsopt methods")
    return METHODS[name]


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
    checkpoint : file that is replaced after each iteration, whole or not at all; only for methods that can.
    resume : checkpoint of the same data and parameters to go on from.
    params : the method's own keywords; unknown names are refused.

    Returns
    -------
    Fit

    Raises
    ------
    UnknownNameError, ParameterError, InfeasibleError, SolverError, FileError
    """
    entry = method_spec(name)
    check_parameters("method", name, params, entry.parameters)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    if not entry.resumable and (checkpoint is not None or resume is not None):
        able = ", ".join(spec.name for spec in METHODS.values() if spec.resumable)
        raise ParameterError(f"method '{name}' writes no checkpoints and cannot resume", f"methods that do: {able}")
    places = [None if path is None else Path(path) for path in (checkpoint, resume)]
    defaults = {k: v for k, v in entry.parameters.items() if v is not None}
    fitted = entry.function(data, Run(solver, time_limit, options, progress, *places), **params)
    return replace(fitted, method=name, params={**defaults, **params})
