"""Checkpoints of branch and Benders: the whole state of the search. What it claims of bounds is computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.common.checkpoints import digest, read, undamaged, write
from fsopt.data.matrices import parts_of
from fsopt.search.branch_and_benders.cuts import BendersCut, bound
from fsopt.search.branch_and_benders.evidence import cuts_by_name, replay
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.nodes import NodeHyperplane
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.root import STAGES
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import NODE, SelectionTree, flat, marks_of
from fsopt.typing import Mask, Vector

FORMAT = "fsopt branch and benders 6"
KIND = "branch and Benders"
RUN: dict[str, Callable[[Any], Any]] = {"history": list, "slice_end": int, "elapsed": float}
"""What belongs to the run: the records of its slices, the number of nodes at which the slice ends that was begun, and
its seconds."""


def identity(problem: SelectionProblem) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it."""
    fixed, at = problem.fixed, problem.columns
    return {
        "format": FORMAT,
        "data": digest(*parts_of(problem.X), problem.y),
        "limits or prices of the features": digest(problem.R, problem.r, problem.lam, fixed.inside, fixed.outside),
        "c": json.dumps(problem.c),
        "weights of the samples": "" if problem.weights is None else digest(problem.weights),
        "groups or bounds": "" if at is None else digest(at.of, at.bounds.lower, at.bounds.upper),
        "loss": problem.loss.name,
    }


def tables(problem: SelectionProblem) -> dict[str, np.dtype[Any]]:
    """Return the names, types and sizes of the columns of each table of a checkpoint."""
    n, p, width, k = ((size,) for size in (problem.n, problem.p, problem.width, len(problem.r)))
    kinds: dict[str, list[Any]] = {
        "stream": [("number", "i8")],
        "cuts": [("name", "i8"), ("grid", "i4", n), ("mu", "f8", k)],
        "open": [
            ("number", "i8"),
            ("cut", "i8"),
            ("w", "f8", width),
            ("b", "f8"),
            ("sigma", "f8", p),
            ("alpha", "f4", n),
        ],
        "pool": [("name", "i8"), ("score", "f8")],
        "gains": [("sum", "f8"), ("count", "f8")],
        "best": [("selection", "?", p), ("w", "f8", width), ("value", "f8")],
        "tried": [("selection", "?", p), ("value", "f8")],
    }
    return {name: np.dtype(columns) for name, columns in kinds.items()}


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
    best, p = search.incumbents.best, search.problem.p
    stream = flat(search.tree.stream(dict.fromkeys(node.number for node in search.open)))
    tried = search.incumbents.tried.items()
    rows: dict[str, list[Any]] = {
        "stream": [(number,) for number in stream],
        "cuts": [(name, *cut) for name, cut in search.tree.cuts.items()],
        "open": [(node.number, node.cut.name, *vars(node.hyperplane).values()) for node in search.open],
        "pool": [*zip(search.pool.names, search.pool.score, strict=True)],
        "gains": [*zip(*search.gains, strict=True)],
        "best": [] if best is None else [(best.selection, best.w, best.value)],
        "tried": [(np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=p), value) for key, value in tried],
    }
    arrays = {name: np.array(rows[name], dtype=kind) for name, kind in tables(search.problem).items()}
    write(path, identity(search.problem), {**run, **words}, arrays)


def load(path: Path, problem: SelectionProblem, settings: BranchSettings) -> tuple[SelectionSearch, dict[str, Any]]:
    """Return the search in a checkpoint, all of its claims computed again, and its run; raises FileError."""
    words, arrays = read(path, KIND, identity(problem))
    with undamaged(path, KIND):
        at: dict[str, list[Any]] = {}
        for name, kind in tables(problem).items():
            if arrays[name].dtype != kind or arrays[name].ndim != 1:
                raise ValueError(f"its table '{name}' is of another kind or size")
            at[name] = [arrays[name][column].copy() for column in kind.names or ()]
            # The value of a selection that was tried may be infinite.
            if name != "tried" and not all(np.isfinite(column).all() for column in at[name]):
                raise ValueError(f"its table '{name}' has numbers that are not finite")
        search = _restored(problem, settings, words, at)
        return search, {name: kind(words[name]) for name, kind in RUN.items()}


