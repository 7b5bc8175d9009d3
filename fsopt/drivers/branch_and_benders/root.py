"""The root of a search: its relaxation, and the first incumbents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fsopt.drivers.branch_and_benders.problem import Partial
from fsopt.drivers.branch_and_benders.search import Search
from fsopt.typing import Mask

EXCHANGES = 400
"""Exchanges of any two features that are tried at the root, those that the cuts rule out apart."""

EVERY_FEATURE, STEP = 200, 0.1
"""Number of features up to which an elimination leaves out one after another, and the share at once of more."""


def begin(
    search: Search,
    go_on: Callable[[], bool],
    initial: Mask | None = None,
    found: Callable[[], None] = lambda: None,
) -> bool:
    """Solve the root and find incumbents; returns False where the constraints allow no selection.

    Parameters
    ----------
    go_on : looks at the clock.
    initial : an allowed selection (p,) to start from.
    found : called with the first incumbent, before the relaxation.
    """
    at = search.problem.root()
    if at is None:
        return False
    if initial is not None:
        search.incumbents.solve(initial)
    _first(search, at)
    if search.incumbents.best is not None:
        found()
    search.solve(0, at, None, [])
    if not search.heap:
        return True
    node = search.heap[0][2]
    incumbents = search.incumbents
    score = node.plane.sigma + 1e-9 * np.abs(node.plane.w)
    for order in (score, np.abs(node.plane.w) + 0.5 + 0.0 * score):
        selection = incumbents.rounded(order, node.at)
        if selection is not None:
            incumbents.try_selection(selection, node.plane)
    incumbents.exchange(go_on, close=True)
    likely = ~node.at.outside & (node.plane.sigma > 1e-3)
    share = 0.0 if search.problem.p <= EVERY_FEATURE else STEP
    for start in (likely | node.at.inside, ~node.at.outside):
        incumbents.eliminated(start, go_on, share=share)
        incumbents.exchange(go_on, close=True)
    left = iter(range(EXCHANGES))
    incumbents.exchange(lambda: go_on() and next(left, None) is not None)
    return True


def _first(search: Search, at: Partial) -> None:
    """Try the features whose class means differ most: a first incumbent after one support vector machine."""
    problem = search.problem
    mean = np.where(problem.y > 0, 1.0 / (problem.y > 0).sum(), 1.0 / (problem.y < 0).sum())
    selection = search.incumbents.rounded(np.abs(problem.signed[:-1] @ mean), at)
    if selection is not None:
        search.incumbents.try_selection(selection)
