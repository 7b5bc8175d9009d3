"""The certified path of optima over the number of features (Aytug's problem (5)-(11) for every M)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.analysis.cardinality import at_most
from fsopt.analysis.certified_paths import SelectionPath
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


def selection_path(
    data: Dataset,
    *,
    c: float = 1.0,
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
    r"""Return the best support vector machine with at most M features for every M, each with a lower bound.

    .. math:: F^*(M) = \min_{\sigma \in \{0,1\}^p}\ F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M

    Benders cuts do not depend on M: the pool of one search begins the next one, and so does its incumbent.

    Parameters
    ----------
    data : Dataset
        Raw features.
    c : float, default 1.0
        > 0, penalty weight of the loss.
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
        Seconds for the whole path: a tenth for all M in equal shares, the rest for those that are open then.
    jobs, executor : Executor or int, optional
        Subtrees that are searched at a time, and where; processes of its own by default.
    progress : Progress, optional
        Called with the record of each M.

    Returns
    -------
    SelectionPath
        F*(M) falls with M; ``optimal`` where the gap is closed, else objective and bound enclose the optimum.

    Raises
    ------
    ParameterError : a parameter out of range.

    Notes
    -----
    Aytug, (5)-(11).
    """
    started, end = time.perf_counter(), clock.end_of(time_limit)
    c = number("selection_path", "c", c)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    given = range(data.p + 1) if m is None else m
    values = sorted({whole("selection_path", "m", k, low=0, high=data.p) for k in given})
    if not values:
        raise ParameterError("'m' of 'selection_path' is empty", "give numbers of features, or leave it out")
    work, map_ = preprocess(data, scale)
    with tempfile.TemporaryDirectory() as folder:
        settings = BranchSettings(tolerance, max_nodes, None, jobs)
        tracer = _Tracer(work, c, loss_of(loss), settings, executor, progress, Path(folder))
        tracer.trace(values, end)
    values = sorted(tracer.results)
    results = [tracer.results[most] for most in values]
    selections = [
        trimmed(work, {"m": max(most, 1)}, one.point["sigma"], one.point["w"])
        for most, one in zip(values, results, strict=True)
    ]
    hyperplanes = [
        raw_hyperplane(Hyperplane(w, one.point["b"], ()), map_) for (_, w), one in zip(selections, results, strict=True)
    ]
    return SelectionPath(
        features=data.features,
        m=np.array(values[: len(results)], dtype=float),
        objective=np.array([one.objective for one in results], dtype=float),
        bound=np.array([one.bound for one in results], dtype=float),
        optimal=np.array([one.stop == "optimal" for one in results]),
        support=tuple(features_of(sigma) for sigma, _ in selections),
        coef=np.array([w for w, _ in hyperplanes]),
        intercept=np.array([b for _, b in hyperplanes]),
        nodes=np.array([one.history[-1]["nodes"] for one in results], dtype=float),
        c=c,
        tolerance=tolerance,
        scale=scale,
        evidence=tuple(one.point["evidence"] for one in results),
        seconds=time.perf_counter() - started,
        loss=loss,
    )


def incumbents_of_path(
    work: Dataset, c: float, numbers: Sequence[int], settings: BranchSettings
) -> dict[int, DriverResult]:
    """Return the search of each number of features of preprocessed data, without a limit of time.

    Raises
    ------
    KeyboardInterrupt : also where a search has turned it into its incumbent.
    """
    tracer = _Tracer(work, c, HINGE, settings, None, None, None)
    tracer.trace(sorted(set(numbers)), np.inf)
    return {most: uninterrupted(one) for most, one in tracer.results.items()}


@dataclass
class _Tracer:
    """The searches of a path: common cuts and incumbents, the result of each M, and a folder of checkpoints or None."""

    work: Dataset
    c: float
    loss: Loss
    settings: BranchSettings
    executor: Executor | None
    progress: Progress | None
    folder: Path | None
    results: dict[int, DriverResult] = field(default_factory=dict)
    seeds: list[Grid] = field(default_factory=list)

    def trace(self, values: list[int], end: float) -> None:
        """Search all M for a tenth of the time, and those whose gap is open for the rest, the smallest gap first."""
        left = self._pass(values, end, 0.1)
        if np.isfinite(end):
            self._pass(sorted(left, key=self._gap), end, 1.0)

    def _gap(self, most: int) -> float:
        result = self.results[most]
        return float(result.objective or 0.0) - float(result.bound or 0.0)

    def _pass(self, values: list[int], end: float, share: float) -> list[int]:
        """Search each M for an equal share of that part of the time that is left; return those with an open gap."""
        for k, most in enumerate(values):
            result = self._search(most, clock.part(end, share / (len(values) - k)))
            self.seeds = result.point["seeds"]
            self.results[most] = result
            if self.progress is not None:
                record = {"iteration": len(self.results), "m": most, "objective": result.objective}
                self.progress({**record, "bound": result.bound})
            if result.stop == "interrupted":
                return []
        return [most for most in values if self.results[most].stop != "optimal"]

    def _search(self, most: int, seconds: float | None) -> DriverResult:
        """Search one M, on from where it stopped, with the best selection known that is small enough."""
        smaller = [one for m, one in self.results.items() if m <= most]
        best = min(smaller, key=lambda one: float(one.objective or 0.0), default=None)
        initial = None if best is None else best.point["sigma"] > 0.5
        place = None if self.folder is None else self.folder / f"{most}.npz"
        return branch_and_benders(
            at_most(self.work, self.c, most, self.loss),
            settings=replace(self.settings, initial=initial),
            run=Run(
                time_limit=seconds,
                executor=self.executor,
                checkpoint=None if seconds is None else place,
                resume=place if place is not None and place.exists() else None,
            ),
            seeds=self.seeds[-CAPACITY // 2 :],
        )
