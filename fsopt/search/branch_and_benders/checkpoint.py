"""Checkpoints of branch and Benders: the whole state of the search. What it claims of bounds is computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.common.checkpoints import digest, read, undamaged, write
from fsopt.data.losses import HINGE
from fsopt.data.matrices import parts_of
from fsopt.search.branch_and_benders.cuts import CAPACITY, BendersCut, bound
from fsopt.search.branch_and_benders.evidence import CutOf, cuts_by_name, replay
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.nodes import NodeHyperplane
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.root import STAGES
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import NODE, SelectionTree

FORMAT = "fsopt branch and benders 5"
LAYOUT = {
    "stream": ("i8", "length"),
    "cut_names": ("i8", "cuts"),
    "grids": ("i4", "cuts", "n"),
    "mu": ("f8", "cuts", "constraints"),
    "used": ("i8", "used"),
    "open_numbers": ("i8", "open"),
    "open_cuts": ("i8", "open"),
    "open_w": ("f8", "open", "width"),
    "open_b": ("f8", "open"),
    "open_sigma": ("f8", "open", "p"),
    "open_alpha": ("f4", "open", "n"),
    "pool_names": ("i8", "pool"),
    "pool_score": ("f8", "pool"),
    "gains": ("f8", "sums", "p"),
    "tried": ("?", "tried", "p"),
    "tried_values": ("f8", "tried"),
    "best_selections": ("?", "best", "p"),
    "best_w": ("f8", "best", "width"),
    "best_values": ("f8", "best"),
}
"""Type and sizes of the arrays of a checkpoint."""
RUN: dict[str, Callable[[Any], Any]] = {"history": list, "slice_end": int, "elapsed": float, "initial": str}
"""What belongs to the run: the records of its complete slices, the number of nodes at which the slice ends that was
begun, its seconds, and the digest of the selection that it was given to start from, empty for none."""


def identity(problem: SelectionProblem) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it."""
    fixed, at = problem.fixed, problem.columns
    return {
        "format": FORMAT,
        "data": digest(*parts_of(problem.X), problem.y),
        "limits or prices of the features": digest(problem.R, problem.r, problem.lam, fixed.inside, fixed.outside),
        "c": json.dumps(problem.c),
        **({} if problem.weights is None else {"weights of the samples": digest(problem.weights)}),
        **({} if at is None else {"groups or bounds": digest(at.of, at.bounds.lower, at.bounds.upper)}),
        **({} if problem.loss is HINGE else {"loss": problem.loss.name}),
    }


def save(path: Path, search: SelectionSearch, run: Mapping[str, Any]) -> None:
    """Write a checkpoint in place of the last one, with a run as :data:`RUN` names it; raises FileError."""
    words = {
        "next": search.tree.next,
        "nodes": search.nodes,
        "stage": search.stage,
        "closed": search.closed,
        "solved": search.solved,
        "width": [search.solver.width, search.solver.widest],
        "pool": [search.pool.tests, search.pool.hits],
    }
    write(path, identity(search.problem), {**run, **words}, _arrays(search))


def load(path: Path, problem: SelectionProblem, settings: BranchSettings) -> tuple[SelectionSearch, dict[str, Any]]:
    """Return the search in a checkpoint, all of its claims computed again, and its run; raises FileError."""
    words, arrays = read(path, "branch and Benders", identity(problem))
    with undamaged(path, "branch and Benders"):
        _check(arrays, problem)
        search = _restored(problem, settings, arrays, words)
        return search, {name: kind(words[name]) for name, kind in RUN.items()}


def _sizes(problem: SelectionProblem) -> dict[str, int]:
    """Return the sizes of arrays that the problem says."""
    return {
        "n": problem.n,
        "p": problem.p,
        "width": problem.width,
        "constraints": len(problem.r),
        "pool": CAPACITY,
        "sums": 2,
    }


def _arrays(search: SelectionSearch) -> dict[str, Any]:
    """Return the arrays of a search between two nodes."""
    nodes, names = search.frontier.nodes, sorted(search.tree.cuts)
    tried = search.incumbents.tried
    best = [] if search.incumbents.best is None else [search.incumbents.best]
    sizes = _sizes(search.problem)
    lists: dict[str, Any] = {
        "stream": search.tree.stream({node.number: node.cut.name for node in nodes}, closed=False),
        "cut_names": names,
        "grids": [search.tree.cuts[name][0] for name in names],
        "mu": [search.tree.cuts[name][1] for name in names],
        "used": sorted(search.tree.used),
        "open_numbers": [node.number for node in nodes],
        "open_cuts": [node.cut.name for node in nodes],
        **{f"open_{name}": [getattr(node.hyperplane, name) for node in nodes] for name in ("w", "b", "sigma", "alpha")},
        "pool_names": search.pool.names,
        "pool_score": search.pool.score,
        "gains": search.gains,
        "tried": [np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=sizes["p"]) for key in tried],
        "tried_values": list(tried.values()),
        "best_selections": [one.selection for one in best],
        "best_w": [one.w for one in best],
        "best_values": [one.value for one in best],
    }
    return {
        name: np.array(lists[name], dtype=kind).reshape([len(lists[name]), *(sizes[size] for size in others)])
        for name, (kind, _, *others) in LAYOUT.items()
    }


