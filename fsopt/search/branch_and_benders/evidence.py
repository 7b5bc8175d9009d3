"""The state of a search as data: the evidence behind its bound, and files. What they claim is computed again.

The multipliers of every cut are checked in integers; its bound pays for rounding. The replay of a tree has the bound of
each leaf and of each peg from its cut, without a search. Their minimum bounds the problem. Time is linear in the number
of leaves.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.certificate import Certificate, Kind
from fsopt.certificates.points import of_bounds
from fsopt.common.files import digest, read, undamaged, write
from fsopt.data.matrices import parts_of
from fsopt.search.branch_and_benders.coverage import Coverage
from fsopt.search.branch_and_benders.cuts import BendersCut, Grid, bound, make_cut, on_grid, valid_grid
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.root import STAGES
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import COVERED, LEAF, NODE, PEG, SelectionTree, flat, marks_of, pegged, walk
from fsopt.typing import Mask, Vector

RESOLVED = 1e-9
"""Relative gap to which the relaxation of a leaf without a cut is solved again."""
CutOf = Callable[[int], BendersCut | None]


class Replayed(NamedTuple):
    """What a replay found: a lower bound on the problem, and the numbers of leaves and of relaxations solved again."""

    bound: float
    leaves: int
    solved: int


def cuts_by_name(problem: SelectionProblem, multipliers: Mapping[int, tuple[Grid, Vector]]) -> CutOf:
    """Return a function name -> cut, None for one not kept; ValueError for multipliers that are not dual feasible."""

    @cache
    def cut_of(name: int) -> BendersCut | None:
        if name == COVERED:
            return Coverage.of(problem).cut
        if name not in multipliers:
            return None
        check_feasible(problem, name, multipliers[name])
        return make_cut(problem, name, *multipliers[name])

    return cut_of


def check_feasible(problem: SelectionProblem, name: int, multipliers: tuple[Grid, Vector]) -> None:
    """Raise ValueError where the multipliers of a cut are not dual feasible."""
    grid, mu = multipliers
    if not valid_grid(grid, problem.y, problem.tops) or not np.isfinite(mu).all() or mu.min(initial=0.0) < 0.0:
        raise ValueError(f"the multipliers of cut {name} are not dual feasible")


def replay(
    problem: SelectionProblem,
    stream: Sequence[int],
    cut_of: CutOf,
    opened: Callable[[int, Partial], float] | None = None,
) -> Replayed:
    """Recompute the bound of a tree, of open nodes by ``opened``; ValueError where it is damaged, or its cuts are."""
    values = [np.inf]
    leaves = solved = 0
    for at, mark, name, features in walk(problem, stream):
        if at is None:
            continue
        if mark == NODE:
            if opened is None:
                raise ValueError("the tree ends early")
            values.append(opened(name, at))
        elif mark == LEAF:
            values.append(leaf_bound(problem, at, cut := cut_of(name)))
            leaves, solved = leaves + 1, solved + (cut is None)
        elif mark == PEG:
            found, again = _pegs(problem, at, cut_of(name), features)
            values += found
            leaves, solved = leaves + len(features), solved + again
    return Replayed(float(min(values)), leaves, solved)


def leaf_bound(problem: SelectionProblem, at: Partial, cut: BendersCut | None) -> float:
    """Return the bound of a node by a cut, None for that of its relaxation; minus infinity where this fails."""
    if cut is None:
        multipliers = relaxed(problem, at)
        if multipliers is None:
            return -np.inf
        cut = make_cut(problem, 0, *multipliers)
    return bound(problem, cut, at).value


def relaxed(problem: SelectionProblem, at: Partial) -> tuple[Grid, Vector] | None:
    """Return the multipliers of the relaxation of a node on the grid, and mu; None where it is not solved."""
    found = NodeSolver(problem).solve(at, None, Goal(RESOLVED))
    grid = None if found is None else on_grid(found.alpha, problem.y, problem.caps)
    return None if found is None or grid is None else (grid, np.maximum(found.mu, 0.0))


def _pegs(
    problem: SelectionProblem, at: Partial, cut: BendersCut | None, features: Sequence[int]
) -> tuple[list[float], int]:
    """Return the bounds with one pegged feature at its other value, and the number of relaxations solved."""
    if cut is not None:
        found, (selected, others) = bound(problem, cut, at), pegged(features)
        return [*found.if_not[selected].tolist(), *found.if_selected[others].tolist()], 0
    nodes = [problem.propagated(at.decided(abs(f) - 1, selected=f < 0)) for f in features]
    return [np.inf if node is None else leaf_bound(problem, node, None) for node in nodes], len(nodes)


FORMAT = "tree 2"
LEVEL = 1
"""Level of compression: multipliers at 0 and C, the most of them, compress at any."""
LARGEST = 2**28
"""Bytes of a part of the evidence, above those that a search keeps: a few kilobytes may expand to gigabytes."""


def pack(search: SelectionSearch) -> dict[str, Any]:
    """Return the evidence behind the bound of a search: strings and numbers alone."""
    stream, cuts = search.tree.evidence({node.number: node.cut.name for node in search.open})
    return {
        "format": FORMAT,
        "tree": _text(np.array(stream, dtype=np.int32)),
        "alpha": _text(np.array([grid for grid, _ in cuts], dtype=np.int32)),
        "mu": _text(np.array([mu for _, mu in cuts], dtype=float)),
    }


def verify(problem: SelectionProblem, evidence: Mapping[str, Any]) -> Replayed:
    """Replay packed evidence, without a search; ValueError, KeyError or TypeError where it is damaged."""
    stream, cuts = unpacked(problem, evidence)
    return replay(problem, stream, cuts_by_name(problem, dict(enumerate(cuts))))


def unpacked(problem: SelectionProblem, evidence: Mapping[str, Any]) -> tuple[list[int], list[tuple[Grid, Vector]]]:
    """Return the stream of packed evidence, and the multipliers alpha (n,), mu (k,) of its cuts; raises as verify."""
    if evidence["format"] != FORMAT:
        raise ValueError(f"its format is {evidence['format']!r}")
    grids = _array(evidence["alpha"], np.int32).reshape(-1, problem.n)
    mu = _array(evidence["mu"], np.float64).reshape(len(grids), len(problem.r))
    return _array(evidence["tree"], np.int32).tolist(), list(zip(grids, mu, strict=True))


def certify(search: SelectionSearch, answer: Incumbent, lower: float) -> Certificate:
    """Certify the bounds: every cut that closes a leaf is dual feasible in integers, and the gap is closed."""
    y, tops = search.problem.y, search.problem.tops
    wrong = sum(not valid_grid(grid, y, tops) for grid, _ in search.tree.cuts.values())
    residuals, tolerance = {"infeasible cuts": float(wrong)}, search.settings.tolerance
    return of_bounds(Kind.GBD, residuals, answer.value, lower, tolerance=tolerance, source="branch and bound")


def _text(array: NDArray[Any]) -> str:
    """Return the little-endian bytes of an array, compressed, as text."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), LEVEL)).decode("ascii")


