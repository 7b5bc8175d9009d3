"""Method ``l0-mpm`` (paper 2): few features with a worst-case accuracy, by DCA."""

from __future__ import annotations

import time

from fsopt.data import Dataset
from fsopt.drivers.dca import Exponential, dca
from fsopt.methods.common import Plane, Run, make_fit, proof, select
from fsopt.methods.mpm import THRESHOLD
from fsopt.methods.mpm_space import Space, asked_delta
from fsopt.models.blocks import number
from fsopt.models.mpm import build_l0_mpm_step
from fsopt.results import Fit


def fit_l0_mpm(
    data: Dataset, run: Run, *, delta: float | None = None, alpha: float = 5.0, scale: str = "standard"
) -> Fit:
    """Fit the sparse plane with worst-case accuracy delta by DCA (L0-MPM).

    Parameters
    ----------
    delta, scale : as in :func:`fsopt.methods.mpm.fit_l1_mpm`.
    alpha : > 0, steepness of the approximation 1 - exp(-alpha |w|) of the step function.

    Returns
    -------
    Fit
        ``objective`` is (32), in preprocessed units; ``stationary`` where DCA's certificate holds. Paper 2,
        Algorithm 1, from v = 0: the first iterate is the L1-MPM plane.

    Raises
    ------
    InfeasibleError : delta > alpha*, told before any solver is called.
    """
    started = time.perf_counter()
    alpha = number("l0-mpm", "alpha", alpha, low=0.0, strict=True)
    space = Space.of(data, scale)
    work, warnings = space.work, list[str]()
    asked = asked_delta("l0-mpm", delta, space.limit, warnings)
    model = build_l0_mpm_step(work, delta=asked, alpha=alpha)
    result = dca(
        model, Exponential(alpha), solver=run.solver, options=run.options, time_limit=run.time_limit,
        progress=run.progress,
    )  # fmt: skip
    w = result.point["w"]
    assert result.objective is not None
    params = {"delta": asked, "alpha": alpha, "v": result.point["gradient"]}
    return make_fit(
        data, space.map_, Plane(w, -result.point["b"], select(w, THRESHOLD)), objective=result.objective,
        outcome=result, started=started, warnings=tuple(warnings),
        details=proof("l0-mpm-step", params, result.point["proof"], **space.details(asked)),
    )  # fmt: skip
