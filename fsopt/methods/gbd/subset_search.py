"""What ``best-subset`` and ``best-subset-penalised`` share: branch and Benders on the samples, and its Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, Loss, loss_of
from fsopt.drivers.gbd.master import check_objective
from fsopt.drivers.run import Run, Steps
from fsopt.errors import ParameterError
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.parameters import features_of, inequalities, trimmed
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import Feature
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.search.branch_and_benders.columns import Columns
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.typing import Indices


def fit_by_search(
    method: str,
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    initial: Sequence[Feature] | None = None,
    max_nodes: int | None = None,
    jobs: int | None = None,
    tolerance: float = 1e-6,
    scale: str = "standard",
    **selection: Any,
) -> Steps[Fit]:
    r"""Run branch and Benders and return the Fit of its incumbent.

    Parameters
    ----------
    method : str
        Its name, for messages.
    data : Dataset
        The training data.
    run : Run
        Time limit, progress, checkpoints and executor.
    c : float, default 1.0
        > 0, penalty weight of the loss.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \sum_i \xi_i^2` in place of :math:`C \sum_i \xi_i`, or
        ``logistic``: :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.
    initial : Sequence[Feature], optional
        Features of a selection to start from, by place or name; None for no such selection.
    max_nodes : int, optional
        Nodes after which the search stops; None for no limit.
    jobs : int, optional
        Subtrees that are searched at a time, in as many processes; None is 1.
    tolerance : float, default 1e-06
        The search stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    scale : str, default 'standard'
        Preprocessing of the features, by statistics of the training samples: ``standard`` (default), ``center`` or
        ``none``.
    **selection
        Constraints and penalty weights, as :func:`fsopt.models.gbd.fsp_master.build_fsp_master` takes them.

    Returns
    -------
    Fit
        With ``sigma`` and ``evidence``, the tree of the search, in its details.

    Raises
    ------
    ParameterError : a parameter out of range, or a master that was changed by more than constraints on the selection.
    """
    started = time.perf_counter()
    c = number(method, "c", c)
    work, map_ = preprocess(data, scale)
    rules = in_units(method, data, selection, map_.scale)
    master = build_fsp_master(work, **rules)
    problem = selection_problem(work, master, c, loss_of(loss))
    if problem is None:
        raise ParameterError(
            f"the master of '{method}' has variables or cuts of its own, which branch and Benders does not take",
            "take 'gbd' or 'gbd-lambda', which give the master to a solver",
        )
    first = None
    if initial is not None:
        first = np.zeros(problem.p, dtype=bool)
        first[list(master.rules.groups.indices(method, "initial", data, initial, "a list"))] = True
    settings = BranchSettings(tolerance, max_nodes, first, 1 if jobs is None else jobs)
    result = yield from branch_and_benders.steps(problem, settings=settings, run=run)
    at = result.point
    sigma, w = trimmed(work, rules, at["sigma"], at["w"])
    details = {"evidence": at["evidence"], "c": c, "sigma": sigma}
    hyperplane = Hyperplane(w, at["b"], features_of(master.rules.of_features(sigma)))
    return make_fit(data, map_, hyperplane, result, started=started, details=details)


def some_nodes(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons of a search that takes long: nodes for a good selection, not for a proof."""
    return {"max_nodes": 500, "tolerance": 1e-3}


def many_nodes(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: nodes for a proof on 30 features.

    A number of nodes and no time ends the search, since the scores of a fit that a clock ended are not repeatable.
    """
    return {"max_nodes": 2000, "tolerance": 1e-3}


def selection_problem(
    data: Dataset, master: pyo.ConcreteModel, c: float, loss: Loss = HINGE
) -> SelectionProblem | None:
    """Return the problem whose master was built; None where it has variables beside sigma and theta, or cuts.

    Raises
    ------
    ParameterError : a master of other features, or one that minimises anything but theta and penalties of sigma.
    """
    program = compile_model(master)
    columns = np.array([program.column[id(v)] for v in master.sigma.values()])
    check_objective(data, master, program, columns)
    if not _searchable(program, columns):
        return None
    R, r = inequalities(program, columns)
    at = Columns.needed(master.rules.groups, master.rules.bounds)
    return SelectionProblem.of(data, c, R, r, program.c[columns].copy(), loss, at)


def _searchable(program: Program, columns: Indices) -> bool:
    """Return whether a master has no variables but sigma, binary, and theta, and linear constraints on sigma alone."""
    theta = np.setdiff1d(np.arange(program.n), columns)
    linear = not program.nonconic and not program.unsupported and not len(program.cones)
    on_sigma = program.A[:, theta].nnz == 0 and program.n == len(columns) + 1
    fixed = np.isin(program.lb, (0.0, 1.0)) & (program.lb == program.ub)
    return linear and on_sigma and bool((program.integer | fixed)[columns].all())