def _array(text: Any, dtype: type) -> NDArray[Any]:
    """Return the array of :func:`_text`; raises ValueError where it is none."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(base64.b64decode(text, validate=True), LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("a part of the evidence is too large, or ends early")
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)


CHECKPOINT = "fsopt branch and benders 7"
KIND = "branch and Benders"
RUN: dict[str, Callable[[Any], Any]] = {"history": list, "slice_end": int, "elapsed": float}
"""What belongs to the run: the records of its slices, the number of nodes at which the slice ends that was begun, and
its seconds."""


def identity(problem: SelectionProblem) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it."""
    fixed, at = problem.fixed, problem.columns
    return {
        "format": CHECKPOINT,
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


def save_checkpoint(path: Path, search: SelectionSearch, run: Mapping[str, Any]) -> None:
    """Write a checkpoint in place of the last one, with a run as :data:`RUN` names it; raises FileError."""
    words = {
        "next": search.tree.next,
        "nodes": search.nodes,
        "stage": search.stage,
        "closed": search.closed_bound,
        "solved": search.solved,
        "width": [search.solver.width, search.solver.widest],
    }
    best, p = search.incumbents.best, search.problem.p
    stream = flat(search.tree.stream(dict.fromkeys(node.number for node in search.open)))
    tried = search.incumbents.tried.items()
    rows: dict[str, list[Any]] = {
        "stream": [(number,) for number in stream],
        "cuts": [(name, *cut) for name, cut in search.tree.cuts.items()],
        "open": [(node.number, node.cut.name, *node.hyperplane) for node in search.open],
        "pool": [*zip(search.pool.names, search.pool.score, strict=False)],
        "gains": [*zip(*search.gains, strict=True)],
        "best": [] if best is None else [(best.selection, best.w, best.value)],
        "tried": [(np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=p), value) for key, value in tried],
    }
    arrays = {name: np.array(rows[name], dtype=kind) for name, kind in tables(search.problem).items()}
    write(path, identity(search.problem), {**run, **words}, arrays)


def load_checkpoint(
    path: Path, problem: SelectionProblem, settings: BranchSettings
) -> tuple[SelectionSearch, dict[str, Any]]:
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
    search.closed_bound = min(replayed.bound, float(words["closed"]))
    numbers, nodes = at["open"][0].tolist(), dict(opened)
    if search.tree.next <= max([0, *numbers, *search.tree.cuts]):
        raise ValueError("the number of its next node is taken")
    if sorted(numbers) != sorted(number for number, _ in opened) or len(numbers) != len(nodes):
        raise ValueError("its open nodes are not those of its tree")
    for number, name, w, b, sigma, alpha in zip(numbers, *at["open"][1:], strict=True):
        node, cut = nodes[number], known(int(name))
        near = NodeHyperplane(w, float(b), sigma, alpha)
        search.frontier.push(SelectionNode(number, node, bound(problem, cut, node).value, cut, near))
    for name in at["pool"][0].tolist():
        search.pool.add(known(name))
    search.pool.score[: len(search.pool.held)] = at["pool"][1]
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
