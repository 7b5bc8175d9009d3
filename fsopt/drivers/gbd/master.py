"""The master problem of generalized Benders, two ways: an MILP in its solver, or the driver's own branch and bound."""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.residuals import bound_excess, row_excess
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.drivers.gbd.branch_and_bound import BranchAndBound
from fsopt.drivers.gbd.state import State
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint, OutOfTime
from fsopt.errors import InfeasibleError, ParameterError, SolverError
from fsopt.models.gbd.fsp_master import add_cut, cut_coefficients
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Matrix, Vector

SEARCH = "search"
"""Word for the branch and bound of :class:`SearchMaster` where a solver of the master is named."""
NONE_FEASIBLE = "no selection of features keeps all limits"
CHUNK = 64
"""Nodes that the search bounds together."""
BELOW = 0.9
"""Distance of the cutoff below the incumbent, as a share of the tolerance: a search that ends closes the gap."""


def open_master(data: Dataset, model: pyo.ConcreteModel, solver: str | None) -> MilpMaster | SearchMaster:
    """Return the master in a solver, or as a search; that also where no solver is named and it can be searched.

    Raises
    ------
    ParameterError : a master of other features, or one that minimises anything but theta and penalties of sigma.
    SolverError : ``search`` for a master that cannot be searched, see :func:`searchable`.
    """
    if len(model.sigma) != data.p:
        raise ParameterError(
            f"the master given to 'gbd' has {len(model.sigma)} features, the data {data.p}",
            "build both models from the data set that the driver is given",
        )
    program = compile_model(model)
    columns = np.array([program.column[id(v)] for v in model.sigma.values()])
    check_objective(program, columns, program.column.get(id(model.theta)))
    if solver not in (None, SEARCH):
        return MilpMaster(data, model, solver)
    if searchable(data, program, columns):
        return SearchMaster(data, program, columns)
    if solver == SEARCH:
        raise SolverError(
            "the search for selections takes constraints on 'sigma' alone", "take a solver for 'master_solver'"
        )
    return MilpMaster(data, model, None)


class MilpMaster:
    """A master problem in its solver; ``relaxed`` without its integers.

    Attributes
    ----------
    penalties : (p,) penalty weight of each feature in the objective, lambda of (RMP-lambda); zeros in (RMP-M).
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None, *, relaxed: bool = False) -> None:
        self.data = data
        self.model = model
        if relaxed:
            self.model = pyo.TransformationFactory("core.relax_integer_vars").create_using(model)
        self.session = Session(self.model, solver)
        self.program = self.session.program
        self.columns = self.session.columns(self.model.sigma)
        self.penalties: Vector = self.program.c[self.columns].copy()

    @property
    def sessions(self) -> list[Session]:
        """The sessions whose seconds are the master's."""
        return [self.session]

    def feasible(self, sigma: Vector) -> bool:
        """Return whether a selection satisfies the constraints; False too where they have variables of their own."""
        return feasible(self.program, self.columns, sigma)

    def add(self, alphas: list[Vector]) -> None:
        """Add the cuts of multipliers."""
        for alpha in alphas:
            self.session.add(add_cut(self.model, self.data, alpha))

    def solve(self, recorder: Recorder, mip_gap: float | None = None) -> tuple[float, Vector]:
        """Return the bound that was proved and the selection; raises InfeasibleError where there is none."""
        try:
            result = recorder.solve(self.session, "the master problem", load=False, mip_gap=mip_gap)
        except NoPoint as error:
            raise InfeasibleError(NONE_FEASIBLE, "drop one of the limits") from error
        assert result.point is not None
        return -np.inf if result.bound is None else result.bound, np.clip(result.point.x[self.columns], 0.0, 1.0)

    def first(self, recorder: Recorder) -> Vector:
        """Return a feasible selection."""
        return np.round(self.solve(recorder)[1])

    def step(self, state: State, tolerance: float, recorder: Recorder, gap: float | None = None) -> None:
        """Raise the lower bound and take the selection to try next.

        The master is solved to a tenth of the optimality gap that is still open: any bound that it proves is valid,
        and early ones need no digits. Where that brings back a selection that was tried, it is solved to the
        tolerance instead. ``gap`` is the open one where the state does not know it.
        """
        exact = 0.1 * tolerance
        for mip_gap in (max(0.1 * min(state.gap if gap is None else gap, 1.0), exact), exact):
            bound, sigma = self.solve(recorder, mip_gap)
            state.lower = max(state.lower, bound)
            state.sigma = np.round(sigma)
            state.feasible = True
            if state.sigma.tobytes() not in state.tried or state.closed(tolerance):
                break


