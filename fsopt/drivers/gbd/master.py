"""The master problem of generalized Benders, two ways: an MILP in its solver, or the driver's own branch and bound.

Both have the same four functions for the loop: ``add`` cuts, ``step`` to the next selection, and ``snapshot`` and
``resume``, after which the next step is the one that it would have been without an interruption. Nothing in a snapshot
is believed: bounds are proved again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.common import clock
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.drivers.gbd.branch_and_bound import BranchAndBound, OpenNodes
from fsopt.drivers.gbd.master_program import check_objective, constraints_on_selection, feasible, searchable
from fsopt.drivers.gbd.state import State
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint, OutOfTimeError
from fsopt.errors import InfeasibleError, ParameterError, SolverError
from fsopt.models.gbd.fsp_master import add_cut, cut_coefficients
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Vector

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
    cuts : their number.
    solves : number of cuts and relative gap of two solves: the one behind the lower bound, and the last one.
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
        self.cuts = 0
        self.solves: list[tuple[int, float]] = []

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
        self.cuts += len(alphas)

    def solve(self, recorder: Recorder, mip_gap: float | None = None) -> tuple[float, Vector, bool]:
        """Return the bound that was proved, the selection, and whether the time sufficed for the gap.

        Raises
        ------
        InfeasibleError : there is no selection.
        """
        try:
            result = recorder.solve(self.session, "the master problem", load=False, mip_gap=mip_gap)
        except NoPoint as error:
            raise InfeasibleError(NONE_FEASIBLE, "drop one of the limits") from error
        assert result.point is not None
        bound = -np.inf if result.bound is None else result.bound
        return bound, np.clip(result.point.x[self.columns], 0.0, 1.0), result.stop != "time-limit"

    def first(self, recorder: Recorder) -> Vector:
        """Return a feasible selection."""
        return np.round(self.solve(recorder)[1])

    def step(self, state: State, tolerance: float, recorder: Recorder) -> bool:
        """Raise the lower bound, take the selection to try next, and return whether the time sufficed.

        The master is solved to a tenth of the optimality gap that is still open: any bound that it proves is valid,
        and early ones need no digits. Where that brings back a selection that was tried, it is solved to the
        tolerance instead.
        """
        exact = 0.1 * tolerance
        for mip_gap in (max(0.1 * min(state.gap, 1.0), exact), exact):
            bound, sigma, done = self.solve(recorder, mip_gap)
            if done:
                proof = (self.cuts, mip_gap)
                self.solves = [proof if bound > state.lower or not self.solves else self.solves[0], proof]
            state.lower = max(state.lower, bound)
            state.sigma = np.round(sigma)
            state.feasible = True
            if not done:
                return False
            if state.sigma.tobytes() not in state.tried or state.closed(tolerance):
                break
        return True

    def snapshot(self) -> dict[str, Any]:
        """Return the two solves that a run has to repeat to resume: its solver's tree cannot be saved."""
        return {"solves": np.array(self.solves, dtype=float).reshape(-1, 2)}

    def resume(self, state: State, held: Mapping[str, Any], recorder: Recorder) -> None:
        """Add the cuts of a state, and set its lower bound and selection by repeating two solves.

        A solve starts from the cuts alone, not from an earlier solve, so that it ends where it did before.
        """
        solves = [(int(cuts), float(gap)) for cuts, gap in held["solves"]]
        if not all(self.cuts <= cuts <= len(state.alphas) and 0.0 <= gap <= 1.0 for cuts, gap in solves):
            raise ValueError("the solves of its master are of other cuts")
        for cuts, gap in dict.fromkeys(solves):
            self.add(state.alphas[self.cuts : cuts])
            bound, sigma, done = self.solve(recorder, gap)
            if not done:
                raise OutOfTimeError("the time limit passed before the master was solved again", "give more seconds")
            state.lower = max(state.lower, bound)
            state.sigma, state.feasible = np.round(sigma), True
        self.add(state.alphas[self.cuts :])
        self.solves = solves


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

    def step(self, state: State, tolerance: float, recorder: Recorder) -> bool:
        """Take the selection to try next, raise the lower bound, and return whether the time sufficed."""
        cutoff = np.inf
        if state.best is not None:
            cutoff = state.upper - BELOW * tolerance * max(1.0, abs(state.upper))
        sigma = _searched(self.search, cutoff, recorder)
        state.lower = max(state.lower, self.search.lower_bound(cutoff))
        if sigma is not None or state.best is None:
            state.sigma, state.feasible = _found(self.search, sigma), True
        return sigma is not None or not self.search.open_nodes

    def snapshot(self) -> dict[str, Any]:
        """Return the tree: its open nodes, the cutoff of all others, and the cuts that ordered the features."""
        nodes = self.search.open_nodes
        sizes = [len(rows) for _, rows, _ in nodes]
        rows = [rows for _, rows, _ in nodes] or [np.zeros((0, len(self.columns)), dtype=bool)]
        return {
            "tree": [self.search.begun, self.search.nodes],
            "cutoff": self.search.cutoff,
            "open_depth": np.array([depth for depth, _, _ in nodes], dtype=np.int64),
            "open_bound": np.array([bound for _, _, bound in nodes], dtype=float),
            "open_size": np.array(sizes, dtype=np.int64),
            "open_rows": np.packbits(np.vstack(rows), axis=1),
        }

    def resume(self, state: State, held: Mapping[str, Any], recorder: Recorder) -> None:
        """Add the cuts of a state and go on with its tree, which proves the lower bound of the snapshot again."""
        search, p = self.search, len(self.columns)
        begun, search.nodes = (int(v) for v in held["tree"])
        sizes, depths = np.asarray(held["open_size"], dtype=np.int64), np.asarray(held["open_depth"], dtype=np.int64)
        rows = np.unpackbits(np.asarray(held["open_rows"], dtype=np.uint8), axis=1, count=p).astype(bool)
        bounds, cutoff, lower = (np.asarray(held[name], dtype=float) for name in ("open_bound", "cutoff", "lower"))
        ordered = 0 < begun <= 1 + len(state.alphas) and np.all((depths >= 0) & (depths <= p)) and np.all(sizes > 0)
        if not ordered or not len(sizes) == len(depths) == len(bounds) or sizes.sum() != len(rows) or np.isnan(cutoff):
            raise ValueError("its tree is of another size")
        self.add(state.alphas[: begun - 1])  # beside the first cut, theta >= 0
        search.begin()
        self.add(state.alphas[begun - 1 :])
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        search.cutoff = float(cutoff)
        search.open_nodes = [
            OpenNodes(int(depth), part, float(bound)) for depth, part, bound in zip(depths, parts, bounds, strict=False)
        ]
        started, end = time.perf_counter(), _end()
        proved = search.prove(float(lower), lambda nodes: time.perf_counter() < end)
        recorder.count(SEARCH, time.perf_counter() - started)
        sigma = np.asarray(held["sigma"], dtype=float)
        if not proved or sigma.shape != (p,) or (bool(held["feasible"]) and not self.feasible(sigma)):
            raise ValueError("its tree does not prove its lower bound")
        state.lower = float(lower)
        state.sigma, state.feasible = sigma, bool(held["feasible"])


def _searched(search: BranchAndBound, cutoff: float, recorder: Recorder) -> Vector | None:
    """Search for the rest of the time, at least a tenth of a second; the seconds are those of a solver."""
    started, end = time.perf_counter(), _end()
    try:
        return search.next(cutoff, lambda nodes: time.perf_counter() < end)
    finally:
        recorder.count(SEARCH, time.perf_counter() - started)


def _end() -> float:
    """Return the time at which a search ends."""
    left = clock.left()
    return np.inf if left is None else time.perf_counter() + left


def _found(search: BranchAndBound, sigma: Vector | None) -> Vector:
    """Return the first selection of a search; raise InfeasibleError or OutOfTimeError where there is none."""
    if sigma is not None:
        return sigma
    if search.open_nodes:
        raise OutOfTimeError(f"no selection was found in time by {search.nodes} nodes", "give more seconds")
    raise InfeasibleError(NONE_FEASIBLE, "drop one of the limits")