def _restored(
    problem: SelectionProblem, settings: BranchSettings, words: Mapping[str, Any], at: Mapping[str, list[Any]]
) -> SelectionSearch:
    """Return the search of the tables of a checkpoint; raises ValueError, KeyError or TypeError where it is damaged."""
    search = SelectionSearch(problem, settings, _tree(int(words["next"]), *at["stream"], *at["cuts"]))
    cut_of = cuts_by_name(problem, search.tree.cuts)
    opened: list[tuple[int, Partial]] = []

    def open_node(number: int, node: Partial) -> float:
        opened.append((number, node))
        return np.inf

    def known(name: int) -> BendersCut:
        cut = cut_of(name)
        if cut is None:
            raise ValueError("a cut of the pool or of an open node is missing")
        return cut

    # Leaves whose cut was not kept have the bound of their relaxation, solved again: it may differ in the last digits.
    replayed = replay(problem, at["stream"][0].tolist(), cut_of, open_node)
    search.closed = min(replayed.bound, float(words["closed"]))
    numbers, nodes = at["open"][0].tolist(), dict(opened)
    if search.tree.next <= max([0, *numbers, *search.tree.cuts]):
        raise ValueError("the number of its next node is taken")
    if sorted(numbers) != sorted(number for number, _ in opened) or len(numbers) != len(nodes):
        raise ValueError("its open nodes are not those of its tree")
    for number, name, w, b, sigma, alpha in zip(numbers, *at["open"][1:], strict=True):
        node, cut, near = nodes[number], known(int(name)), NodeHyperplane(w, float(b), sigma, alpha)
        search.frontier.push(SelectionNode(number, node, bound(problem, cut, node).value, cut, near))
    for place, name in enumerate(at["pool"][0].tolist()):
        if name >= 0:
            search.pool.put(place, known(name))
    search.pool.score[:] = at["pool"][1]
    search.pool.tests, search.pool.hits = (int(v) for v in words["pool"])
    search.incumbents.tried = {
        np.packbits(one).tobytes(): float(value) for one, value in zip(*at["tried"], strict=True)
    }
    for selection, w, stated in zip(*at["best"], strict=True):
        search.incumbents.offer(_incumbent(problem, selection, w, float(stated)))
    search.nodes, search.solved, search.stage = (int(words[name]) for name in ("nodes", "solved", "stage"))
    search.solver.width, search.solver.widest = (float(v) for v in words["width"])
    search.gains[:] = at["gains"]
    if not 0 <= search.stage <= STAGES or search.gains.min(initial=0.0) < 0.0:
        raise ValueError("its stage or its gains of branchings are damaged")
    return search


def _tree(following: int, stream: Vector, names: Vector, grids: Vector, mu: Vector) -> SelectionTree:
    """Return the tree of a checkpoint as marks of its root alone, with the multipliers of its cuts."""
    marks = list(marks_of(stream.tolist()))
    # An open root goes on where its own marks end; every other open node begins marks of its own.
    if marks and marks[-1][:2] == (NODE, 0):
        del marks[-1]
    cuts = zip(names.tolist(), zip(grids, mu, strict=True), strict=True)
    return SelectionTree({0: marks}, dict(cuts), following)


def _incumbent(problem: SelectionProblem, selection: Mask, w: Vector, stated: float) -> Incumbent:
    """Return an incumbent whose value is computed again; raises ValueError where it is another one."""
    outside = problem.places(np.flatnonzero(~selection))
    if not problem.allowed(selection) or np.any(w[outside]) or np.any(w != problem.nearest(w)):
        raise ValueError("its incumbent does not satisfy the constraints")
    value, b = problem.value(selection, w)
    if not abs(value - stated) <= 1e-9 * max(1.0, abs(value)):
        raise ValueError(f"the value of its incumbent is {value:.9g}, not {stated:.9g}")
    return Incumbent(selection, w, b, value)
