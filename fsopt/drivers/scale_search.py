r"""Driver ``scale_search``: the global optimum of penalised GMEB (10) by linear programs on intervals of shares.

The best scales for a hyperplane leave one number open, the share rho in (0, 1) of the first norm term in the penalty
(:class:`fsopt.models.gmeb.gmeb_penalised.GmebPenalty`). On an interval :math:`[l, r]`, with :math:`\rho_0` in it and
:math:`D(w) = \sum_j |w_j| u_j'(\rho_0)`, convexity of u gives

.. math::

    \sum_j |w_j| u_j(\rho) \ge \sum_j |w_j| u_j(\rho_0) + (\rho - \rho_0) D(w)
    \ge \sum_j |w_j| \big(u_j(\rho_0) + (e - \rho_0) u_j'(\rho_0)\big), \qquad
    e = \begin{cases} l & D(w) \ge 0 \\ r & D(w) \le 0 \end{cases}

two linear programs for each interval, whose error is of the second order in its length. Column generation solves them
without the constraint on the sign of D, on which the smaller of the two optima does not depend: the optimum with the
weights :math:`u_j(\rho_0) + t\,u_j'(\rho_0)` is concave in t, and over :math:`t \le l - \rho_0` and
:math:`t \ge r - \rho_0`, where the constraints take its maxima, the smaller maximum is at one of these ends.

By the duals of the programs, every mu in
:math:`[0, 1/n]^n` with :math:`y'\mu = 0` and every multiplier :math:`\lambda \ge 0` of the constraint on D with

.. math:: |X'Y\mu|_j \le u_j(\rho_0) + (e - \rho_0 \mp \lambda)\, u_j'(\rho_0)

(minus for l, plus for r) prove that (10) is at least :math:`1'\mu` for these hyperplanes and shares, which numpy
verifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, closed
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import of_bounds
from fsopt.common.clock import uninterrupted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.agreement import check_margins
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty as GmebPenalty
from fsopt.models.gmeb.gmeb_penalised import linearise
from fsopt.solvers.base import Session
from fsopt.typing import Vector

IMPROVEMENT = 1e-12
"""Decrease, relative, below which the local search for a first incumbent ends: above rounding."""
MARGIN = 1e-9
"""Distance from 0 and 1 of the shares at which a linear program is solved: there the weights u are infinite."""


@dataclass(frozen=True)
class ShareInterval:
    """An interval of shares, and the multipliers behind a lower bound on (10) there, at its left and its right end.

    The field names are keys of saved fits. The weights are linearised at ``share``; ``lam`` (2,) are the multipliers of
    the constraint on D, ``mu`` (2, n) those of the margins.
    """

    left: float
    right: float
    share: float
    lam: Vector
    mu: Vector

    def bound(self, data: Dataset, penalty: GmebPenalty) -> float:
        r"""Return the lower bound on (10) for the shares of the interval.

        The multipliers are those of a solver, feasible up to its tolerance: mu is projected onto its bounds and the
        balance, and a violation of at most :math:`\delta` times the costs without lambda turns :math:`1'\mu` into
        :math:`1'\mu/(1+\delta)`, the value of the convex combination with mu = 0 that is feasible.
        """
        if not 0.0 < self.share < 1.0:
            return 0.0
        u, slopes = penalty.weights(self.share), penalty.slopes(self.share)
        values = []
        ends = ((self.left, -1.0), (self.right, 1.0))
        for (end, outward), lam, multipliers in zip(ends, self.lam, self.mu, strict=True):
            costs = u + (end - self.share) * slopes
            if costs.min() <= 0.0:
                return 0.0
            mu = project_multipliers(multipliers, data.y, 1.0 / data.n)
            excess = np.abs(data.X.T @ (mu * data.y)) - costs - outward * max(lam, 0.0) * slopes
            values.append(mu.sum() / (1.0 + max((excess / costs).max(), 0.0)))
        return float(np.min(values))


@dataclass
class _Search:
    """The linear programs of the branch and bound, the incumbent, and the intervals, each with its bound."""

    data: Dataset
    penalty: GmebPenalty
    session: Session | None
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

    def solve(self, share: float, end: float) -> Within[tuple[float, Vector]]:
        """Solve the linear program of one end, and return the multipliers of its constraint on D and of its margins."""
        if self.session is None:
            return (yield from self._generate(share, end))
        session, m = self.session, self.session.model
        linearise(m, self.penalty, share, end)
        session.update(m.objective, m.side)
        point, y = self.recorder.multipliers(session, "a program with a weighted one-norm")
        self._update_incumbent(point.x[session.columns(m.w_plus)] - point.x[session.columns(m.w_minus)])
        yield self.iterate()
        return float(y[session.rows(m.side)][0]), y[session.rows(m.margin)]

    def _generate(self, share: float, end: float) -> Within[tuple[float, Vector]]:
        """Return the same by column generation, without the constraint on D, from the incumbent."""
        n, start = self.data.n, (self.w, self.b) if len(self.w) else None
        costs = np.maximum(self.penalty.weights(share) + (end - share) * self.penalty.slopes(share), 0.0)
        found = column_generation(self.data, np.full(n, 1.0 / n), costs, start=start, run=self.recorder.rest())
        self.recorder.include(found)
        self._update_incumbent(found.point["w"])
        yield self.iterate()
        return 0.0, uninterrupted(found).point["alpha"]

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
        lam_left, mu_left = yield from self.solve(share, left)
        lam_right, mu_right = yield from self.solve(share, right)
        new = ShareInterval(left, right, share, np.array([lam_left, lam_right]), np.array([mu_left, mu_right]))
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
    model: pyo.ConcreteModel | None,
    penalty: GmebPenalty,
    *,
    tolerance: float = 1e-6,
    max_leaves: int = 1000,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise (10) globally by branch and bound over the share of its first norm term.

    The interval with the smallest lower bound is halved on either side of the incumbent's share. The hyperplane of
    every linear program gives an upper bound, its value in (10).

    Parameters
    ----------
    data : the data set that the model was built from; features of unit root mean square suit the solver.
    model : from :func:`fsopt.models.gmeb.gmeb_penalised.build_gmeb_weighted_l1`; its parameters are changed. None
        solves the linear programs by :func:`fsopt.drivers.column_generation`, for large data.
    penalty : of the same data, with the penalty weights C+ and C- of the problem; those of the model do not matter.
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
    ParameterError : a model of other data.
    SolverError : a linear program that was not solved, or a solver without multipliers.

    Notes
    -----
    Our method for Peleg & Meir, (10), which the transformation (14) does not make convex.
    """
    session = None if model is None else run.open(model)
    if session is not None:
        check_margins("scale_search", session, data)
    parts = [(0.0, ShareInterval(0.0, 1.0, 0.5, np.zeros(2), np.zeros((2, data.n))))]
    recorder = Recorder([] if session is None else [session], run)
    loop = _bisect(_Search(data, penalty, session, recorder, parts), tolerance, max_leaves)
    at, stop = yield from run_loop(loop, recorder)
    certificate = certify_scale_search(data, penalty, at.point["leaves"], at.objective, at.bound, tolerance)
    return recorder.end_certified(certificate, closed(stop, certificate.residuals["gap"], tolerance), at.point)


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
