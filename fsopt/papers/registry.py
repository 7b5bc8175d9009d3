"""The registry of experiments: the tables and figures of the five papers, in the order of reports."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from fsopt.errors import unknown
from fsopt.papers.reproduction import Experiment

_MODULES = (
    "gmeb.experiments",
    "mpm.experiments",
    "mpm.figures",
    "sla.experiments",
    "gbd.experiments",
    "mop.experiments",
)


def _registered() -> Mapping[str, Experiment]:
    found: list[Experiment] = []
    for module in _MODULES:
        found += import_module(f"fsopt.papers.{module}").EXPERIMENTS
    return MappingProxyType({one.name: one for one in found})


EXPERIMENTS = _registered()


def experiment(name: str) -> Experiment:
    """Return an experiment; raises UnknownNameError."""
    if name not in EXPERIMENTS:
        raise unknown("table or figure", name, EXPERIMENTS, "fsopt reproduce --list")
    return EXPERIMENTS[name]
