"""The two algorithms behind ``gbd`` and ``gbd-lambda``: branch and Benders, and the loop as it is printed."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.of_master import selection_problem
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.answers.results import Fit
from fsopt.common.customising import in_force
from fsopt.data import Dataset
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, GbdSettings
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.decomposition import Training, fit_by_decomposition
from fsopt.methods.gbd.parameters import features_of, split, trimmed
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.selection_constraints import Feature, feature_indices

BRANCH, PAPER = "branch-and-benders", "paper"
VARIANTS = (BRANCH, PAPER)
"""The words of the parameter ``variant``."""


@dataclass(frozen=True)
class Branching:
    """The parameters of branch and Benders alone.

    Attributes
    ----------
    variant : one of :data:`VARIANTS`, or None.
    initial : features of a selection to start from.
    max_nodes : nodes after which the search stops.
    jobs : subtrees that are searched at a time; None for 1.
    """

    variant: str | None
    initial: Sequence[Feature] | None
    max_nodes: int | None
    jobs: int | None

    @property
    def given(self) -> list[str]:
        """The names of the parameters that are given."""
        return [name for name in ("initial", "max_nodes", "jobs") if getattr(self, name) is not None]


def fit_selection(
    method: str,
    data: Dataset,
    run: Run,
    training: Training,
    settings: GbdSettings,
    branching: Branching,
    constraints: Mapping[str, Any],
) -> Fit:
    """Run the variant that the parameters ask for and return the Fit of its incumbent.

    Parameters
    ----------
    method : its name, for the selection rule.
    training : samples and penalty weight.
    settings, branching : of the two variants; the tolerance is of both.
    constraints : keywords of :func:`fsopt.models.gbd.fsp_master.build_fsp_master`.

    Raises
    ------
    ParameterError : an unknown variant, or a parameter of the other one.
    """
    if _variant(method, run, training, settings, branching) == PAPER:
        return fit_by_decomposition(method, data, run, training, settings, constraints)
    started = time.perf_counter()
    c = number("gbd", "c", training.c, low=0.0, strict=True)
    split(data, None, training.seed)
    work, map_ = preprocess(data, training.scale)
    problem = selection_problem(work, build_fsp_master(work, **constraints), c)
    if problem is None:
        if branching.variant is None and not branching.given:
            return fit_by_decomposition(method, data, run, training, settings, constraints)
        raise ParameterError(
            f"the master of '{method}' has variables or cuts of its own, which branch and Benders does not take",
            f"give variant='{PAPER}'",
        )
    initial = None
    if branching.initial is not None:
        initial = np.zeros(data.p, dtype=bool)
        initial[list(feature_indices(method, "initial", data, branching.initial, "a list"))] = True
    jobs = 1 if branching.jobs is None else branching.jobs
    result = branch_and_benders(
        problem, settings=BranchSettings(settings.tolerance, branching.max_nodes, initial, jobs), run=run
    )
    at = result.point
    sigma, w = trimmed(work, constraints, at["sigma"], at["w"])
    details = {"evidence": at["evidence"], "c": c, "sigma": sigma}
    return make_fit(data, map_, Hyperplane(w, at["b"], features_of(sigma)), result, started=started, details=details)


def _variant(method: str, run: Run, training: Training, settings: GbdSettings, branching: Branching) -> str:
    """Return the variant that is asked for: by its name, by a parameter that only one has, or by the checkpoint."""
    if branching.variant not in (None, *VARIANTS):
        raise ParameterError(f"'variant' of '{method}' is {branching.variant!r}", f"one of {', '.join(VARIANTS)}")
    loop = _of_loop(vars(settings) | {"validation": training.validation, "solver": run.solver})
    loop += ["customise"] if in_force("fsp-sub") or in_force("fsp-sub-dual") else []
    paper = loop or (run.resume is not None and _of_the_loop(run.resume))
    variant = branching.variant or (PAPER if paper else BRANCH)
    wrong = branching.given if variant == PAPER else loop
    if wrong:
        other = BRANCH if variant == PAPER else PAPER
        raise ParameterError(
            f"'{wrong[0]}' belongs to variant '{other}' of '{method}', and this is '{variant}'"
            + (f", which '{loop[0]}' belongs to" if variant == PAPER and loop else ""),
            f"leave one of them out, or give variant='{other}'",
        )
    return variant


def _of_loop(given: Mapping[str, Any]) -> list[str]:
    """Return the names of what is given that only the loop as printed has; its defaults are not given."""
    defaults = {field.name: getattr(DEFAULT_SETTINGS, field.name) for field in fields(GbdSettings)}
    own = {k: v for k, v in defaults.items() if k != "tolerance"} | {"validation": None, "solver": None}
    return [name for name, default in own.items() if name in given and not _same(given[name], default)]


def _same(value: Any, default: Any) -> bool:
    return isinstance(value, type(default)) and bool(value == default)


def _of_the_loop(path: Path) -> bool:
    """Return whether a file is a checkpoint of the loop as printed; its reader says what is wrong with others."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return "alphas" in arrays.files
    except (OSError, ValueError, EOFError, BadZipFile):
        return False


def some_nodes(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: a hundred nodes, which is enough for a good selection, not for a proof."""
    return {"max_nodes": 100, "tolerance": 1e-4}


def without_nodes(given: Mapping[str, Any]) -> Collection[str]:
    """Return the limit of nodes where the loop as printed is asked for, or where a changed model may need it."""
    if given.get("variant") is None:
        loop = bool(_of_loop(given) or given.get("customise"))
    else:
        loop = given["variant"] == PAPER
    return ("max_nodes",) if loop else ()
