"""The nodes of branch and bound: relaxations solved warm, and bounds recomputed from their multipliers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import REMAINDER
from fsopt.answers.results import Point
from fsopt.certificates.bounds import no_objective
from fsopt.certificates.points import minimised
from fsopt.certificates.relaxations import Relaxation
from fsopt.certificates.trees import curved, leaf_bound
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.solvers.connection import Connection
from fsopt.solvers.interface import Change, Settings
from fsopt.solvers.mending import tries
from fsopt.solvers.proof_programs import elastic_program
from fsopt.solvers.registry import choose
from fsopt.typing import Vector

MEND = 5.0
"""Seconds that a mend of multipliers may take."""
MISSED = 1e-7
"""Distance of a bound from the optimum of its relaxation, relative to it, from which the multipliers are mended."""

Multipliers: TypeAlias = tuple[sp.csr_matrix, bool]
"""Multipliers (1, k), and whether they are a Farkas vector."""


@dataclass
class Node:
    """A box with its bound.

    Attributes
    ----------
    low, high : (n,) bounds of the variables.
    number : its number in the tree.
    bound : that the multipliers prove; before its relaxation is solved those of its parent.
    multipliers : behind the bound; None for none.
    x : (n,) optimum of the relaxation; None without one.
    solved : whether the relaxation was solved, as far as it can be.
    cutoff : value of the incumbent for whose relaxation it was, infinite where the relaxation knows none.
    """

    low: Vector
    high: Vector
    number: int = 0
    bound: float = -np.inf
    multipliers: Multipliers | None = None
    x: Vector | None = None
    solved: bool = False
    cutoff: float = np.inf


class Nodes:
    """The relaxations of one search.

    Parameters
    ----------
    relaxation : of the program.

    Attributes
    ----------
    solves : number of relaxations solved.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.solves = 0
        self.loaded: Program | None = None
        self.connection: Connection | None = None

    def solve(self, node: Node) -> None:
        """Solve the relaxation of a node; its multipliers change where the new ones bound it better."""
        program = self.relaxation.at(node.low, node.high)
        outcome = self._connected(program).solve(clock.left())
        self.solves += 1
        node.x, node.cutoff = None, self.relaxation.cutoff
        node.solved = outcome.stop not in ("time-limit", "interrupted")
        if outcome.point is not None:
            node.x = outcome.point.x
            self._take(node, program, outcome.point, ray=False)
        elif outcome.ray is not None:
            self._take(node, program, outcome.ray, ray=True)
        if node.x is None and node.bound < np.inf and node.solved:
            self._elastic(node, program)

    def _connected(self, program: Program) -> Connection:
        """Return the solver with a program loaded: the same one, warm, where only bounds changed."""
        if program is self.loaded and self.connection is not None:
            if self.connection.update(Change(objective=True, bounds=True)) is None:
                return self.connection
        elif self.loaded is not program:
            self.spec = choose(None, program_class(program), program.model.name, program)
        own = {"presolve": "off"} if self.spec.name == "highs" else {}
        self.loaded, self.connection = program, Connection(self.spec, program, Settings(own=own))
        return self.connection

    def _take(self, node: Node, program: Program, found: Point, *, ray: bool) -> None:
        """Keep multipliers that bound a node better than those it has; those that say too little are mended as well."""
        if found.y is None or found.z is None:
            return
        size = max(np.abs(found.y).max(initial=0.0), np.abs(found.z).max(initial=0.0), 1e-300) if ray else 1.0
        pair = Point(np.zeros(program.n) if ray else found.x, found.y / size, found.z / size)
        # The rounding errors of an interior point in cones that a contradiction of the rows does not need would keep
        # it from being made exact.
        first = [Point(pair.x, pair.y, np.zeros_like(pair.z))] if ray and found.z.any() else []
        kept = [self._kept(node, program, one, ray) for one in [*first, pair]]
        if ray and any(kept):
            return
        least = np.inf if ray else minimised(program, pair.x)
        if node.bound >= least - MISSED * max(1.0, abs(least)):
            return
        goal = no_objective(program) if ray else program
        for mend in tries(goal, pair, time.perf_counter() + MEND):
            if self._kept(node, program, mend, ray) and (ray or node.bound >= least - MISSED * max(1.0, abs(least))):
                return

    def _kept(self, node: Node, program: Program, pair: Point, ray: bool) -> bool:
        """Keep multipliers where they bound a node better than those it has, and return whether they do."""
        u = np.zeros(len(curved(program))) if ray else pair.x[curved(program)]
        found = np.concatenate([*pair.multipliers, u])
        if not np.isfinite(found).all():
            return False
        bound, remainder = leaf_bound(program, found, ray, self.relaxation.ranges())
        if remainder > REMAINDER or not bound > node.bound:
            return False
        node.bound, node.multipliers = bound, (sp.csr_matrix(found), ray)
        return True

    def _elastic(self, node: Node, program: Program) -> None:
        """Bound a node whose relaxation seems to have no point, by the multipliers of the least violation."""
        try:
            elastic = elastic_program(program)
            spec = choose(None, program_class(elastic), program.model.name, elastic)
            found = Connection(spec, elastic, Settings()).solve(clock.left()).point
        except SolverError:
            return
        if found is not None:
            self._take(node, program, found, ray=True)
