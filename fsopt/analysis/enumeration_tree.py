"""The evidence of an enumeration of selections: its tree, and the bound on all selections that are not listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import BendersCut, Grid, make_cut, valid_grid
from fsopt.algorithms.branch_and_benders.cuts import bound as cut_bound
from fsopt.algorithms.branch_and_benders.enumeration import Enumeration
from fsopt.algorithms.branch_and_benders.evidence import relaxation_bound, renumbered
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.tree import FORGOTTEN, replay
from fsopt.typing import Vector


@dataclass(frozen=True)
class EnumerationTree:
    """The tree of an enumeration, up to the nodes where it stopped.

    Attributes
    ----------
    stream : of the tree, see :mod:`fsopt.algorithms.branch_and_benders.tree`.
    cuts : multipliers on the grid (n,) and mu, by their numbers in the stream.
    nodes : node where the tree stops -> number of the cut that bounds it, FORGOTTEN where its relaxation does, or None
        for a selection that is listed.
    """

    stream: Sequence[int]
    cuts: tuple[tuple[Grid, Vector], ...]
    nodes: Mapping[int, int | None]

    def bound(self, problem: SelectionProblem, listed: Collection[tuple[int, ...]]) -> float:
        """Return the smallest bound of all leaves but the listed selections, recomputed from their cuts.

        Raises
        ------
        ValueError : a cut is not dual feasible, or a leaf that has no bound is not a listed selection.
        """
        made, bounds = dict[int, BendersCut](), list[float]()

        def cut_of(name: int) -> BendersCut | None:
            if name == FORGOTTEN:
                return None
            if name not in made:
                if not valid_grid(self.cuts[name][0], problem.y, problem.tops):
                    raise ValueError(f"the multipliers of cut {name} are not dual feasible")
                made[name] = make_cut(problem, name, *self.cuts[name])
            return made[name]

        def stopped(node: int, at: Partial) -> None:
            name = self.nodes[node]
            if name is None:
                if at.free.any() or tuple(np.flatnonzero(at.inside).tolist()) not in listed:
                    raise ValueError("a leaf without a bound is not a selection of the list")
                return
            cut = cut_of(name)
            bounds.append(relaxation_bound(problem, at) if cut is None else cut_bound(problem, cut, at).value)

        found = replay(problem, self.stream, cut_of, lambda at: relaxation_bound(problem, at), stopped)
        return float(min([found.bound, *bounds]))


def tree_of(search: Enumeration, listed: Mapping[int, Incumbent]) -> EnumerationTree:
    """Return the tree of an enumeration; a selection that was found and is not listed is bounded by its relaxation."""
    opened = {node.number: node.cut.name for _, _, node in search.heap}
    used: dict[int, int] = {}
    stream = search.tree.stream({**dict.fromkeys(search.found, -1), **opened}, closed=False)
    stream = renumbered(stream, used, search.tree.cuts)
    nodes = {number: None if number in listed else FORGOTTEN for number in search.found} | {
        number: used.setdefault(name, len(used)) if name in search.tree.cuts else FORGOTTEN
        for number, name in opened.items()
    }
    return EnumerationTree(stream, tuple(search.tree.cuts[name] for name in used), nodes)
