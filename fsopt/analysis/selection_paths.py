"""The certified path of optima over the number of features (Aytug's problem (5)-(11) for every M)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.evidence import verify
from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.analysis.alternatives import cardinality_about
from fsopt.answers.questions import Answer
from fsopt.answers.results import DriverResult
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.statements import Header, proof_file
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.data import Dataset
from fsopt.drivers.run import Progress, Run
from fsopt.errors import ParameterError
from fsopt.methods.gbd.parameters import features_of, trimmed
from fsopt.methods.gbd.proofs import Plane, claim_of_search
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane, scaled_hyperplane
from fsopt.models.blocks import number, whole
from fsopt.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SelectionPath(Answer):
    """The best support vector machines for each number of features; one entry for each M.

    Attributes
    ----------
    features : names of the p features.
    m : (k,) largest number of features M, ascending.
    objective, bound : (k,) value F*(M) of the incumbent, and a lower bound on the optimum.
    optimal : mask (k,) of the M whose gap is closed.
    support : selected features of each M, by place.
    coef, intercept : (k, p) and (k,), for raw features.
    nodes : (k,) nodes of each search.
    c, tolerance, scale : the parameters.
    evidence : of each bound, as in :mod:`fsopt.algorithms.branch_and_benders.evidence`.
    seconds : of the whole path.
    """

    features: tuple[str, ...]
    m: Vector
    objective: Vector
    bound: Vector
    optimal: Mask
    support: tuple[tuple[int, ...], ...]
    coef: Matrix
    intercept: Vector
    nodes: Vector
    c: float
    tolerance: float
    scale: str
    evidence: tuple[Any, ...] = field(repr=False)
    seconds: float

    @property
    def heading(self) -> dict[str, Any]:
        """The parameters and the seconds."""
        return {name: getattr(self, name) for name in ("c", "tolerance", "scale", "seconds")}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each M: ``m objective bound gap optimal nodes features``."""
        columns = zip(self.m, self.objective, self.bound, self.optimal, self.nodes, self.support, strict=True)
        return [
            {
                "m": int(m),
                "objective": float(upper),
                "bound": float(lower),
                "gap": float((upper - lower) / max(1.0, abs(upper))),
                "optimal": bool(optimal),
                "nodes": int(nodes),
                "features": [self.features[j] for j in support],
            }
            for m, upper, lower, optimal, nodes, support in columns
        ]

    def verify(self, data: Dataset) -> Mask:
        """Return the mask (k,) of the bounds that a replay of their evidence confirms, without a search.

        Parameters
        ----------
        data : the data of the path.
        """
        work = preprocess(data, self.scale)[0]
        confirmed = [
            verify(_problem(work, self.c, int(m)), held).bound >= lower - 1e-9 * max(1.0, abs(lower))
            for m, lower, held in zip(self.m, self.bound, self.evidence, strict=True)
        ]
        return np.array(confirmed)

    def exact(self, data: Dataset) -> tuple[Claim, ...]:
        """Return for each M the claim with the exact interval that its evidence proves, without a search.

        Parameters
        ----------
        data : the data of the path.
        """
        work, map_ = preprocess(data, self.scale)
        found = []
        for k, m in enumerate(self.m.tolist()):
            w, b = scaled_hyperplane(self.coef[k], float(self.intercept[k]), map_)
            plane = Plane(np.isin(np.arange(data.p), self.support[k]), w, b)
            problem = _problem(work, self.c, int(m))
            claim = claim_of_search(f"at most {int(m)} features", problem, self.evidence[k], plane, self.tolerance)
            found.append(replace(claim, about=cardinality_about(data, int(m), self.c)))
        return tuple(found)

    def proof(self, data: Dataset) -> dict[str, Any]:
        """Return the proof file of :meth:`exact` for ``fsopt-verify``, in plain data."""
        given = {"c": self.c, "tolerance": self.tolerance}
        return proof_file(Header("study", "path", given, data, self.scale), self.exact(data))

    def plot(self) -> Figure:
        """Return the optimal values and their lower bounds against the number of features."""
        figure = new_figure(1)
        axes = figure.axes[0]
        axes.fill_between(self.m, self.bound, self.objective, color="tab:gray", alpha=0.4, label="gap")
        axes.plot(self.m, self.objective, "o-", color=BLUE, label="incumbent")
        axes.plot(self.m, self.bound, "_", color=ORANGE, label="lower bound")
        axes.set(xlabel="largest number of features M", ylabel=r"$\frac{1}{2}w'w + C e'\xi$")
        axes.locator_params(axis="x", integer=True)
        axes.legend()
        return figure


