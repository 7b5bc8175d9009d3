"""Driver ``column_generation``: exact l1-hinge programs of large data by small restricted master problems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.matrices import SMALL, divided
from fsopt.drivers.l1_hinge_program import L1Hinge, certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.drivers.working_set import add_violated
from fsopt.linear.first_order import PrimalDual, Saddle
from fsopt.linear.penalties import OneNorm
from fsopt.models.blocks import vector, whole
from fsopt.models.registry import build
from fsopt.typing import Mask, Vector

NEAR, FEW = 0.03, 1500
"""Gap and number of features at which restricted problems take over from primal-dual steps."""
CLOSED, TOLERANCE = 5e-7, 1e-9
"""Gaps at which these steps end, half the tolerance of a certificate, and at which the loop does."""
RECORDED = 0.9
"""Share of the gap at the last record at which there is another one."""
STALLED = 200
"""Sweeps without a smaller gap after which rounding has the last word."""
CROSSED = 1e-9
"""A margin beyond 1 by more than this contradicts the linear piece of the hinge that was assumed."""
ROUNDING = 1e-14
"""Improvements below this, relative, are rounding."""
GOOD = 0.75
"""Share of the predicted decrease with which a step is a good one: the assumed pieces were right almost everywhere."""
SMALLEST_RADIUS = 1e-5
"""Smallest radius, relative to the incumbent: below it only more samples in the restricted problem help."""
EDGE = 1e-6
"""A step that is shorter than the radius by less than this, relative, ends on the boundary of the region."""


@loop
def column_generation(
    data: Dataset,
    row_costs: ArrayLike,
    column_costs: ArrayLike,
    *,
    start: tuple[Vector, float] | None = None,
    rows: int | None = None,
    columns: int = 200,
    max_iterations: int = 500,
    seed: int = 0,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise an l1-hinge program by column and constraint generation, with a bound for all samples and features.

    .. math:: \min_{w, b}\ \sum_j c_j |w_j| + \sum_i d_i \max(0,\ 1 - y_i(w'x_i + b))

    A restricted master problem has some of the features, and the samples nearest to their margin at the incumbent.
    Every other sample is taken on the linear piece of its hinge at the incumbent: this bounds f from below, exactly at
    the incumbent. A trust region, a box around the incumbent, keeps the next iterate where the pieces are right; it
    grows while they are and shrinks where f did not fall. Samples that crossed to their other piece stay in the
    restricted problem until a step is good. Features of negative reduced cost, :math:`|X'Y\alpha|_j > c_j`, are added,
    where alpha is d_i or 0 for the samples outside. The loop ends when such an alpha proves the incumbent optimal.
    Features without a cost are all in the restricted problem from the start.

    Large sparse data come without a start first to :mod:`fsopt.linear.first_order`. Where its hyperplane has
    few features the restricted problems go on from there to the last digit; a linear program of many would not end,
    and the steps themselves go on.

    Parameters
    ----------
    data : all samples and features; they are centred and scaled inside.
    row_costs, column_costs : (n,) d >= 0 and (p,) c >= 0, penalty weights of the samples' losses and of the features.
    start : a hyperplane (w, b) to start from, for example the optimum for other weights; by default that of a random
        sample.
    rows : number of samples in the restricted master problem, at least 2; None is 1000 and 10 for each of its features.
    columns : >= 1, number of features with a cost in the first restricted master problem, and largest number added in
        an iteration.
    max_iterations : further stopping criterion.
    seed : of the random sample that gives the first hyperplane.
    run : solver (any for LP that returns multipliers), options, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.drivers.l1_hinge_program.certify_l1_hinge` holds;
        ``stop`` is ``stalled`` where rounding leaves nothing to add before the tolerance is met.

    Raises
    ------
    ParameterError : negative weights, weights or a start of the wrong length, rows < 2, columns < 1.
    SolverError : a restricted master problem was not solved, or without multipliers.
    """
    d = vector("column_generation", "row_costs", row_costs, data.n, low=0.0)
    c = vector("column_generation", "column_costs", column_costs, data.p, low=0.0)
    if rows is not None:
        whole("column_generation", "rows", rows, low=2, high=10**9)
    whole("column_generation", "columns", columns, low=1, high=10**9)
    w, b = np.zeros(data.p), 0.0
    if start is not None:
        w, b = vector("column_generation", "start", start[0], data.p), start[1]
    unit = float(d.max()) or 1.0
    program = L1Hinge.of(data, d / unit, c / unit)
    recorder = Recorder([], run)
    region = TrustRegion(program, unit, recorder, rows, columns, max_iterations)
    begin = None if start is None else program.scaled(w, b)
    at, stop = yield from run_loop(generate(region, begin, np.random.default_rng(seed)), recorder)
    w, b = program.raw(at.point["w"], at.point["b"])
    alpha = unit * at.point["alpha"]
    certificate = certify_l1_hinge(data, d, c, w, b, alpha)
    return recorder.end_certified(certificate, at.stop or stop, {"w": w, "b": b, "alpha": alpha})


