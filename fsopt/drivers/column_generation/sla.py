"""SLA on data too large for one linear program: each step is solved by small ones of some rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from fsopt.certificates.certificate import Kind, make
from fsopt.data import Dataset
from fsopt.drivers.column_generation.driver import GenerationSettings, column_generation
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run
from fsopt.drivers.sla import RESTARTS, ROUNDING
from fsopt.models.blocks import whole
from fsopt.models.sla.step_function import step_costs
from fsopt.results import DriverResult, Status
from fsopt.typing import Vector

EARLY = ("time-limit", "interrupted")
"""Reasons for which the whole search ends."""


@dataclass(frozen=True)
class ConcaveHinge:
    r"""A problem of paper 3 as a function of the errors :math:`e_i` of a plane and of :math:`|w_j|`.

    .. math::

        f(w, b) = \sum_i r_i\,\phi(e_i) + \omega \sum_j (1 - e^{-\alpha |w_j|}), \qquad
        \phi(e) = e \ \text{or}\ 1 - e^{-\alpha e}

    Attributes
    ----------
    rows : (n,) weights r >= 0 of the errors.
    alpha : steepness.
    omega : weight of the features.
    counted : whether errors are counted, :math:`\phi(e) = 1 - e^{-\alpha e}`, rather than summed.
    """

    rows: Vector
    alpha: float
    omega: float
    counted: bool

    def value(self, errors: Vector, sizes: Vector) -> float:
        """Return f at errors (n,) and sizes (p,) of the weights."""
        phi = -np.expm1(-self.alpha * errors) if self.counted else errors
        return float(self.rows @ phi) - self.omega * float(np.expm1(-self.alpha * sizes).sum())

    def slopes(self, errors: Vector, sizes: Vector) -> tuple[Vector, Vector]:
        """Return the gradient: costs of the errors (n,) and of the sizes (p,)."""
        rows = self.rows * (step_costs(self.alpha, errors) if self.counted else 1.0)
        return rows, self.omega * step_costs(self.alpha, sizes)


@dataclass
class _Descent:
    """One run: its last plane, its value there, and the multipliers of the step that ended it."""

    data: Dataset
    problem: ConcaveHinge
    start: int
    step: Callable[..., DriverResult]
    recorder: Recorder
    how: Run
    tolerance: float
    w: Vector = field(default_factory=lambda: np.zeros(0))
    b: float = 0.0
    value: float = np.inf
    alpha: Vector | None = None
    principle: float = np.inf
    stop: str = "iteration-limit"

    def run(self, errors: Vector, sizes: Vector, max_iterations: int) -> None:
        """Iterate from the linearisation at errors and sizes, which need not belong to a plane."""
        plane = None
        for _ in range(max_iterations):
            d, c = self.problem.slopes(errors, sizes)
            found = self.step(d, c, start=plane, run=self.recorder.rest())
            self.recorder.include(found)
            w, b = found.point["w"], found.point["b"]
            new = np.maximum(1.0 - self.data.y * (self.data.X @ w + b), 0.0), np.abs(w)
            value, here = self.problem.value(*new), np.inf
            if plane is not None:
                here = float(d @ errors + c @ sizes)
                least = -np.inf if found.bound is None else found.bound
                self.principle, self.alpha = max(here - least, 0.0) / (1.0 + abs(here)), found.point["alpha"]
            self.recorder.record(start=self.start, objective=value, principle=self.principle, rounds=found.iterations)
            if plane is not None and float(d @ new[0] + c @ new[1]) >= here - self.tolerance * (1.0 + abs(here)):
                self.stop = "stationary" if found.status is Status.OPTIMAL else found.stop
                return
            self.w, self.b, self.value, self.principle, self.alpha = w, b, value, np.inf, None
            plane, (errors, sizes) = (w, b), new
            if found.stop in EARLY or self.recorder.expired:
                self.stop = found.stop if found.stop in EARLY else "time-limit"
                return


def sla_by_column_generation(
    data: Dataset,
    problem: ConcaveHinge,
    *,
    n_starts: int = 1,
    seed: int = 0,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise a problem of paper 3 by successive linearisation, each step by :func:`generate`.

    The step at a plane has the costs ``problem.slopes`` of its errors and weights, starts from that plane, and comes
    with a bound that holds for all rows and columns; a plane whose own step cannot go below it by more than the
    tolerance satisfies the minimum principle. What a step returns is optimal but need not be a vertex of the whole
    program; every step still descends.

    Parameters
    ----------
    data : all rows and columns.
    n_starts, seed, tolerance, max_iterations, time_limit : as in :func:`fsopt.drivers.sla.sla`: the first run starts
        from no errors and no weights, the others from U(0, 1), and runs are added where the first ends at w = 0.
    solver, options : of the restricted programs.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b``, the multipliers ``alpha`` (n,) of the last step, by which
        :func:`fsopt.drivers.column_generation.l1_hinge_program.certify_l1_hinge` recomputes the minimum principle, and ``starts``, what each
        run reached. ``stationary`` where it holds, else ``feasible``. ``history`` has one record for each step.

    Raises
    ------
    ParameterError : n_starts < 1 or seed < 0, or one that is no whole number.
    SolverError : a restricted program was not solved.

    Notes
    -----
    Paper 3, Algorithm 4.1, for the data sizes of section 6 and beyond.
    """
    n_starts = whole("sla", "n_starts", n_starts, low=1, high=10**6)
    rng = np.random.default_rng(whole("sla", "seed", seed, low=0, high=2**32 - 1))
    recorder = Recorder([], run)
    step = partial(column_generation, data, settings=GenerationSettings(seed=seed))
    runs: list[_Descent] = []
    while len(runs) < n_starts:
        errors, sizes = np.zeros(data.n), np.zeros(data.p)
        if runs:
            errors, sizes = rng.uniform(size=data.n), rng.uniform(size=data.p)
        runs.append(_Descent(data, problem, len(runs), step, recorder, run, tolerance))
        runs[-1].run(errors, sizes, max_iterations)
        if runs[0].stop == "stationary" and np.abs(runs[0].w).max() <= ROUNDING:
            n_starts = max(n_starts, 1 + RESTARTS)
        if runs[-1].stop in EARLY:
            break
    best = min(runs, key=lambda descent: descent.value)
    certificate = make(Kind.SLA, {"minimum principle": best.principle}, tolerance=max(1e-7, 10 * tolerance))
    status = Status.STATIONARY if best.stop == "stationary" and certificate.ok else Status.FEASIBLE
    starts = [{"objective": d.value} for d in runs if np.isfinite(d.value)]
    point = {"w": best.w, "b": best.b, "alpha": best.alpha, "starts": starts}
    stop = runs[-1].stop if runs[-1].stop in EARLY else best.stop
    return recorder.end(status, stop, objective=best.value, point=point, certificate=certificate)
