"""The selection problem of a method of Aytug, and the verdict on a best subset by the tree of an exact search.

The loop of cuts leaves no tree: for its fit the search makes one, up to the bound that the loop states. A cut bounds
its leaf by weak duality for fixed sigma, docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import TOLERANCE, Certificate, Kind, gap_allowed, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.common.registry import changes_in_force
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, LOSSES, Loss
from fsopt.data.matrices import Preprocessing, largest_values
from fsopt.drivers.gbd.master import check_objective
from fsopt.drivers.gbd.subproblem import cut_residuals
from fsopt.errors import ParameterError, reading
from fsopt.methods.gbd.proofs import WEIGHTED, SelectedHyperplane, claim_of_search, selection_about
from fsopt.methods.preprocessing import make_fit, without_rounding
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import finite_vector
from fsopt.models.gbd.feature_lists import BOUNDS, ENDS, WeightBounds, feature_groups
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.selection_constraints import RULES
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.evidence import pack, replayed
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Columns
from fsopt.search.branch_and_benders.root import begin
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.typing import Indices, Matrix, Vector

LIMITS = ("m", "costs", "budget", "groups", *RULES)
SELECTION = ("c", "loss", "lam", *LIMITS, *ENDS)
"""The parameters of a selection problem."""


def master_of(data: Dataset, at: Mapping[str, Any]) -> pyo.ConcreteModel:
    """Return the master of preprocessed data and the parameters of a method, without cuts."""
    return build_fsp_master(data, **{name: at[name] for name in ("lam", *LIMITS, *BOUNDS) if name in at})


def problem_of(data: Dataset, at: Mapping[str, Any], master: pyo.ConcreteModel | None = None) -> SelectionProblem:
    """Return the selection problem of preprocessed data and the parameters :data:`SELECTION` of a method."""
    master = master_of(data, at) if master is None else master
    return selection_problem(data, master, float(at["c"]), LOSSES[at.get("loss", HINGE.name)])


def selection_problem(
    data: Dataset, master: pyo.ConcreteModel, c: float, loss: Loss = HINGE, *, strict: bool = False
) -> SelectionProblem:
    """Return the problem of a master, without its rows on other variables; with ``strict`` such a master is refused."""
    program = compile_model(master)
    columns = np.array([program.column[id(v)] for v in master.sigma.values()])
    check_objective(data, master, program, columns)
    if strict and not _searchable(program, columns):
        raise ParameterError(
            "the master of 'best-subset' has variables or cuts of its own, which branch and Benders does not take",
            "take 'gbd' or 'gbd-lambda', which give the master to a solver",
        )
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


def inequalities(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return R and r of ``R sigma <= r``: the rows of a master in sigma alone, and the fixed features."""
    others = np.setdiff1d(np.arange(program.n), columns)
    alone = np.diff(sp.csr_matrix(program.A[:, others]).indptr) == 0
    lb, ub = program.lb[columns], program.ub[columns]
    fixed = np.flatnonzero((ub < 1.0) | (lb > 0.0))
    A = np.vstack([program.A[alone][:, columns].toarray(), fixed[:, None] == np.arange(len(columns))])
    lo, hi = np.append(program.lo[alone], lb[fixed]), np.append(program.hi[alone], ub[fixed])
    upper, lower = np.isfinite(hi), np.isfinite(lo)
    return np.vstack([A[upper], -A[lower]]), np.append(hi[upper], -lo[lower])


def fit_of(map_: Preprocessing, problem: SelectionProblem, result: DriverResult, *, evidence: str) -> Fit:
    """Return the Fit of an incumbent without the features that neither move a score nor are asked for by a rule.

    A constant feature fills a place that the cardinality leaves, and its weight is a rounded 0. Features with a penalty
    weight stay, for the objective value is that of their selection; so do all where a rule needs one of the others, or
    a function changed a model, whose rules may be on other variables.

    Parameters
    ----------
    evidence : name of the evidence in the point of the result.
    """
    at = result.point
    sigma, w = at["sigma"], without_rounding(at["w"], largest_values(problem.X))
    needed = (problem.sizes(w) > 0.0) | (problem.lam > 0.0) | problem.fixed.inside
    if not changes_in_force() and problem.allowed(needed & (sigma > 0.5)):
        sigma = np.where(needed, sigma, 0.0)
    return make_fit(map_, w, at["b"], result, details={evidence: at[evidence], "sigma": sigma})


