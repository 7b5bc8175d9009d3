"""Method ``l1-mpm`` (paper 2): the sparse minimax probability machine with a worst-case accuracy."""

from __future__ import annotations

import time

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.recorder import usable
from fsopt.methods.common import Plane, Run, make_fit, proof, select
from fsopt.methods.mpm_space import Space, asked_delta
from fsopt.models.mpm import build_l1_mpm
from fsopt.results import Fit
from fsopt.solvers.base import solve

THRESHOLD = 1e-4
"""Relative size of a weight that counts as selected."""


def fit_l1_mpm(data: Dataset, run: Run, *, delta: float | None = None, scale: str = "standard") -> Fit:
    """Fit the plane of least 1-norm with worst-case accuracy delta on both classes (L1-MPM).

    Parameters
    ----------
    delta : in (0, alpha*]; None asks for 0.9 alpha* of the data.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it, alpha* does not.

    Returns
    -------
    Fit
        ``objective`` is the 1-norm of w in preprocessed units; ``details`` has ``delta``, ``kappa_limit`` and
        ``alpha_limit``. Paper 2, (12)-(15).

    Raises
    ------
    InfeasibleError : delta > alpha*, told before any solver is called.
    """
    started = time.perf_counter()
    space = Space.of(data, scale)
    work, warnings = space.work, list[str]()
    asked = asked_delta("l1-mpm", delta, space.limit, warnings)
    model = build_l1_mpm(work, delta=asked)
    result = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), "L1-MPM")
    w = np.array([x.value for x in model.w.values()])
    return make_fit(
        data, space.map_, Plane(w, -model.b.value, select(w, THRESHOLD)), objective=float(np.abs(w).sum()),
        outcome=result, started=started, warnings=tuple(warnings),
        details=proof("l1-mpm", {"delta": asked}, result.point, **space.details(asked)),
    )  # fmt: skip
