"""How much each feature is needed: the optimum with it, and without it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import CAPACITY
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.analysis.alternatives import cardinality_about, cardinality_problem
from fsopt.answers.questions import Answer
from fsopt.answers.results import DriverResult
from fsopt.certificates.exact.claims import About, Claim
from fsopt.certificates.exact.statements import Header, proof_file
from fsopt.common.figures import BLUE, new_figure
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.gbd.proofs import Plane, claim_of_search
from fsopt.models.blocks import whole
from fsopt.typing import Mask, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Necessity(Answer):
    """The optimum with each feature and without it; one entry for each feature.

    Attributes
    ----------
    features : names.
    support : places of the features of the best selection.
    optimum, bound : value of the best selection, and the lower bound on it.
    with_feature, without : (p,) values of the best selections that have the feature, and that have it not.
    with_bound, without_bound : (p,) lower bounds on these two.
    seconds : of all searches.
    exact : the claim on the optimum, and one for each feature on the best selection with or without it, whichever is
        not the optimum: each with the exact interval that its tree proves; empty where this was not asked for.
    proof : their proof file for ``fsopt-verify``, in plain data; None where this was not asked for.
    """

    features: tuple[str, ...]
    support: tuple[int, ...]
    optimum: float
    bound: float
    with_feature: Vector
    without: Vector
    with_bound: Vector
    without_bound: Vector
    seconds: float
    exact: tuple[Claim, ...] = ()
    proof: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def needed(self) -> Mask:
        """Mask (p,) of the features that every optimal selection has: the bound without them is above the optimum."""
        needed: Mask = self.without_bound > self.optimum
        return needed

    @property
    def heading(self) -> dict[str, Any]:
        """The optimum with its lower bound, the best selection, the features that every optimum has, the seconds."""
        return {
            "optimum": self.optimum,
            "bound": self.bound,
            "selection": [self.features[j] for j in self.support],
            "needed": [self.features[j] for j in np.flatnonzero(self.needed)],
            "seconds": self.seconds,
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each feature, that of the largest loss without it first."""
        order = np.argsort(self.with_feature - self.without, kind="stable")
        names = ("with_feature", "with_bound", "without", "without_bound")
        return [
            {"feature": self.features[j], **{name: float(getattr(self, name)[j]) for name in names}}
            for j in order.tolist()
        ]

    def plot(self) -> Figure:
        """Return the range of the optimum of each feature: without it above the optimum, with it below."""
        figure = new_figure(1, height=max(2.5, 0.22 * len(self.features)))
        axes, places = figure.axes[0], np.arange(len(self.features))
        order = np.argsort(self.without - self.with_feature, kind="stable")
        axes.barh(places, (self.without - self.optimum)[order], color=BLUE, label="without the feature")
        axes.barh(places, -(self.with_feature - self.optimum)[order], color="tab:gray", label="with it (to the left)")
        axes.set_yticks(places, [self.features[j] for j in order])
        axes.set(xlabel="increase of the optimum")
        axes.legend()
        return figure


def necessity(
    data: Dataset,
    m: int,
    *,
    c: float = 1.0,
    scale: str = "standard",
    tolerance: float = 1e-4,
    time_limit: float | None = None,
    exact: bool = False,
) -> Necessity:
    r"""Return for each feature the optimum of all selections with it, and of all without it.

    .. math::

        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 1\}, \qquad
        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 0\}

    One of the two is the optimum itself, so that there is one search for each feature; all share their cuts.

    Parameters
    ----------
    data : Dataset
        Raw features.
    m : int
        Largest number of features, 1..p.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    tolerance : float, default 0.0001
        Relative optimality gap of each search.
    time_limit : float, optional
        Seconds for all; half of it for the first search, equal shares of what is left for the others.

    exact : bool, default False
        Whether each tree is also replayed in rational arithmetic.

    Returns
    -------
    Necessity
        Values of selections, and lower bounds that enclose the optima.

    Raises
    ------
    ParameterError : a parameter out of range.
    """
    started = time.perf_counter()
    m = whole("necessity", "m", m, low=1, high=data.p)
    problem = cardinality_problem(data, m, c, scale, "necessity")
    first = _search(problem, tolerance, None if time_limit is None else 0.5 * time_limit, None)
    chosen = first.point["sigma"] > 0.5
    upper, lower = np.zeros((2, data.p)), np.zeros((2, data.p))
    upper[:], lower[:] = first.objective, first.bound
    seeds = first.point["seeds"]
    about = cardinality_about(data, m, c)
    claims = [_exact("the optimum", problem, first, tolerance, about)] if exact else []
    for j in range(data.p):
        left = None
        if time_limit is not None:
            left = max((time_limit - (time.perf_counter() - started)) / (data.p - j), 1e-3)
        other = 0 if chosen[j] else 1
        part = problem.with_fixed(j, selected=bool(other))
        result = _search(part, tolerance, left, seeds)
        if exact:
            rule = {("exclude", "include")[other]: [j]}
            stated = replace(about, parameters={**about.parameters, **rule})
            claims.append(_exact(f"{('without', 'with')[other]} {data.features[j]}", part, result, tolerance, stated))
        seeds = result.point["seeds"]
        upper[other, j], lower[other, j] = result.objective, max(float(result.bound or 0.0), float(first.bound or 0.0))
    given = {"m": m, "c": c, "tolerance": tolerance}
    return Necessity(
        features=data.features,
        support=tuple(np.flatnonzero(chosen).tolist()),
        optimum=float(first.objective or 0.0),
        bound=float(first.bound or 0.0),
        with_feature=upper[1],
        without=upper[0],
        with_bound=lower[1],
        without_bound=lower[0],
        seconds=time.perf_counter() - started,
        exact=tuple(claims),
        proof=proof_file(Header("study", "necessity", given, data, scale), claims) if exact else None,
    )


def _exact(name: str, problem: SelectionProblem, result: DriverResult, tolerance: float, about: About) -> Claim:
    """Return the claim of a search with the exact interval of its tree."""
    at = result.point
    plane = Plane(at["sigma"] > 0.5, at["w"], at["b"])
    return replace(claim_of_search(name, problem, at["evidence"], plane, tolerance), about=about)


def _search(problem: SelectionProblem, tolerance: float, seconds: float | None, seeds: Any) -> DriverResult:
    known = () if seeds is None else seeds[-CAPACITY // 2 :]
    settings = BranchSettings(tolerance)
    return branch_and_benders(problem, settings=settings, run=Run(time_limit=seconds), seeds=known)