class SearchMaster:
    """A master problem without a solver: branch and bound below a cutoff, resumed from its open nodes.

    A step does not return the minimum of the master but any selection at which the cuts are below the incumbent;
    where none is left, the incumbent is optimal. Only for constraints on sigma alone, see :func:`searchable`.

    Attributes
    ----------
    penalties : as in :class:`MilpMaster`.
    """

    def __init__(self, data: Dataset, program: Program, columns: Indices) -> None:
        self.data = data
        self.program = program
        self.columns = columns
        self.penalties: Vector = program.c[columns].copy()
        self.search = BranchAndBound(*constraints_on_selection(program, columns), CHUNK)
        self.search.add(np.zeros(1), -self.penalties[None])  # theta >= 0

    @property
    def sessions(self) -> list[Session]:
        """None: the search counts its own seconds."""
        return []

    def feasible(self, sigma: Vector) -> bool:
        """Return whether a selection satisfies the constraints."""
        return feasible(self.program, self.columns, sigma)

    def add(self, alphas: list[Vector]) -> None:
        """Add the cuts of multipliers."""
        for alpha in alphas:
            constant, slopes = cut_coefficients(self.data, alpha)
            self.search.add(np.array([constant]), (slopes - self.penalties)[None])

    def first(self, recorder: Recorder) -> Vector:
        """Return any feasible selection; raises InfeasibleError where there is none."""
        search = BranchAndBound(self.search.R, self.search.r, 1)
        return _found(search, _searched(search, np.inf, recorder))

    def step(self, state: State, tolerance: float, recorder: Recorder, gap: float | None = None) -> None:
        """Take the selection to try next, and raise the lower bound to that of the open nodes."""
        cutoff = np.inf
        if state.best is not None:
            cutoff = state.upper - BELOW * tolerance * max(1.0, abs(state.upper))
        sigma = _searched(self.search, cutoff, recorder)
        state.lower = max(state.lower, self.search.lower_bound(cutoff))
        if sigma is not None or state.best is None:
            state.sigma, state.feasible = _found(self.search, sigma), True


def _searched(search: BranchAndBound, cutoff: float, recorder: Recorder) -> Vector | None:
    """Search for the rest of the time, at least a tenth of a second; the seconds are those of a solver."""
    started, limit = time.perf_counter(), recorder.remaining
    end = np.inf if limit is None else started + limit
    try:
        return search.next(cutoff, lambda nodes: time.perf_counter() < end)
    finally:
        recorder.count(SEARCH, time.perf_counter() - started)


def _found(search: BranchAndBound, sigma: Vector | None) -> Vector:
    """Return the first selection of a search; raise InfeasibleError or OutOfTime where there is none."""
    if sigma is not None:
        return sigma
    if search.open_nodes:
        raise OutOfTime(f"no selection was found in time: {search.nodes} nodes were not enough", "give more seconds")
    raise InfeasibleError(NONE_FEASIBLE, "drop one of the limits")


def searchable(data: Dataset, program: Program, columns: Indices) -> bool:
    """Return whether a master has no variables but sigma, binary, and theta, and linear constraints on sigma alone."""
    theta = np.setdiff1d(np.arange(program.n), columns)
    linear = not program.nonconic and not program.unsupported and not len(program.cones)
    on_sigma = program.A[:, theta].nnz == 0 and program.n == data.p + 1
    return linear and on_sigma and bool(program.integer[columns].all())


def constraints_on_selection(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return the constraints of a searchable master, and the bounds of fixed features, as ``R sigma <= r``."""
    A = program.A[:, columns].toarray()
    upper, lower = np.isfinite(program.hi), np.isfinite(program.lo)
    unit = np.eye(len(columns))
    lb, ub = program.lb[columns], program.ub[columns]
    never, always = ub < 1.0, lb > 0.0
    R = np.vstack([A[upper], -A[lower], unit[never], -unit[always]])
    return R, np.concatenate([program.hi[upper], -program.lo[lower], ub[never], -lb[always]])


def check_objective(program: Program, columns: Indices, theta: int | None) -> None:
    """Raise ParameterError for a master that minimises anything but theta and penalties of sigma: that bounds no F."""
    others = program.c.copy()
    others[columns] = 0.0
    if theta is not None:
        others[theta] -= 1.0
    linear = program.P.nnz == 0 and program.sign == 1.0 and program.c0 == 0.0
    if theta is None or not linear or others.any():
        raise ParameterError(
            "the master does not minimise 'theta' plus penalty weights of 'sigma'", "give it that objective"
        )


def feasible(program: Program, columns: Indices, sigma: Vector) -> bool:
    """Return whether a selection satisfies the constraints; False too where they have variables of their own."""
    if program.n != len(columns) + 1:
        return False
    x = np.full(program.n, np.finfo(float).max)  # theta as large as any cut asks for
    x[columns] = sigma
    with np.errstate(over="ignore"):
        binary = bool(np.isin(sigma, (0.0, 1.0)).all())
        inside = bool(bound_excess(program, x)[columns].max(initial=0.0) <= 1e-9)
        return binary and inside and bool(row_excess(program, x).max(initial=0.0) <= 1e-9)
