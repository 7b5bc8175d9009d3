"""Verification of a saved best subset: the bound of the loop by a search, that of a search from its tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, gap_allowed, make, merged
from fsopt.answers.results import Status
from fsopt.certificates.points import relative_gap
from fsopt.common.customising import in_force
from fsopt.common.texts import counted
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, LOSSES
from fsopt.drivers.gbd.subproblem import certify_gbd
from fsopt.errors import reading
from fsopt.methods.gbd.parameters import constraints_of, features_of, inequalities, saved_selection, weights_of
from fsopt.methods.spec import SavedFit, Value
from fsopt.methods.verdict import finite_vector
from fsopt.models.gbd.feature_lists import ENDS
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.selection_constraints import RULES, SelectionConstraints
from fsopt.search.branch_and_benders.columns import Columns
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import verify
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.typing import Mask, Matrix, Vector

NODE_LIMIT = 200_000
"""Nodes after which a search gives up."""

ROUNDING = 5e-7
"""Relative error of a bound that a master's solver may make within its tolerance."""


def check_gbd(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a fit of the loop: its cuts from their multipliers, its bound by branch and Benders.

    The bound is confirmed where a search of the same selections, without a solver, proves one as large. A search that
    is too large confirms the bound that it has proved by then.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    fit, data = saved.fit, saved.data
    at = saved.params
    with reading("list of cuts"):
        alphas = [finite_vector(alpha, data.n) for alpha in fit.details["alphas"]]
        weight = abs(float(fit.details["c"]) / float(fit.params["c"]) - 1.0)
    if not alphas or fit.bound is None or fit.objective is None or not np.isfinite([fit.bound, fit.objective]).all():
        return make(Kind.FEASIBLE, {}, objective=saved.value)
    cuts = certify_gbd(data, alphas, fit.params["c"], fit.objective, fit.bound, 0.0)
    checks = merged(cuts.residuals, {"weight": weight})
    # The gap may be as large as the parameter tolerance, and the upper bound is never below the lower one.
    gap = checks.pop("gap")
    if fit.status is Status.OPTIMAL:
        checks["gap"] = max(gap - gap_allowed(fit.params["tolerance"]), 0.0)
    checks["order"] = max(fit.bound - fit.objective, 0.0) / max(1.0, abs(fit.objective))
    problem = selection_problem(data, {"loss": HINGE.name, **at})
    sigma = saved_selection(data, at | {"sigma": fit.details.get("sigma")})
    if in_force("fsp-master"):
        checks["rules"] = float(np.max(problem.R @ sigma - problem.r, initial=0.0))
    confirmed, note = _confirmed_bound(problem, sigma > 0.5, fit.bound)
    checks["bound"] = max(fit.bound - confirmed, 0.0) / max(1.0, abs(fit.bound))
    return make(Kind.GBD, checks, objective=fit.objective, bound=fit.bound, notes=(note,))


def check_best_subset(saved: SavedFit) -> Certificate:
    """Recompute the certificate of branch and Benders: the bound of each leaf of the tree from its cut.

    Raises
    ------
    FileError : the saved tree is damaged.
    """
    fit = saved.fit
    if fit.bound is None or fit.objective is None or not np.isfinite([fit.bound, fit.objective]).all():
        return make(Kind.FEASIBLE, {}, objective=saved.value)
    problem = selection_problem(saved.data, saved.params)
    with reading("tree of the search"):
        found = verify(problem, fit.details["evidence"])
        weight = abs(float(fit.details["c"]) / problem.c - 1.0)
    confirmed = min(found.bound, fit.objective)
    checks = {"weight": weight}
    if fit.status is Status.OPTIMAL:
        checks["gap"] = max(relative_gap(fit.objective, fit.bound) - gap_allowed(fit.params["tolerance"]), 0.0)
    checks["order"] = max(fit.bound - fit.objective, 0.0) / max(1.0, abs(fit.objective))
    checks["bound"] = max(fit.bound - confirmed, 0.0) / max(1.0, abs(fit.bound))
    note = f"the bound was recomputed from the tree: {found.leaves} leaves, each closed by its cut"
    if found.solved:
        note += f"; {found.solved} relaxations were solved again"
    return make(Kind.GBD, checks, objective=fit.objective, bound=confirmed, notes=(note,))


def selection(saved: SavedFit) -> tuple[int, ...]:
    """Return the features of the saved selection: also those of weight 0, which a rule may ask for."""
    at = saved.params
    return features_of(constraints_of(saved.data, at).of_features(saved_selection(saved.data, at)))


SELECTION = ("c", "loss", "m", "costs", "budget", "lam", "groups", *ENDS, *RULES)
"""The parameters of a selection problem."""


def selection_problem(data: Dataset, at: Mapping[str, Any]) -> SelectionProblem:
    """Return the selection problem of preprocessed data and parameters :data:`SELECTION`."""
    constraints = constraints_of(data, at)
    R, r = _changed_inequalities(data, constraints) if in_force("fsp-master") else constraints.inequalities()
    columns = Columns.needed(constraints.groups, constraints.bounds)
    return SelectionProblem.of(data, float(at["c"]), R, r, weights_of(data, at), LOSSES[at["loss"]], columns)


def _changed_inequalities(data: Dataset, constraints: SelectionConstraints) -> tuple[Matrix, Vector]:
    """Return R and r of ``R sigma <= r`` for the changed master, without rules that have variables of their own."""
    # Without them more selections are allowed, so that a bound is confirmed too seldom, never too often.
    groups = constraints.groups
    model = build_fsp_master(data, lam=0.0, groups=[groups.members(g) for g in range(len(groups))])
    constraints.add_to(model)
    program = compile_model(model)
    return inequalities(program, np.array([program.column[id(v)] for v in model.sigma.values()]))


def _confirmed_bound(problem: SelectionProblem, selected: Mask, bound: float) -> tuple[float, str]:
    """Return the bound, or the smaller one that a search proves, and a note."""
    target = bound - ROUNDING * max(1.0, abs(bound))
    initial = selected if problem.allowed(selected) else None
    settings = BranchSettings(0.5 * ROUNDING, NODE_LIMIT, initial, thorough=False)
    found, note = -np.inf, "the bound is not confirmed: a search has no selection"
    for record in branch_and_benders.steps(problem, settings=settings):
        found, nodes = record["bound"], counted(record["nodes"], "node")
        if found >= target:
            return bound, f"the bound was confirmed by branch and Benders, with {nodes}"
        if record["objective"] < target:
            return record["objective"], "a selection has a value below the bound"
        note = f"the bound is not confirmed: not by {nodes} of branch and Benders"
    return found, note


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return F(sigma) + lambda'sigma at the saved selection, and the violation of the constraints on it."""
    sigma, constraints = saved_selection(data, at), constraints_of(data, at)
    unselected = np.abs(w[constraints.of_features(sigma) < 0.5])
    violation = max(constraints.violation(sigma), constraints.bounds.violation(w), float(unselected.max(initial=0.0)))
    loss = LOSSES[at.get("loss", HINGE.name)]
    value = 0.5 * float(w @ w) + at["c"] * loss.total(data.X @ w + b, data.y, data.weights)
    return value + float(weights_of(data, at) @ sigma), max(violation, 0.0)