def selection_path(
    data: Dataset,
    *,
    c: float = 1.0,
    m: Sequence[int] | None = None,
    scale: str = "standard",
    tolerance: float = 1e-4,
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
        > 0, penalty weight of the hinge loss.
    m : Sequence[int], optional
        The values of M, 0..p; all of them by default.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    tolerance : float, default 0.0001
        Relative optimality gap of each search.
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
    started = time.perf_counter()
    c = number("selection_path", "c", c, low=0.0, strict=True)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    given = range(data.p + 1) if m is None else m
    values = sorted({whole("selection_path", "m", k, low=0, high=data.p) for k in given})
    if not values:
        raise ParameterError("'m' of 'selection_path' is empty", "give numbers of features, or leave it out")
    work, map_ = preprocess(data, scale)
    with tempfile.TemporaryDirectory() as folder:
        tracer = _Tracer(work, c, BranchSettings(tolerance, None, None, jobs), executor, progress, Path(folder))
        tracer.trace(values, np.inf if time_limit is None else started + time_limit)
    values = sorted(tracer.results)
    results = [tracer.results[most] for most in values]
    chosen = [
        trimmed(work, {"m": max(most, 1)}, one.point["sigma"], one.point["w"])
        for most, one in zip(values, results, strict=True)
    ]
    planes = [
        raw_hyperplane(Hyperplane(w, one.point["b"], ()), map_) for (_, w), one in zip(chosen, results, strict=True)
    ]
    return SelectionPath(
        features=data.features,
        m=np.array(values[: len(results)], dtype=float),
        objective=np.array([one.objective for one in results], dtype=float),
        bound=np.array([one.bound for one in results], dtype=float),
        optimal=np.array([one.stop == "optimal" for one in results]),
        support=tuple(features_of(sigma) for sigma, _ in chosen),
        coef=np.array([w for w, _ in planes]),
        intercept=np.array([b for _, b in planes]),
        nodes=np.array([one.history[-1]["nodes"] for one in results], dtype=float),
        c=c,
        tolerance=tolerance,
        scale=scale,
        evidence=tuple(one.point["evidence"] for one in results),
        seconds=time.perf_counter() - started,
    )


@dataclass
class _Tracer:
    """The searches of a path: their common cuts and incumbents, the result of each M, and a folder of checkpoints."""

    work: Dataset
    c: float
    settings: BranchSettings
    executor: Executor | None
    progress: Progress | None
    folder: Path
    results: dict[int, DriverResult] = field(default_factory=dict)
    seeds: list[Grid] = field(default_factory=list)

    def trace(self, values: list[int], end: float) -> None:
        """Search all M for a tenth of the time, and those whose gap is open for the rest, the smallest gap first."""
        left = self._pass(values, end, 0.1)
        self._pass(sorted(left, key=self._gap), end, 1.0)

    def _gap(self, most: int) -> float:
        result = self.results[most]
        return float(result.objective or 0.0) - float(result.bound or 0.0)

    def _pass(self, values: list[int], end: float, share: float) -> list[int]:
        """Search each M for an equal share of that part of the time that is left; return those with an open gap."""
        for k, most in enumerate(values):
            seconds = None
            if np.isfinite(end):
                seconds = max(share * (end - time.perf_counter()) / (len(values) - k), 1e-3)
            result = self._search(most, seconds)
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
        place = self.folder / f"{most}.npz"
        return branch_and_benders(
            _problem(self.work, self.c, most),
            settings=replace(self.settings, initial=initial),
            run=Run(
                time_limit=seconds,
                executor=self.executor,
                checkpoint=None if seconds is None else place,
                resume=place if place.exists() else None,
            ),
            seeds=self.seeds[-CAPACITY // 2 :],
        )


def _problem(work: Dataset, c: float, most: int) -> SelectionProblem:
    """Return the problem of at most that many features."""
    return SelectionProblem.of(work, c, np.ones((1, work.p)), np.array([float(most)]), np.zeros(work.p))
