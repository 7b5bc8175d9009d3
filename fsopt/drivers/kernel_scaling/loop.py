"""Kernel scaling: problem (15) of paper 5, locally by Frank-Wolfe steps, or globally by linear programs alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling.proof import ScalingProblem
from fsopt.drivers.kernel_scaling.search import Search, lower_hull
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector
from fsopt.models.mop.kernel_scaling_step import build_kernel_scaling_step
from fsopt.results import DriverResult

SCALINGS = ("local", "global")
FRONTIER = "frontier"


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
) -> DriverResult:
    r"""Minimise the product of squared radius and squared norm over the scales of the features, problem (15).

    .. math::

        \min_{s, \xi \ge 0} R(s)\,W(s) + c\,e's \quad\text{s.t.}\quad
        y_i\Big(\sum_j s_j w_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad e'\xi \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    Locally: linear programs with the prices (W, R) of the last point, from s = e. Globally, after that, by more of
    the same programs. With c = 0 the optimum is a vertex of the frontier of (R, W): the outer polygon that the
    programs prove is refined below the chord over its vertex of least product. With c > 0 the programs at single radii
    (R bounded, W at the price R) bound the whole function of the radius, see
    :mod:`fsopt.drivers.kernel_scaling.proof`; the radius of the least bound comes next.

    Parameters
    ----------
    data : the rows.
    w, b : (p,) and scalar, the plane.
    e_cap : E >= 0; the hinge loss of the plane by default.
    c : >= 0, price of the scales.
    scaling : ``global`` (default), ``local``, or ``frontier``: global, and all vertices of the frontier of (R, W), not
        only those that the certificate needs.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_programs, run.time_limit : further reasons to stop; the answer is then feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the proof was checked, ``stationary`` for a local answer whose first-order condition was,
        else ``feasible``. The point holds ``s``, ``radius`` R, ``capacity`` W, ``frontier`` (k, 2), the vertices
        (R, W) that were found, and the proof ``cuts``.

    Raises
    ------
    ParameterError : another word for scaling, a vector of the wrong length, or a number outside its range.
    SolverError : a linear program that was not solved (E cannot be reached), or a solver without multipliers.

    Notes
    -----
    Paper 5, problem (15), linear kernel; its text has a local solver for it. R is the squared radius.
    """
    check_scaling("kernel_scaling", scaling, (*SCALINGS, FRONTIER))
    weights = vector("kernel_scaling", "w", w, data.p)
    b = number("kernel_scaling", "b", b)
    c = number("kernel_scaling", "c", c, low=0.0)
    risk = hinge(data.X @ weights + b, data.y) if e_cap is None else number("kernel_scaling", "e_cap", e_cap, low=0.0)
    problem = ScalingProblem(data, weights, b, risk, np.full(data.p, c), np.full(data.p, True))
    session = run.open(build_kernel_scaling_step(data, w=weights, b=b, e_cap=risk, c=c))
    recorder = Recorder([session], run)
    search, stop = Search(problem, session, recorder, recording=True), "settled"
    try:
        search.start(np.ones(data.p))
        if scaling != "local":
            stop = search.close(tolerance, max_programs)
        else:
            recorder.record(objective=search.value, linear_programs=search.programs)
        if scaling == FRONTIER:
            search.whole()
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not np.isfinite(search.value):
            raise
        stop = stop_word(reason)
    status, bound, certificate = search.claim(scaling, tolerance)
    radius, capacity = problem.size(search.s)
    point = {
        "s": search.s, "radius": radius, "capacity": capacity, "frontier": lower_hull(search.points),
        "cuts": search.cuts,
    }  # fmt: skip
    return recorder.end(status, stop, objective=search.value, bound=bound, point=point, certificate=certificate)


def check_scaling(name: str, scaling: str, words: Sequence[str] = SCALINGS) -> None:
    """Raise ParameterError for a word that is no way of solving (15)."""
    if scaling not in words:
        raise ParameterError(f"parameter 'scaling' of '{name}' is {scaling!r}", f"one of {', '.join(words)}")
