"""The root of a search: its relaxation, and the first incumbents."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from fsopt.drivers.branch_and_benders.search import Search
from fsopt.typing import Mask


def begin(search: Search, go_on: Callable[[], bool], initial: Mask | None = None) -> bool:
    """Solve the root and find incumbents; returns False where the constraints allow no selection.

    Parameters
    ----------
    go_on : looks at the clock.
    initial : an allowed selection (p,) to start from.
    """
    at = search.problem.root()
    if at is None:
        return False
    if initial is not None:
        search.incumbents.try_selection(initial, whole=True)
    search.solve(0, at, None, 0.0 + float(np.minimum(search.problem.lam, 0.0).sum()))
    if not search.heap:
        return True
    node = search.heap[0][2]
    started = time.perf_counter()
    incumbents = search.incumbents
    score = node.plane.sigma + 1e-9 * np.abs(node.plane.w)
    for order in (score, np.abs(node.plane.w) + 0.5 + 0.0 * score):
        selection = incumbents.rounded(order, node.at)
        if selection is not None:
            incumbents.try_selection(selection)
    incumbents.exchange(go_on, close=True)
    likely = ~node.at.outside & (node.plane.sigma > 1e-3)
    incumbents.eliminated(likely | node.at.inside, go_on)
    incumbents.exchange(go_on, close=True)
    return True
