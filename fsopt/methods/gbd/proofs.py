"""The tree of a saved fit of branch and Benders as a proof in plain data, and the claim that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.certificates.certificate import TOLERANCE
from fsopt.certificates.exact.claims import Claim, claim_of_part, not_shown
from fsopt.certificates.exact.encoding import Part, encoded
from fsopt.certificates.exact.forms import fractions_of
from fsopt.certificates.exact.proofs import claim_of
from fsopt.certificates.exact.selection import proved_ends
from fsopt.drivers.branch_and_benders.cuts import GRID, on_grid
from fsopt.drivers.branch_and_benders.evidence import RESOLVED, unpacked
from fsopt.drivers.branch_and_benders.interior_point import Goal
from fsopt.drivers.branch_and_benders.nodes import NodeSolver
from fsopt.drivers.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.drivers.branch_and_benders.tree import BRANCH, EMPTY, FORGOTTEN, LEAF, PEG
from fsopt.errors import NotShown, reading
from fsopt.methods.gbd.parameters import saved_selection
from fsopt.methods.gbd.verification import problem_of
from fsopt.methods.spec import SavedFit
from fsopt.results import Status

Cuts: TypeAlias = list[tuple[list[int], list[float]]]
"""Multipliers on the grid and mu of each cut."""
NAME = "the optimum over all allowed selections"


def exact_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a saved fit: its interval, from the tree and from the hyperplane.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    fit = saved.fit
    if "evidence" not in fit.details:
        return [
            not_shown(NAME, "the bound of the loop as printed rests on a search over its cuts, which is not repeated")
        ]
    problem = problem_of(saved)
    with reading("tree of the search"):
        part = _part(saved, problem)
        try:
            lower, upper = proved_ends(part)
        except NotShown as error:
            return [not_shown(NAME, error.message)]
    gap = max(float(fit.params["tolerance"]), TOLERANCE)
    optimal = fit.status is Status.OPTIMAL and lower is not None
    part["claim"] = claim_of("optimal" if optimal else "feasible", lower, upper, Fraction(gap))
    return [claim_of_part(NAME, part)]


def _part(saved: SavedFit, problem: SelectionProblem) -> Part:
    """Return the evidence of a saved fit in plain data, without its claim.

    The constraints of the search hold up to a slack, so that their right-hand sides are raised by it here: the bound is
    one on more selections.
    """
    stream, grids, mu = unpacked(problem, saved.fit.details["evidence"])
    cuts: Cuts = [(grid.tolist(), row.tolist()) for grid, row in zip(grids, mu, strict=True)]
    right = fractions_of((problem.r + problem.tolerances).tolist())
    if problem.main is not None:
        for _, row in cuts:
            row[problem.main] = 0.0
    tree = _Nested(problem, stream, cuts).root()
    sigma = saved_selection(saved.data, {**saved.params, "sigma": saved.fit.details["sigma"]})
    return {
        "kind": "selection",
        "problem": {
            "y": problem.y.astype(int).tolist(),
            "c": problem.c,
            "columns": problem.X.T.tolist(),
            "R": problem.R.tolist(),
            "r": [encoded(v) for v in right],
            "lam": problem.lam.tolist(),
            "inside": np.flatnonzero(problem.fixed.inside).tolist(),
            "outside": np.flatnonzero(problem.fixed.outside).tolist(),
            "main": problem.main,
        },
        "steps": GRID,
        "alpha": [grid for grid, _ in cuts],
        "mu": [row for _, row in cuts],
        "tree": tree,
        "point": {
            "selected": np.flatnonzero(sigma > 0.5).tolist(),
            "w": np.where(sigma > 0.5, saved.w, 0.0).tolist(),
            "b": float(saved.b),
        },
    }


class _Nested:
    """A stream in preorder as nested lists; a leaf whose cut was not kept gets one from its relaxation.

    Attributes
    ----------
    cuts : multipliers on the grid and mu of each cut, to which new ones are added.
    """

    def __init__(self, problem: SelectionProblem, stream: Sequence[int], cuts: Cuts) -> None:
        self.problem, self.stream = problem, stream
        self.cuts, self.place = cuts, 0

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
