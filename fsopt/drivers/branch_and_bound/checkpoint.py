"""Checkpoints of branch and bound: the tree so far, in one file that appears whole or not at all.

Nothing that a file claims about bounds and values is believed: they are computed again from multipliers and incumbent.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fsopt.answers.trees import Tree
from fsopt.certificates.relaxations import Relaxation
from fsopt.common.checkpoints import digest, undamaged
from fsopt.common.files import check_readable, checkpoint_of, whole_file
from fsopt.compiler import Program
from fsopt.drivers.branch_and_bound.branching import PseudoCosts
from fsopt.drivers.branch_and_bound.search import Search
from fsopt.errors import FileError
from fsopt.typing import Vector

FORMAT = "fsopt tree 1"
WRITING = 20.0
"""Between two checkpoints is at least that many times as long as writing the last one took."""


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


@dataclass(frozen=True)
class Saved:
    """A search in a checkpoint.

    Attributes
    ----------
    tree, costs : of the search.
    x : (n,) incumbent; None for none.
    solves : number of relaxations solved.
    elapsed : seconds so far.
    solver : name of the solver of the first incumbent.
    """

    tree: Tree
    costs: PseudoCosts
    x: Vector | None
    solves: int
    elapsed: float
    solver: str

    def restore(self, search: Search) -> None:
        """Give its state to a search of the same program; raises FileError where the tree is none of it."""
        search.begin(self.tree)
        search.costs.add(self.costs)
        search.nodes.solves += self.solves
        if self.x is not None:
            search.offer(self.x)


@dataclass
class Keeper:
    """Writes the checkpoints of a search.

    Attributes
    ----------
    before : seconds of the run that was resumed.
    started, written, writing : when the search began, when the last checkpoint was complete, and its seconds.
    """

    path: Path
    search: Search
    solver: str
    before: float
    started: float
    written: float = -np.inf
    writing: float = 0.0

    @cached_property
    def program(self) -> dict[str, str]:
        """The identity of the program."""
        return identity(self.search.program)

    def keep(self) -> None:
        """Write a checkpoint where it is time for one."""
        if time.perf_counter() > self.written + WRITING * self.writing:
            self.write()

    def write(self) -> None:
        """Write a checkpoint in place of the last one; raises FileError."""
        begun, search = time.perf_counter(), self.search
        tree, costs = search.nodes.tree(search.root), search.costs
        held = tree.multipliers
        said = {"solves": search.nodes.solves, "elapsed": self.before + begun - self.started, "solver": self.solver}
        text = json.dumps({"program": self.program, "width": held.shape[1], **said}).encode()
        arrays = {
            "column": tree.column,
            "value": tree.value,
            "ray": tree.ray,
            "numbers": held.data,
            "places": held.indices,
            "starts": held.indptr,
            "costs": np.array([costs.total, costs.count]),
            "incumbent": np.zeros(0) if search.x is None else search.x,
        }
        with whole_file(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, tree=np.frombuffer(text, dtype=np.uint8), **arrays)
        self.written = time.perf_counter()
        self.writing = self.written - begun


def load(path: Path, relaxation: Relaxation) -> Saved:
    """Read a checkpoint of the program of a relaxation.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of another program.
    """
    with checkpoint_of("a tree", path):
        with check_readable(path, "the checkpoint").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
        words = json.loads(held["tree"].tobytes())
        found = dict(words["program"])
    for name, value in identity(relaxation.program).items():
        if found.get(name) != value:
            raise FileError(
                f"the checkpoint '{path}' is of another program: it differs in its {name}",
                "resume with the model of that run, or start again without it",
            )
    with undamaged(path):
        n, size = relaxation.program.n, len(relaxation.low)
        x, costs = np.array(held["incumbent"], dtype=float), np.array(held["costs"], dtype=float)
        if x.shape not in ((0,), (n,)) or not np.isfinite(x).all():
            raise ValueError("its incumbent is no point")
        if costs.shape != (2, 2, size) or not np.isfinite(costs).all() or costs.min(initial=0.0) < 0.0:
            raise ValueError("its pseudo-costs are damaged")
        parts = {name: held[name].tolist() for name in ("column", "value", "numbers", "places", "starts")}
        shape = [len(held["ray"]), int(words["width"])]
        tree = Tree.of({**parts, "ray": np.flatnonzero(held["ray"]).tolist(), "size": shape})
        solves, elapsed = int(words["solves"]), float(words["elapsed"])
        return Saved(tree, PseudoCosts(*costs), x if len(x) else None, solves, elapsed, str(words["solver"]))
