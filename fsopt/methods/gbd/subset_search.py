"""What ``best-subset`` and ``best-subset-penalised`` share: branch and Benders on the samples, and its Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.of_master import selection_problem
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.parameters import features_of, trimmed
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.selection_constraints import Feature, feature_indices


@dataclass(frozen=True)
class Search:
    """The parameters of a search but for its constraints.

    Attributes
    ----------
    method : its name, for messages.
    c, scale : penalty weight of the hinge loss, and preprocessing.
    initial, max_nodes, jobs, tolerance : as in :class:`fsopt.algorithms.branch_and_benders.settings.BranchSettings`,
        the first by places or names.
    """

    method: str
    c: float
    scale: str
    initial: Sequence[Feature] | None
    max_nodes: int | None
    jobs: int | None
    tolerance: float

    def settings(self, data: Dataset) -> BranchSettings:
        """Return the settings of the search."""
        initial = None
        if self.initial is not None:
            initial = np.zeros(data.p, dtype=bool)
            initial[list(feature_indices(self.method, "initial", data, self.initial, "a list"))] = True
        return BranchSettings(self.tolerance, self.max_nodes, initial, 1 if self.jobs is None else self.jobs)


def fit_by_search(data: Dataset, run: Run, search: Search, constraints: Mapping[str, Any]) -> Fit:
    """Run branch and Benders and return the Fit of its incumbent.

    Parameters
    ----------
    constraints : keywords of :func:`fsopt.models.gbd.fsp_master.build_fsp_master`.

    Raises
    ------
    ParameterError : a parameter out of range, or a master that was changed by more than constraints on the selection.
    """
    started = time.perf_counter()
    c = number(search.method, "c", search.c)
    work, map_ = preprocess(data, search.scale)
    problem = selection_problem(work, build_fsp_master(work, **constraints), c)
    if problem is None:
        raise ParameterError(
            f"the master of '{search.method}' has variables or cuts of its own, which branch and Benders does not take",
            "take 'gbd' or 'gbd-lambda', which give the master to a solver",
        )
    result = branch_and_benders(problem, settings=search.settings(data), run=run)
    at = result.point
    sigma, w = trimmed(work, constraints, at["sigma"], at["w"])
    details = {"evidence": at["evidence"], "c": c, "sigma": sigma}
    return make_fit(data, map_, Hyperplane(w, at["b"], features_of(sigma)), result, started=started, details=details)


def some_nodes(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: a hundred nodes, which is enough for a good selection, not for a proof."""
    return {"max_nodes": 100, "tolerance": 1e-4}
