"""Driver ``sla_by_column_generation``: SLA on large data, each linear program by restricted master problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from fsopt.answers.results import DriverResult, Status
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.settings import GenerationSettings
from fsopt.drivers.minimum_principle import certify_vertex, status_of
from fsopt.drivers.penalties.penalty import Penalty, step_costs
from fsopt.drivers.penalties.registry import approximation
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, loop
from fsopt.drivers.sla import RESTARTS, ROUNDING
from fsopt.models.blocks import number, vector, whole
from fsopt.models.sla.step_function import step_costs as exponential_costs
from fsopt.typing import Vector


@dataclass(frozen=True)
class ConcaveHinge:
    r"""A problem of Mangasarian, (20) or (21), in the errors :math:`e_i` of a hyperplane and :math:`|w_j|`.

    .. math::

        f(w, b) = \sum_i r_i\,\ell(e_i) + \omega \sum_j \varphi(|w_j|), \qquad
        e_i = \max(0, 1 - y_i(w'x_i + b)), \quad \ell(e) = e \ \text{or}\ 1 - e^{-\alpha e}

    Attributes
    ----------
    rows : (n,) weights r >= 0 of the errors.
    alpha : > 0, steepness.
    omega : >= 0, penalty weight of the features.
    counted : whether errors are counted, :math:`\ell(e) = 1 - e^{-\alpha e}`, rather than summed.
    approx : phi, of :mod:`fsopt.drivers.penalties.registry` or your own; by default the paper's 1 - exp(-alpha t).
    """

    rows: Vector
    alpha: float
    omega: float
    counted: bool
    approx: str | Penalty = "exp"

    def __post_init__(self) -> None:
        number("sla", "alpha", self.alpha)
        number("sla", "omega", self.omega)

    @property
    def penalty(self) -> Penalty:
        """The sum of phi."""
        return approximation(self.approx, self.alpha)

    def value(self, errors: Vector, sizes: Vector) -> float:
        """Return f at errors (n,) and sizes (p,) of the weights."""
        counts = -np.expm1(-self.alpha * errors) if self.counted else errors
        return float(self.rows @ counts) + self.omega * self.penalty.value(sizes)

    def slopes(self, errors: Vector, sizes: Vector) -> tuple[Vector, Vector]:
        """Return the gradient: costs of the errors (n,) and of the sizes (p,)."""
        rows = self.rows * (exponential_costs(self.alpha, errors) if self.counted else 1.0)
        return rows, self.omega * step_costs(self.penalty, sizes)


@dataclass
class _Descent:
    """One run of SLA: its last hyperplane, the value there, and the multipliers of the step that ended it."""

    data: Dataset
    problem: ConcaveHinge
    start: int
    step: Callable[..., DriverResult]
    recorder: Recorder
    tolerance: float
    w: Vector = field(default_factory=lambda: np.zeros(0))
    b: float = 0.0
    value: float = np.inf
    alpha: Vector | None = None
    principle: float = np.inf
    stop: str = "iteration-limit"

    def run(self, errors: Vector, sizes: Vector, max_iterations: int) -> None:
        """Iterate from the linearisation at errors and sizes, which need not belong to a hyperplane."""
        hyperplane = None
        for _ in range(max_iterations):
            d, c = self.problem.slopes(errors, sizes)
            found = self.step(d, c, start=hyperplane, run=self.recorder.rest())
            self.recorder.include(found)
            w, b = found.point["w"], found.point["b"]
            new_errors, new_sizes = np.maximum(1.0 - self.data.y * (self.data.X @ w + b), 0.0), np.abs(w)
            value = self.problem.value(new_errors, new_sizes)
            principle, ends = np.inf, False
            if hyperplane is not None:
                here = float(d @ errors + c @ sizes)
                # Judged by the bound for all samples and features, not by the hyperplane that the step ended at.
                bound = -np.inf if found.bound is None else found.bound
                principle = max(here - bound, 0.0) / (1.0 + abs(here))
                ends = float(d @ new_errors + c @ new_sizes) >= here - self.tolerance * (1.0 + abs(here))
            if ends:
                self.stop = "stationary" if found.status is Status.OPTIMAL else found.stop
                self.principle, self.alpha = principle, found.point["alpha"]
            else:
                self.w, self.b = w, b
                self.value = value
            try:
                self.recorder.record(start=self.start, objective=value, principle=principle, rounds=found.iterations)
            except KeyboardInterrupt:
                self.stop = "interrupted"
                return
            if ends:
                return
            hyperplane = (w, b)
            errors, sizes = new_errors, new_sizes
            if found.stop in EARLY or clock.expired():
                self.stop = found.stop if found.stop in EARLY else "time-limit"
                return


@loop
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
    r"""Minimise (20) or (21) by successive linearisation, each linear program by column generation.

    The step at a hyperplane has the costs ``problem.slopes`` of its errors and weights, starts from that hyperplane,
    and comes with a bound that holds for all samples and features: where the bound is not below the linearisation at
    the hyperplane by more than the tolerance, the minimum principle holds. The solution of a step is optimal but need
    not be a vertex of the whole program; every step still descends.

    Parameters
    ----------
    data : all samples and features.
    problem : (20) or (21) with its weights.
    n_starts, seed, tolerance, max_iterations : as in :func:`fsopt.drivers.sla`: the first run starts from no errors
        and no weights, the others from U(0, 1), and runs are added where the first ends at w = 0.
    run : solver and options of the restricted master problems, time limit of all runs, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b``, the multipliers ``alpha`` (n,) of the last step, by which
        :func:`fsopt.drivers.column_generation.l1_hinge_program.certify_l1_hinge` recomputes the minimum principle, and
        ``starts``, the ``objective`` of each run. ``stationary`` where the minimum principle holds; ``optimal``, with
        the bound 0, where the value is 0; else ``feasible``. ``history`` has one record for each step.

    Raises
    ------
    ParameterError : n_starts < 1 or seed < 0, or one that is no whole number; weights that are not n numbers >= 0.
    SolverError : a restricted master problem was not solved.

    Notes
    -----
    Mangasarian, Algorithm 4.1, for the data sizes of section 6 and beyond.
    """
    n_starts = whole("sla", "n_starts", n_starts)
    rng = np.random.default_rng(whole("sla", "seed", seed))
    vector("sla", "rows", problem.rows, data.n, low=0.0)
    recorder = Recorder([], run)
    step = partial(column_generation, data, settings=GenerationSettings(seed=seed))
    runs: list[_Descent] = []
    # Each pass appends a run, of which there are n_starts, or 1 + RESTARTS where that is more; a step ends in time.
    while len(runs) < n_starts:
        errors, sizes = np.zeros(data.n), np.zeros(data.p)
        if runs:
            errors, sizes = rng.uniform(size=data.n), rng.uniform(size=data.p)
        runs.append(_Descent(data, problem, len(runs), step, recorder, tolerance))
        runs[-1].run(errors, sizes, max_iterations)
        if runs[0].stop == "stationary" and np.abs(runs[0].w).max() <= ROUNDING:
            n_starts = max(n_starts, 1 + RESTARTS)
        if runs[-1].stop in EARLY:
            break
    best = min(runs, key=lambda descent: descent.value)
    certificate = certify_vertex(best.value, 0.0, best.principle, tolerance)
    status = status_of(certificate, stationary=best.stop == "stationary")
    starts = [{"objective": d.value} for d in runs if np.isfinite(d.value)]
    last = runs[-1].stop
    stop = "optimal" if status is Status.OPTIMAL else best.stop
    return recorder.end(
        status,
        last if last in EARLY else stop,
        objective=best.value,
        bound=certificate.bound,
        point={"w": best.w, "b": best.b, "alpha": best.alpha, "starts": starts},
        certificate=certificate,
    )
