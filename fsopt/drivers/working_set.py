"""One driver for all programs of many features: the model of some of them, and the price of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from fsopt.drivers.run import NoPoint
from fsopt.typing import Indices, Mask, Vector

COLUMNS = 200
"""Number of features in the first restricted program, and largest number added in an iteration."""
T = TypeVar("T")


def working_set(
    scores: Vector,
    solve: Callable[[Indices], T],
    excess: Callable[[T], Vector],
    *,
    kept: Mask | None = None,
    most: int | None = None,
) -> Iterator[tuple[Mask, T, bool]]:
    """Yield features (p,), answer, and whether it is the last, of programs of more and more features.

    The multipliers of a restricted program do not depend on the number of features: they price all others. A feature
    whose dual constraint they violate is added, those of the largest ``excess`` (p,) of an answer first, at most
    ``most`` at once. Where there is none, the multipliers are feasible for the program of all features, and the answer
    with zero weights for the others is its optimum. The first program has the features ``kept``, or those of the
    largest scores (p,), which come next while a program of too few is infeasible; NoPoint where that of all is.
    """
    most = COLUMNS if most is None else most
    kept = largest(scores, most) if kept is None else kept.copy()
    # Each pass adds a feature, of which there are p, or is the last.
    while True:
        try:
            answer = solve(np.flatnonzero(kept))
        except NoPoint:
            if kept.all():
                raise
            kept |= largest(scores, 2 * int(kept.sum()))
            continue
        solved = kept.copy()
        added = add_violated(kept, excess(answer), most)
        yield solved, answer, not added
        if not added:
            return


def add_violated(kept: Mask, excess: Vector, most: int) -> bool:
    """Add the features of the largest excess, of the most negative reduced costs; return whether there are any."""
    over = np.where(kept, 0.0, excess)
    new = largest(over, most) & (over > 0.0)
    kept |= new
    return bool(new.any())


def largest(scores: Vector, most: int) -> Mask:
    """Return the places (p,) of so many of the largest scores."""
    places = np.zeros(len(scores), dtype=bool)
    places[np.argsort(-scores, kind="stable")[:most]] = True
    return places
