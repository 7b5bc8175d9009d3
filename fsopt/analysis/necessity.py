"""How much each feature is needed: the optimum with it, and without it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.analysis.cardinality import SELECTION, cardinality_about, cardinality_problem, rules_of
from fsopt.answers.certificate import bound_residual, gap_allowed
from fsopt.answers.questions import Answer
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.proofs import Header, proof_file
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.arguments import checked, with_keywords_of
from fsopt.common.figures import BLUE, new_figure, plain
from fsopt.common.interruption import whole_or_interrupted
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.drivers.run import Run
from fsopt.methods.gbd.proofs import SelectedHyperplane, claim_of_search
from fsopt.models.blocks import whole
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.search.branch_and_benders.cuts import CAPACITY
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import verify as replayed
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Necessity(Answer):
    """The optimum with each feature and without it; one entry for each feature.

    Attributes
    ----------
    features : names of the p features, or groups of them.
    support : places of the features of the best selection.
    optimum, bound : value of the best selection, and the lower bound on it.
    with_feature, without : (p,) values of the best selections that have the feature, and that have it not.
    with_bound, without_bound : (p,) lower bounds on these two.
    seconds : of all searches.
    m, c, scale, tolerance : the parameters.
    rules : groups of the features and bounds on their weights, in the parameters that there are.
    selections, w : (1 + p, p) selection, and weights for the preprocessed features of the data, of the best one of all,
        and of the one for each feature on the side that is not the optimum's.
    evidence : of the bounds of these searches, see :mod:`fsopt.search.branch_and_benders.evidence`.
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
    m: int
    c: float
    scale: str
    tolerance: float
    rules: Mapping[str, Any]
    selections: Mask = field(repr=False)
    w: Matrix = field(repr=False)
    evidence: tuple[Any, ...] = field(repr=False)
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

    def claims(self, data: Dataset) -> tuple[Claim, ...]:
        """Return the claim on the optimum, and one for each feature, with the exact intervals that the trees prove.

        Parameters
        ----------
        data : the data of the question.
        """
        problem = cardinality_problem(data, self.m, self.c, self.scale, "necessity", self.rules)
        about = cardinality_about(data, self.m, self.c, rules=self.rules)
        asked = [("the optimum", problem, about)]
        for j, name in enumerate(self.features):
            other = not self.selections[0, j]
            stated = {**about.parameters, "include" if other else "exclude": problem.places(np.array([j]))[:1].tolist()}
            part = problem.with_fixed(j, selected=other)
            asked.append((f"{'with' if other else 'without'} {name}", part, replace(about, parameters=stated)))
        found = []
        for (name, part, stated_about), tree, one, w in zip(asked, self.evidence, self.selections, self.w, strict=True):
            claim = claim_of_search(name, part, tree, SelectedHyperplane(one, w, part.value(one, w)[1]), self.tolerance)
            found.append(replace(claim, about=stated_about))
        return tuple(found)

    def header(self, data: Dataset) -> Header:
        """Return the data of the proof."""
        return Header(data, self.scale)

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of every search is closed, else ``feasible``."""
        ends = ((self.optimum, self.bound), *zip(self.with_feature, self.with_bound, strict=True))
        gaps = [relative_gap(*pair) for pair in (*ends, *zip(self.without, self.without_bound, strict=True))]
        return Status.OPTIMAL if max(gaps) <= gap_allowed(self.tolerance) else Status.FEASIBLE

    def residuals(self, data: Dataset) -> dict[str, float]:
        """Return the residuals of what is stated, from a replay of all trees, without a search.

        Parameters
        ----------
        data : the data of the question.

        Returns
        -------
        dict
            For the optimum and for each feature, on both sides: how far the value is from that of its selection, and
            how far the bound exceeds the replayed one; and the selections that break a rule.
        """
        problem = cardinality_problem(data, self.m, self.c, self.scale, "necessity", self.rules)
        values = [problem.value(one, problem.nearest(w))[0] for one, w in zip(self.selections, self.w, strict=True)]
        first = replayed(problem, self.evidence[0]).bound
        best = self.selections[0]
        found = {
            "features": float(self.features != rules_of("necessity", data, self.rules)[1]),
            "selection": float(tuple(np.flatnonzero(best).tolist()) != self.support),
            "optimum": _residual(self.optimum, self.bound, values[0], first),
        }
        sides = (("without", self.without, self.without_bound), ("with", self.with_feature, self.with_bound))
        wrong = int(np.maximum(self.selections.sum(axis=1) - self.m, 0).sum())
        for j, name in enumerate(self.features):
            own, other = int(best[j]), 1 - int(best[j])
            wrong += int(self.selections[j + 1, j]) != other
            bound = replayed(problem.with_fixed(j, selected=bool(other)), self.evidence[j + 1]).bound
            for side, value, at in ((own, values[0], first), (other, values[j + 1], max(bound, first))):
                word, upper, lower = sides[side]
                found[f"{word} {name}"] = _residual(float(upper[j]), float(lower[j]), value, at)
        return found | {"rules": float(wrong)}

    def plot(self) -> Figure:
        """Return the range of the optimum of each feature: without it above the optimum, with it below."""
        figure = new_figure(1, height=max(2.5, 0.22 * len(self.features)))
        axes, places = figure.axes[0], np.arange(len(self.features))
        order = np.argsort(self.without - self.with_feature, kind="stable")
        axes.barh(places, (self.without - self.optimum)[order], color=BLUE, label="without the feature")
        axes.barh(places, -(self.with_feature - self.optimum)[order], color="tab:gray", label="with it (to the left)")
        axes.set_yticks(places, [plain(self.features[j]) for j in order])
        axes.set(xlabel="increase of the optimum")
        axes.legend()
        return figure


def _residual(upper: float, lower: float, value: float, bound: float) -> float:
    """Return how far stated bounds are from the recomputed value, or exceed the recomputed bound."""
    return max(relative_gap(upper, value), bound_residual(lower, bound, 1.0))


@checked()
@with_keywords_of(SelectionConstraints.of, without=SELECTION)
@whole_or_interrupted()
def necessity(
    data: Given,
    m: int,
    *,
    c: float = 1.0,
    scale: str = "standard",
    tolerance: float = 1e-4,
    time_limit: float | None = None,
    exact: bool = False,
    **rules: Any,
) -> Necessity:
    r"""Return for each feature the optimum of all selections with it, and of all without it.

    .. math::

        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 1\}, \qquad
        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 0\}

    One of the two is the optimum itself, so that there is one search for each feature; all share their cuts.

    Parameters
    ----------
    data : Given
        Raw features: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    m : int
        Largest number of features, or groups, 1..p.
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
    started, end = time.perf_counter(), clock.end_of(time_limit)
    data = dataset_of(data)
    rules, names = rules_of("necessity", data, rules)
    m = whole("necessity", "m", m, high=len(names))
    problem = cardinality_problem(data, m, c, scale, "necessity", rules)
    first = _search(problem, tolerance, clock.part(end, 0.5), None)
    selected = first.point["sigma"] > 0.5
    upper, lower = (np.full((2, len(names)), float(end or 0.0)) for end in (first.objective, first.bound))
    searches = [first]
    for j in range(len(names)):
        other = 0 if selected[j] else 1
        part = problem.with_fixed(j, selected=bool(other))
        result = _search(part, tolerance, clock.part(end, 1.0 / (len(names) - j)), searches[-1].point["seeds"])
        searches.append(result)
        upper[other, j], lower[other, j] = result.objective, max(float(result.bound or 0.0), float(first.bound or 0.0))
    answer = Necessity(
        features=names,
        support=tuple(np.flatnonzero(selected).tolist()),
        optimum=float(first.objective or 0.0),
        bound=float(first.bound or 0.0),
        with_feature=upper[1],
        without=upper[0],
        with_bound=lower[1],
        without_bound=lower[0],
        seconds=time.perf_counter() - started,
        m=m,
        c=problem.c,
        scale=scale,
        tolerance=tolerance,
        rules=rules,
        selections=np.array([one.point["sigma"] > 0.5 for one in searches]),
        w=np.array([one.point["w"] for one in searches]),
        evidence=tuple(one.point["evidence"] for one in searches),
    )
    if not exact:
        return answer
    claims = answer.claims(data)
    proof = proof_file([c.part for c in claims], [c.about for c in claims], answer.header(data))
    return replace(answer, exact=claims, proof=proof)


def _search(problem: SelectionProblem, tolerance: float, seconds: float | None, seeds: Any) -> DriverResult:
    known = () if seeds is None else seeds[-CAPACITY // 2 :]
    settings = BranchSettings(tolerance)
    return branch_and_benders(problem, settings=settings, run=Run(time_limit=seconds), seeds=known)
