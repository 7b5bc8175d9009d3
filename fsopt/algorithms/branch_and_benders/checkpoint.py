"""Checkpoints of branch and Benders: the whole state of the search, in one file that appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.algorithms.branch_and_benders.branching import Gains
from fsopt.algorithms.branch_and_benders.cuts import CAPACITY, BendersCut, bound, make_cut, valid_grid
from fsopt.algorithms.branch_and_benders.evidence import relaxation_bound
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.node_programs import NodeHyperplane
from fsopt.algorithms.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.root import STAGES
from fsopt.algorithms.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.algorithms.branch_and_benders.tree import NODE, SelectionTree, replay
from fsopt.common.checkpoints import digest, undamaged
from fsopt.common.files import checkpoint_of, whole_file
from fsopt.data.losses import HINGE
from fsopt.data.matrices import parts_of
from fsopt.errors import FileError

FORMAT = "fsopt branch and benders 4"


def identity(problem: SelectionProblem) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it."""
    fixed = problem.fixed
    return {
        "format": FORMAT,
        "data": digest(*parts_of(problem.X), problem.y),
        "limits or prices of the features": digest(problem.R, problem.r, problem.lam, fixed.inside, fixed.outside),
        "c": json.dumps(problem.c),
        **({} if problem.weights is None else {"weights of the samples": digest(problem.weights)}),
        **({} if problem.loss is HINGE else {"loss": problem.loss.name}),
    }


@dataclass(frozen=True)
class SavedSearch:
    """A run in a checkpoint, between two nodes or two stages of the root.

    Attributes
    ----------
    search : its state.
    history : the records of the slices that were complete.
    slice_end : number of nodes at which the slice ends that was begun.
    elapsed : seconds so far.
    initial : the digest of the selection that it was given to start from, empty for none.
    """

    search: SelectionSearch
    history: list[Mapping[str, Any]]
    slice_end: int
    elapsed: float
    initial: str


def save(path: Path, run: SavedSearch) -> None:
    """Write a checkpoint in place of the last one; raises FileError."""
    arrays, words = snapshot(run.search)
    said = {name: getattr(run, name) for name in ("history", "slice_end", "elapsed", "initial")}
    text = json.dumps({"problem": identity(run.search.problem), "words": words, **said}).encode()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, text=np.frombuffer(text, dtype=np.uint8), **arrays)


def load(path: Path, problem: SelectionProblem, settings: BranchSettings) -> SavedSearch:
    """Read a checkpoint of the same problem; bounds, values and the tree are computed again.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of other data or settings.
    """
    with checkpoint_of("branch and Benders", path):
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            saved = {name: arrays[name] for name in arrays.files}
        if "words" in saved:
            raise FileError(f"'{path}' is a checkpoint of the cut loop", "resume it with gbd or gbd-lambda")
        words = json.loads(saved["text"].tobytes())
        found, history = dict(words["problem"]), list(words["history"])
    wanted = identity(problem)
    for name in {**wanted, **found}:
        value = wanted.get(name, "")
        if found.get(name) != value:
            shown = "" if not value or len(value) > 30 else f" ({found.get(name)}, not {value})"
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}{shown}",
                "resume with the data and settings of that run, or start again without it",
            )
    with undamaged(path):
        search = restored(problem, settings, saved, words["words"])
        return SavedSearch(search, history, int(words["slice_end"]), float(words["elapsed"]), str(words["initial"]))


