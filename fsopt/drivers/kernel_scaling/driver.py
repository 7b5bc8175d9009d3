"""Driver ``kernel_scaling``: problem (15) of Bi, locally by Frank-Wolfe steps, or globally by linear programs alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fsopt.answers.certificate import closed
from fsopt.answers.results import DriverResult
from fsopt.certificates.kernel_scaling.problem import ScalingProblem as ScalingProblem
from fsopt.certificates.points import relative_gap
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling.outer_approximation import OuterApproximation, lower_hull
from fsopt.drivers.kernel_scaling.programs import WholeProgram
from fsopt.drivers.loop import Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number, vector
from fsopt.models.mop.kernel_scaling import build_kernel_scaling_step

SCALINGS = ("local", "global")
FRONTIER = "frontier"


@loop
def kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike,
    b: float,
    e_cap: float | None = None,
    c: float = 0.0,
    scaling: str = "global",
    tolerance: float = 1e-6,
    max_programs: int = 1000,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise the product of squared radius and squared norm over the scales of the features, problem (15).

    .. math::

        \min_{s, \xi \ge 0} R(s)\,W(s) + c\,e's \quad\text{s.t.}\quad
        y_i\Big(\sum_j s_j w_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad e'\xi \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    A local search takes Frank-Wolfe steps from s = e: linear programs with the weights (W, R) of the last iterate on
    (R, W). A global search continues with further programs. For c = 0 the optimum is a vertex of the frontier of
    (R, W): the programs prove an outer polygon of it, which is refined below the chord over its vertex with the
    smallest product. For c > 0 programs at single radii (R bounded, W with the weight R) bound the value as a function
    of the radius, see :mod:`fsopt.certificates.kernel_scaling.bounds`; the radius with the smallest bound comes next.

    Parameters
    ----------
    data : the samples.
    w, b : (p,) and scalar, the hyperplane.
    e_cap : E >= 0; the hinge loss of the hyperplane by default.
    c : >= 0, cost of each scale.
    scaling : ``global`` (default), ``local``, or ``frontier``: global, and all vertices of the frontier of (R, W), not
        only those that the certificate needs.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_programs : largest number of linear programs.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After a limit the answer is
        feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the cuts close the gap, verified numerically; ``stationary`` for a local answer whose
        first-order condition holds; else ``feasible``. The point holds ``s``, ``radius`` R, ``capacity`` W,
        ``frontier`` (k, 2), the vertices (R, W) that were found, and the ``cuts`` behind the bound.

    Raises
    ------
    ParameterError : another word for scaling, a vector of the wrong length, or a number outside its range.
    SolverError : a linear program that was not solved (no scales reach E), or a solver without multipliers.

    Notes
    -----
    Bi, problem (15), linear kernel; its text has a local solver for it. R is the squared radius.
    """
    check_scaling("kernel_scaling", scaling, (*SCALINGS, FRONTIER))
    weights = vector("kernel_scaling", "w", w, data.p)
    b = number("kernel_scaling", "b", b)
    c = number("kernel_scaling", "c", c)
    risk = hinge(data.X @ weights + b, data.y) if e_cap is None else number("kernel_scaling", "e_cap", e_cap)
    problem = ScalingProblem(data, weights, b, risk, np.full(data.p, c), np.full(data.p, True))
    session = run.open(build_kernel_scaling_step(data, w=weights, b=b, e_cap=risk, c=c))
    recorder = Recorder([session], run)
    search = OuterApproximation(problem, WholeProgram(session, recorder))
    search.load(np.ones(data.p))
    _, stop = yield from run_loop(scale(search, scaling, tolerance, max_programs), recorder)
    status, bound, certificate = search.certified(scaling, tolerance)
    if bound is not None:
        stop = closed(stop, relative_gap(search.value, bound), tolerance)
    radius, capacity = problem.size(search.s)
    point = {
        "s": search.s,
        "radius": radius,
        "capacity": capacity,
        "frontier": lower_hull(search.points),
        "cuts": search.cuts,
    }
    return recorder.end(status, stop, objective=search.value, bound=bound, point=point, certificate=certificate)


def scale(search: OuterApproximation, scaling: str, tolerance: float, max_programs: int) -> Loop:
    """Yield the incumbents of (15), first the scales that were loaded, if they are one."""
    yield search.iterate()
    yield from rescale(search, scaling, tolerance, max_programs)


def rescale(search: OuterApproximation, scaling: str, tolerance: float, max_programs: int) -> Loop:
    """Yield the incumbents of (15) from the scales that were loaded."""
    # Frank-Wolfe steps on (R, W).
    yield from search.start()
    if scaling == "local":
        record = {"objective": search.value, "linear_programs": search.programs}
        yield search.iterate(record, "settled")
        return
    # Cuts below the frontier of (R, W), until they prove the incumbent optimal; then its other vertices.
    stop = yield from search.close_gap(tolerance, max_programs)
    if scaling == FRONTIER:
        stop = (yield from search.find_frontier(max_programs)) or stop
    yield search.iterate(stop=stop)


def check_scaling(name: str, scaling: str, words: Sequence[str] = SCALINGS) -> None:
    """Raise ParameterError for a word that is no way of solving (15)."""
    word(f"parameter 'scaling' of '{name}'", scaling, words)
