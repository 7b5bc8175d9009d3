"""The tree of a search for selections as a proof in plain data, and the claim that it makes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fsopt.answers.records import plain
from fsopt.certificates.exact.claims import Claim, claim_of
from fsopt.certificates.exact.proofs import About, Part
from fsopt.data.hyperplanes import HINGE
from fsopt.data.matrices import apart, is_sparse
from fsopt.errors import ParameterError, reading
from fsopt.models.gbd.feature_lists import ENDS
from fsopt.models.gbd.selection_constraints import RULES, SelectionConstraints
from fsopt.search.branch_and_benders.coverage import Coverage
from fsopt.search.branch_and_benders.cuts import Grid
from fsopt.search.branch_and_benders.evidence import feasible, relaxed, unpacked
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.proof_cuts import Leaves, cover
from fsopt.search.branch_and_benders.tree import BRANCH, COVERED, FORGOTTEN, NODE, PEG, walk
from fsopt.typing import Mask, Vector
from fsopt.verifier.rationals import written

Cuts: TypeAlias = Sequence[tuple[Grid, Vector]]
"""Multipliers on the grid and mu of each cut."""
ProgramAndTree: TypeAlias = tuple[Part, Part]
"""The program of a search, and the evidence of its bounds."""
Closed: TypeAlias = tuple[Partial, int, Sequence[int]]
"""A node, a cut, and the features that it decides there; ``[0]`` where it closes the node."""
WEIGHTED = "the samples have weights, for which no tree is replayed in rational numbers"


def selection_about(
    c: float, found: SelectionConstraints, bounds: Mapping[str, Any], lam: Any = None, loss: str = HINGE.name
) -> About:
    """Return the problem of a selection for a statement: ``bounds`` on weights as they are given, ``lam`` if any."""
    groups = [found.groups.members(g) for g in range(found.p)]
    shape = {"groups": [one for one in groups if len(one) > 1], **{name: bounds.get(name) for name in ENDS}}
    limits = {"m": found.cardinality, "costs": found.costs, "budget": found.budget, "lam": lam}
    rules = {name: _by_features(found, getattr(found, name)) for name in RULES}
    return About("selection", plain({"c": c, "loss": loss, **limits, **shape, **rules}))


def _by_features(found: SelectionConstraints, rule: Any) -> Any:
    """Return a rule with the first feature of each group in its place."""
    if isinstance(rule, tuple):
        return [_by_features(found, one) for one in rule]
    return found.groups.members(rule)[0]


def claim_of_tree(name: str, evidence: ProgramAndTree, gap: float, *, optimal: bool) -> Claim:
    """Return the claim of a tree and its hyperplane; without one of a bound, or that all selections are left out."""
    program, tree = evidence
    found = claim_of(name, "optimal" if optimal else "interval", program, tree, gap)
    if found.part is None and tree["point"] is None:
        return claim_of(name, "infeasible", program, tree, gap)
    return found


def claim_of_search(
    name: str,
    problem: SelectionProblem,
    evidence: Mapping[str, Any],
    hyperplane: SelectedHyperplane,
    gap: float,
    *,
    optimal: bool = False,
) -> Claim:
    """Return the claim of packed evidence and the incumbent of its search, as :func:`claim_of_tree`."""
    with reading("tree of the search"):
        part = evidence_of(problem, *unpacked(problem, evidence), hyperplane)
    return claim_of_tree(name, part, gap, optimal=optimal)


class SelectedHyperplane(NamedTuple):
    """A selection, mask (p,), and a hyperplane on it."""

    selected: Mask
    w: Vector
    b: float

    def value(self, problem: SelectionProblem) -> float:
        """Return the objective value of a problem."""
        loss = problem.loss.total(problem.X @ self.w + self.b, problem.y, problem.weights)
        return 0.5 * float(self.w @ self.w) + problem.c * loss + float(problem.lam[self.selected].sum())

    def violation(self, problem: SelectionProblem) -> float:
        """Return the largest distance of a weight from its bounds, relative to both; 1 for another violation."""
        outside = self.w[problem.places(np.flatnonzero(~self.selected))].any()
        bounds = apart(self.w, problem.nearest(self.w)).max(initial=0.0)
        return float(max(outside, bounds, not problem.allowed(self.selected)))


def selection_program(problem: SelectionProblem) -> Part:
    """Return a problem in plain data, its right-hand sides with the slack up to which constraints hold in a search."""
    if problem.weights is not None:
        raise ParameterError(WEIGHTED, "leave out exact, or the weights")
    at, free = problem.columns, np.full(problem.width, np.inf)
    lower, upper = (-free, free) if at is None else (at.bounds.lower, at.bounds.upper)
    return {
        "y": problem.y.astype(int).tolist(),
        "c": written(Fraction(problem.c)),
        "loss": problem.loss.name,
        "columns": _columns(problem.X),
        "groups": (np.arange(problem.p) if at is None else at.of).tolist(),
        "lower": _numbers(lower),
        "upper": _numbers(upper),
        "R": [_numbers(row) for row in problem.R],
        "r": _numbers(problem.r + problem.tolerances),
        "lam": _numbers(problem.lam),
        "inside": np.flatnonzero(problem.fixed.inside).tolist(),
        "outside": np.flatnonzero(problem.fixed.outside).tolist(),
    }


def _columns(X: Any) -> list[list[Any]]:
    """Return the samples of each feature, of sparse ones the places that are not 0 and the numbers there."""
    if not is_sparse(X):
        return [_numbers(column) for column in X.T]
    X = X.tocsc()
    X.sort_indices()
    return [[X.indices[a:b].tolist(), _numbers(X.data[a:b])] for a, b in pairwise(X.indptr.tolist())]


def _numbers(values: Vector) -> list[Any]:
    """Return numbers as a proof has them; None for an infinite bound."""
    return [written(Fraction(v)) if math.isfinite(v) else None for v in values.tolist()]


def evidence_of(
    problem: SelectionProblem,
    stream: Sequence[int],
    cuts: Cuts,
    hyperplane: SelectedHyperplane | None,
    nodes: Mapping[int, int | None] | None = None,
) -> ProgramAndTree:
    """Return the program of a search and its evidence in plain data; ``nodes`` has the cut of each marked node."""
    program = selection_program(problem)
    multipliers = list(cuts)
    tree, closed = _nodes_of(problem, stream, multipliers, nodes or {})
    point = None
    if hyperplane is not None:
        w = np.zeros(problem.width)
        columns = problem.places(np.flatnonzero(hyperplane.selected))
        w[columns] = problem.nearest(hyperplane.w)[columns]
        point = {
            "w": [[j, written(Fraction(w[j]))] for j in np.flatnonzero(w).tolist()],
            "b": written(Fraction(hyperplane.b)),
            "selected": np.flatnonzero(hyperplane.selected).tolist(),
        }
    grids = np.array([grid for grid, _ in multipliers], dtype=np.int32).reshape(-1, problem.n)
    mu = np.array([row for _, row in multipliers]).reshape(len(grids), len(problem.r))
    leaves = _leaves_of(closed, problem.p)
    own = leaves.cut != COVERED
    found = cover(problem, grids, mu, leaves.at(np.flatnonzero(own)))
    held = zip(found.steps.tolist(), found.grids.tolist(), found.mu.tolist(), strict=True)
    named = [[steps, grid, [[k, written(Fraction(v))] for k, v in enumerate(row) if v]] for steps, grid, row in held]
    names = np.full(len(own), len(named))
    names[own] = found.cut
    if not own.all():  # the coverage cut, the last one: its intercepts, and its shares and thresholds
        coverage = Coverage.of(problem)
        named.append([_numbers(np.array(coverage.ends)), [_numbers(rule) for rule in coverage.rules]])
    _name(tree, names.tolist())
    return program, {
        "cuts": named,
        "main": problem.main,
        "tree": tree,
        "point": point,
    }


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


def _nodes_of(
    problem: SelectionProblem, stream: Sequence[int], cuts: list[tuple[Grid, Vector]], nodes: Mapping[int, int | None]
) -> tuple[list[list[Any]], list[Closed]]:
    """Return a stream as the nodes of a proof, and what is closed there; cuts that were not kept are made again."""
    tree: list[list[Any]] = []
    closed: list[Closed] = []
    for at, mark, name, features in walk(problem, stream):
        if at is None:
            tree.append(["empty"])
        elif mark == BRANCH:
            tree.append(["branch", name])
        elif mark == PEG:
            pegs = sorted(set(features), key=lambda f: (f < 0, abs(f)))
            tree.append(["peg", *([abs(f) - 1 for f in pegs if (f > 0) == into] for into in (True, False))])
            if name == FORGOTTEN:
                others = [at.decided(abs(f) - 1, selected=f < 0) for f in pegs]
                closed += [(at, _cut(problem, cuts, name, other), [f]) for f, other in zip(pegs, others, strict=True)]
            else:
                closed.append((at, _cut(problem, cuts, name, at), pegs))
        elif (cut := nodes[name] if mark == NODE else name) is None:
            tree.append(["known"])
        else:
            tree.append(["leaf"])
            closed.append((at, _cut(problem, cuts, cut, at), [0]))
    return tree, closed


def _cut(problem: SelectionProblem, cuts: list[tuple[Grid, Vector]], name: int, at: Partial) -> int:
    """Return the number of a cut; one that was not kept is made from the relaxation of its node."""
    if name not in (COVERED, FORGOTTEN):
        if not 0 <= name < len(cuts):
            raise ValueError(f"there is no cut {name}")
        feasible(problem, [name], [cuts[name]])
    if name != FORGOTTEN:
        return name
    found = relaxed(problem, at)
    if found is None:
        raise ValueError("the relaxation of a leaf could not be solved again")
    cuts.append(found)
    return len(cuts) - 1
