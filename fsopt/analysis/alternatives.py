"""The selections beside the best one: all that are nearly as good."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.algorithms.branch_and_benders.cuts import CAPACITY, Cut, make_cut
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.enumeration import Enumeration
from fsopt.algorithms.branch_and_benders.evidence import relaxation_bound, renumbered
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.algorithms.branch_and_benders.tree import FORGOTTEN, replay
from fsopt.answers.questions import Answer
from fsopt.certificates.exact.claims import About, Claim
from fsopt.certificates.exact.statements import Header, proof_file
from fsopt.common.figures import bars_figure
from fsopt.data import Dataset
from fsopt.drivers.interruption import deferred_interruption
from fsopt.drivers.run import OutOfTimeError, Run
from fsopt.methods.gbd.proofs import claim_of_tree, part_of, selection_about
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = 2**62
"""Nodes of an enumeration: as many as the time limit allows."""
MARGIN = 1e-8
"""Relative margin of the limit."""


@dataclass(frozen=True)
class Alternatives(Answer):
    """The selections of at most m features with nearly the smallest value, the best first.

    Attributes
    ----------
    features : names of the p features.
    support : features of each selection, by place.
    objective : (k,) their values.
    optimum : the smallest value.
    limit : the largest value that was asked for, or that of the last of the best K.
    bound : a lower bound on the values of all other selections, recomputed from the cuts of the tree.
    complete : whether every selection up to the limit was found: the bound is above it.
    nodes, seconds : of the enumeration.
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
    nodes: int
    seconds: float
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
        """The optimum, the limit, the bound on all other selections, whether all were found, nodes and seconds."""
        return {name: getattr(self, name) for name in ("optimum", "limit", "bound", "complete", "nodes", "seconds")}

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


def alternatives(
    data: Dataset,
    m: int,
    *,
    within: float = 0.01,
    count: int | None = None,
    c: float = 1.0,
    scale: str = "standard",
    time_limit: float | None = None,
    exact: bool = False,
) -> Alternatives:
    r"""Return all selections of at most m features whose value is at most a share above the optimum, or the best K.

    .. math:: \{\sigma \in \{0,1\}^p : e'\sigma \le m,\ F(\sigma) \le (1 + \delta) F^*(m)\}

    Parameters
    ----------
    data : Dataset
        Raw features.
    m : int
        Largest number of features, 1..p.
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
    started = time.perf_counter()
    m = whole("alternatives", "m", m, low=1, high=data.p)
    within = number("alternatives", "within", within, low=0.0)
    count = None if count is None else whole("alternatives", "count", count, low=1, high=10**6)
    problem = cardinality_problem(data, m, c, scale, "alternatives")
    best = branch_and_benders(problem, settings=BranchSettings(1e-6), run=Run(time_limit=time_limit))
    assert best.objective is not None
    # A margin for the gap of the SVMs: without a share the optimum itself is within the limit.
    limit = best.objective * (1.0 + within) * (1.0 + MARGIN)

    def expired() -> bool:
        return time_limit is not None and time.perf_counter() - started >= time_limit

    search = Enumeration(problem, 1e-6, limit=limit, count=count)
    search.incumbents.gap = 0.01 * MARGIN
    with threadpool_limits(1), deferred_interruption() as interrupted:
        search.seed(best.point["seeds"][-CAPACITY // 2 :])
        root = problem.root()
        assert root is not None
        search.incumbents.best = None
        search.open_root(root)
        with suppress(OutOfTimeError):
            search.solve_root()
            search.run(NODES, lambda: not expired() and not interrupted())
        listed = dict(sorted(search.found.items(), key=lambda one: one[1].value)[:count])
        bound = _replayed(search, listed)
    claim = _exact(search, listed, cardinality_about(data, m, c)) if exact else None
    given = {"m": m, "within": within, "count": count, "c": c}
    header = Header("study", "alternatives", given, data, scale)
    found = list(listed.values())
    last = limit if count is None or len(found) < count else found[-1].value
    return Alternatives(
        features=data.features,
        support=tuple(tuple(np.flatnonzero(one.selection).tolist()) for one in found),
        objective=np.array([one.value for one in found]),
        optimum=min([best.objective, *(one.value for one in found)]),
        limit=last,
        bound=bound,
        complete=bool(bound >= last * (1.0 - 1e-9)) and best.stop == "optimal",
        nodes=search.nodes,
        seconds=time.perf_counter() - started,
        exact=claim,
        proof=None if claim is None or claim.part is None else proof_file(header, [claim]),
    )


def _exact(search: Enumeration, listed: Mapping[int, Incumbent], about: About) -> Claim:
    """Return the claim on all selections but the listed ones, with the exact bound of the tree.

    A selection that was found and is not among the best is a leaf like the others, whose cut is made from its SVM.
    """
    opened = {node.number: node.cut.name for _, _, node in search.heap}
    stream = search.tree.stream({**dict.fromkeys(search.found, -1), **opened}, closed=False)
    used: dict[int, int] = {}
    stream = renumbered(stream, used, search.tree.cuts)
    places = {number: used.setdefault(name, len(used)) for number, name in opened.items() if name in search.tree.cuts}
    closed = dict.fromkeys([*opened, *(number for number in search.found if number not in listed)], FORGOTTEN)
    nodes = {**dict.fromkeys(listed), **closed, **places}
    held = [search.tree.cuts[name] for name in used]
    cuts = [(grid.tolist(), np.maximum(mu, 0.0).tolist()) for grid, mu in held]
    part = part_of(search.problem, stream, cuts, None, nodes)
    return replace(claim_of_tree("every other selection", part, 0.0, optimal=False), about=about)


def cardinality_about(data: Dataset, m: int, c: float) -> About:
    """Return the problem of at most m features for a statement."""
    return selection_about(float(c), SelectionConstraints(data.p, m))


def _replayed(search: Enumeration, listed: Mapping[int, Incumbent]) -> float:
    """Return the smallest bound of all leaves but the listed selections, from their cuts.

    The value of a selection that was found and is not listed bounds it up to the gap of its SVM.
    """
    problem, made = search.problem, dict[int, Cut]()

    def cut_of(name: int) -> Cut | None:
        if name not in made and name in search.tree.cuts:
            made[name] = make_cut(problem, name, *search.tree.cuts[name])
        return made.get(name)

    opened = {node.number: node.cut.name for _, _, node in search.heap}
    stream = search.tree.stream({**dict.fromkeys(search.found, -1), **opened}, closed=False)

    def check(node: int, at: Partial) -> None:
        own = search.found.get(node)
        if own is not None and (at.free.any() or not np.array_equal(at.inside, own.selection)):
            raise ValueError("a leaf is not the selection that was found there")

    found = replay(problem, stream, cut_of, lambda at: relaxation_bound(problem, at), check)
    others = [one.value * (1.0 - search.incumbents.gap) for k, one in search.found.items() if k not in listed]
    return float(min([found.bound, *others, *(node.bound for _, _, node in search.heap)]))


def cardinality_problem(data: Dataset, m: int, c: float, scale: str, name: str) -> SelectionProblem:
    """Return the problem of at most m preprocessed features."""
    c = number(name, "c", c, low=0.0, strict=True)
    work = preprocess(data, scale)[0]
    return SelectionProblem.of(work, c, np.ones((1, data.p)), np.array([float(m)]), np.zeros(data.p))
