r"""Driver ``scale_search``: the global optimum of penalised GMEB (10) by linear programs on intervals of shares.

The best scales for a hyperplane leave one number open, the share rho in (0, 1) of the first norm term in the penalty
(:class:`fsopt.models.gmeb.gmeb_penalised.GmebPenalty`). On an interval :math:`[l, r]`, with :math:`\rho_0` in it and
:math:`D(w) = \sum_j |w_j| u_j'(\rho_0)`, convexity of u gives

.. math::

    \sum_j |w_j| u_j(\rho) \ge \sum_j |w_j| u_j(\rho_0) + (\rho - \rho_0) D(w)
    \ge \sum_j |w_j| \big(u_j(\rho_0) + (e - \rho_0) u_j'(\rho_0)\big), \qquad
    e = \begin{cases} l & D(w) \ge 0 \\ r & D(w) \le 0 \end{cases}

two linear programs for each interval, whose error is of the second order in its length, without the sign of D: the
optimum with the weights :math:`u_j(\rho_0) + t\,u_j'(\rho_0)` is concave in t, and over :math:`t \le l - \rho_0` and
:math:`t \ge r - \rho_0`, where a constraint on D would take its maxima, the smaller maximum is at one of these ends.

By the duals of the programs every mu in :math:`[0, 1/n]^n` with :math:`y'\mu = 0` and

.. math:: |X'Y\mu|_j \le u_j(\rho_0) + (e - \rho_0)\, u_j'(\rho_0)

proves that (10) is at least :math:`1'\mu` for these hyperplanes and shares, which numpy verifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, reason_to_stop
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import of_bounds
from fsopt.common.clock import uninterrupted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty as GmebPenalty
from fsopt.typing import Vector

IMPROVEMENT = 1e-12
"""Decrease, relative, below which the local search for a first incumbent ends: above rounding."""
MARGIN = 1e-9
"""Distance from 0 and 1 of the shares at which a linear program is solved: there the weights u are infinite."""


@dataclass(frozen=True)
class ShareInterval:
    """An interval of shares, and the multipliers behind a lower bound on (10) there, at its left and its right end.

    The field names are keys of saved fits. The weights are linearised at ``share``; ``mu`` (2, n) are the multipliers.
    """

    left: float
    right: float
    share: float
    mu: Vector

    def bound(self, data: Dataset, penalty: GmebPenalty) -> float:
        r"""Return the lower bound on (10) for the shares of the interval.

        The multipliers are those of a solver, feasible up to its tolerance: mu is projected onto its bounds and the
        balance, and a violation of at most :math:`\delta` times the costs turns :math:`1'\mu` into
        :math:`1'\mu/(1+\delta)`, the value of the convex combination with mu = 0 that is feasible.
        """
        if not 0.0 < self.share < 1.0:
            return 0.0
        u, slopes = penalty.weights(self.share), penalty.slopes(self.share)
        values = []
        for end, multipliers in zip((self.left, self.right), self.mu, strict=True):
            costs = u + (end - self.share) * slopes
            if costs.min() <= 0.0:
                return 0.0
            mu = project_multipliers(multipliers, data.y, 1.0 / data.n)
            excess = np.abs(data.X.T @ (mu * data.y)) - costs
            values.append(mu.sum() / (1.0 + max((excess / costs).max(), 0.0)))
        return float(np.min(values))


@dataclass
class _Search:
    """The incumbent of the branch and bound, and the intervals, each with its bound."""

    data: Dataset
    penalty: GmebPenalty
    recorder: Recorder
    parts: list[tuple[float, ShareInterval]]
    value: float = np.inf
    share: float = 0.5
    w: Vector = field(default_factory=lambda: np.zeros(0))
    b: float = 0.0

    def iterate(self, record: Mapping[str, Any] | None = None, stop: str = "") -> Iterate:
        """Return the incumbent and the intervals as an iterate."""
        leaves = [leaf for _, leaf in self.parts]
        point = {"w": self.w, "b": self.b, "share": self.share, "leaves": leaves}
        bound, within = min(bound for bound, _ in self.parts), record is None
        return Iterate(self.value, point, bound, record=record, stop=stop, within=within)

    def solve(self, share: float, end: float) -> Within[Vector]:
        """Solve the linear program of one end from the incumbent, and return the multipliers (n,) of its margins."""
        n, start = self.data.n, (self.w, self.b) if len(self.w) else None
        costs = np.maximum(self.penalty.weights(share) + (end - share) * self.penalty.slopes(share), 0.0)
        found = column_generation(self.data, np.full(n, 1.0 / n), costs, start=start, run=self.recorder.inner_run())
        self.recorder.include(found)
        self._update_incumbent(found.point["w"])
        yield self.iterate()
        return np.asarray(uninterrupted(found).point["alpha"])

    def _update_incumbent(self, w: Vector) -> None:
        """Take a hyperplane over as incumbent if it is the best one so far: its value in (10) is an upper bound."""
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y)
        penalty, share = self.penalty.at(w)
        value = hinge(scores + b, self.data.y) / self.data.n + penalty
        if value < self.value:
            self.value, self.share = value, share
            self.w, self.b = w, b

    def descend(self) -> Loop:
        """Alternate between the best hyperplane for a share and the best share for a hyperplane."""
        # The recomputed value of the incumbent falls by more than rounding in each pass but the last.
        while True:
            before, share = self.value, min(max(self.share, MARGIN), 1.0 - MARGIN)
            yield from self.solve(share, share)
            if not self.value < before - IMPROVEMENT * max(1.0, self.value):
                return

    def branch(self, leaf: ShareInterval) -> Within[list[tuple[float, ShareInterval]]]:
        """Return the parts of an interval with their bounds: it is halved on either side of the incumbent's share."""
        # Near the incumbent's share the bound is weakest: as an end of parts it has no error of linearisation.
        left, right = leaf.left, leaf.right
        inner = [(left + right) / 2]
        if left < self.share < right:
            inner = [(left + self.share) / 2, (self.share + right) / 2]
        parts = []
        for ends in pairwise([left, *inner, right]):
            parts.append((yield from self._part(leaf, *ends)))
        return parts

    def _part(self, parent: ShareInterval, left: float, right: float) -> Within[tuple[float, ShareInterval]]:
        """Return a part of an interval with new multipliers, or with its parent's where their bound is larger."""
        share = self.share if left < self.share < right else (left + right) / 2
        share = min(max(share, right / 2), (1.0 + left) / 2)  # the linearised weights stay positive
        at_left, at_right = (yield from self.solve(share, left)), (yield from self.solve(share, right))
        new = ShareInterval(left, right, share, np.array([at_left, at_right]))
        both = replace(parent, left=left, right=right), new
        return max(((leaf.bound(self.data, self.penalty), leaf) for leaf in both), key=itemgetter(0))


