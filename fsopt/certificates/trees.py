r"""The bound of a tree of branch and bound, recomputed from the multipliers of its leaves: no solver is asked.

The leaves cover the feasible points, so that

.. math:: \min_{x \in X} f(x) \ \ge\ \min_{\text{leaves } t}\ b_t,

where :math:`b_t` is the bound of multipliers on the relaxation of leaf t (:mod:`fsopt.certificates.bounds`), or
infinite where a Farkas vector shows that the leaf has no point. Weak duality needs no optimality: multipliers of a
parent bound its children as well, which is how the open nodes of a search that was stopped count. Where all variables
have ranges, every y is dual feasible, and the error of the solver only makes the bound smaller. An incumbent gives
variables without bounds their ranges (:mod:`fsopt.certificates.propagation`): what a tree proves is the smaller one of
its leaves' bounds and the value of the incumbent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.answers.trees import NOTHING, Tree
from fsopt.certificates.bounds import Box, contradicts, lower_bound
from fsopt.certificates.relaxations import Relaxation
from fsopt.compiler import Program
from fsopt.errors import FileError
from fsopt.typing import Indices, Vector

PROVED = "proved by fsopt"
"""How the source of a bound begins that was recomputed from a tree."""


@dataclass(frozen=True)
class TreeBound:
    """What a tree proves.

    Attributes
    ----------
    value : lower bound of the minimisation form, infinite where no leaf has a point.
    remainder : the largest one of the multipliers of a leaf.
    leaves : their number.
    """

    value: float
    remainder: float
    leaves: int

    @property
    def source(self) -> str:
        """The source of the bound, in words."""
        return f"{PROVED}, {self.leaves:,} {'leaf' if self.leaves == 1 else 'leaves'}"

    @property
    def residuals(self) -> dict[str, float]:
        """The residual with its name."""
        return {"remainder in leaves": self.remainder}


class Leaf(NamedTuple):
    """A leaf: the place of its multipliers, its box, the bound that they prove, and their remainder."""

    place: int
    low: Vector
    high: Vector
    bound: float
    remainder: float


def curved(program: Program) -> Indices:
    """Return the variables (k,) in the quadratic objective."""
    found: Indices = np.flatnonzero(np.diff(program.P.indptr))
    return found


def leaf_bound(program: Program, held: Vector, ray: bool, box: Box) -> tuple[float, float]:
    """Return the bound on a box that multipliers prove, and their remainder.

    Parameters
    ----------
    program : the relaxation of the box.
    held : (w,) multipliers as in :class:`fsopt.answers.trees.Tree`.
    ray : whether they are a Farkas vector.
    box : ranges (N,) of the first variables, see :meth:`fsopt.certificates.relaxations.Relaxation.ranges`.
    """
    m, k = program.A.shape[0], len(program.cones.h)
    y, z = held[:m], held[m : m + k]
    x = np.zeros(program.n)
    if ray:
        found = lower_bound(program, Point(x, y, z), objective=False)
        return (np.inf if contradicts(found) else -np.inf), found.remainder
    x[curved(program)] = held[m + k :]
    low, high = program.lb.copy(), program.ub.copy()
    low[: len(box[0])] = np.maximum(low[: len(box[0])], box[0])
    high[: len(box[1])] = np.minimum(high[: len(box[1])], box[1])
    bound = lower_bound(program, Point(x, y, z), (low, high))
    return bound.value, bound.remainder


def tree_bound(relaxation: Relaxation, tree: Tree) -> TreeBound:
    """Return what a tree proves of a program.

    Raises
    ------
    FileError : the tree is none of the program.
    """
    least, worst = relaxation.incumbent, 0.0
    count = 0
    for leaf in leaf_bounds(relaxation, tree):
        least, worst = min(least, leaf.bound), max(worst, leaf.remainder)
        count += 1
    return TreeBound(float(least), worst, count)


def leaf_bounds(relaxation: Relaxation, tree: Tree) -> Iterator[Leaf]:
    """Yield the leaves of a tree with what their multipliers prove; raises FileError for a tree of another program."""
    for place, below, above in tree.boxes(relaxation.low, relaxation.high, relaxation.integer):
        if place == NOTHING:
            yield Leaf(place, below, above, -np.inf, 0.0)
            continue
        node, ray = relaxation.at(below, above), bool(tree.ray[place])
        held = tree.multipliers[[place]].toarray()[0]
        if len(held) != node.A.shape[0] + len(node.cones.h) + len(curved(node)):
            raise FileError("the tree is none of this program: it has other multipliers", "prove it again")
        yield Leaf(place, below, above, *leaf_bound(node, held, ray, relaxation.ranges()))


def certify_empty(relaxation: Relaxation, tree: Tree) -> Certificate:
    """Return the certificate of a tree none of whose leaves has a point; it does not hold where one may have."""
    found = tree_bound(relaxation, tree)
    open_leaf = 0.0 if found.value == np.inf else np.inf
    return make(Kind.INFEASIBLE, {**found.residuals, "open leaves": open_leaf}, bound_source=found.source)
