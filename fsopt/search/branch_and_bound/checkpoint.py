"""Checkpoints of branch and bound: the tree so far, in one file that appears whole or not at all.

Nothing that a file claims about bounds and values is believed: they are computed again from multipliers and incumbent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fsopt.answers.trees import Tree
from fsopt.common.checkpoints import digest, read, undamaged, write
from fsopt.compiler import Program
from fsopt.search.branch_and_bound.search import Search

FORMAT = "fsopt tree 2"


def identity(program: Program) -> dict[str, str]:
    """Return the identity of a program, name -> text, which a checkpoint shares with the run that resumes from it."""
    A = program.A
    P = program.P
    G = program.cones.G
    terms = [(scale, str(node)) for scale, node in program.objective_terms]
    general = [str(row.constraint.expr) for row in program.general]
    return {
        "format": FORMAT,
        "objective": digest(P.data, P.indices, P.indptr, program.c, program.c0, program.sign),
        "constraints": digest(A.data, A.indices, A.indptr, program.lo, program.hi),
        "cones": digest(G.data, G.indices, G.indptr, program.cones.h),
        "variables": digest(program.lb, program.ub, program.integer),
        "nonlinear terms": digest(np.frombuffer(json.dumps([terms, general]).encode(), dtype=np.uint8)),
    }


def save(path: Path, program: Mapping[str, str], search: Search, solver: str, elapsed: float) -> None:
    """Write a checkpoint in place of the last one; raises FileError.

    Parameters
    ----------
    program : its :func:`identity`.
    solver : name of the solver of the first incumbent.
    elapsed : seconds so far.
    """
    tree = search.tree()
    rows = tree.multipliers
    arrays = {
        "column": tree.column,
        "value": tree.value,
        "ray": tree.ray,
        "numbers": rows.data,
        "places": rows.indices,
        "starts": rows.indptr,
        "costs": search.costs,
        "incumbent": np.zeros(0) if search.x is None else search.x,
    }
    words = {"width": rows.shape[1], "solves": search.nodes.solves, "elapsed": elapsed, "solver": solver}
    write(path, program, words, arrays)


def restore(path: Path, search: Search) -> tuple[str, float]:
    """Give a search the state in a checkpoint of the same program; return its solver and its seconds.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of another program.
    """
    words, arrays = read(path, "a tree", identity(search.program))
    with undamaged(path):
        x, costs = np.array(arrays["incumbent"], dtype=float), np.array(arrays["costs"], dtype=float)
        if x.shape not in ((0,), (search.program.n,)) or not np.isfinite(x).all():
            raise ValueError("its incumbent is no point")
        if costs.shape != search.costs.shape or not np.isfinite(costs).all() or costs.min(initial=0.0) < 0.0:
            raise ValueError("its pseudo-costs are damaged")
        parts = {name: arrays[name].tolist() for name in ("column", "value", "numbers", "places", "starts")}
        shape = [len(arrays["ray"]), int(words["width"])]
        tree = Tree.of({**parts, "ray": np.flatnonzero(arrays["ray"]).tolist(), "size": shape})
        search.costs, search.nodes.solves = costs, int(words["solves"])
        found = str(words["solver"]), float(words["elapsed"])
    search.offer(x if len(x) else None)
    search.begin(tree)
    return found
