"""The selections beside the best one: all that are nearly as good."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.analysis.cardinality import SELECTION, cardinality_about, cardinality_problem, rules_of
from fsopt.answers.certificate import bound_residual
from fsopt.answers.questions import Answer
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.proofs import Header, proof_file
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.arguments import checked, with_keywords_of
from fsopt.common.figures import bars_figure
from fsopt.common.interruption import deferred_interruption
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.drivers.run import OutOfTimeError, Run
from fsopt.methods.gbd.proofs import claim_of_tree, evidence_of
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.search.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.enumeration import Enumeration
from fsopt.search.branch_and_benders.evidence import cuts_by_name, leaf_bound, renumbered, replay
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.tree import FORGOTTEN
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = 2**62
"""Nodes of an enumeration: as many as the time limit allows."""
MARGIN = 1e-8
"""Relative margin of the limit for the gap of the SVMs: without a share the optimum itself is within the limit."""
OTHERS = "every other selection"
"""Name of the claim on the selections that are not listed."""


@dataclass(frozen=True)
class Alternatives(Answer):
    """The selections of at most m features with nearly the smallest value, the best first.

    Attributes
    ----------
    features : names of the p features, or groups of them.
    support : features of each selection, by place.
    objective : (k,) their values.
    optimum : the smallest value.
    limit : the largest value that was asked for, or that of the last of the best K.
    bound : a lower bound on the values of all other selections, recomputed from the cuts of the tree.
    complete : whether every selection up to the limit was found: the bound is above it.
    stop : why the search ended: ``optimal`` where the list is complete, ``time_limit``, ``interrupted`` by Ctrl-C ...
    nodes, seconds : of the enumeration.
    m, within, count, c, scale : the parameters.
    rules : groups of the features and bounds on their weights, in the parameters that there are.
    w : (k, d) weights of the SVM of each selection, for the d preprocessed features of the data.
    tree : the evidence of the bound.
    exact : the claim on the values of all other selections, with the exact bound of the tree, or that there are none;
        None where this was not asked for.
    proof : its proof file for ``fsopt-verify``, in plain data.
    """

    features: tuple[str, ...]
    support: tuple[tuple[int, ...], ...]
    objective: Vector
    optimum: float
    limit: float
    bound: float
    complete: bool
    stop: str
    nodes: int
    seconds: float
    m: int
    within: float
    count: int | None
    c: float
    scale: str
    rules: Mapping[str, Any]
    w: Matrix = field(repr=False)
    tree: EnumerationTree = field(repr=False)
    exact: Claim | None = None
    proof: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def shares(self) -> Vector:
        """The share (p,) of the selections that have each feature."""
        shares = np.zeros(len(self.features))
        for support in self.support:
            shares[list(support)] += 1.0 / len(self.support)
        return shares

    @property
    def heading(self) -> dict[str, Any]:
        """The optimum, the limit, the bound on all others, whether all were found, why it ended, nodes and seconds."""
        names = ("optimum", "limit", "bound", "complete", "stop", "nodes", "seconds")
        return {name: getattr(self, name) for name in names}

    def residuals(self, data: Dataset) -> dict[str, float]:
        """Return the residuals of what is stated, from a replay of the tree, without a search.

        Parameters
        ----------
        data : the data of the question.

        Returns
        -------
        dict
            How far the bound exceeds the replayed one, and each objective value is from that of its weights; features
            beyond m, and selections that are listed twice or beyond the count; how far the limit is from that of the
            share, or of the last of the best K, and values are beyond the share; and, where all selections are said to
            be found, how far the optimum is from the smallest value, and the limit above the bound.
        """
        problem = cardinality_problem(data, self.m, self.c, self.scale, "alternatives", self.rules)
        names = rules_of("alternatives", data, self.rules)[1]
        selected = np.array([np.isin(np.arange(len(names)), one) for one in self.support]).reshape(-1, len(names))
        values = [problem.value(one, problem.nearest(w))[0] for one, w in zip(selected, self.w, strict=True)]
        replayed = self.tree.bound(problem, self.support)
        smallest, largest = float(self.objective.min(initial=np.inf)), float(self.objective.max(initial=-np.inf))
        share, missing = _limit(self.optimum, self.within), (self.count or np.inf) - len(self.support)
        found = {
            "features": float(self.features != names),
            "bound": bound_residual(self.bound, replayed, 1.0),
            "objective": float(np.max(list(map(relative_gap, values, self.objective.tolist())), initial=0.0)),
            "selections": float(np.maximum(selected.sum(axis=1) - self.m, 0).sum()),
            "repeated": float(len(self.support) - len(set(self.support))) + max(-missing, 0.0),
            "limit": max(bound_residual(largest, share, 1.0), relative_gap(share if missing else largest, self.limit)),
        }
        if not self.complete:
            return found
        return found | {
            "optimum": relative_gap(self.optimum, smallest),
            "complete": max(self.limit * (1.0 - 1e-9) - replayed, 0.0) / max(1.0, abs(self.limit)),
        }

    def claims(self, data: Dataset) -> tuple[Claim, ...]:
        """Return the claim on the values of all other selections, with the exact bound of the tree.

        Parameters
        ----------
        data : the data of the question; a selection that was found and is not listed is a leaf like all others.
        """
        problem = cardinality_problem(data, self.m, self.c, self.scale, "alternatives", self.rules)
        evidence = evidence_of(problem, self.tree.stream, self.tree.cuts, None, self.tree.nodes)
        claim = claim_of_tree(OTHERS, evidence, 0.0, optimal=False)
        return (replace(claim, about=cardinality_about(data, self.m, self.c, rules=self.rules)),)

    def with_proof(self, data: Dataset) -> Alternatives:
        """Return the answer with its claim and its proof file in rational arithmetic.

        Parameters
        ----------
        data : the data of the question.
        """
        (claim,) = self.claims(data)
        proof = None if claim.part is None else proof_file([claim.part], [claim.about], self.header(data))
        return replace(self, exact=claim, proof=proof)

    def header(self, data: Dataset) -> Header:
        """Return the data of the proof."""
        return Header(data, self.scale)

    @property
    def status(self) -> Status:
        """``optimal`` where all selections up to the limit were found, else ``feasible``."""
        return Status.OPTIMAL if self.complete else Status.FEASIBLE

    def plot(self) -> Figure:
        """Return the share of the selections that have each feature, of the features that one of them has."""
        order = [j for j in np.argsort(-self.shares, kind="stable").tolist() if self.shares[j] > 0]
        return bars_figure([self.features[j] for j in order], self.shares[order], "share of the selections")

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each selection: ``objective``, its ``excess`` over the optimum, and ``features``."""
        return [
            {
                "objective": float(value),
                "excess": float(value / self.optimum - 1.0) if self.optimum else 0.0,
                "features": [self.features[j] for j in support],
            }
            for value, support in zip(self.objective, self.support, strict=True)
        ]


