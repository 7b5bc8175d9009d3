"""Driver ``column_generation``: exact l1-hinge programs of large data by small restricted master problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from fsopt.answers.results import DriverResult
from fsopt.data import Dataset
from fsopt.data.matrices import SMALL
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge, certify_l1_hinge
from fsopt.drivers.column_generation.trust_region import DEFAULT_SETTINGS, GenerationSettings, TrustRegion
from fsopt.drivers.loop import Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.linear.first_order import PrimalDual, Saddle
from fsopt.linear.penalties import OneNorm
from fsopt.models.blocks import vector
from fsopt.typing import Vector

NEAR, FEW = 0.03, 1500
"""Gap and number of features at which restricted problems take over from primal-dual steps."""
CLOSED = 5e-7
"""Gap at which these steps end: half the tolerance of a certificate."""
RECORDED = 0.9
"""Share of the gap at the last record at which there is another one."""
STALLED = 200
"""Sweeps without a smaller gap after which rounding has the last word."""


@loop
def column_generation(
    data: Dataset,
    row_costs: ArrayLike,
    column_costs: ArrayLike,
    *,
    start: tuple[Vector, float] | None = None,
    settings: GenerationSettings = DEFAULT_SETTINGS,
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
    settings : sizes and stopping criteria.
    run : solver (any for LP that returns multipliers), options, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.drivers.column_generation.l1_hinge_program.certify_l1_hinge`
        holds; ``stop`` is ``stalled`` where rounding leaves nothing to add before the tolerance is met.

    Raises
    ------
    ParameterError : negative weights, weights or a start of the wrong length, rows < 2, columns < 1, tolerance < 0.
    SolverError : a restricted master problem was not solved, or without multipliers.
    """
    d = vector("column_generation", "row_costs", row_costs, data.n, low=0.0)
    c = vector("column_generation", "column_costs", column_costs, data.p, low=0.0)
    settings.check()
    w, b = np.zeros(data.p), 0.0
    if start is not None:
        w, b = vector("column_generation", "start", start[0], data.p), start[1]
    unit = float(d.max()) or 1.0
    program = L1Hinge.of(data, d / unit, c / unit)
    recorder = Recorder([], run)
    region = TrustRegion(program, unit, settings, recorder, run)
    at, stop = yield from run_loop(generate(region, None if start is None else program.scaled(w, b)), recorder)
    w, b = program.raw(at.point["w"], at.point["b"])
    alpha = unit * at.point["alpha"]
    certificate = certify_l1_hinge(data, d, c, w, b, alpha)
    return recorder.end_certified(certificate, at.stop or stop, {"w": w, "b": b, "alpha": alpha})


def generate(region: TrustRegion, start: tuple[Vector, float] | None) -> Loop:
    """Yield the incumbents and bounds of restricted problems, in the space of their program.

    Parameters
    ----------
    region : before its first problem.
    start : a hyperplane in the space of its program; None for that of a random sample.
    """
    settings, program = region.settings, region.program
    # Step 1: a first hyperplane, its features, and those of negative reduced cost.
    region.begin(*((np.zeros(len(program.c)), 0.0) if start is None else start))
    yield region.iterate(within=True)
    sampled = False
    if start is None and not region.closed:
        if issparse(program.Z) and np.prod(program.Z.shape) > SMALL:
            if (yield from _approach(region)):
                return
        else:
            sampled = region.sample(np.random.default_rng(settings.seed))
    yield region.iterate(record=sampled)
    # Each pass records an iteration, of which there are at most max_iterations.
    while not region.closed and region.iterations < settings.max_iterations:
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