def generate(region: TrustRegion, start: tuple[Vector, float] | None, random: np.random.Generator) -> Loop:
    """Yield the incumbents and bounds of restricted problems, from a hyperplane in the space of their program."""
    program = region.program
    # Step 1: a first hyperplane, its features, and those of negative reduced cost.
    region.begin(*((np.zeros(len(program.c)), 0.0) if start is None else start))
    yield region.iterate(within=True)
    sampled = False
    if start is None and not region.closed:
        if issparse(program.Z) and np.prod(program.Z.shape) > SMALL:
            if (yield from _approach(region)):
                return
        else:
            sampled = region.sample(random)
    yield region.iterate(record=sampled)
    # Each pass records an iteration, of which there are at most max_iterations.
    while not region.closed and region.iterations < region.max_iterations:
        # Steps 2.1 to 2.4, see TrustRegion.step.
        new = region.step()
        yield region.iterate("" if new else "stalled", record=True)
        if not new:
            return


def _approach(region: TrustRegion) -> Within[bool]:
    """Move by primal-dual steps until restricted problems are small, or to an end; return whether it is one."""
    steps, recorded = l1_hinge_steps(region.program), region.gap
    stale = 0
    while region.gap > CLOSED:
        before, (_, _, at) = region.gap, steps.sweep()[0]
        region.take(at.w, at.b, at.alpha)
        stale = 0 if region.gap < before else stale + 1
        near = region.gap <= RECORDED * recorded
        recorded = region.gap if near else recorded
        small = region.gap <= NEAR and region.columns.sum() <= FEW
        stop = "stalled" if stale > STALLED and not small else ""
        yield replace(region.iterate(record=near), stop=stop)
        if small or stop:
            return not small
    yield region.iterate("optimal")
    return True


def l1_hinge_steps(program: L1Hinge) -> PrimalDual:
    """Return the primal-dual steps of an l1-hinge program, whose proximal step shrinks each weight, from 0."""

    def ends(pair: Saddle) -> tuple[float, float]:
        margins = program.margins(pair.w, pair.b)
        b = program.best_intercept(margins, pair.b)
        value = program.value(pair.w, margins + (b - pair.b) * program.y)
        return program.bound(pair.alpha)[2], value

    n, p = program.Z.shape
    return PrimalDual(
        program.Z.T, program.y, program.d, OneNorm(program.c).shrunk, ends, Saddle(np.zeros(p), 0.0, np.zeros(n))
    )


