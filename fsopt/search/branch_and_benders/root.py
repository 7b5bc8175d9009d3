"""The root of a search in stages: its first incumbent, its relaxation, and the heuristics for better incumbents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from fsopt.common import clock
from fsopt.search.branch_and_benders.search import CLOSE, SelectionSearch
from fsopt.typing import Mask, Vector

EVERY_FEATURE, STEP = 200, 0.1
"""Number of features up to which an elimination leaves out one after another, and the share at once of more."""
MOST, WORK = 1000, 1e8
"""Features that an elimination starts from at most, and multiplications for the products of all pairs of them."""
MACHINE = 1e11
"""Samples times the squared number of features of the machine of a rounded relaxation: of a larger one the largest
features are taken."""
LIKELY = 1e-3
"""Share in the relaxation from which a feature is likely."""
EXCHANGES, FAILS = 400, 100
"""Exchanges that the local search tries from a selection, and its restarts that may fail at a gap of 100 %."""
FEW = 64
"""Exchanges of a search that is not thorough, without restarts: the best one has nearly always a smallest bound."""


def begin(search: SelectionSearch, go_on: Callable[[], bool], initial: Mask | None = None) -> Iterator[None]:
    """Solve the root and find incumbents; yield behind the first one, which there mostly is, and after each stage.

    Where ``go_on`` ends a stage, or the time is over, the root is an open node, and the search is not ``begun``.
    """
    at = search.problem.root()
    if at is None:
        return
    search.open_root(at)
    for needed in (partial(_first, initial=initial), SelectionSearch.solve_root):
        # An answer needs an incumbent and a bound, in however little time.
        with clock.limited(clock.left(), extend=True):
            needed(search)
        yield
    for heuristic in (_rounded, _of_the_likely, _exchanged):
        if search.frontier:
            heuristic(search, go_on)
            if not go_on():
                return
        yield
    search.begun = True


def _first(search: SelectionSearch, initial: Mask | None) -> None:
    """Try the given selection, and the features whose class means differ most: one support vector machine each."""
    if initial is not None:
        search.incumbents.try_selection(initial)
    problem = search.problem
    mean = np.where(problem.y > 0, 1.0 / (problem.y > 0).sum(), 1.0 / (problem.y < 0).sum())
    root, scores = search.frontier[0], [problem.sizes(problem.products(mean))]
    for score in [*scores, root.cut.gains] if root.cut.pieces else scores:
        selection = search.incumbents.rounded(score, root.at)
        if selection is not None:
            search.incumbents.try_selection(selection)


def _rounded(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Round the relaxation by its shares and by its weights."""
    node, incumbents = search.frontier[0], search.incumbents
    sizes = search.problem.sizes(node.hyperplane.w)
    for order in (node.hyperplane.sigma + 1e-9 * sizes, sizes + 0.5):
        selection = incumbents.rounded(order, node.at)
        if selection is not None and search.problem.n * float(selection.sum()) ** 2 > MACHINE:
            selection = incumbents.rounded(np.where(_largest(search, selection, order), order, 0.0), node.at)
        if selection is not None:
            incumbents.try_selection(selection, node.hyperplane)
    incumbents.exchange(CLOSE, go_on)


def _of_the_likely(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Eliminate from the features with a share in the relaxation, of many those of largest share, and those inside."""
    incumbents, sigma = search.incumbents, search.frontier[0].hyperplane.sigma
    before = incumbents.best
    share = 0.0 if search.problem.p <= EVERY_FEATURE else STEP
    incumbents.eliminated(_largest(search, sigma > LIKELY, sigma), go_on, share=share)
    if incumbents.best is not before:
        incumbents.exchange(CLOSE, go_on)


def _largest(search: SelectionSearch, start: Mask, score: Vector) -> Mask:
    """Return the features to start an elimination from, with those inside: of many those of largest score."""
    at, most = search.frontier[0].at, min(MOST, int(np.sqrt(WORK / search.problem.n)))
    free = np.flatnonzero(start & at.free)
    kept: Mask = at.inside.copy()
    kept[free[np.argsort(-score[free], kind="stable")[:most]]] = True
    return kept


def _exchanged(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Exchange features from the best selection so far, and from perturbed ones: more of them where the gap is wide."""
    most, fails = (EXCHANGES, FAILS) if search.settings.thorough else (FEW, 0)
    gap = 1.0 - min(search.bound / max(search.incumbents.value, 1e-300), 1.0)
    search.incumbents.exchange(most, go_on, fails=int(fails * gap**3))
