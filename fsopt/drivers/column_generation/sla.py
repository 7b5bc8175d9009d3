"""Driver ``sla_by_column_generation``: SLA on large data, each linear program by restricted master problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.results import DriverResult, Status
from fsopt.data import Dataset
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.trust_region import GenerationSettings
from fsopt.drivers.loop import Iterate, Loop
from fsopt.drivers.penalties import Penalty, approximation, step_costs
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.drivers.sla import best_vertex
from fsopt.models.blocks import number, vector, whole
from fsopt.models.sla.hyperplane import step_costs as exponential_costs
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
    approx : phi, of :mod:`fsopt.drivers.penalties` or your own; by default the paper's 1 - exp(-alpha t).
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


def _descend(
    data: Dataset,
    problem: ConcaveHinge,
    recorder: Recorder,
    errors: Vector,
    sizes: Vector,
    *,
    settings: GenerationSettings,
    tolerance: float,
    max_iterations: int,
    start: int,
) -> Loop:
    """Yield the hyperplanes of SLA, from the linearisation at errors and sizes that need not belong to one."""
    hyperplane, value = None, np.inf
    point = dict[str, Any]()
    for _ in range(max_iterations):
        # Step 2.1: a hyperplane that minimises the linearisation at the last iterate.
        d, c = problem.slopes(errors, sizes)
        found = column_generation(data, d, c, start=hyperplane, settings=settings, run=recorder.rest())
        recorder.include(found)
        w, b = found.point["w"], found.point["b"]
        new_errors, new_sizes = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0), np.abs(w)
        new_value, principle = problem.value(new_errors, new_sizes), np.inf
        ends = False
        # Step 2.2, as in :func:`fsopt.drivers.sla.descend`.
        if hyperplane is not None:
            here = float(d @ errors + c @ sizes)
            # Judged by the bound for all samples and features, not by the hyperplane that the step ended at.
            bound = -np.inf if found.bound is None else found.bound
            principle = max(here - bound, 0.0) / (1.0 + abs(here))
            ends = float(d @ new_errors + c @ new_sizes) >= here - tolerance * (1.0 + abs(here))
        if not ends:
            errors, sizes = new_errors, new_sizes
            value = new_value
            hyperplane, point = (w, b), {"w": w, "b": b, "alpha": None}
        stop = found.stop if found.stop in EARLY else ""
        if ends:
            stop = "stationary" if found.status is Status.OPTIMAL else found.stop
            point = {**point, "alpha": found.point["alpha"]}
        evidence = {"principle": principle if ends else np.inf}
        record = {"start": start, "objective": new_value, "principle": principle, "rounds": found.iterations}
        yield Iterate(value, point, evidence=evidence, record=record, stop=stop)
        if stop:
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
) -> Steps[DriverResult]:
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
        ``starts``, the same and the ``objective`` for each run. ``stationary`` where the minimum principle holds;
        ``optimal``, with the bound 0, where the value is 0; else ``feasible``. ``history`` has a record of each step.

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
    how: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}

    def descents(k: int) -> Loop:
        errors, sizes = np.zeros(data.n), np.zeros(data.p)
        if k:
            errors, sizes = rng.uniform(size=data.n), rng.uniform(size=data.p)
        return _descend(data, problem, recorder, errors, sizes, settings=GenerationSettings(seed=seed), start=k, **how)

    return (yield from best_vertex(descents, 0.0, recorder, n_starts=n_starts, tolerance=tolerance))
