"""The verdict on a best subset: its objective, the bound that a tree of an exact search proves, and its exact claim.

The loop of cuts leaves no tree. For its fit the search makes one, up to the bound that the loop states; its root is
enough for that as a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import TOLERANCE, Certificate, Kind, gap_allowed, make
from fsopt.answers.results import Status
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, LOSSES
from fsopt.drivers.gbd.subproblem import cut_residuals
from fsopt.errors import reading
from fsopt.methods.gbd.problems import constraints_of, features_of, problem_of, saved_selection, weights_of
from fsopt.methods.gbd.proofs import WEIGHTED, SelectedHyperplane, claim_of_search, selection_about
from fsopt.methods.spec import SavedFit, Value
from fsopt.methods.verdict import finite_vector
from fsopt.models.gbd.feature_lists import WeightBounds
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.evidence import pack, verify
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.root import begin
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.typing import Vector

ROUNDING = 5e-7
"""Relative error of a bound that a master's solver may make within its tolerance."""
CLOSED_NODES, OPEN_NODES = 200_000, 20
"""Nodes after which a search for a closed fit of the loop gives up, and for each cut of one whose gap is open."""
NODES = 16
"""Nodes between two looks at the bound."""
NAME = "the optimum over all allowed selections"


def check_selection(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a best subset: the bound of each leaf of a tree from its cut.

    Raises
    ------
    FileError : the saved tree, cuts or selection are damaged.
    """
    fit = saved.fit
    if fit.bound is None or fit.objective is None or not np.isfinite([fit.bound, fit.objective]).all():
        return make(Kind.FEASIBLE, {}, objective=saved.value)
    problem = problem_of(saved.data, saved.params)
    checks = _cut_checks(saved)
    with reading("tree of the search"):
        found = verify(problem, _tree_of(saved, problem))
        checks["rules"] = float(not problem.allowed(saved_selection(saved.data, saved.params) > 0.5))
        checks["weight"] = abs(float(fit.details["c"]) / problem.c - 1.0)
    confirmed = min(found.bound, fit.objective)
    if fit.status is Status.OPTIMAL:
        checks["gap"] = max(relative_gap(fit.objective, fit.bound) - gap_allowed(fit.params["tolerance"]), 0.0)
    checks["order"] = max(fit.bound - fit.objective, 0.0) / max(1.0, abs(fit.objective))
    checks["bound"] = max(fit.bound - confirmed, 0.0) / max(1.0, abs(fit.bound))
    whose = "of a search, since the loop leaves none" if "alphas" in fit.details else "of the search"
    note = f"the bound was recomputed from the tree {whose}: {found.leaves} leaves, each closed by its cut"
    if found.solved:
        note += f"; {found.solved} relaxations were solved again"
    return make(Kind.GBD, checks, objective=fit.objective, bound=confirmed, notes=(note,))


def selection_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a best subset: its interval, from the tree and from the hyperplane.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    fit, at = saved.fit, saved.params
    if saved.data.weights is not None:
        return [not_shown(NAME, WEIGHTED)]
    problem = problem_of(saved.data, at)
    hyperplane = SelectedHyperplane(saved_selection(saved.data, at) > 0.5, saved.w, saved.b)
    optimal = fit.status is Status.OPTIMAL
    name = NAME if optimal else f"bounds on {NAME}"
    claim = claim_of_search(name, problem, _tree_of(saved, problem), hyperplane, _gap(saved), optimal=optimal)
    bounds = WeightBounds.of(fit.method, saved.raw, fit.params).words(saved.raw)
    about = selection_about(problem.c, constraints_of(saved.data, at), at.get("lam"), problem.loss.name, bounds)
    return [replace(claim, about=about)]


def selection(saved: SavedFit) -> tuple[int, ...]:
    """Return the features of the saved selection: also those of weight 0, which a rule may ask for."""
    at = saved.params
    return features_of(constraints_of(saved.data, at).of_features(saved_selection(saved.data, at)))


def _gap(saved: SavedFit) -> float:
    """Return the relative gap up to which a fit is called optimal."""
    return max(gap_allowed(saved.fit.params["tolerance"]), TOLERANCE)


def _cut_checks(saved: SavedFit) -> dict[str, float]:
    """Return the residuals of the cuts that a fit of the loop states; raises FileError where they are damaged."""
    if "alphas" not in saved.fit.details:
        return {}
    with reading("list of cuts"):
        alphas = [finite_vector(alpha, saved.data.n) for alpha in saved.fit.details["alphas"]]
        if not alphas:
            raise ValueError("there is none")
        return cut_residuals(saved.data, alphas, float(saved.params["c"]))


def _tree_of(saved: SavedFit, problem: SelectionProblem) -> Mapping[str, Any]:
    """Return the evidence behind the bound of a fit: its own tree, or of the loop that of a search up to its bound."""
    fit = saved.fit
    if "alphas" not in fit.details:
        tree: Mapping[str, Any] = fit.details["evidence"]
        return tree
    selected = saved_selection(saved.data, saved.params) > 0.5
    if fit.bound is None or fit.objective is None or problem.root() is None:
        raise ValueError("it has no bound, or its rules leave no selection")
    target, most = fit.bound - ROUNDING * max(1.0, abs(fit.bound)), OPEN_NODES * len(fit.details["alphas"])
    if fit.status is Status.OPTIMAL:
        target, most = max(target, fit.objective - _gap(saved) * max(1.0, abs(fit.objective))), CLOSED_NODES
    search = SelectionSearch(problem, BranchSettings(0.5 * ROUNDING, thorough=False))

    def go_on() -> bool:
        return search.bound < target <= search.incumbents.value

    with threadpool_limits(1), counted():
        for _ in begin(search, go_on, selected if problem.allowed(selected) else None):
            if search.stage and not go_on():
                break
        while search.frontier and search.nodes < most and go_on():
            search.run(NODES, go_on)
    return pack(search)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return F(sigma) + lambda'sigma at the saved selection, and the violation of the constraints on it."""
    sigma, constraints = saved_selection(data, at), constraints_of(data, at)
    unselected = np.abs(w[constraints.of_features(sigma) < 0.5])
    violation = max(constraints.violation(sigma), constraints.bounds.violation(w), float(unselected.max(initial=0.0)))
    loss = LOSSES[at.get("loss", HINGE.name)]
    value = 0.5 * float(w @ w) + at["c"] * loss.total(data.X @ w + b, data.y, data.weights)
    return value + float(weights_of(data, at) @ sigma), max(violation, 0.0)
