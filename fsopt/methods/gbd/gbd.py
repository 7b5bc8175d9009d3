"""Methods ``gbd``, ``best-subset`` and their penalised forms: the best support vector machine with few features.

The number of features is limited, or each has a penalty weight. The methods of Aytug, GBD-M and GBD-lambda, are a loop
of cuts in solvers of choice; the others are branch and Benders on the samples, which calls no solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import LOSSES
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.run import Run, Steps
from fsopt.linear import interior_point
from fsopt.methods.gbd.problems import check_selection, fit_of, selected_features, selection_claims, selection_problem
from fsopt.methods.large_programs import REPEATED, interior_order
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import MethodSpec, in_units
from fsopt.models.gbd.feature_lists import BOUNDS, Feature
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings


@with_keywords_of(SelectionConstraints.of, without=("exclude",))
def fit_gbd(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    scale: str = "standard",
    **selection: Any,
) -> Steps[Fit]:
    r"""Fit the best support vector machine with a limited number of features, by generalized Benders cuts (GBD-M).

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    A loop of two explicit models: the subproblem ``fsp-sub``, a quadratic program in the solver ``solver``, gives F and
    a cut at a selection; the master ``fsp-master``, an MILP in the solver ``master_solver``, gives a lower bound and
    the next selection. From 5,000 entries of the data on fsopt's interior point solves the subproblem, where no solver
    is named and no model changed. Method ``best-subset`` solves the same problem without a solver, and closes larger
    gaps.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    preset : str, optional
        ``printed``: the loop of the paper, from its feasible point, ``start="zero"``, and with the argmax of each
        master; by default a master is solved to a tenth of the gap that is still open. ``closed-form``, only without
        constraints on the selection: the fast variant of the paper, which solves no integer program, takes the features
        with :math:`\frac12 q_j^2 > \lambda_j` in the last cut, and as a rule leaves a gap. None for no preset.
    start : str | Sequence[float], optional
        Selection of the first cut: ``all`` features, ``zero``, or sigma (p,) in [0, 1]. None is that of the preset,
        else ``all``.
    master_solver : str, optional
        Solver of the master, one for MILPs; None for the preferred one.
    tolerance : float, default 1e-06
        The loop stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    max_cuts : int, default 250
        >= 2, cuts after which the loop stops.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center``, ``none`` or ``unit-rows``.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them. The bound is that of the
        master's solver; of an optimal fit a search as of ``best-subset`` has confirmed it.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and ``alphas``, the multipliers behind the cuts.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-M, (5)-(11) and Table 1.
    """
    work, map_ = preprocess(data, scale)
    settings = GbdSettings(start, preset, master_solver, tolerance, max_cuts)
    rules = in_units("gbd", data, selection, map_.scale)
    master = build_fsp_master(work, **rules)
    bounds = {name: rules[name] for name in BOUNDS if name in rules}
    direct = not bounds and interior_order(work, run, REPEATED)[0]
    sub = interior_point.minimise if direct else build_fsp_sub(work, c=c, **bounds)
    result = yield from gbd.steps(work, master, sub, c=c, settings=settings, run=run)
    return fit_of(map_, selection_problem(work, master, c), result, evidence="alphas")


@with_keywords_of(fit_gbd)
def fit_gbd_lambda(data: Dataset, run: Run, *, lam: float | Sequence[float] = 1.0, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a penalty weight on each feature, by generalized Benders cuts.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_gbd`, the objective value of the support vector machine on a selection,
    and its loop of two models (GBD-lambda). Method ``best-subset-penalised`` solves the same problem without a solver.

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final hyperplane and ``bound`` the lower bound on the optimum;
        ``optimal`` where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-lambda, (12)-(15). The printed closed form for sigma solves a master problem of one cut; with more cuts
    it is an MILP. ``preset="closed-form"`` runs the loop with it.
    """
    return fit_gbd(data, run, lam=lam, **keywords)