@checked()
@with_keywords_of(SelectionConstraints.of, without=SELECTION)
def alternatives(
    data: Given,
    m: int,
    *,
    within: float = 0.01,
    count: int | None = None,
    c: float = 1.0,
    scale: str = "standard",
    time_limit: float | None = None,
    exact: bool = False,
    **rules: Any,
) -> Alternatives:
    r"""Return all selections of at most m features whose value is at most a share above the optimum, or the best K.

    .. math:: \{\sigma \in \{0,1\}^p : e'\sigma \le m,\ F(\sigma) \le (1 + \delta) F^*(m)\}

    Parameters
    ----------
    data : Given
        Raw features: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    m : int
        Largest number of features, or groups, 1..p.
    within : float, default 0.01
        Share delta >= 0 above the optimum.
    count : int, optional
        K, the number of selections that are wanted: the best ones of those within the share.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    time_limit : float, optional
        Seconds for all; without ``complete`` selections may be missing, none of them below ``bound``.

    exact : bool, default False
        Whether the tree is also replayed in rational arithmetic.

    Returns
    -------
    Alternatives
        ``complete`` where a replay of the tree confirms that every other selection is above the limit.

    Raises
    ------
    ParameterError : a parameter out of range.

    Notes
    -----
    The enumeration is the branch and bound of method ``best-subset`` with the limit for its cutoff.
    """
    started, end = time.perf_counter(), clock.end_of(time_limit)
    data = dataset_of(data)
    rules, names = rules_of("alternatives", data, rules)
    m = whole("alternatives", "m", m, high=len(names))
    within = number("alternatives", "within", within)
    count = None if count is None else whole("alternatives", "count", count, low=1, high=10**6)
    problem = cardinality_problem(data, m, c, scale, "alternatives", rules)
    best = branch_and_benders(problem, settings=BranchSettings(1e-6), run=Run(time_limit=time_limit))
    assert best.objective is not None
    search, ended = _enumerated(problem, best, _limit(best.objective, within), count, end)
    listed = dict(sorted(search.found.items(), key=lambda one: one[1].value)[:count])
    tree = tree_of(search, listed)
    found = list(listed.values())
    support = tuple(tuple(np.flatnonzero(one.selection).tolist()) for one in found)
    with threadpool_limits(1):
        bound = tree.bound(problem, support)
    optimum = min([best.objective, *(one.value for one in found)])
    last = _limit(optimum, within) if count is None or len(found) < count else found[-1].value
    complete = bool(bound >= last * (1.0 - 1e-9)) and best.stop == "optimal"
    answer = Alternatives(
        features=names,
        support=support,
        objective=np.array([one.value for one in found]),
        optimum=optimum,
        limit=last,
        bound=bound,
        complete=complete,
        stop="optimal" if complete else ended,
        nodes=search.nodes,
        seconds=time.perf_counter() - started,
        m=m,
        within=within,
        count=count,
        c=problem.c,
        scale=scale,
        rules=rules,
        w=np.array([one.w for one in found]).reshape(-1, data.p),
        tree=tree,
    )
    return answer.with_proof(data) if exact else answer