def saved_selection(data: Dataset, at: Mapping[str, Any]) -> Vector:
    """Return the saved selection of features or groups, zeros and ones; raises FileError where it is damaged."""
    sigma = finite_vector(at["sigma"], len(feature_groups("gbd", data, at.get("groups"))))
    if not np.isin(sigma, (0.0, 1.0)).all():
        raise ValueError("it has entries beside 0 and 1")
    return sigma


ROUNDING = 5e-7
"""Relative error of a bound that a master's solver may make within its tolerance."""
CLOSED_NODES, OPEN_NODES = 200_000, 20
"""Nodes after which a search for a closed fit of the loop gives up, and for each cut of one whose gap is open."""
NODES = 16
"""Nodes between two looks at the bound."""
NAME = "the optimum over all allowed selections"


def check_selection(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a best subset: the bound of each leaf of a tree from its cut."""
    fit, problem = saved.fit, problem_of(saved.data, saved.params)
    hyperplane = hyperplane_of(saved)
    value, checks = hyperplane.value(problem), {"constraints": hyperplane.violation(problem)}
    if fit.bound is None or fit.objective is None or not np.isfinite([fit.bound, fit.objective]).all():
        return make(Kind.FEASIBLE, checks, objective=value)
    loop = "alphas" in fit.details
    with reading("list of cuts"):
        if loop:
            alphas = [finite_vector(alpha, saved.data.n) for alpha in fit.details["alphas"]]
            if not alphas:
                raise ValueError("there is none")
            checks |= cut_residuals(saved.data, alphas, problem.c)
    with reading("tree of the search"):
        found = replayed(problem, _tree_of(saved, problem))
    whose = "of a search, since the loop leaves none" if loop else "of the search"
    note = f"the bound is the smallest of {found.parts} bounds of leaves and pegs, recomputed from the tree {whose}"
    return make(Kind.GBD, checks, objective=value, bound=min(found.bound, fit.objective), notes=(note,))


def hyperplane_of(saved: SavedFit) -> SelectedHyperplane:
    """Return the hyperplane of a saved fit with its selection."""
    return SelectedHyperplane(saved_selection(saved.data, saved.params) > 0.5, saved.w, saved.b)


def selection_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a best subset: its interval, from the tree and from the hyperplane."""
    fit, at = saved.fit, saved.params
    if saved.data.weights is not None:
        return [not_shown(NAME, WEIGHTED)]
    master = master_of(saved.data, at)
    problem = problem_of(saved.data, at, master)
    hyperplane, optimal = hyperplane_of(saved), fit.status is Status.OPTIMAL
    name = NAME if optimal else f"bounds on {NAME}"
    claim = claim_of_search(name, problem, _tree_of(saved, problem), hyperplane, _gap(saved), optimal=optimal)
    bounds = WeightBounds.of(fit.method, saved.raw, fit.params).words(saved.raw)
    about = selection_about(problem.c, master.rules, bounds, at.get("lam"), problem.loss.name)
    return [replace(claim, about=about)]


def selected_features(saved: SavedFit) -> tuple[int, ...]:
    """Return the features of the saved selection: also those of weight 0, which a rule may ask for."""
    at = saved.params
    sigma = saved_selection(saved.data, at)[feature_groups("gbd", saved.data, at.get("groups")).of]
    return tuple(np.flatnonzero(sigma).tolist())


def _gap(saved: SavedFit) -> float:
    """Return the relative gap up to which a fit is called optimal."""
    return max(gap_allowed(saved.fit.params["tolerance"]), TOLERANCE)


def _tree_of(saved: SavedFit, problem: SelectionProblem) -> Mapping[str, Any]:
    """Return the evidence behind the bound of a fit: its own tree, or of the loop that of a search up to its bound."""
    fit = saved.fit
    if "alphas" not in fit.details:
        return dict(fit.details["evidence"])
    selected = hyperplane_of(saved).selected
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
            if not go_on():
                break
        while search.frontier and search.nodes < most and go_on():
            search.run(NODES, go_on)
    return pack(search)
