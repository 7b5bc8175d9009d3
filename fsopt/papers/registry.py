"""The registry of experiments: the tables and figures of the five papers, in the order of reports."""

from __future__ import annotations

from fsopt.common.registry import Registry
from fsopt.papers.reproduction import Experiment

EXPERIMENTS = Registry(
    Experiment,
    "table or figure",
    "fsopt.papers",
    (
        "gmeb.experiments",
        "mpm.experiments",
        "mpm.figures",
        "sla.experiments",
        "gbd.experiments",
        "mop.experiments",
    ),
    listing="fsopt reproduce --list",
)
