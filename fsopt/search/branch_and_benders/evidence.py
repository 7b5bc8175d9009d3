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
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.certificate import Certificate, Kind
from fsopt.certificates.points import of_bounds
from fsopt.common.files import digest, read, undamaged, write
from fsopt.data.matrices import parts_of
from fsopt.search.branch_and_benders.coverage import Coverage
from fsopt.search.branch_and_benders.cuts import (
    CAPACITY,
    BendersCut,
    Grid,
    bound,
    cut_terms,
    make_cut,
    on_grid,
    slices,
    valid_grid,
)
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import COVERED, LEAF, NODE, PEG, Mark, pegged, walk
from fsopt.typing import Vector

RESOLVED = 1e-9
"""Relative gap to which the relaxation of a leaf without a cut is solved again."""
CutOf = Callable[[int], BendersCut | None]


class Replayed(NamedTuple):
    """What a replay found: a lower bound on the problem, and of how many bounds it is the smallest."""

    bound: float
    parts: int


def cuts_by_name(problem: SelectionProblem, multipliers: Mapping[int, tuple[Grid, Vector]]) -> CutOf:
    """Return a function name -> cut, None for one not kept; ValueError for multipliers that are not dual feasible."""
    names, cuts = list(multipliers), dict[int, BendersCut]()
    for part in slices(len(names), problem.n):
        grids, mu = feasible(problem, names[part], list(multipliers.values())[part])
        constants, gains = cut_terms(problem, grids * problem.unit, mu)
        cuts |= zip(names[part], map(BendersCut, names[part], constants.tolist(), gains), strict=True)
    return lambda name: Coverage.of(problem).cut if name == COVERED else cuts.get(name)


def feasible(problem: SelectionProblem, names: list[int], cuts: list[tuple[Grid, Vector]]) -> tuple[Any, Any]:
    """Return multipliers on the grid (k, n), and mu (k, r), of cuts; ValueError where one is not dual feasible."""
    grids, mu = (np.array(part) for part in zip(*cuts, strict=True))
    fair = valid_grid(grids, problem.y, problem.tops) & np.all(np.isfinite(mu) & (mu >= 0.0), axis=1)
    if not fair.all():
        raise ValueError(f"the multipliers of cut {names[int(fair.argmin())]} are not dual feasible")
    return grids, mu


def replay(
    problem: SelectionProblem,
    stream: Sequence[int],
    cut_of: CutOf,
    opened: Callable[[int, Partial], float] | None = None,
) -> Replayed:
    """Recompute the bound of a tree, of open nodes by ``opened``; ValueError where it is damaged, or its cuts are."""
    values = [np.inf]
    for at, mark, name, features in walk(problem, stream):
        if at is None:
            continue
        if mark == NODE:
            if opened is None:
                raise ValueError("the tree ends early")
            values.append(opened(name, at))
        values += _values(problem, at, (mark, name, features), cut_of)
    return Replayed(float(min(values)), len(values) - 1)


def _values(problem: SelectionProblem, at: Partial, mark: Mark, cut_of: CutOf) -> list[float]:
    """Return the bounds of the leaf, or of the pegs, that a mark is."""
    kind, name, features = mark
    if kind not in (LEAF, PEG):
        return []
    cut = cut_of(name)
    if kind == LEAF:
        return [leaf_bound(problem, at, cut)]
    if cut is not None:
        found, (selected, others) = bound(problem, cut, at), pegged(features)
        return [*found.if_not[selected].tolist(), *found.if_selected[others].tolist()]
    nodes = [problem.propagated(at.decided(abs(f) - 1, selected=f < 0)) for f in features]
    return [np.inf if node is None else leaf_bound(problem, node, None) for node in nodes]


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
    grid = None if found is None else on_grid(problem, found.alpha)
    return None if found is None or grid is None else (grid, np.maximum(found.mu, 0.0))


FORMAT = "tree 2"
LEVEL = 1
"""Level of compression: multipliers at 0 and C, the most of them, compress at any."""
LARGEST = 2**28
"""Bytes of a part of the evidence, above those that a search keeps: a few kilobytes may expand to gigabytes."""


def pack(search: SelectionSearch) -> dict[str, Any]:
    """Return the evidence behind the bound of a search: strings and numbers alone."""
    stream, cuts = search.tree.evidence({node.number: node.cut.name for node in search.frontier})
    return {
        "format": FORMAT,
        "tree": _text(np.array(stream, dtype=np.int32)),
        "alpha": _text(np.array([grid for grid, _ in cuts], dtype=np.int32)),
        "mu": _text(np.array([mu for _, mu in cuts], dtype=float)),
    }


