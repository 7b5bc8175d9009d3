r"""Trees of branch and bound in rational numbers: each leaf with multipliers that are feasible exactly.

The program on the box of a leaf has the dual feasible points of the root, but where a bound appears or vanishes: which
bounds are finite decides the signs of reduced costs, their values enter the bound alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.answers.results import Point
from fsopt.answers.trees import LEAF, NOTHING, Tree
from fsopt.certificates.exact.encoding import Part, decoded, encoded
from fsopt.certificates.exact.forms import ZERO
from fsopt.certificates.exact.intervals import bound_of
from fsopt.certificates.exact.program import ExactProgram, dual_start
from fsopt.certificates.exact.repair import repaired
from fsopt.certificates.trees import curved
from fsopt.compiler import Program
from fsopt.errors import NotShownError

Limits = tuple["Fraction | None", ...]
Bound = Callable[[ExactProgram, Mapping[str, Any]], Fraction]
SHARED = ("curved", "reduced_costs", "offsets", "dual_size", "duals")
"""Parts of a program that its boxes with bounds in the same places share."""


class Boxes:
    """A program on boxes of its variables."""

    def __init__(self, program: ExactProgram) -> None:
        self.program = program
        self.made: dict[tuple[bool, ...], ExactProgram] = {}

    def at(self, lb: Limits, ub: Limits) -> ExactProgram:
        """Return the program on a box."""
        box = replace(self.program, lb=lb, ub=ub)
        first = self.made.setdefault(tuple(v is None for v in (*lb, *ub)), box)
        box.__dict__.update({name: getattr(first, name) for name in SHARED})
        return box


def without_objective(program: ExactProgram) -> ExactProgram:
    """Return the program of a Farkas vector."""
    return replace(program, P=(ZERO,) * program.n, c=(ZERO,) * program.n, c0=ZERO)


def tree_part(
    program: Program, exact: ExactProgram, tree: Tree, dual_data: Callable[..., Any]
) -> tuple[Part, Fraction | None]:
    """Return the nodes and multipliers of a tree as plain data, feasible in rational numbers, and their bound.

    The bound is None where no leaf has a point.

    Parameters
    ----------
    dual_data : :func:`fsopt.certificates.exact.proofs.dual_data`.

    Raises
    ------
    NotShownError : a leaf is not closed in rational numbers.
    """
    boxes, bare = Boxes(exact), Boxes(without_objective(exact))
    found: dict[tuple[int, ...], tuple[int, Sequence[Fraction]]] = {}
    bounds: list[Fraction] = []
    held: dict[bool, list[Any]] = {False: [], True: []}
    leaves: list[list[Any]] = []
    failed = 0
    for place, low, high in tree.boxes(program.lb, program.ub, program.integer):
        ray = place != NOTHING and bool(tree.ray[place])
        box = (bare if ray else boxes).at(_limits(low), _limits(high))
        key = (place, *(v is None for v in (*box.lb, *box.ub)))
        if key not in found:
            try:
                dual = _leaf_dual(program, box, tree, place)
            except NotShownError:
                failed += 1
                continue
            found[key] = len(held[ray]), dual
            held[ray].append(_sparse(dual_data(box, dual), ray=ray))
        leaves.append(["empty" if ray else "leaf", found[key][0]])
        if not ray:
            bounds.append(bound_of(box, found[key][1]))
    if failed:
        raise NotShownError(f"{failed} of {tree.leaves} leaves are not closed in rational numbers")
    rest = iter(leaves)
    pairs = zip(tree.column.tolist(), tree.value.tolist(), strict=True)
    nodes = [next(rest) if j == LEAF else ["split", j, encoded(Fraction(v))] for j, v in pairs]
    return {"kind": "tree", "nodes": nodes, "duals": held[False], "rays": held[True]}, min(bounds, default=None)


def _limits(values: Any) -> Limits:
    return tuple(Fraction(v) if np.isfinite(v) else None for v in values.tolist())


def _leaf_dual(program: Program, box: ExactProgram, tree: Tree, place: int) -> Sequence[Fraction]:
    """Return an exactly feasible dual point near the multipliers of a leaf; of a ray one that excludes all points."""
    if place == NOTHING:
        raise NotShownError("nothing bounds it")
    numbers = tree.multipliers[[place]].toarray()[0]
    m, k = program.A.shape[0], len(program.cones.h)
    x = np.zeros(program.n)
    x[curved(program)] = numbers[m + k :]
    y, z = numbers[:m], numbers[m : m + k]
    if not tree.ray[place]:
        return repaired(box.duals, dual_start(program, box, Point(x, y, z)))
    # A contradiction of the rows alone leaves the multipliers of cones no interior: they are 0.
    linear = box if z.any() else replace(box, cones=(), matrices=())
    for sign in (1.0, -1.0):
        start = dual_start(program, box, Point(x, sign * y, z))[: linear.dual_size]
        try:
            dual = [*repaired(linear.duals, start), *[ZERO] * (box.dual_size - linear.dual_size)]
        except NotShownError:
            continue
        if bound_of(box, dual) > 0:
            return dual
    raise NotShownError("its multipliers exclude nothing")


def _sparse(held: dict[str, Any], *, ray: bool) -> dict[str, Any]:
    """Return plain multipliers with pairs of a row and its number, for those that are not 0."""
    kept = {name: part for name, part in held.items() if not (ray and name == "curve")}
    return {**kept, "rows": [[i, v] for i, v in enumerate(held["rows"]) if v != 0]}


def _full(held: Mapping[str, Any], rows: int) -> dict[str, Any]:
    y: list[Any] = [0] * rows
    for i, v in held["rows"]:
        if not 0 <= i < rows or y[i] != 0:
            raise ValueError("a row of multipliers is out of range, or stands twice")
        y[i] = v
    return {"curve": [], **held, "rows": y}


def proved_leaves(part: Part, program: ExactProgram, bound: Bound) -> Fraction | None:
    """Return the smallest bound of the leaves of a saved tree; None where none has a point.

    Parameters
    ----------
    bound : :func:`fsopt.certificates.exact.proofs.proved_bound`.

    Raises
    ------
    NotShownError : multipliers are not feasible, or exclude nothing.
    """
    boxes, bare = Boxes(program), Boxes(without_objective(program))
    found: list[Fraction] = []
    for mark, place, lb, ub in _boxes(part["nodes"], program):
        ray = mark == "empty"
        if mark not in ("leaf", "empty") or place < 0:
            raise ValueError("a node of the tree is damaged")
        held = _full(part["rays" if ray else "duals"][place], len(program.rows))
        value = bound((bare if ray else boxes).at(lb, ub), held)
        if ray and value <= 0:
            raise NotShownError("the ray of a leaf excludes nothing")
        if not ray:
            found.append(value)
    return min(found, default=None)


def _boxes(nodes: Sequence[Any], program: ExactProgram) -> Iterator[tuple[str, int, Limits, Limits]]:
    pending = [(program.lb, program.ub)]
    for mark, place, *rest in nodes:
        if not pending:
            raise NotShownError("a node belongs to no branching")
        lb, ub = pending.pop()
        if mark != "split":
            yield mark, place, lb, ub
            continue
        value, whole = decoded(rest[0]), bool(program.integer[place])
        if place < 0 or (whole and value.denominator != 1):
            raise NotShownError("an integer branches at a number that is not whole")
        pending.append((_changed(lb, place, value + whole), ub))
        pending.append((lb, _changed(ub, place, value)))
    if pending:
        raise NotShownError("the tree ends early")


def _changed(limits: Limits, place: int, value: Fraction) -> Limits:
    return (*limits[:place], value, *limits[place + 1 :])
