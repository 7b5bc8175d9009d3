"""Method ``l0-mpm`` (paper 2): few features with a worst-case accuracy, by DCA."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from fsopt.data import Dataset
from fsopt.drivers.dca import dca
from fsopt.drivers.penalties import approximation
from fsopt.methods.common import Plane, Run, make_fit, proof, select
from fsopt.methods.mpm import THRESHOLD
from fsopt.methods.mpm_space import Space, asked_delta, worst_case
from fsopt.models.blocks import number
from fsopt.models.mpm import build_l0_mpm_step
from fsopt.results import Fit


def fit_l0_mpm(
    data: Dataset,
    run: Run,
    *,
    delta: float | None = None,
    approx: str = "exp",
    alpha: float = 5.0,
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
    unbiased: bool = False,
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    degree: int = 2,
) -> Fit:
    r"""Fit the sparse plane with worst-case accuracy delta by DCA (L0-MPM).

    .. math:: \min\ \sum_j \varphi(|w_j|) \quad\text{s.t. the worst-case accuracy is at least } \delta
        \text{ on both classes, and } w'\mu_1 - b \ge 1,\ b - w'\mu_2 \ge 1

    Parameters
    ----------
    delta, scale : as in :func:`fsopt.methods.mpm.fit_l1_mpm`.
    unbiased, ridge, kernel, width, degree : as in :func:`fsopt.methods.mpm.fit_mpm`; with a kernel, (54)-(58).
    approx : the approximation phi of the number of features: ``exp`` (the paper's), ``log``, ``capped-l1``, ``scad``
        or ``lp``; their formulas are in :mod:`fsopt.drivers.penalties`.
    alpha : > 0, steepness of the approximation.
    n_starts : >= 1, runs of DCA, of which the best is returned: the first from v = 0, whose first iterate is the
        L1-MPM plane, the others from random v.
    seed : >= 0, of the random starts.

    Returns
    -------
    Fit
        ``objective`` is (32), in preprocessed units; ``stationary`` where DCA's certificate holds, never a global
        claim. ``details`` has ``delta``, ``kappa_limit``, ``alpha_limit``, ``worst_case`` (the accuracy on class +1
        and -1), and ``starts``, the best value of each run. Paper 2, Algorithm 1.

    Raises
    ------
    InfeasibleError : delta > alpha*, told before any solver is called.
    ParameterError : another word for ``approx``, or a number outside its range.
    """
    started = time.perf_counter()
    penalty = approximation(approx, number("l0-mpm", "alpha", alpha, low=0.0, strict=True))
    space = Space.of(data, scale, unbiased=unbiased, ridge=ridge, kernel=kernel, width=width, degree=degree)
    warnings = [*space.warnings]
    asked = asked_delta("l0-mpm", delta, space.limit, warnings)
    params: dict[str, Any] = {"delta": asked, "alpha": penalty.slope, **space.moment_options}
    result = dca(
        build_l0_mpm_step(space.work, **params), penalty, n_starts=n_starts, seed=seed, solver=run.solver,
        options=run.options, time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    at, params = result.point, {**params, "v": result.point["gradient"]}
    assert result.objective is not None
    return make_fit(
        space.work, space.map_, Plane(at["w"], -at["b"], select(at["w"], THRESHOLD)), kernel=space.kernel,
        objective=result.objective, outcome=result, started=started, warnings=tuple(warnings),
        details=proof(
            "l0-mpm-step", params, at["proof"], **space.details(asked), starts=_best_values(result.history),
            worst_case=worst_case(at["w"], -at["b"], space.moments),
        ),
    )  # fmt: skip


def _best_values(history: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the least objective of each run."""
    values: dict[int, float] = {}
    for record in history:
        values[record["start"]] = min(record["objective"], values.get(record["start"], record["objective"]))
    return list(values.values())
