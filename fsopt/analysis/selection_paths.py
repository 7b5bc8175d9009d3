"""The certified path of optima over the number of features and C (Aytug's problem (5)-(11) for every M)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsopt.analysis.cardinality import SELECTION, at_most, cardinality_about, rules_of
from fsopt.answers.certificate import bound_residual, gap_allowed, merged
from fsopt.answers.questions import Answer
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.proofs import Header, proof_file
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.arguments import checked, with_keywords_of
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.losses import HINGE, LOSSES, Loss, loss_of
from fsopt.drivers.run import Progress, Run
from fsopt.errors import ParameterError
from fsopt.methods.gbd.parameters import features_of, trimmed
from fsopt.methods.gbd.proofs import SelectedHyperplane, claim_of_search
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane, scaled_hyperplane
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.feature_lists import feature_groups
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.search.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import verify as replayed_evidence
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked()
@with_keywords_of(SelectionConstraints.of, without=SELECTION)
def selection_path(
    data: Given,
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
    **rules: Any,
) -> SelectionPath:
    r"""Return the best support vector machine with at most M features for every M, and for every C, with lower bounds.

    .. math:: F^*(M, C) = \min_{\sigma \in \{0,1\}^p}\ F_C(\sigma) \quad\text{s.t.}\quad e'\sigma \le M

    Benders cuts do not depend on M, and their multipliers, as shares of C, are dual feasible for every C: the pool of
    one search begins the next one, and so does the best known selection.

    Parameters
    ----------
    data : Given
        Raw features: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    c : float or Sequence[float], default 1.0
        > 0, penalty weight of the loss, or several of them: a path for each.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.
    m : Sequence[int], optional
        The values of M, 0..p, of features or groups; all of them by default.
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
    data = dataset_of(data)
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    rules, names = rules_of("selection_path", data, rules)
    grid = _grid(c, range(len(names) + 1) if m is None else m, len(names))
    work, map_ = preprocess(data, scale)
    inner = in_units("selection_path", data, rules, map_.scale)
    with tempfile.TemporaryDirectory() as folder:
        settings = BranchSettings(tolerance, max_nodes, jobs=jobs)
        tracer = _Tracer(work, inner, loss_of(loss), settings, executor, progress, Path(folder))
        tracer.trace(grid, end)
    cells = sorted(tracer.results)
    results = [tracer.results[cell] for cell in cells]
    selections = [
        trimmed(work, {"m": max(cell.m, 1), **inner}, one.point["sigma"], one.point["w"])
        for cell, one in zip(cells, results, strict=True)
    ]
    of = feature_groups("selection_path", data, rules.get("groups")).of
    hyperplanes = [
        raw_hyperplane(Hyperplane(w, one.point["b"], ()), map_) for (_, w), one in zip(selections, results, strict=True)
    ]
    return SelectionPath(
        features=data.features,
        m=np.array([cell.m for cell in cells], dtype=float),
        objective=np.array([one.objective for one in results], dtype=float),
        bound=np.array([one.bound for one in results], dtype=float),
        optimal=np.array([one.stop == "optimal" for one in results]),
        support=tuple(features_of(sigma[of]) for sigma, _ in selections),
        coef=np.array([w for w, _ in hyperplanes]),
        intercept=np.array([b for _, b in hyperplanes]),
        nodes=np.array([one.history[-1]["nodes"] for one in results], dtype=float),
        c=np.array([cell.c for cell in cells], dtype=float),
        tolerance=tolerance,
        scale=scale,
        evidence=tuple(one.point["evidence"] for one in results),
        seconds=time.perf_counter() - started,
        loss=loss,
        rules=rules,
    )


