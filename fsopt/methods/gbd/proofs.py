"""The tree of a saved fit of branch and Benders as a proof in plain data, and the claim that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import on_grid
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
from fsopt.methods.gbd.coarser_grids import coarser, digits_to_spare
from fsopt.methods.gbd.parameters import RULES, constraints_of, saved_selection
from fsopt.methods.gbd.verification import problem_of
from fsopt.methods.spec import SavedFit
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.typing import Mask, Vector
from fsopt.verifier.rationals import written

Cuts: TypeAlias = list[tuple[list[int], list[float]]]
"""Multipliers on the grid and mu of each cut."""
Evidence: TypeAlias = tuple[Part, Part, list[list[int]]]
"""The program of a search, the evidence of its bounds, and the selections that it leaves out."""
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
    program, tree, left_out = evidence
    status = "optimal" if optimal else "interval"
    found = claim_of(name, status, program, tree, gap, left_out)
    if found.part is None and tree["point"] is None:
        return claim_of(name, "infeasible", program, tree, gap, left_out)
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
    """Return the claim of packed evidence, by multipliers of few digits where these suffice."""
    claim: Claim | None = None
    for digits in (gap, 0.0) if optimal else (0.0,):
        with reading("tree of the search"):
            part = evidence_of(problem, *_unpacked(problem, evidence), hyperplane, gap=digits)
        claim = claim_of_tree(name, part, gap, optimal=optimal)
        if claim.holds:
            break
    assert claim is not None
    return claim


@dataclass(frozen=True)
class SelectedHyperplane:
    """A selection, mask (p,), and a hyperplane on it."""

    selected: Mask
    w: Vector
    b: float


def _unpacked(problem: SelectionProblem, evidence: Mapping[str, Any]) -> tuple[list[int], Cuts]:
    """Return the stream and the cuts of packed evidence."""
    stream, grids, mu = unpacked(problem, evidence)
    return stream, [(grid.tolist(), row.tolist()) for grid, row in zip(grids, mu, strict=True)]


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
    gap: float = 0.0,
) -> Evidence:
    """Return the program of a search, its evidence, and the selections that it leaves out, in plain data.

    Parameters
    ----------
    stream, cuts : of the tree; names of cuts are their places.
    hyperplane : the incumbent; None for a bound alone.
    nodes : number of a node that is marked in the stream -> its cut, None for a known selection.
    gap : relative, of which rounded multipliers may take a part; 0 rounds none.

    Raises
    ------
    ParameterError, DataError : as of :func:`selection_program`.
    """
    program = selection_program(problem)
    replayed = _Preorder(problem, stream, cuts, nodes or {})
    replayed.walk()
    for _, row in cuts:
        if problem.main is not None:
            row[problem.main] = 0.0
    point, shift = None, 0
    if hyperplane is not None:
        shift = digits_to_spare(problem, problem.value(hyperplane.selected, hyperplane.w)[0], gap)
        w = np.where(hyperplane.selected, hyperplane.w, 0.0)
        point = {
            "w": [[j, _number(w[j])] for j in np.flatnonzero(w).tolist()],
            "b": _number(hyperplane.b),
            "selected": np.flatnonzero(hyperplane.selected).tolist(),
        }
    grids = coarser([grid for grid, _ in cuts], problem.y, shift)
    evidence = {
        "steps": round(problem.c / problem.unit) >> shift,
        "cuts": [
            [grid, [[k, _number(v)] for k, v in enumerate(row) if v]]
            for grid, (_, row) in zip(grids, cuts, strict=True)
        ],
        "main": problem.main,
        "tree": replayed.tree,
        "point": point,
    }
    return program, evidence, replayed.left_out


class _Preorder:
    """A stream as the nodes of a proof, in preorder; a leaf whose cut was not kept gets one from its relaxation.

    Attributes
    ----------
    cuts : multipliers on the grid and mu of each cut, to which new ones are added.
    nodes : as in :func:`evidence_of`.
    tree : the nodes.
    left_out : the features of each known selection.
    """

    def __init__(
        self, problem: SelectionProblem, stream: Sequence[int], cuts: Cuts, nodes: Mapping[int, int | None]
    ) -> None:
        self.problem, self.stream = problem, stream
        self.cuts, self.nodes = cuts, nodes
        self.tree: list[list[Any]] = []
        self.left_out: list[list[int]] = []
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
            self.tree.append(self._known(at) if cut is None else ["leaf", self._cut(cut, at)])
            return []
        if mark == BRANCH:
            (j,) = self._next()
            self.tree.append(["branch", j])
            return [(self.problem.propagated(at.decided(j, selected=chosen)), ()) for chosen in (True, False)]
        name, count = self._next(2)
        features = self._next(count)
        if name == FORGOTTEN:
            return [(at, features)]
        self.tree.append(["peg", self._cut(name, at), features])
        for f in features:
            at = at.decided(abs(f) - 1, selected=f > 0)
        return [(self.problem.propagated(at), ())]

    def _known(self, at: Partial) -> list[Any]:
        self.left_out.append(np.flatnonzero(at.inside).tolist())
        return ["known", len(self.left_out) - 1]

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
        self.tree.append(["empty"] if at is None else ["leaf", self._cut(FORGOTTEN, at)])

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
        mu = np.maximum(found.mu, 0.0)
        if problem.main is not None:
            mu[problem.main] = 0.0
        self.cuts.append((grid.tolist(), mu.tolist()))
        return len(self.cuts) - 1