def _check(arrays: Mapping[str, Any], problem: SelectionProblem) -> None:
    """Raise ValueError where an array has another type or size, or a number that is not finite."""
    sizes = _sizes(problem)
    for name, (kind, *letters) in LAYOUT.items():
        array = arrays[name]
        shape = tuple(sizes.setdefault(size, count) for size, count in zip(letters, array.shape, strict=False))
        # The value of a selection that was tried may be infinite.
        wrong = name != "tried_values" and not np.isfinite(array).all()
        if array.dtype != kind or array.shape != shape or array.ndim != len(letters) or wrong:
            raise ValueError(f"its array '{name}' is of another kind or size, or not finite")


def _restored(
    problem: SelectionProblem, settings: BranchSettings, arrays: Mapping[str, Any], words: Mapping[str, Any]
) -> SelectionSearch:
    """Return the search of a checkpoint; raises ValueError, KeyError or TypeError where it is damaged."""
    search = SelectionSearch(problem, settings)
    search.tree = search.incumbents.tree = _tree(arrays, int(words["next"]))
    cut_of = cuts_by_name(problem, search.tree.cuts)
    opened: list[tuple[int, Partial]] = []

    def open_node(number: int, at: Partial) -> float:
        opened.append((number, at))
        return np.inf

    found = replay(problem, arrays["stream"].tolist(), cut_of, open_node)
    # Leaves whose cut was not kept have the bound of their relaxation, solved again: it may differ in the last digits.
    search.closed = min(found.bound, float(words["closed"]))
    _open_nodes(search, arrays, opened, cut_of)
    for k in np.flatnonzero(arrays["pool_names"] >= 0).tolist():
        search.pool.put(k, _known(cut_of(int(arrays["pool_names"][k]))))
    search.pool.score[:] = arrays["pool_score"]
    search.pool.tests, search.pool.hits = (int(v) for v in words["pool"])
    keys = (np.packbits(one).tobytes() for one in arrays["tried"])
    search.incumbents.tried = dict(zip(keys, arrays["tried_values"].tolist(), strict=True))
    for selection, w, stated in zip(*(arrays[f"best_{name}"] for name in ("selections", "w", "values")), strict=True):
        search.incumbents.offer(_incumbent(problem, selection, w, float(stated)))
    search.nodes, search.solved, search.stage = (int(words[name]) for name in ("nodes", "solved", "stage"))
    if not 0 <= search.stage <= STAGES or arrays["gains"].min(initial=0.0) < 0.0:
        raise ValueError("its stage or its gains of branchings are damaged")
    search.solver.width, search.solver.widest = (float(v) for v in words["width"])
    search.gains = arrays["gains"]
    return search


def _known(cut: BendersCut | None) -> BendersCut:
    if cut is None:
        raise ValueError("a cut of the pool or of an open node is missing")
    return cut


def _tree(arrays: Mapping[str, Any], following: int) -> SelectionTree:
    """Return the tree of a checkpoint as marks of its root alone, with the multipliers of its cuts."""
    stream = arrays["stream"].tolist()
    # An open root goes on where its own marks end; every other open node begins marks of its own.
    marks = {0: stream[:-2] if stream[-2:] == [NODE, 0] else stream}
    multipliers = zip(arrays["grids"], arrays["mu"], strict=True)
    cuts = dict(zip(arrays["cut_names"].tolist(), multipliers, strict=True))
    return SelectionTree(marks, cuts, set(arrays["used"].tolist()), following)


def _open_nodes(
    search: SelectionSearch,
    arrays: Mapping[str, Any],
    opened: Sequence[tuple[int, Partial]],
    cut_of: CutOf,
) -> None:
    """Open the nodes at which the tree ends; raises ValueError where they are others."""
    numbers, nodes = arrays["open_numbers"].tolist(), dict(opened)
    if search.tree.next <= max([0, *numbers, *search.tree.cuts]):
        raise ValueError("the number of its next node is taken")
    if sorted(numbers) != sorted(number for number, _ in opened) or len(numbers) != len(nodes):
        raise ValueError("its open nodes are not those of its tree")
    parts = (arrays[f"open_{name}"] for name in ("cuts", "w", "b", "sigma", "alpha"))
    for number, name, w, b, sigma, alpha in zip(numbers, *parts, strict=True):
        at, cut = nodes[number], _known(cut_of(int(name)))
        hyperplane = NodeHyperplane(w, float(b), sigma, alpha)
        value = bound(search.problem, cut, at).value
        search.frontier.push(SelectionNode(number, at, value, cut, hyperplane))


def _incumbent(problem: SelectionProblem, selection: np.ndarray, w: np.ndarray, stated: float) -> Incumbent:
    """Return an incumbent whose value is computed again; raises ValueError where it is another one."""
    outside = problem.places(np.flatnonzero(~selection))
    if not problem.allowed(selection) or np.any(w[outside]) or np.any(w != problem.nearest(w)):
        raise ValueError("its incumbent does not satisfy the constraints")
    value, b = problem.value(selection, w)
    if not abs(value - stated) <= 1e-9 * max(1.0, abs(value)):
        raise ValueError(f"the value of its incumbent is {value:.9g}, not {stated:.9g}")
    return Incumbent(selection, w, b, value)
