"""The two problems between which generalized Benders goes to and fro: the master, two ways, and the subproblem."""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.residuals import bound_excess, row_excess
from fsopt.compiler import Program
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.gbd.branch_and_bound import Tree
from fsopt.drivers.gbd.state import Iterate, State
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint, OutOfTime, Run
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.models.gbd.fsp_master import add_cut, cut_coefficients
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Indices, Vector

SEARCH = "search"


NONE_ALLOWED = "no selection of features keeps all limits"


DIVE = 64
"""Partial selections that the search looks at together."""


BELOW = 0.9
"""The share of the tolerance below the incumbent at which a selection is still looked for."""


class Master:
    """A master problem in its solver; ``relaxed`` without its integers.

    Attributes
    ----------
    prices : (p,) what the objective charges for each feature, lambda of (RMP-lambda); zeros in (RMP-M).
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None, *, relaxed: bool = False) -> None:
        self.data = data
        self.model = model
        if relaxed:
            self.model = pyo.TransformationFactory("core.relax_integer_vars").create_using(model)
        self.session = Session(self.model, solver)
        self.program = self.session.program
        self.columns = self.session.columns(self.model.sigma)
        self.prices: Vector = self.program.c[self.columns].copy()

    @property
    def sessions(self) -> list[Session]:
        """The sessions whose seconds are the master's."""
        return [self.session]

    def allows(self, sigma: Vector) -> bool:
        """Return whether a selection keeps all limits; False too where limits have variables of their own."""
        return allows(self.program, self.columns, sigma)

    def add(self, alphas: list[Vector]) -> None:
        """Add the cuts of multipliers."""
        for alpha in alphas:
            self.session.add(add_cut(self.model, self.data, alpha))

    def solve(self, recorder: Recorder, mip_gap: float | None = None) -> tuple[float, Vector]:
        """Return the bound that was proved and the selection; raises InfeasibleError where there is none."""
        try:
            result = recorder.solve(self.session, "the master problem", load=False, mip_gap=mip_gap)
        except NoPoint as error:
            raise InfeasibleError(NONE_ALLOWED, "drop one of the limits") from error
        assert result.point is not None
        return -np.inf if result.bound is None else result.bound, np.clip(result.point.x[self.columns], 0.0, 1.0)

    def first(self, recorder: Recorder) -> Vector:
        """Return a selection that keeps the limits."""
        return np.round(self.solve(recorder)[1])

    def step(self, state: State, tolerance: float, recorder: Recorder, gap: float | None = None) -> None:
        """Raise the lower bound and take the selection to try next.

        The master is solved to a tenth of the gap that is still open: any bound it proves is valid, and early ones
        need no digits. Should that bring back a selection that was tried, it is solved to the tolerance instead.
        ``gap`` is the open one where the state does not know it.
        """
        exact = 0.1 * tolerance
        for mip_gap in (max(0.1 * min(state.gap if gap is None else gap, 1.0), exact), exact):
            bound, sigma = self.solve(recorder, mip_gap)
            state.lower, state.sigma, state.allowed = max(state.lower, bound), np.round(sigma), True
            if state.sigma.tobytes() not in state.tried or state.closed(tolerance):
                break


class SearchMaster:
    """A master problem without a solver: the driver's own search goes on where it stopped, below the best value.

    What it returns is not the least of the cuts but any selection at which they are below the incumbent; where there
    is none left, the incumbent is proved. Only for rows on sigma alone, see :func:`searchable`.

    Attributes
    ----------
    prices : as in :class:`Master`.
    """

    def __init__(self, data: Dataset, program: Program, columns: Indices) -> None:
        self.data, self.program, self.columns = data, program, columns
        self.prices: Vector = program.c[columns].copy()
        A = program.A[:, columns].toarray()
        upper, lower = np.isfinite(program.hi), np.isfinite(program.lo)
        unit, least, most = np.eye(data.p), program.lb[columns], program.ub[columns]
        out, into = most < 1.0, least > 0.0
        self.tree = Tree(
            np.vstack([A[upper], -A[lower], unit[out], -unit[into]]),
            np.concatenate([program.hi[upper], -program.lo[lower], most[out], -least[into]]),
            DIVE,
        )
        self.tree.add(np.zeros(1), -self.prices[None])  # theta >= 0

    @property
    def sessions(self) -> list[Session]:
        """None: the search counts its own seconds."""
        return []

    def allows(self, sigma: Vector) -> bool:
        """Return whether a selection keeps all limits."""
        return allows(self.program, self.columns, sigma)

    def add(self, alphas: list[Vector]) -> None:
        """Add the cuts of multipliers."""
        for alpha in alphas:
            constant, slopes = cut_coefficients(self.data, alpha)
            self.tree.add(np.array([constant]), (slopes - self.prices)[None])

    def first(self, recorder: Recorder) -> Vector:
        """Return any selection that keeps the limits; raises InfeasibleError where there is none."""
        tree = Tree(self.tree.R, self.tree.r, 1)
        return _found(tree, _look(tree, np.inf, recorder))

    def step(self, state: State, tolerance: float, recorder: Recorder, gap: float | None = None) -> None:
        """Take the selection to try next, and raise the lower bound to what the search has left open."""
        claim = np.inf
        if state.best is not None:
            claim = state.upper - BELOW * tolerance * max(1.0, abs(state.upper))
        sigma = _look(self.tree, claim, recorder)
        state.lower = max(state.lower, self.tree.least(claim))
        if sigma is not None or state.best is None:
            state.sigma, state.allowed = _found(self.tree, sigma), True