def _bisect(search: _Search, tolerance: float, max_leaves: int) -> Loop:
    """Yield the incumbents of the branch and bound over the intervals of the share."""
    # Step 1: the first incumbent. Step 2: [0, 1] is the only interval.
    yield from search.descend()
    # Each pass replaces a part by at least two, of which there are at most max_leaves, or ends the loop.
    while True:
        # Step 3.1: the interval of the smallest bound.
        bound, leaf = min(search.parts, key=itemgetter(0))
        near = search.value - bound <= tolerance * max(1.0, search.value)
        stop = "optimal" if near else "iteration-limit" if len(search.parts) >= max_leaves else ""
        leaves = len(search.parts)
        record = {"objective": search.value, "bound": bound, "share": search.share, "leaves": leaves}
        yield search.iterate(record, stop)
        if stop:
            return
        # Steps 3.2 and 3.3: its parts, and the hyperplanes of their programs.
        parts = yield from search.branch(leaf)
        search.parts = [part for part in search.parts if part[1] is not leaf] + parts


@loop
def scale_search(
    data: Dataset,
    penalty: GmebPenalty,
    *,
    tolerance: float = 1e-6,
    max_leaves: int = 1000,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise (10) globally by branch and bound over the share of its first norm term.

    The interval with the smallest lower bound is halved on either side of the incumbent's share. The hyperplane of
    every linear program, by :func:`fsopt.drivers.column_generation`, gives an upper bound, its value in (10).

    Parameters
    ----------
    data : features of unit root mean square suit the solver.
    penalty : of the same data, with the penalty weights C+ and C- of the problem.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_leaves : further stopping criterion.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After a limit the answer is
        feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the bounds meet and the certificate holds. The point holds ``w b``, the incumbent's
        ``share``, and ``leaves``, a list of ``ShareInterval`` that cover [0, 1].

    Raises
    ------
    SolverError : a linear program that was not solved, or a solver without multipliers.

    Notes
    -----
    Our method for Peleg & Meir, (10), which the transformation (14) does not make convex.
    """
    recorder, whole = Recorder([], run), ShareInterval(0.0, 1.0, 0.5, np.zeros((2, data.n)))
    search = _Search(data, penalty, recorder, [(0.0, whole)])
    at, stop = yield from run_loop(_bisect(search, tolerance, max_leaves), recorder)
    certificate = certify_scale_search(data, penalty, at.point["leaves"], at.objective, at.bound, tolerance)
    return recorder.end_certified(certificate, reason_to_stop(stop, certificate.residuals["gap"], tolerance), at.point)


def certify_scale_search(
    data: Dataset, penalty: GmebPenalty, leaves: Sequence[ShareInterval], upper: float, lower: float, tolerance: float
) -> Certificate:
    """Certify the bounds of (10): the leaves cover all shares, none has a bound below ``lower``, the gap is closed.

    Every number is recomputed from the leaves in numpy; no solver is asked.
    """
    reached = 0.0
    for leaf in sorted(leaves, key=lambda leaf: leaf.left):
        if leaf.left <= reached:
            reached = max(reached, leaf.right)
    proved = float(np.min([leaf.bound(data, penalty) for leaf in leaves])) if leaves else 0.0
    residuals = {"cover": float(not reached >= 1.0), "bound": float(np.maximum(lower - proved, 0.0))}
    return of_bounds(Kind.GLOBAL, residuals, upper, lower, tolerance=tolerance, source="leaves")