GBD = MethodSpec(
    "gbd",
    fit_gbd,
    ("fsp-sub", "fsp-master"),
    check=check_selection,
    equation="(5)-(10)",
    estimator="GBD",
    driver="gbd",
    support=selected_features,
    compare=lambda p: {"max_cuts": 20, "tolerance": 1e-4},  # for a good selection, not for a proof
    weights="samples",
    exact=selection_claims,
)
GBD_LAMBDA = replace(
    GBD,
    name="gbd-lambda",
    fit=fit_gbd_lambda,
    equation="(12)-(15)",
    estimator="GBDLambda",
    grid=(("lam", (0.3, 1.0, 3.0)),),
)


@with_keywords_of(SelectionConstraints.of, without=("exclude",))
def fit_best_subset(
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
    r"""Fit the best support vector machine with a limited number of features, by branch and Benders.

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    With ``loss="squared-hinge"`` the second term is :math:`C \xi'\xi`, with ``loss="logistic"``
    :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.

    A branch and bound whose node bound is the Boolean relaxation, with Benders cuts shared by all nodes. It calls no
    solver. Method ``gbd`` is the loop of cuts and master problems of the paper, in solvers of choice.

    Parameters
    ----------
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
        >= 1, subtrees that are searched at a time, in as many processes; None is 1.
    tolerance : float, default 1e-06
        The search stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    scale : str, default 'standard'
        Preprocessing of the features, by statistics of the training samples: ``standard`` (default), ``center``,
        ``none`` or ``unit-rows``.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        Of several optimal selections it is the first that the search finds, the same in every run with one job and no
        time limit; without rules, for the hinge loss, ``fsopt.alternatives(data, m, within=0.0, c=c)`` has the others.
        ``details`` has ``sigma`` and ``evidence``, the tree with the cut that closes each leaf.

    Raises
    ------
    ParameterError : a parameter out of range, a solver, or constraints that no selection satisfies.

    Notes
    -----
    The problem is Aytug's (FSP-M), with the cuts (9); the node bound is half the squared k-support norm for the
    cardinality (Argyriou, Foygel and Srebro, 2012).
    """
    work, map_ = preprocess(data, scale)
    rules = in_units("best-subset", data, selection, map_.scale)
    master = build_fsp_master(work, **rules)
    problem = selection_problem(work, master, c, LOSSES[loss], strict=True)
    first = None
    if initial is not None:
        first = np.zeros(problem.p, dtype=bool)
        first[list(master.rules.groups.indices("best-subset", "initial", data, initial, "a list"))] = True
    settings = BranchSettings(tolerance, max_nodes, first, 1 if jobs is None else jobs)
    result = yield from branch_and_benders.steps(problem, settings=settings, run=run)
    return fit_of(map_, problem, result, evidence="evidence")


@with_keywords_of(fit_best_subset)
def fit_best_subset_penalised(
    data: Dataset, run: Run, *, lam: float | Sequence[float] = 1.0, **keywords: Any
) -> Steps[Fit]:
    r"""Fit the best support vector machine with a penalty weight on each feature, by branch and Benders.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_best_subset`, the objective value of the support vector machine
    on a selection, and its search, which calls no solver. Method ``gbd-lambda`` is the loop of the paper.

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final hyperplane and ``bound`` the lower bound on the optimum;
        ``optimal`` where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, a solver, or constraints that no selection satisfies.

    Notes
    -----
    The problem is Aytug's (FSP-lambda).
    """
    return fit_best_subset(data, run, lam=lam, **keywords)


BEST_SUBSET = replace(
    GBD,
    name="best-subset",
    fit=fit_best_subset,
    models=("fsp-master",),
    equation="(FSP-M)",
    estimator="BestSubsetSVM",
    driver="branch_and_benders",
    # For a proof on 30 features. No time ends the search: the scores of a fit that a clock ended are not repeatable.
    compare=lambda p: {"max_nodes": 3000, "tolerance": 1e-3},
    solver=False,
    sparse=True,
    resumable=True,
)
BEST_SUBSET_PENALISED = replace(
    BEST_SUBSET,
    name="best-subset-penalised",
    fit=fit_best_subset_penalised,
    equation="(FSP-lambda)",
    estimator="BestSubsetPenalisedSVM",
    compare=lambda p: {"max_nodes": 500, "tolerance": 1e-3},
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
SPECS = (GBD, GBD_LAMBDA, BEST_SUBSET, BEST_SUBSET_PENALISED)
