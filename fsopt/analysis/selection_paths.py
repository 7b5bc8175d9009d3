"""The certified path of optima over the number of features and C (Aytug's problem (5)-(11) for every M)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.analysis.cardinality import at_most
from fsopt.analysis.path_answers import SelectionPath
from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, Loss, loss_of
from fsopt.drivers.interruption import uninterrupted
from fsopt.drivers.run import Progress, Run
from fsopt.errors import ParameterError
from fsopt.methods.gbd.parameters import features_of, trimmed
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane
from fsopt.models.blocks import number, whole
from fsopt.typing import Mask


def selection_path(
    data: Dataset,
    *,
    c: float | Sequence[float] = 1.0,
    loss: str = "hinge",
    m: Sequence[int] | None = None,
    scale: str = "standard",
    tolerance: float = 1e-4,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SelectionPath:
    r"""Return the best support vector machine with at most M features for every M, and for every C, with lower bounds.

    .. math:: F^*(M, C) = \min_{\sigma \in \{0,1\}^p}\ F_C(\sigma) \quad\text{s.t.}\quad e'\sigma \le M

    Benders cuts do not depend on M, and their multipliers, as shares of C, are dual feasible for every C: the pool of
    one search begins the next one, and so does the best known selection.

    Parameters
    ----------
    data : Dataset
        Raw features.
    c : float or Sequence[float], default 1.0
        > 0, penalty weight of the loss, or several of them: a path for each.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.
    m : Sequence[int], optional
        The values of M, 0..p; all of them by default.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    tolerance : float, default 0.0001
        Relative optimality gap of each search.
    max_nodes : int, optional
        Nodes after which each search stops; None for no limit.
    time_limit : float, optional
        Seconds for the whole path: a tenth for all M and C in equal shares, the rest for those that are open then.
    jobs, executor : Executor or int, optional
        Subtrees that are searched at a time, and where; processes of its own by default.
    progress : Progress, optional
        Called with the record of each M and C.

    Returns
    -------
    SelectionPath
        F* falls with M and grows with C; ``optimal`` where the gap is closed, else objective and bound enclose the
        optimum.

    Raises
    ------
    ParameterError : a parameter out of range.

    Notes
    -----
    Aytug, (5)-(11).
    """
    started, end = time.perf_counter(), clock.end_of(time_limit)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    grid = _grid(c, range(data.p + 1) if m is None else m, data.p)
    work, map_ = preprocess(data, scale)
    with tempfile.TemporaryDirectory() as folder:
        settings = BranchSettings(tolerance, max_nodes, jobs=jobs)
        tracer = _Tracer(work, loss_of(loss), settings, executor, progress, Path(folder))
        tracer.trace(grid, end)
    cells = sorted(tracer.results)
    results = [tracer.results[cell] for cell in cells]
    selections = [
        trimmed(work, {"m": max(cell.m, 1)}, one.point["sigma"], one.point["w"])
        for cell, one in zip(cells, results, strict=True)
    ]
    hyperplanes = [
        raw_hyperplane(Hyperplane(w, one.point["b"], ()), map_) for (_, w), one in zip(selections, results, strict=True)
    ]
    return SelectionPath(
        features=data.features,
        m=np.array([cell.m for cell in cells], dtype=float),
        objective=np.array([one.objective for one in results], dtype=float),
        bound=np.array([one.bound for one in results], dtype=float),
        optimal=np.array([one.stop == "optimal" for one in results]),
        support=tuple(features_of(sigma) for sigma, _ in selections),
        coef=np.array([w for w, _ in hyperplanes]),
        intercept=np.array([b for _, b in hyperplanes]),
        nodes=np.array([one.history[-1]["nodes"] for one in results], dtype=float),
        c=np.array([cell.c for cell in cells], dtype=float),
        tolerance=tolerance,
        scale=scale,
        evidence=tuple(one.point["evidence"] for one in results),
        seconds=time.perf_counter() - started,
        loss=loss,
    )


def _grid(c: float | Sequence[float], m: Sequence[int], p: int) -> list[PathProblem]:
    """Return the pairs of C and M that are asked for, ascending; raises ParameterError."""
    weights = sorted({number("selection_path", "c", one) for one in np.atleast_1d(np.asarray(c, dtype=object))})
    values = sorted({whole("selection_path", "m", k, low=0, high=p) for k in m})
    if not values or not weights:
        name = "c" if values else "m"
        raise ParameterError(f"'{name}' of 'selection_path' is empty", "give numbers, or leave it out")
    return [PathProblem(one, most) for one in weights for most in values]


def incumbents_of_path(
    work: Dataset, c: float, numbers: Sequence[int], settings: BranchSettings
) -> dict[int, DriverResult]:
    """Return the search of each number of features of preprocessed data, without a limit of time.

    Raises
    ------
    KeyboardInterrupt : also where a search has turned it into its incumbent.
    """
    tracer = _Tracer(work, HINGE, settings, None, None, None)
    tracer.trace([PathProblem(c, most) for most in sorted(set(numbers))], np.inf)
    return {cell.m: uninterrupted(one) for cell, one in tracer.results.items()}


class PathProblem(NamedTuple):
    """One problem of a path: the penalty weight C, and the largest number of features M."""

    c: float
    m: int


@dataclass
class _Tracer:
    """The searches of a path: the result of each C and M, and a folder of checkpoints or None."""

    work: Dataset
    loss: Loss
    settings: BranchSettings
    executor: Executor | None
    progress: Progress | None
    folder: Path | None
    results: dict[PathProblem, DriverResult] = field(default_factory=dict)

    def trace(self, cells: list[PathProblem], end: float) -> None:
        """Search all cells for a tenth of the time, and the open ones for the rest, the smallest gap first."""
        left = self._pass(cells, end, 0.1)
        if np.isfinite(end):
            self._pass(sorted(left, key=self._gap), end, 1.0)

    def _gap(self, cell: PathProblem) -> float:
        result = self.results[cell]
        return float(result.objective or 0.0) - float(result.bound or 0.0)

    def _pass(self, cells: list[PathProblem], end: float, share: float) -> list[PathProblem]:
        """Search each cell for an equal share of that part of the time that is left; return those with an open gap."""
        for k, cell in enumerate(cells):
            result = self._search(cell, clock.part(end, share / (len(cells) - k)))
            self.results[cell] = result
            if self.progress is not None:
                record = {"iteration": len(self.results), **cell._asdict(), "objective": result.objective}
                self.progress({**record, "bound": result.bound})
            if result.stop == "interrupted":
                return []
        return [cell for cell in cells if self.results[cell].stop != "optimal"]

    def _search(self, cell: PathProblem, seconds: float | None) -> DriverResult:
        """Search one cell, on from where it stopped, with the best selection known that is small enough."""
        problem = at_most(self.work, cell.c, cell.m, self.loss)
        place = None if self.folder is None else self.folder / f"{cell.c}-{cell.m}.npz"
        return branch_and_benders(
            problem,
            settings=replace(self.settings, initial=self._initial(problem, cell.m)),
            run=Run(
                time_limit=seconds,
                executor=self.executor,
                checkpoint=None if seconds is None else place,
                resume=place if place is not None and place.exists() else None,
            ),
            seeds=self._seeds(cell),
        )

    def _initial(self, problem: SelectionProblem, most: int) -> Mask | None:
        """Return the known selection of at most that many features whose hyperplane has the smallest value here."""
        known = [one.point for cell, one in self.results.items() if cell.m <= most]
        best = min(known, key=lambda point: problem.value(point["sigma"] > 0.5, point["w"])[0], default=None)
        return None if best is None else best["sigma"] > 0.5

    def _seeds(self, cell: PathProblem) -> list[Grid]:
        """Return multipliers of the searches with the next smaller M and with the next smaller C, as many of each."""
        fewer = [one for one in self.results if one.c == cell.c and one.m < cell.m]
        weaker = [one for one in self.results if one.m == cell.m and one.c < cell.c]
        near = [max(group) for group in (fewer, weaker) if group]
        return [grid for one in near for grid in self.results[one].point["seeds"][-CAPACITY // (2 * len(near)) :]]