def _look(tree: Tree, claim: float, recorder: Recorder) -> Vector | None:
    """Search for what is left of the time, at least a tenth of a second; the seconds are those of a solver."""
    started, limit = time.perf_counter(), recorder.remaining
    end = np.inf if limit is None else started + limit
    try:
        return tree.next(claim, lambda nodes: time.perf_counter() < end)
    finally:
        recorder.count(SEARCH, time.perf_counter() - started)


def _found(tree: Tree, sigma: Vector | None) -> Vector:
    """Return the first selection of a tree; raise InfeasibleError or OutOfTime where there is none."""
    if sigma is not None:
        return sigma
    if tree.stack:
        raise OutOfTime(f"no selection was found in time: {tree.nodes} nodes were not enough", "give more seconds")
    raise InfeasibleError(NONE_ALLOWED, "drop one of the limits")


def searchable(data: Dataset, program: Program, columns: Indices) -> bool:
    """Return whether a master has no variables but sigma, binary, and theta, and linear rows without theta alone."""
    theta = np.setdiff1d(np.arange(program.n), columns)
    rows = program.A[:, theta].nnz == 0 and not program.nonconic and not program.unsupported and not len(program.cones)
    return rows and program.n == data.p + 1 and bool(program.integer[columns].all())


def check_objective(program: Program, columns: Indices, theta: int | None) -> None:
    """Raise ParameterError for a master that minimises anything but theta and prices of sigma: that bounds no F."""
    others = program.c.copy()
    others[columns] = 0.0
    if theta is not None:
        others[theta] -= 1.0
    linear = program.P.nnz == 0 and program.sign == 1.0 and program.c0 == 0.0
    if theta is None or not linear or others.any():
        raise ParameterError("the master does not minimise 'theta' plus prices of 'sigma'", "give it that objective")


def allows(program: Program, columns: Indices, sigma: Vector) -> bool:
    """Return whether a selection keeps all limits; False too where limits have variables of their own."""
    if program.n != len(columns) + 1:
        return False
    x = np.full(program.n, np.finfo(float).max)  # theta is as large as any cut asks for
    x[columns] = sigma
    with np.errstate(over="ignore"):
        whole_numbers = bool(np.isin(sigma, (0.0, 1.0)).all())
        inside = bool(bound_excess(program, x)[columns].max(initial=0.0) <= 1e-9)
        return whole_numbers and inside and bool(row_excess(program, x).max(initial=0.0) <= 1e-9)


class Subproblem:
    r"""The support vector machine on a selection, in its solver.

    At a fractional sigma it is :math:`\max_\alpha e'\alpha - \frac12\sum_j \sigma_j q_j(\alpha)^2`, the convex
    extension of F; the model has :math:`w_j = \sigma_j u_j`, so it is given the roots of sigma.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, c: float, run: Run) -> None:
        self.data, self.model, self.c = data, model, c
        self.session = run.open(model)
        self.margins, self.weights = self.session.rows(model.margin), self.session.columns(model.w)

    def solve(self, sigma: Vector, recorder: Recorder) -> tuple[Vector, Vector]:
        """Return the multipliers (n,) at sigma, made exactly dual feasible, and the weights (p,)."""
        store(self.model.sigma, np.sqrt(sigma))
        self.session.update(self.model.selection)
        # Read from the point, without loading values and prices of all rows into the model on each of the cuts.
        point = recorder.solve(self.session, "the subproblem", load=False).point
        if point is None or point.y is None:
            raise no_multipliers(self.session.spec.name, self.session.problem_class)
        return project_multipliers(point.y[self.margins], self.data.y, self.c), point.x[self.weights]

    def iterate(self, sigma: Vector, w: Vector, prices: Vector, validation: Dataset | None) -> Iterate:
        """Return the iterate of a selection and its weights; the value is the primal one, with the best intercept."""
        w = np.where(sigma > 0.5, w, 0.0)
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y)
        value = 0.5 * float(w @ w) + self.c * hinge(scores + b, self.data.y) + float(prices @ sigma)
        error = 0.0 if validation is None else float(np.mean(validation.y * (validation.X @ w + b) <= 0))
        return Iterate(sigma, w, b, value, error)

    def fractional_value(self, sigma: Vector, w: Vector) -> float:
        """Return the primal value at a fractional sigma, an upper bound of the convex extension there."""
        used = sigma > 0
        scores = self.data.X[:, used] @ w[used]
        b = midpoint_intercept(scores, self.data.y)
        return 0.5 * float(np.sum(w[used] ** 2 / sigma[used])) + self.c * hinge(scores + b, self.data.y)
