"""The tree of a saved fit of branch and Benders as a proof in plain data, and the claim that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.certificates.certificate import TOLERANCE
from fsopt.certificates.exact.claims import Claim, claim_of_part, not_shown
from fsopt.certificates.exact.encoding import Part, encoded
from fsopt.certificates.exact.forms import fractions_of
from fsopt.certificates.exact.proofs import claim_of
from fsopt.certificates.exact.selection import proved_ends
from fsopt.drivers.branch_and_benders.cuts import on_grid
from fsopt.drivers.branch_and_benders.evidence import RESOLVED, unpacked
from fsopt.drivers.branch_and_benders.interior_point import Goal
from fsopt.drivers.branch_and_benders.nodes import NodeSolver
from fsopt.drivers.branch_and_benders.problem import GRID, Partial, SelectionProblem
from fsopt.drivers.branch_and_benders.tree import BRANCH, EMPTY, FORGOTTEN, LEAF, NODE, PEG
from fsopt.errors import NotShown, ParameterError, reading
from fsopt.methods.gbd.parameters import saved_selection
from fsopt.methods.gbd.verification import problem_of
from fsopt.methods.spec import SavedFit
from fsopt.results import Status
from fsopt.typing import Mask, Vector

Cuts: TypeAlias = list[tuple[list[int], list[float]]]
"""Multipliers on the grid and mu of each cut."""
WEIGHTED = "the samples have weights, for which no tree is replayed in rational numbers"
NAME = "the optimum over all allowed selections"


def exact_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a saved fit: its interval, from the tree and from the hyperplane.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    fit = saved.fit
    if "evidence" not in fit.details:
        return [not_shown(NAME, "the bound of the loop as printed rests on a search over its cuts: not repeated")]
    if saved.data.weights is not None:
        return [not_shown(NAME, WEIGHTED)]
    problem = problem_of(saved)
    sigma = saved_selection(saved.data, {**saved.params, "sigma": fit.details["sigma"]}) > 0.5
    with reading("tree of the search"):
        part = part_of(problem, *_held(problem, fit.details["evidence"]), Plane(sigma, saved.w, saved.b))
    gap = max(float(fit.params["tolerance"]), TOLERANCE)
    return [claim_of_tree(NAME, part, gap, optimal=fit.status is Status.OPTIMAL)]


def claim_of_tree(name: str, part: Part, gap: float, *, optimal: bool) -> Claim:
    """Return the claim of a part without one: the interval that its tree and its hyperplane prove.

    Parameters
    ----------
    optimal : whether the interval is claimed to be as narrow as the gap.
    """
    with reading("tree of the search"):
        try:
            lower, upper = proved_ends(part)
        except NotShown as error:
            return not_shown(name, error.message)
    status = "optimal" if optimal and lower is not None else "bounded" if upper is None else "feasible"
    return claim_of_part(name, {**part, "claim": claim_of(status, lower, upper, Fraction(gap))})


def claim_of_search(name: str, problem: SelectionProblem, held: Mapping[str, Any], plane: Plane, gap: float) -> Claim:
    """Return the claim of packed evidence and the incumbent of its search."""
    with reading("tree of the search"):
        part = part_of(problem, *_held(problem, held), plane)
    claim = claim_of_tree(name, part, gap, optimal=True)
    return claim if claim.holds else claim_of_tree(name, part, gap, optimal=False)


@dataclass(frozen=True)
class Plane:
    """A selection, mask (p,), and a hyperplane on it."""

    selected: Mask
    w: Vector
    b: float


def _held(problem: SelectionProblem, held: Mapping[str, Any]) -> tuple[list[int], Cuts]:
    """Return the stream and the cuts of packed evidence."""
    stream, grids, mu = unpacked(problem, held)
    return stream, [(grid.tolist(), row.tolist()) for grid, row in zip(grids, mu, strict=True)]


def part_of(
    problem: SelectionProblem,
    stream: Sequence[int],
    cuts: Cuts,
    plane: Plane | None,
    nodes: Mapping[int, int | None] | None = None,
) -> Part:
    """Return the evidence of a search in plain data, without its claim.

    The constraints of the search hold up to a slack, so that their right-hand sides are raised by it here: the bound is
    one on more selections.

    Parameters
    ----------
    stream, cuts : of the tree; names of cuts are their places.
    plane : the incumbent; None for a bound alone.
    nodes : number of a node that is marked in the stream -> its cut, None for a known selection.

    Raises
    ------
    ParameterError : the samples have weights.
    """
    if problem.weights is not None:
        raise ParameterError(WEIGHTED, "leave out exact, or the weights")
    tree = _Nested(problem, stream, cuts, nodes or {}).root()
    for _, row in cuts:
        if problem.main is not None:
            row[problem.main] = 0.0
    point = None
    if plane is not None:
        w = np.where(plane.selected, plane.w, 0.0)
        point = {"selected": np.flatnonzero(plane.selected).tolist(), "w": w.tolist(), "b": float(plane.b)}
    return {
        "kind": "selection",
        "problem": {
            "y": problem.y.astype(int).tolist(),
            "c": problem.c,
            "columns": problem.X.T.tolist(),
            "R": problem.R.tolist(),
            "r": [encoded(v) for v in fractions_of((problem.r + problem.tolerances).tolist())],
            "lam": problem.lam.tolist(),
            "inside": np.flatnonzero(problem.fixed.inside).tolist(),
            "outside": np.flatnonzero(problem.fixed.outside).tolist(),
            "main": problem.main,
        },
        "steps": GRID,
        "alpha": [grid for grid, _ in cuts],
        "mu": [row for _, row in cuts],
        "tree": tree,
        "point": point,
    }


class _Nested:
    """A stream in preorder as nested lists; a leaf whose cut was not kept gets one from its relaxation.

    Attributes
    ----------
    cuts : multipliers on the grid and mu of each cut, to which new ones are added.
    nodes : as in :func:`part_of`.
    """

    def __init__(
        self, problem: SelectionProblem, stream: Sequence[int], cuts: Cuts, nodes: Mapping[int, int | None]
    ) -> None:
        self.problem, self.stream = problem, stream
        self.cuts, self.nodes = cuts, nodes
        self.place = 0

    def root(self) -> list[Any]:
        """Return the whole tree; raises ValueError where the stream is none."""
        tree = self._node(self.problem.root())
        if self.place != len(self.stream):
            raise ValueError("the tree has parts that belong to no node")
        return tree

    def _next(self, count: int = 1) -> list[int]:
        taken = list(self.stream[self.place : self.place + count])
        if len(taken) < count:
            raise ValueError("the tree ends early")
        self.place += count
        return taken

    def _node(self, at: Partial | None) -> list[Any]:
        (mark,) = self._next()
        if mark == EMPTY:
            return ["empty"]
        if at is not None and mark == NODE:
            cut = self.nodes[self._next()[0]]
            return ["known"] if cut is None else ["leaf", self._cut(cut, at)]
        if at is None or mark not in (LEAF, BRANCH, PEG):
            raise ValueError("a node is wrongly marked")
        problem = self.problem
        if mark == LEAF:
            return ["leaf", self._cut(self._next()[0], at)]
        if mark == BRANCH:
            (j,) = self._next()
            sides = [problem.propagated(at.decided(j, selected=chosen)) for chosen in (False, True)]
            return ["branch", j, *(self._node(side) for side in sides)]
        name, count = self._next(2)
        features = self._next(count)
        left = at
        for f in features:
            left = left.decided(abs(f) - 1, selected=f > 0)
        if name != FORGOTTEN:
            return ["peg", self._cut(name, at), features, self._node(problem.propagated(left))]
        return self._branched(at, features)

    def _branched(self, at: Partial, features: Sequence[int]) -> list[Any]:
        """Return pegs whose cut was not kept as branchings, one after another."""
        if not features:
            return self._node(self.problem.propagated(at))
        j, selected = abs(features[0]) - 1, features[0] > 0
        other = self.problem.propagated(at.decided(j, selected=not selected))
        closed: list[Any] = ["empty"] if other is None else ["leaf", self._cut(FORGOTTEN, other)]
        rest = self._branched(at.decided(j, selected=selected), features[1:])
        return ["branch", j, closed, rest] if selected else ["branch", j, rest, closed]

    def _cut(self, name: int, at: Partial) -> int:
        """Return the number of a cut; one that was not kept is made from the relaxation of its node."""
        if name != FORGOTTEN:
            if not 0 <= name < len(self.cuts):
                raise ValueError(f"there is no cut {name}")
            return name
        problem = self.problem
        found = NodeSolver(problem).solve(at, None, Goal(RESOLVED))
        grid = None if found is None else on_grid(found.alpha, problem.y, problem.c)
        if found is None or grid is None:
            raise ValueError("the relaxation of a leaf could not be solved again")
        mu = np.maximum(found.mu, 0.0)
        if problem.main is not None:
            mu[problem.main] = 0.0
        self.cuts.append((grid.tolist(), mu.tolist()))
        return len(self.cuts) - 1
