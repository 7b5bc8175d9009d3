"""The selection problem of a method of Aytug, from its parameters or from its master, and selections as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.common.customising import changes_in_force
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, LOSSES, Loss
from fsopt.data.matrices import largest_values
from fsopt.drivers.gbd.master import check_objective
from fsopt.errors import ParameterError, reading
from fsopt.methods.preprocessing import without_rounding
from fsopt.methods.verdict import finite_vector
from fsopt.models.gbd.feature_lists import BOUNDS, ENDS, feature_groups
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.selection_constraints import RULES, SelectionConstraints, feature_weights
from fsopt.search.branch_and_benders.columns import Columns
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.typing import Indices, Matrix, Vector

LIMITS = ("m", "costs", "budget", "groups", *RULES)
SELECTION = ("c", "loss", "lam", *LIMITS, *ENDS)
"""The parameters of a selection problem."""


def problem_of(data: Dataset, at: Mapping[str, Any]) -> SelectionProblem:
    """Return the selection problem of preprocessed data and the parameters :data:`SELECTION` of a method."""
    master = build_fsp_master(data, **{name: at[name] for name in ("lam", *LIMITS, *BOUNDS) if name in at})
    return selection_problem(data, master, float(at["c"]), LOSSES[at.get("loss", HINGE.name)])


def selection_problem(
    data: Dataset, master: pyo.ConcreteModel, c: float, loss: Loss = HINGE, *, whole: bool = False
) -> SelectionProblem:
    """Return the problem whose master was built, without its constraints on other variables than sigma.

    Parameters
    ----------
    whole : whether a master with such constraints or variables, or with cuts, is refused. Without them more selections
        are allowed, so that a bound is confirmed too seldom, never too often.

    Raises
    ------
    ParameterError : a master of other features, or one that minimises anything but theta and penalties of sigma.
    """
    program = compile_model(master)
    columns = np.array([program.column[id(v)] for v in master.sigma.values()])
    check_objective(data, master, program, columns)
    if whole and not _searchable(program, columns):
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


def constraints_of(data: Dataset, at: Mapping[str, Any]) -> SelectionConstraints:
    """Return the constraints on the selection, with the default cardinality where nothing limits its size.

    Parameters
    ----------
    at : the parameters of the method.
    """
    found = SelectionConstraints.of("gbd", data, **{name: at[name] for name in (*LIMITS, *BOUNDS) if name in at})
    return found.with_default_cardinality() if at.get("lam") is None else found


def weights_of(data: Dataset, at: Mapping[str, Any]) -> Vector:
    """Return the penalty weights lambda (p,) of the features; zeros where the parameters have none."""
    groups = feature_groups("gbd-lambda", data, at.get("groups"))
    return np.zeros(len(groups)) if at.get("lam") is None else feature_weights("gbd-lambda", groups, at["lam"])


def inequalities(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return R and r of ``R sigma <= r``: the rows of a master in sigma alone, and the features that are fixed.

    Rows with other variables are left out: without them more selections are allowed.
    """
    p = len(columns)
    others = np.setdiff1d(np.arange(program.n), columns)
    alone = np.diff(sp.csr_matrix(program.A[:, others]).indptr) == 0
    A = program.A[:, columns].toarray()
    upper, lower = alone & np.isfinite(program.hi), alone & np.isfinite(program.lo)
    lb, ub = program.lb[columns], program.ub[columns]
    never, always = np.flatnonzero(ub < 1.0), np.flatnonzero(lb > 0.0)
    out, into = (np.array(places[:, None] == np.arange(p), dtype=float) for places in (never, always))
    R = np.vstack([A[upper], -A[lower], out, -into])
    return R, np.concatenate([program.hi[upper], -program.lo[lower], ub[never], -lb[always]])


def features_of(sigma: Vector) -> tuple[int, ...]:
    """Return the places of the features of a selection (p,)."""
    return tuple(np.flatnonzero(sigma > 0.5).tolist())


def trimmed(work: Dataset, at: Mapping[str, Any], sigma: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Return a selection and its weights without the features that neither move a score nor are asked for by a rule.

    A constant feature fills a place that the cardinality leaves, and its weight is a rounded 0. Features with a penalty
    weight stay, for the objective value is that of their selection; so do all where a function changed a model,
    whose rules are then not those of the parameters.

    Parameters
    ----------
    work : preprocessed.
    at : the parameters of the method.
    sigma, w : selection, of features or groups, and weights (p,) of the incumbent.
    """
    w = without_rounding(w, largest_values(work.X))
    if changes_in_force():
        return sigma, w
    constraints, free = constraints_of(work, at), weights_of(work, at) == 0.0
    sigma, unused = sigma.copy(), constraints.groups.sums(np.abs(w)) == 0.0
    while True:  # each pass drops a feature, or is the last one
        idle = np.flatnonzero((sigma > 0.5) & unused & free)
        rest = [np.where(np.arange(len(sigma)) == j, 0.0, sigma) for j in idle]
        allowed = next((one for one in rest if constraints.violation(one) <= constraints.violation(sigma)), None)
        if allowed is None:
            return sigma, w
        sigma = allowed


def saved_selection(data: Dataset, at: Mapping[str, Any]) -> Vector:
    """Return the saved selection of features or groups, zeros and ones; raises FileError where it is damaged."""
    with reading("selection"):
        sigma = finite_vector(at["sigma"], len(feature_groups("gbd", data, at.get("groups"))))
        if not np.isin(sigma, (0.0, 1.0)).all():
            raise ValueError("it has entries beside 0 and 1")
    return sigma