def replayed(problem: SelectionProblem, evidence: Mapping[str, Any]) -> Replayed:
    """Replay packed evidence, without a search; ValueError, KeyError or TypeError where it is damaged."""
    stream, cuts = unpacked(problem, evidence)
    return replay(problem, stream, cuts_by_name(problem, dict(enumerate(cuts))))


def unpacked(problem: SelectionProblem, evidence: Mapping[str, Any]) -> tuple[list[int], list[tuple[Grid, Vector]]]:
    """Return the stream of packed evidence, and the multipliers alpha (n,), mu (k,) of its cuts; raises as replayed."""
    if evidence["format"] != FORMAT:
        raise ValueError(f"its format is {evidence['format']!r}")
    grids = _array(evidence["alpha"], np.int32).reshape(-1, problem.n)
    mu = _array(evidence["mu"], np.float64).reshape(len(grids), len(problem.r))
    return _array(evidence["tree"], np.int32).tolist(), list(zip(grids, mu, strict=True))


def certify(search: SelectionSearch, answer: Incumbent, lower: float) -> Certificate:
    """Return the certificate of both bounds: the number of kept cuts not dual feasible in integers, and the gap."""
    problem, grids = search.problem, [grid for grid, _ in search.tree.cuts.values()]
    parts = (np.array(grids[part]) for part in slices(len(grids), problem.n))
    wrong = sum(int(np.sum(~valid_grid(part, problem.y, problem.tops))) for part in parts)
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


CHECKPOINT = "fsopt branch and benders 8"
KIND = "branch and Benders"


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


def save_checkpoint(path: Path, search: SelectionSearch, run: Mapping[str, Any]) -> None:
    """Write the evidence of a search, its incumbent, and a run, ``history`` and ``elapsed``; raises FileError."""
    best = search.incumbents.best
    words = {
        "best": None if best is None else [_text(best.selection), _text(best.w)],
        "evidence": pack(search),
        "begun": search.begun,
        "nodes": search.nodes,
    }
    write(path, identity(search.problem), {**run, **words})


def load_checkpoint(
    path: Path, problem: SelectionProblem, settings: BranchSettings
) -> tuple[SelectionSearch, dict[str, Any]]:
    """Return a search that goes on from a checkpoint, and its run; raises FileError.

    All is computed again; the root begins anew where it was not complete, or pegs have bounds below a finer cutoff.
    """
    words = read(path, KIND, identity(problem))
    with undamaged(path, KIND):
        search = SelectionSearch(problem, settings)
        if words["best"] is not None:
            selection, w = (_array(text, kind) for text, kind in zip(words["best"], (bool, np.float64), strict=True))
            outside = problem.places(np.flatnonzero(~selection))
            if not problem.allowed(selection) or not np.isfinite(w).all() or np.any(w[outside]):
                raise ValueError("its incumbent does not satisfy the constraints")
            search.incumbents.weigh(selection, w)
        if words["begun"]:
            _reopen(search, words["evidence"])
            search.begun, search.nodes = True, int(words["nodes"])
            if search.closed_bound < search.cutoff:
                best, search = search.incumbents.best, SelectionSearch(problem, settings)
                search.incumbents.best = best
        return search, {"history": list(words["history"]), "elapsed": float(words["elapsed"])}


def _reopen(search: SelectionSearch, evidence: Mapping[str, Any]) -> None:
    """Take up a tree: its leaves with bounds below the cutoff are open; raises as :func:`replayed`."""
    problem, tree = search.problem, search.tree
    stream, cuts = unpacked(problem, evidence)
    tree.cuts, tree.next = dict(enumerate(cuts)), len(stream) + len(cuts) + 1
    cut_of, marks = cuts_by_name(problem, tree.cuts), tree.marks.setdefault(0, [])
    for at, mark, name, features in walk(problem, stream):
        values = [] if at is None else _values(problem, at, (mark, name, features), cut_of)
        cut = cut_of(name) if mark == LEAF else None
        if at is not None and cut is not None and values[0] < search.cutoff:
            mark, name = NODE, tree.number()
            values = []
            search.frontier.push(SelectionNode(name, at, bound(problem, cut, at).value, cut, None))
        marks.append((mark, name, features))
        search.closed_bound = min(search.closed_bound, *values, np.inf)
    search.zero_cut()
    for name in list(tree.cuts)[-CAPACITY:]:
        search.pool.add(make_cut(problem, name, *tree.cuts[name]))