def _limit(optimum: float, within: float) -> float:
    """Return the largest value within a share of the optimum."""
    return optimum * (1.0 + within) * (1.0 + MARGIN)


def _enumerated(
    problem: SelectionProblem, best: DriverResult, limit: float, count: int | None, end: float
) -> tuple[Enumeration, str]:
    """Return the search for all selections up to a limit, as far as it came, and why it ended."""
    # A search for the optimum that was interrupted, or ended before its gap was closed, says why.
    search = Enumeration(problem, BranchSettings(1e-6), limit=limit, count=count)
    search.incumbents.gap = 0.01 * MARGIN
    with threadpool_limits(1), deferred_interruption() as interrupted:
        search.seed(best.point["seeds"][-CAPACITY // 2 :])
        root = problem.root()
        assert root is not None
        search.incumbents.best = None
        search.open_root(root)
        if best.stop != "interrupted":
            with suppress(OutOfTimeError):
                search.solve_root()
                search.run(NODES, lambda: time.perf_counter() < end and not interrupted())
        ended = "interrupted" if interrupted() else "time_limit" if search.frontier else "optimal"
    return search, ended if best.stop == "optimal" else best.stop


@dataclass(frozen=True)
class EnumerationTree:
    """The tree of an enumeration, up to the nodes where it stopped.

    Attributes
    ----------
    stream : of the tree, see :mod:`fsopt.search.branch_and_benders.tree`.
    cuts : multipliers on the grid (n,) and mu, by their numbers in the stream.
    nodes : node where the tree stops -> number of the cut that bounds it, FORGOTTEN where its relaxation does, or None
        for a selection that is listed.
    """

    stream: Sequence[int]
    cuts: tuple[tuple[Grid, Vector], ...]
    nodes: Mapping[int, int | None]

    def bound(self, problem: SelectionProblem, listed: Collection[tuple[int, ...]]) -> float:
        """Return the smallest bound of all leaves but the listed selections, recomputed from their cuts.

        Raises
        ------
        ValueError : a cut is not dual feasible, or a leaf that has no bound is not a listed selection.
        """
        cut_of = cuts_by_name(problem, dict(enumerate(self.cuts)))

        def stopped(node: int, at: Partial) -> float:
            name = self.nodes[node]
            if name is not None:
                return leaf_bound(problem, at, cut_of(name))
            if at.free.any() or tuple(np.flatnonzero(at.inside).tolist()) not in listed:
                raise ValueError("a leaf without a bound is not a selection of the list")
            return np.inf

        return replay(problem, self.stream, cut_of, stopped).bound


def tree_of(search: Enumeration, listed: Mapping[int, Incumbent]) -> EnumerationTree:
    """Return the tree of an enumeration; a selection that was found and is not listed is bounded by its relaxation."""
    opened = {node.number: node.cut.name for node in search.frontier.nodes}
    used: dict[int, int] = {}
    stream = search.tree.stream({**dict.fromkeys(search.found, -1), **opened}, closed=False)
    stream = renumbered(stream, used, search.tree.cuts)
    nodes = {number: None if number in listed else FORGOTTEN for number in search.found} | {
        number: used.setdefault(name, len(used)) if name in search.tree.cuts else FORGOTTEN
        for number, name in opened.items()
    }
    return EnumerationTree(stream, tuple(search.tree.cuts[name] for name in used), nodes)