@dataclass
class TrustRegion:
    """The incumbent, the best bound, and the features and samples of the next restricted master problem.

    All values are in the program's own units: ``unit`` is the weight that is 1 there. ``margins`` (n,) are those of the
    incumbent, ``columns`` (p,) the features of the restricted problem, ``crossed`` (n,) the samples that a step took
    across the kink of their hinge, ``radius`` half the edge of the box around (w, b), and ``size`` the number of
    samples in the last restricted problem.
    """

    program: L1Hinge
    unit: float
    recorder: Recorder
    rows: int | None
    most: int
    max_iterations: int
    w: Vector = field(init=False)
    b: float = 0.0
    margins: Vector = field(init=False)
    value: float = np.inf
    alpha: Vector = field(init=False)
    bound: float = 0.0
    columns: Mask = field(init=False)
    crossed: Mask = field(init=False)
    radius: float = 1.0
    iterations: int = 0
    size: int = 0

    def begin(self, w: Vector, b: float) -> None:
        """Start from a hyperplane: its features, those without a cost, and those of the steepest descent at w = 0."""
        program = self.program
        self.alpha, self.crossed = np.zeros(len(program.y)), np.zeros(len(program.y), dtype=bool)
        self._move(w, b)
        self.columns = (program.c == 0.0) | (w != 0)
        if not add_violated(self.columns, program.bound(program.d)[1], self.most):
            self.columns[0] = True
        self._reset_radius()
        self.size = len(program.y)

    @property
    def closed(self) -> bool:
        """Whether the optimality gap is within the tolerance."""
        return self.gap <= TOLERANCE

    @property
    def gap(self) -> float:
        """Optimality gap, relative in the units of the weights given."""
        return relative_gap(self.unit * self.value, self.unit * self.bound)

    @property
    def sample_size(self) -> int:
        """The number of samples in the restricted problem."""
        return 1000 + 10 * int(self.columns.sum()) if self.rows is None else self.rows

    def _reset_radius(self) -> None:
        """Set the radius to half the statistical error of a hyperplane of a sample, sqrt(features / samples) of w."""
        share = float(self.columns.sum()) / self.sample_size
        self.radius = 0.5 * max(float(np.abs(self.w).max()), 0.1) * share**0.5

    def _move(self, w: Vector, b: float) -> bool:
        """Take over weights, with their best intercept, if they improve the incumbent."""
        program = self.program
        margins = program.margins(w, b)
        best = program.best_intercept(margins, b)
        margins += (best - b) * program.y
        value = program.value(w, margins)
        if value >= self.value - ROUNDING * max(1.0 / self.unit, abs(value)):
            return False
        self.w, self.b = w, best
        self.margins, self.value = margins, value
        return True

    def sample(self, random: np.random.Generator) -> bool:
        """Move to the hyperplane of a random sample of each class, if it has fewer samples; return whether it has."""
        program, counted = self.program, self.program.d > 0
        if self.sample_size >= counted.sum():
            return False
        costs = np.zeros_like(program.d)
        for sign in (1.0, -1.0):
            members = np.flatnonzero(counted & (program.y == sign))
            size = max(1, round(self.sample_size * len(members) / counted.sum()))
            drawn = random.choice(members, size, replace=False)
            costs[drawn] = program.d[drawn] * (program.d[members].sum() / program.d[drawn].sum())
        self._move(*self._solve(costs > 0, costs, np.zeros_like(costs), None)[:2])
        self._reset_radius()
        self.size = int((costs > 0).sum())
        return True

    def step(self) -> bool:
        """Solve one restricted problem and take over its bound, features and hyperplane; return whether any was new."""
        program = self.program
        kept = self._samples()
        # A sample that is left out is linear: its multiplier is d_i where its hinge is positive, else 0. Where none is
        # left out the restricted problem is exact, and needs no box.
        left = np.where(kept, 0.0, program.d)
        fixed = np.where(self.margins < 1, left, 0.0)
        radius = self.radius if left.any() else None
        w, b, alpha = self._solve(kept, program.d, fixed, radius)
        margins = program.margins(w, b)
        # The model falls below f by d_i times the distance by which a margin is beyond the kink of its linear piece.
        excess = np.where(left > 0, np.where(fixed > 0, margins - 1, 1 - margins), 0.0)
        crossed = excess > CROSSED
        model = program.value(w, margins) - float(left @ np.maximum(excess, 0.0))
        added = add_violated(self.columns, self._raise_bound(alpha), self.most)
        before, length = self.value, max(float(np.abs(w - self.w).max()), abs(b - self.b))
        moved = self._move(w, b)
        at_edge = radius is not None and length >= (1 - EDGE) * radius
        good = moved and before - self.value >= GOOD * (before - model)
        if moved:
            # The model held up to the boundary: the next minimum may lie beyond it.
            self.radius *= 2.0 if at_edge and good else 1.0
        elif crossed.any():
            # The model is wrong within the length of the step. Below the smallest radius a smaller box only delays:
            # the samples that crossed enter the restricted problem anyway.
            size = max(1.0, float(np.abs(self.w).max()), abs(self.b))
            self.radius = max(min(self.radius, length) / 3, SMALLEST_RADIUS * size)
        elif at_edge:
            # The model is exact where the step ended, and f did not fall: the box is too small to leave rounding.
            self.radius *= 4.0
        # After a good step the pieces at the new incumbent are trusted. After a bad one every sample that has crossed
        # since the last good step stays in the restricted problem, so that the same step cannot come back.
        self.crossed = self._largest_errors(excess) if good else self.crossed | self._largest_errors(excess)
        self.size = int(kept.sum())
        return moved or added or at_edge or bool(crossed.any())

    def _largest_errors(self, beyond: Vector) -> Mask:
        """Return the samples that crossed, at most as many as the restricted problem has: those of largest error."""
        mask = beyond > CROSSED
        if mask.sum() > self.sample_size:
            error = self.program.d * beyond
            mask = error > np.partition(error, -self.sample_size)[-self.sample_size]
        return mask

    def _samples(self) -> Mask:
        """Return the samples of the next restricted problem: those that crossed, and the nearest to margin 1."""
        program = self.program
        near = np.where(program.d > 0, np.abs(self.margins - 1.0) / program.reach, np.inf)
        near[self.crossed | (near <= CROSSED)] = -1.0
        count = self.sample_size + int(np.sum(near < 0))
        kept = np.ones(len(near), dtype=bool)
        if count < len(near):
            kept[np.argpartition(near, count)[count:]] = False
        for sign in (1.0, -1.0):
            members = np.flatnonzero(program.y == sign)
            kept[members[np.argmin(near[members])]] = True
        return kept

    def take(self, w: Vector, b: float, alpha: Vector) -> None:
        """Take over a hyperplane and the bound of multipliers (n,) where they are better, with the features it has."""
        self._move(w, b)
        self._raise_bound(alpha)
        self.columns = (self.program.c == 0.0) | (self.w != 0)
        self._reset_radius()

    def _raise_bound(self, alpha: Vector) -> Vector:
        """Take over the bound of multipliers if it is the largest so far; return the excess (p,) of the features."""
        alpha, excess, bound = self.program.bound(alpha)
        if bound > self.bound:
            self.alpha, self.bound = alpha, bound
        return excess

    def _solve(self, kept: Mask, costs: Vector, fixed: Vector, radius: float | None) -> tuple[Vector, float, Vector]:
        """Return hyperplane and multipliers (n,) of a restricted problem; those of the other samples are fixed."""
        program, columns = self.program, np.flatnonzero(self.columns)
        y = program.y[kept]
        part = Dataset(divided(program.Z[np.ix_(np.flatnonzero(kept), columns)], np.ones(len(columns)), y), y)
        box = {} if radius is None else {"radius": radius, "center": np.append(self.w[columns], self.b)}
        offset = np.append((fixed @ program.Z)[columns], fixed @ program.y)
        weights = {"row_costs": costs[kept], "column_costs": program.c[columns]}
        model = build("l1-hinge-part", part, offset=offset, **weights, **box)
        session = self.recorder.run.open(model)
        self.recorder.renew(session)
        point, duals = self.recorder.multipliers(session, "a restricted program", checked=False, certify=False)
        # The restricted problem is posed as its dual, a maximisation with a constraint for each feature: in the
        # minimisation form its multipliers are minus the weights.
        w, alpha = np.zeros(len(program.c)), fixed.copy()
        w[columns] = -duals[session.rows(model.columns)]
        alpha[kept] = point.x[session.columns(model.alpha)]
        return w, -float(duals[session.rows(model.balance)][0]), alpha

    def iterate(self, stop: str = "", *, record: bool = False, within: bool = False) -> Iterate:
        """Return the incumbent as an iterate, with values in the units of the weights given."""
        value, bound = self.unit * self.value, self.unit * self.bound
        point = {"w": self.w, "b": self.b, "alpha": self.alpha}
        stop = "optimal" if self.closed else stop
        if not record:
            return Iterate(value, point, bound, stop=stop, within=within)
        self.iterations += 1
        fields = {"objective": value, "bound": bound, "rows": self.size, "columns": int(self.columns.sum())}
        return Iterate(value, point, bound, record=fields, stop=stop)