def snapshot(search: SelectionSearch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the words of a search between two nodes."""
    p, k = search.problem.p, len(search.problem.r)
    nodes = [node for _, _, node in sorted(search.heap, key=lambda entry: entry[:2])]
    opened = {node.number: node.cut.name for node in nodes}
    names = sorted(search.tree.cuts)
    tried = search.incumbents.tried
    arrays: dict[str, Any] = {
        "stream": np.array(search.tree.stream(opened, closed=False), dtype=np.int64),
        "cut_names": np.array(names, dtype=np.int64),
        "grids": np.array([search.tree.cuts[name][0] for name in names]).reshape(len(names), search.problem.n),
        "mu": np.array([search.tree.cuts[name][1] for name in names]).reshape(len(names), k),
        "used": np.array(sorted(search.tree.used), dtype=np.int64),
        "open_numbers": np.array([node.number for node in nodes], dtype=np.int64),
        "open_cuts": np.array([node.cut.name for node in nodes], dtype=np.int64),
        "open_inside": np.array([node.at.inside for node in nodes], dtype=bool).reshape(-1, p),
        "open_outside": np.array([node.at.outside for node in nodes], dtype=bool).reshape(-1, p),
        "open_w": np.array([node.hyperplane.w for node in nodes]).reshape(-1, p),
        "open_b": np.array([node.hyperplane.b for node in nodes]),
        "open_sigma": np.array([node.hyperplane.sigma for node in nodes]).reshape(-1, p),
        "open_alpha": np.array([node.hyperplane.alpha for node in nodes], dtype=np.float32).reshape(
            -1, search.problem.n
        ),
        "pool_names": search.pool.names,
        "pool_score": search.pool.score,
        "gains": np.array([search.gains.total, search.gains.count]),
        "tried_keys": np.array([np.frombuffer(key, dtype=np.uint8) for key in tried]).reshape(len(tried), (p + 7) // 8),
        "tried_values": np.array(list(tried.values())),
    }
    best = search.incumbents.best
    if best is not None:
        arrays |= {"best_selection": best.selection, "best_w": best.w, "best_numbers": np.array([best.b, best.value])}
    words = {
        "next": search.tree.next,
        "nodes": search.nodes,
        "stage": search.stage,
        "closed": search.closed,
        "solved": search.solved,
        "width": [search.solver.width, search.solver.widest],
        "pool": [search.pool.tests, search.pool.hits],
    }
    return arrays, words


def restored(
    problem: SelectionProblem, settings: BranchSettings, arrays: Mapping[str, Any], words: Mapping[str, Any]
) -> SelectionSearch:
    """Return the search of a snapshot: cuts, bounds and values are computed again, and the tree is replayed.

    Raises
    ------
    ValueError, KeyError, TypeError : the snapshot is damaged, or of another problem.
    """
    search = SelectionSearch(problem, settings)
    search.tree = search.incumbents.tree = _tree(problem, arrays, words)
    made: dict[int, BendersCut] = {}

    def cut_of(name: int) -> BendersCut | None:
        if name not in made and name in search.tree.cuts:
            made[name] = make_cut(problem, name, *search.tree.cuts[name])
        return made.get(name)

    _open_nodes(search, arrays, cut_of)
    opened: dict[int, Partial] = {}
    stream = [int(v) for v in arrays["stream"]]
    try:
        found = replay(problem, stream, cut_of, lambda at: relaxation_bound(problem, at), opened.__setitem__)
    except IndexError as error:
        raise ValueError("the tree ends early") from error
    nodes = {node.number: node for _, _, node in search.heap}
    if set(opened) != set(nodes) or not all(_within(opened[k], nodes[k].at) for k in nodes):
        raise ValueError("its open nodes are not those of its tree")
    # Leaves whose cut was not kept have the bound of their relaxation, solved again: it may differ in the last digits.
    search.closed = min(found.bound, float(words["closed"]))
    _pool(search, arrays, words, cut_of)
    _incumbent(search, arrays)
    search.nodes, search.solved, search.stage = (int(words[name]) for name in ("nodes", "solved", "stage"))
    if not 0 <= search.stage <= STAGES:
        raise ValueError(f"its root has {STAGES} stages, not {search.stage}")
    search.solver.width, search.solver.widest = (float(v) for v in words["width"])
    gains = np.asarray(arrays["gains"], dtype=float)
    if gains.shape != (2, problem.p) or not np.isfinite(gains).all() or gains.min(initial=0.0) < 0.0:
        raise ValueError("its gains of branchings are damaged")
    search.gains = Gains(gains[0], gains[1])
    return search


def _tree(problem: SelectionProblem, arrays: Mapping[str, Any], words: Mapping[str, Any]) -> SelectionTree:
    grids, mu = np.asarray(arrays["grids"]), np.asarray(arrays["mu"], dtype=float)
    names = [int(v) for v in arrays["cut_names"]]
    if grids.dtype != np.int32 or grids.shape != (len(names), problem.n) or mu.shape != (len(names), len(problem.r)):
        raise ValueError("its cuts have another number of samples or constraints")
    if (
        not np.isfinite(mu).all()
        or mu.min(initial=0.0) < 0.0
        or not all(valid_grid(g, problem.y, problem.tops) for g in grids)
    ):
        raise ValueError("its cuts are not valid")
    tree = SelectionTree(cuts={name: (grids[k], mu[k]) for k, name in enumerate(names)}, next=int(words["next"]))
    tree.used = {int(v) for v in arrays["used"]}
    stream = [int(v) for v in arrays["stream"]]
    # An open root goes on where its own marks end; every other open node begins marks of its own.
    tree.marks = {0: stream[:-2] if stream[-2:] == [NODE, 0] else stream}
    return tree


def _open_nodes(search: SelectionSearch, arrays: Mapping[str, Any], cut_of: Any) -> None:
    p = search.problem.p
    count = len(arrays["open_numbers"])
    parts = {
        name: np.asarray(arrays[f"open_{name}"]) for name in ("inside", "outside", "w", "b", "sigma", "alpha", "cuts")
    }
    shapes = {"b": (count,), "cuts": (count,), "alpha": (count, search.problem.n)}
    if any(part.shape != shapes.get(name, (count, p)) for name, part in parts.items()):
        raise ValueError("its open nodes have another number of features or samples")
    if not all(np.isfinite(parts[name]).all() for name in ("w", "b", "sigma", "alpha")):
        raise ValueError("a number of an open node is not finite")
    for k, number in enumerate(arrays["open_numbers"].tolist()):
        cut = cut_of(int(parts["cuts"][k]))
        if cut is None:
            raise ValueError("the cut of an open node is missing")
        at = Partial(parts["inside"][k].astype(bool), parts["outside"][k].astype(bool))
        w, sigma = (parts[name][k].astype(float) for name in ("w", "sigma"))
        hyperplane = NodeHyperplane(w, float(parts["b"][k]), sigma, parts["alpha"][k].astype(np.float32))
        search.push(SelectionNode(int(number), at, bound(search.problem, cut, at).value, cut, hyperplane))


def _within(tree: Partial, node: Partial) -> bool:
    """Return whether a node of the tree is the same set of selections as an open node."""
    return bool(np.array_equal(tree.inside, node.inside) and np.array_equal(tree.outside, node.outside))


def _pool(search: SelectionSearch, arrays: Mapping[str, Any], words: Mapping[str, Any], cut_of: Any) -> None:
    names, score = np.asarray(arrays["pool_names"]), np.asarray(arrays["pool_score"], dtype=float)
    if names.shape != (CAPACITY,) or score.shape != names.shape or not np.isfinite(score).all():
        raise ValueError("its pool of cuts has another size")
    for k in np.flatnonzero(names >= 0):
        cut = cut_of(int(names[k]))
        if cut is None:
            raise ValueError("a cut of the pool is missing")
        search.pool.put(int(k), cut)
    search.pool.score[:] = score
    search.pool.tests, search.pool.hits = (int(v) for v in words["pool"])


def _incumbent(search: SelectionSearch, arrays: Mapping[str, Any]) -> None:
    problem, incumbents = search.problem, search.incumbents
    keys, values = np.asarray(arrays["tried_keys"], dtype=np.uint8), np.asarray(arrays["tried_values"], dtype=float)
    if len(keys) != len(values):
        raise ValueError("its list of selections is damaged")
    incumbents.tried = {key.tobytes(): float(value) for key, value in zip(keys, values, strict=True)}
    if "best_selection" not in arrays:
        return
    selection, w = np.asarray(arrays["best_selection"]), np.asarray(arrays["best_w"], dtype=float)
    stated = float(np.asarray(arrays["best_numbers"])[1])
    if selection.shape != (problem.p,) or selection.dtype != bool or w.shape != selection.shape:
        raise ValueError("its incumbent has another number of features")
    if not problem.allowed(selection) or not np.isfinite(w).all() or np.any(w[~selection]):
        raise ValueError("its incumbent does not satisfy the constraints")
    value, b = problem.value(selection, w)
    if not abs(value - stated) <= 1e-9 * max(1.0, abs(value)):
        raise ValueError(f"the value of its incumbent is {value:.9g}, not {stated:.9g}")
    incumbents.best = Incumbent(selection, w, b, value)