def _grid(c: float | Sequence[float], m: Sequence[int], p: int) -> list[PathProblem]:
    """Return the pairs of C and M that are asked for, ascending; raises ParameterError."""
    weights = sorted({number("selection_path", "c", one) for one in np.atleast_1d(np.asarray(c, dtype=object))})
    values = sorted({whole("selection_path", "m", k, low=0, high=p) for k in m})
    if not values or not weights:
        name = "c" if values else "m"
        raise ParameterError(f"'{name}' of 'selection_path' is empty", "give numbers, or leave it out")
    return [PathProblem(one, most) for one in weights for most in values]


class PathProblem(NamedTuple):
    """One problem of a path: the penalty weight C, and the largest number of features M."""

    c: float
    m: int


@dataclass
class _Tracer:
    """The searches of a path: the result of each C and M, and a folder of checkpoints or None."""

    work: Dataset
    rules: Mapping[str, Any]
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
        problem = at_most(self.work, cell.c, cell.m, self.loss, self.rules)
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


@dataclass(frozen=True)
class SelectionPath(Answer):
    """The best support vector machines for each number of features, and for each C; one entry for each pair.

    Attributes
    ----------
    features : names of the p features.
    m, c : (k,) largest number M of features, or groups, and penalty weight C, by C and then by M, ascending.
    objective, bound : (k,) value F*(M) of the incumbent, and a lower bound on the optimum.
    optimal : mask (k,) of the entries whose gap is closed.
    support : selected features of each entry, by place.
    coef, intercept : (k, p) and (k,), for raw features.
    nodes : (k,) nodes of each search.
    tolerance, scale, loss : the other parameters.
    evidence : of each bound, as in :mod:`fsopt.search.branch_and_benders.evidence`.
    seconds : of the whole path.
    rules : groups of the features and bounds on their weights, in the parameters that there are.
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
    c: Vector
    tolerance: float
    scale: str
    evidence: tuple[Any, ...] = field(repr=False)
    seconds: float
    loss: str = HINGE.name
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def heading(self) -> dict[str, Any]:
        """The parameters and the seconds; ``c`` is a list where there are several."""
        c = self.weights[0] if len(self.weights) == 1 else self.weights
        return {"c": c, **{name: getattr(self, name) for name in ("loss", "tolerance", "scale", "seconds")}}

    @property
    def weights(self) -> list[float]:
        """The penalty weights C of the entries, each once."""
        return [float(c) for c in np.unique(self.c)]

    @property
    def names(self) -> list[str]:
        """The M of each entry, with its C where there are several."""
        several = len(self.weights) > 1
        return [f"{int(m)}, C = {c}" if several else f"{int(m)}" for m, c in zip(self.m, self.c.tolist(), strict=True)]

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each entry: ``m c objective bound gap optimal nodes features``."""
        columns = zip(self.m, self.c, self.objective, self.bound, self.optimal, self.nodes, self.support, strict=True)
        return [
            {
                "m": int(m),
                "c": float(c),
                "objective": float(upper),
                "bound": float(lower),
                "gap": float((upper - lower) / max(1.0, abs(upper))),
                "optimal": bool(optimal),
                "nodes": int(nodes),
                "features": [self.features[j] for j in support],
            }
            for m, c, upper, lower, optimal, nodes, support in columns
        ]

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of every entry is closed, else ``feasible``."""
        return Status.OPTIMAL if self.optimal.all() else Status.FEASIBLE

    def residuals(self, data: Dataset) -> dict[str, float]:
        """Return the residuals of what the path states, from a replay of its evidence, without a search.

        Parameters
        ----------
        data : the data of the path.

        Returns
        -------
        dict
            For each entry: how far the stated bound exceeds the replayed one, how far the objective value is from that
            of the classifier, the features beyond M or without a place in the selection, and the open gap of an
            optimum.
        """
        (work, map_), loss = preprocess(data, self.scale), LOSSES[self.loss]
        rules = in_units("selection_path", data, self.rules, map_.scale)
        allowed = SelectionConstraints.of("selection_path", work, **rules)
        found = {"features": float(self.features != data.features)}
        entries = zip(self.names, self.to_records(), self.coef, self.intercept.tolist(), self.evidence, strict=True)
        for k, (name, stated, coef, intercept, evidence) in enumerate(entries):
            m, c, upper, lower = (stated[part] for part in ("m", "c", "objective", "bound"))
            w, b = scaled_hyperplane(coef, intercept, map_)
            value = 0.5 * float(w @ w) + c * loss.total(work.X @ w + b, work.y, work.weights)
            beyond = set(np.flatnonzero(w).tolist()) - set(self.support[k])
            replayed = replayed_evidence(at_most(work, c, m, loss, rules), evidence).bound
            sigma = np.bincount(allowed.groups.of[list(self.support[k])], minlength=allowed.p) > 0
            beyond |= set(np.flatnonzero(sigma[allowed.groups.of]).tolist()) ^ set(self.support[k])
            gap = relative_gap(upper, lower) - gap_allowed(self.tolerance) if stated["optimal"] else 0.0
            entry = {
                f"bound of {name}": bound_residual(lower, replayed, 1.0),
                f"objective of {name}": relative_gap(value, upper),
                f"selection of {name}": float(len(beyond) + max(int(sigma.sum()) - m, 0)) + allowed.bounds.violation(w),
                f"gap of {name}": max(gap, 0.0),
            }
            found = merged(found, entry)
        return found

    def claims(self, data: Dataset) -> tuple[Claim, ...]:
        """Return for each entry the claim with the exact interval that its evidence proves, without a search.

        Parameters
        ----------
        data : the data of the path.
        """
        work, map_ = preprocess(data, self.scale)
        rules = in_units("selection_path", data, self.rules, map_.scale)
        groups, found = feature_groups("selection_path", data, rules.get("groups")), []
        for k, name in enumerate(self.names):
            m, c = int(self.m[k]), float(self.c[k])
            w, b = scaled_hyperplane(self.coef[k], float(self.intercept[k]), map_)
            selected = np.bincount(groups.of[list(self.support[k])], minlength=len(groups)) > 0
            hyperplane = SelectedHyperplane(selected, w, b)
            problem = at_most(work, c, m, LOSSES[self.loss], rules)
            about = f"at most {counted(m, 'feature')}" + name.removeprefix(str(m))
            claim = claim_of_search(about, problem, self.evidence[k], hyperplane, self.tolerance)
            found.append(replace(claim, about=cardinality_about(data, m, c, self.loss, self.rules)))
        return tuple(found)

    def proof(self, data: Dataset) -> dict[str, Any]:
        """Return the proof file of :meth:`claims` for ``fsopt-verify``, in plain data."""
        claims = self.claims(data)
        return proof_file([c.part for c in claims], [c.about for c in claims], self.header(data))

    def header(self, data: Dataset) -> Header:
        """Return the data of the proof."""
        return Header(data, self.scale)

    def plot(self) -> Figure:
        """Return the optimal values and their lower bounds against the number of features, a line for each C."""
        figure = new_figure(1)
        axes, several = figure.axes[0], len(self.weights) > 1
        for k, c in enumerate(self.weights):
            m, upper, lower = (part[self.c == c] for part in (self.m, self.objective, self.bound))
            axes.fill_between(m, lower, upper, color="tab:gray", alpha=0.4, label="" if k else "gap")
            colours = (f"C{k}", f"C{k}") if several else (BLUE, ORANGE)
            axes.plot(m, upper, "o-", color=colours[0], label=f"C = {c:g}" if several else "incumbent")
            axes.plot(m, lower, "_", color=colours[1], label="" if k else "lower bound")
        term = {"hinge": r"e'\xi", "squared-hinge": r"\xi'\xi", "logistic": r"\sum_i \ln(1 + e^{-u_i})"}[self.loss]
        axes.set(xlabel="largest number of features M", ylabel=rf"$\frac{{1}}{{2}}w'w + C {term}$")
        axes.locator_params(axis="x", integer=True)
        if several:
            axes.set_yscale("log")
        axes.legend()
        return figure
