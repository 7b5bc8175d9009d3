"""The tree of a saved fit of branch and Benders as a proof in plain data, and the claim that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.algorithms.branch_and_benders.covering import Leaves, cover
from fsopt.algorithms.branch_and_benders.cuts import Grid, on_grid
from fsopt.algorithms.branch_and_benders.evidence import RESOLVED, unpacked
from fsopt.algorithms.branch_and_benders.interior_point import Goal
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.tree import BRANCH, EMPTY, FORGOTTEN, LEAF, NODE, PEG
from fsopt.answers.certificate import TOLERANCE, gap_allowed
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.certificates.exact.claims import Claim, claim_of, not_shown
from fsopt.certificates.exact.proofs import About, Part
from fsopt.data.losses import HINGE
from fsopt.data.matrices import refuse_sparse
from fsopt.errors import ParameterError, reading
from fsopt.methods.gbd.parameters import RULES, constraints_of, saved_selection
from fsopt.methods.gbd.verification import problem_of
from fsopt.methods.spec import SavedFit
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.typing import Mask, Vector
from fsopt.verifier.grammar import written

Cuts: TypeAlias = Sequence[tuple[Grid, Vector]]
"""Multipliers on the grid and mu of each cut."""
Evidence: TypeAlias = tuple[Part, Part]
"""The program of a search, and the evidence of its bounds."""
Closed: TypeAlias = tuple[Partial, int, Sequence[int]]
"""A node, a cut, and the features that it decides there; ``[0]`` where it closes the node."""
Pending: TypeAlias = tuple[Partial | None, Sequence[int] | None]
"""A node that is to be added, and the features to be pegged there; None for one that a cut of its own closes."""
WEIGHTED = "the samples have weights, for which no tree is replayed in rational numbers"
NAME = "the optimum over all allowed selections"


def loop_claims(saved: SavedFit) -> list[Claim]:
    """Return the reason why a saved fit of the loop has no claim with an exact interval."""
    return [not_shown(NAME, "the bound of the cut loop rests on a search over its cuts: not repeated")]


def tree_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a saved fit of branch and Benders: its interval, from the tree and from the hyperplane.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    fit = saved.fit
    if saved.data.weights is not None:
        return [not_shown(NAME, WEIGHTED)]
    problem = problem_of(saved)
    sigma = saved_selection(saved.data, {**saved.params, "sigma": fit.details["sigma"]}) > 0.5
    gap = max(gap_allowed(fit.params["tolerance"]), TOLERANCE)
    optimal = fit.status is Status.OPTIMAL
    hyperplane, name = SelectedHyperplane(sigma, saved.w, saved.b), NAME if optimal else f"bounds on {NAME}"
    claim = _claim(name, problem, fit.details["evidence"], hyperplane, gap, optimal=optimal)
    at = fit.params
    about = selection_about(float(at["c"]), constraints_of(saved.data, at), at.get("lam"), at["loss"])
    return [replace(claim, about=about)]


def selection_about(c: float, found: SelectionConstraints, lam: Any = None, loss: str = HINGE.name) -> About:
    """Return the problem of a selection for a statement.

    Parameters
    ----------
    c : penalty weight of the loss.
    found : the constraints.
    lam : penalty weights of the features, one number or one for each; None for none.
    loss : its name.
    """
    limits = {"m": found.cardinality, "costs": found.costs, "budget": found.budget, "lam": lam}
    rules = {name: getattr(found, name) for name in RULES}
    return About("selection", plain({"c": c, "loss": loss, **limits, **rules}))


def claim_of_tree(name: str, evidence: Evidence, gap: float, *, optimal: bool) -> Claim:
    """Return the claim of a tree and its hyperplane.

    Without a hyperplane it is a lower bound, or that there is no selection but those left out.

    Parameters
    ----------
    optimal : whether the interval is claimed to be as narrow as the gap.
    """
    program, tree = evidence
    status = "optimal" if optimal else "interval"
    found = claim_of(name, status, program, tree, gap)
    if found.part is None and tree["point"] is None:
        return claim_of(name, "infeasible", program, tree, gap)
    return found


def claim_of_search(
    name: str, problem: SelectionProblem, evidence: Mapping[str, Any], hyperplane: SelectedHyperplane, gap: float
) -> Claim:
    """Return the claim of packed evidence and the incumbent of its search."""
    claim = _claim(name, problem, evidence, hyperplane, gap, optimal=True)
    return claim if claim.holds or claim.part is None else replace(claim, holds=True, reason="")


def _claim(
    name: str,
    problem: SelectionProblem,
    evidence: Mapping[str, Any],
    hyperplane: SelectedHyperplane,
    gap: float,
    *,
    optimal: bool,
) -> Claim:
    """Return the claim of packed evidence."""
    with reading("tree of the search"):
        stream, grids, mu = unpacked(problem, evidence)
        part = evidence_of(problem, stream, list(zip(grids, mu, strict=True)), hyperplane)
    return claim_of_tree(name, part, gap, optimal=optimal)


@dataclass(frozen=True)
class SelectedHyperplane:
    """A selection, mask (p,), and a hyperplane on it."""

    selected: Mask
    w: Vector
    b: float


def selection_program(problem: SelectionProblem) -> Part:
    """Return a problem in plain data: its samples, loss and constraints, whose right-hand sides are raised by a slack.

    The slack is that up to which constraints hold in a search, since costs are decimals that doubles round: it makes a
    difference for no whole numbers.

    Raises
    ------
    ParameterError : the samples have weights.
    DataError : the samples are sparse.
    """
    refuse_sparse("a proof of a search for selections", problem.X)
    if problem.weights is not None:
        raise ParameterError(WEIGHTED, "leave out exact, or the weights")
    return {
        "y": problem.y.astype(int).tolist(),
        "c": _number(problem.c),
        "loss": problem.loss.name,
        "columns": [_numbers(column) for column in problem.X.T],
        "R": [_numbers(row) for row in problem.R],
        "r": _numbers(problem.r + problem.tolerances),
        "lam": _numbers(problem.lam),
        "inside": np.flatnonzero(problem.fixed.inside).tolist(),
        "outside": np.flatnonzero(problem.fixed.outside).tolist(),
    }


def _number(value: float) -> Any:
    return written(Fraction(value))


def _numbers(values: Vector) -> list[Any]:
    return [written(Fraction(v)) for v in values.tolist()]


def evidence_of(
    problem: SelectionProblem,
    stream: Sequence[int],
    cuts: Cuts,
    hyperplane: SelectedHyperplane | None,
    nodes: Mapping[int, int | None] | None = None,
) -> Evidence:
    """Return the program of a search, and its evidence, in plain data.

    Parameters
    ----------
    stream, cuts : of the tree; names of cuts are their places.
    hyperplane : the incumbent; None for a bound alone.
    nodes : number of a node that is marked in the stream -> its cut, None for a known selection.

    Raises
    ------
    ParameterError, DataError : as of :func:`selection_program`.
    ValueError : the stream is no tree, or a cut is not dual feasible.
    """
    program = selection_program(problem)
    replayed = _Preorder(problem, stream, cuts, nodes or {})
    replayed.walk()
    point = None
    if hyperplane is not None:
        w = np.where(hyperplane.selected, hyperplane.w, 0.0)
        point = {
            "w": [[j, _number(w[j])] for j in np.flatnonzero(w).tolist()],
            "b": _number(hyperplane.b),
            "selected": np.flatnonzero(hyperplane.selected).tolist(),
        }
    grids = np.array([grid for grid, _ in replayed.cuts], dtype=np.int32).reshape(-1, problem.n)
    mu = np.array([row for _, row in replayed.cuts]).reshape(len(grids), len(problem.r))
    found = cover(problem, grids, mu, _leaves_of(replayed.closed, problem.p))
    _name(replayed.tree, found.cut.tolist())
    held = zip(found.steps.tolist(), found.grids.tolist(), found.mu.tolist(), strict=True)
    evidence = {
        "cuts": [[steps, grid, [[k, _number(v)] for k, v in enumerate(row) if v]] for steps, grid, row in held],
        "main": problem.main,
        "tree": replayed.tree,
        "point": point,
    }
    return program, evidence


def _leaves_of(closed: Sequence[Closed], p: int) -> Leaves:
    """Return the leaves that cuts close: nodes, or for pegs one for each feature, at its other value."""
    counts = np.array([len(features) for _, _, features in closed], dtype=np.intp)
    inside, outside = (
        np.repeat(np.array([getattr(at, side) for at, _, _ in closed], dtype=bool).reshape(-1, p), counts, axis=0)
        for side in ("inside", "outside")
    )
    other = -np.array([f for _, _, features in closed for f in features], dtype=np.intp)
    for taken, side in ((other > 0, inside), (other < 0, outside)):
        side[np.flatnonzero(taken), np.abs(other[taken]) - 1] = True
    return Leaves(inside, ~(inside | outside), np.repeat([cut for _, cut, _ in closed], counts).astype(np.intp))


def _name(tree: Sequence[list[Any]], cut: Sequence[int]) -> None:
    """Add the cuts of its leaves, in their order, to the nodes of a tree."""
    rest = iter(cut)
    for node in tree:
        if node[0] == "leaf":
            node.append(next(rest))
        elif node[0] == "peg":
            node.insert(1, [next(rest) for _ in (*node[1], *node[2])])


class _Preorder:
    """A stream as the nodes of a proof, in preorder; a leaf whose cut was not kept gets one from its relaxation."""

    def __init__(
        self, problem: SelectionProblem, stream: Sequence[int], cuts: Cuts, nodes: Mapping[int, int | None]
    ) -> None:
        self.problem, self.stream = problem, stream
        self.cuts, self.nodes = list(cuts), nodes
        self.closed: list[Closed] = []
        self.tree: list[list[Any]] = []
        self.place = 0

    def walk(self) -> None:
        """Read the whole stream; raises ValueError where it is none."""
        pending: list[Pending] = [(self.problem.root(), ())]
        while pending:
            at, features = pending.pop()
            if features is None:
                self._close(at)
            else:
                pending += self._branched(at, features) if features else self._node(at)
        if self.place != len(self.stream):
            raise ValueError("the tree has parts that belong to no node")

    def _next(self, count: int = 1) -> list[int]:
        taken = list(self.stream[self.place : self.place + count])
        if len(taken) != count:
            raise ValueError("the tree ends early")
        self.place += count
        return taken

    def _node(self, at: Partial | None) -> list[Pending]:
        """Add a node, and return those below it, the first one last."""
        (mark,) = self._next()
        if mark == EMPTY:
            self.tree.append(["empty"])
            return []
        if at is None or mark not in (NODE, LEAF, BRANCH, PEG):
            raise ValueError("a node is wrongly marked")
        if mark in (NODE, LEAF):
            (name,) = self._next()
            cut = self.nodes[name] if mark == NODE else name
            if cut is None:
                self.tree.append(["known"])
            else:
                self._leaf(at, cut)
            return []
        if mark == BRANCH:
            (j,) = self._next()
            self.tree.append(["branch", j])
            return [(self.problem.propagated(at.decided(j, selected=chosen)), ()) for chosen in (True, False)]
        name, count = self._next(2)
        features = self._next(count)
        if name == FORGOTTEN:
            return [(at, features)]
        features = sorted(set(features), key=lambda f: (f < 0, abs(f)))
        self.closed.append((at, self._cut(name, at), features))
        self.tree.append(["peg", *([abs(f) - 1 for f in features if (f > 0) == into] for into in (True, False))])
        for f in features:
            at = at.decided(abs(f) - 1, selected=f > 0)
        return [(self.problem.propagated(at), ())]

    def _branched(self, at: Partial | None, features: Sequence[int]) -> list[Pending]:
        """Add the first of the pegs whose cut was not kept as a branching; its other value is a leaf of its own."""
        j, selected = abs(features[0]) - 1, features[0] > 0
        if at is None or (at.inside if selected else at.outside)[j]:
            return [(at, features[1:])]
        if not at.free[j]:  # the features before this one leave the other value alone
            self._close(at)
            if self._next() != [EMPTY]:
                raise ValueError("a node is wrongly marked")
            return []
        self.tree.append(["branch", j])
        rest = (self.problem.propagated(at.decided(j, selected=selected)), features[1:])
        other = (self.problem.propagated(at.decided(j, selected=not selected)), None)
        return [rest, other] if selected else [other, rest]

    def _close(self, at: Partial | None) -> None:
        """Add a leaf with a cut of its own."""
        if at is None:
            self.tree.append(["empty"])
        else:
            self._leaf(at, FORGOTTEN)

    def _leaf(self, at: Partial, cut: int) -> None:
        self.closed.append((at, self._cut(cut, at), [0]))
        self.tree.append(["leaf"])

    def _cut(self, name: int, at: Partial) -> int:
        """Return the number of a cut; one that was not kept is made from the relaxation of its node."""
        if name != FORGOTTEN:
            if not 0 <= name < len(self.cuts):
                raise ValueError(f"there is no cut {name}")
            return name
        problem = self.problem
        found = NodeSolver(problem).solve(at, None, Goal(RESOLVED))
        grid = None if found is None else on_grid(found.alpha, problem.y, problem.caps)
        if found is None or grid is None:
            raise ValueError("the relaxation of a leaf could not be solved again")
        self.cuts.append((grid, np.maximum(found.mu, 0.0)))
        return len(self.cuts) - 1
