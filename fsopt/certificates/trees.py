r"""The bound of a tree of branch and bound, recomputed from the multipliers of its leaves: no solver is asked.

The leaves cover the feasible points, so that

.. math:: \min_{x \in X} f(x) \ \ge\ \min_{\text{leaves } t}\ b_t,

where :math:`b_t` is the value of a dual point of the relaxation of leaf t, by
:func:`fsopt.certificates.convex.dual_point`, or infinite where a Farkas vector shows that the leaf has no point. Weak
duality needs no optimality: multipliers of a parent bound its children as well, which is how the open nodes of a search
that was stopped count. Where all variables are bounded, every y is dual feasible, and the error of the solver only
makes the bound smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.answers.trees import NOTHING, Tree
from fsopt.certificates.convex import dual_point, farkas
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
    dual, farkas : the largest residual of a dual point, and of a Farkas vector.
    leaves : their number.
    """

    value: float
    dual: float
    farkas: float
    leaves: int

    @property
    def source(self) -> str:
        """The source of the bound, in words."""
        return f"{PROVED}, {self.leaves:,} {'leaf' if self.leaves == 1 else 'leaves'}"

    @property
    def residuals(self) -> dict[str, float]:
        """The residuals with their names."""
        return {"dual in leaves": self.dual, "farkas in leaves": self.farkas}


class Leaf(NamedTuple):
    """A leaf: the place of its multipliers, its box, the bound that they prove, the residual behind it, and whether
    they are a Farkas vector.
    """

    place: int
    low: Vector
    high: Vector
    bound: float
    residual: float
    ray: bool


def curved(program: Program) -> Indices:
    """Return the variables (k,) in the quadratic objective."""
    found: Indices = np.flatnonzero(np.diff(program.P.indptr))
    return found


def reference(program: Program, x: Vector | None) -> Vector:
    """Return the sizes (n,) at which remainders of stationarity of variables without bounds are charged to a bound.

    Parameters
    ----------
    x : the incumbent; None for none.
    """
    units = program.scaling.columns
    return units if x is None else np.maximum(units, np.abs(x))


def leaf_bound(program: Program, held: Vector, ray: bool, size: Vector) -> tuple[float, float]:
    """Return the bound on a box that multipliers prove, and the residual behind it.

    Parameters
    ----------
    program : the relaxation of the box.
    held : (w,) multipliers as in :class:`fsopt.answers.trees.Tree`.
    ray : whether they are a Farkas vector.
    size : (n,) as in :func:`reference`.
    """
    m, k = program.A.shape[0], len(program.cones.h)
    y, z = held[:m], held[m : m + k]
    if ray:
        found = farkas(program, Point(size, y, z))
        return (np.inf if found.ok else -np.inf), found.worst
    x = np.zeros(program.n)
    x[: len(size)] = size
    x[curved(program)] = held[m + k :]
    bound, residuals = dual_point(program, Point(x, y, z))
    return bound, residuals["dual"]


def tree_bound(relaxation: Relaxation, tree: Tree, x: Vector | None) -> TreeBound:
    """Return what a tree proves of a program.

    Parameters
    ----------
    x : (n,) the incumbent; None for none.

    Raises
    ------
    FileError : the tree is none of the program.
    """
    worst = {False: 0.0, True: 0.0}
    least, count = relaxation.cutoff, 0
    for leaf in leaf_bounds(relaxation, tree, reference(relaxation.program, x)):
        count += 1
        least, worst[leaf.ray] = min(least, leaf.bound), max(worst[leaf.ray], leaf.residual)
    return TreeBound(float(least), worst[False], worst[True], count)


def leaf_bounds(
    relaxation: Relaxation, tree: Tree, size: Vector, box: tuple[Vector, Vector] | None = None
) -> Iterator[Leaf]:
    """Yield the leaves of a tree with what their multipliers prove.

    Parameters
    ----------
    size : (n,) as in :func:`reference`.
    box : bounds of the variables at the root; None for those of the program.

    Raises
    ------
    FileError : the tree is none of the program.
    """
    low, high = (relaxation.low, relaxation.high) if box is None else box
    for place, below, above in tree.boxes(low, high, relaxation.integer):
        if place == NOTHING:
            yield Leaf(place, below, above, -np.inf, 0.0, ray=False)
            continue
        node, ray = relaxation.at(below, above), bool(tree.ray[place])
        held = tree.multipliers[[place]].toarray()[0]
        if len(held) != node.A.shape[0] + len(node.cones.h) + len(curved(node)):
            raise FileError("the tree is none of this program: it has other multipliers", "prove it again")
        yield Leaf(place, below, above, *leaf_bound(node, held, ray, size), ray=ray)


def certify_empty(relaxation: Relaxation, tree: Tree) -> Certificate:
    """Return the certificate of a tree none of whose leaves has a point; it does not hold where one may have."""
    found = tree_bound(relaxation, tree, None)
    open_leaf = 0.0 if found.value == np.inf else np.inf
    return make(Kind.INFEASIBLE, {**found.residuals, "open leaves": open_leaf}, bound_source=found.source)
