"""Method ``rfe``: recursive feature elimination, a baseline of papers 1 and 4."""

from __future__ import annotations

import time

import numpy as np

from fsopt.certify import relative_gap
from fsopt.data import Dataset
from fsopt.drivers.rfe import rfe
from fsopt.methods.common import Plane, Run, extend, make_fit, preprocess, proof
from fsopt.models.blocks import number, whole
from fsopt.models.fsp import build_fsp_sub
from fsopt.results import Fit

THRESHOLD = 1e-6


def fit_rfe(
    data: Dataset, run: Run, *, m: int | None = None, c: float = 1.0, step: int = 1, scale: str = "standard"
) -> Fit:
    """Fit support vector machines on ever fewer features, down to m (RFE).

    Parameters
    ----------
    m : number of features to keep; 5 (or all, where there are fewer) by default.
    c : > 0, price of a unit of hinge loss.
    step : features removed after each machine: 1 (default) is the method of the papers, p - m + 1 machines; take
        more where there are thousands of features.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of paper 4, that of the machine on the m features, in preprocessed units. The
        certificate proves it for these features; their choice is a heuristic: ``feasible``, without a bound.

    Raises
    ------
    ParameterError : m outside 1..p, c <= 0, step < 1.

    Notes
    -----
    Guyon et al. (2002), as used in paper 1, section 6.1, and paper 4, section 4.
    """
    started = time.perf_counter()
    c = number("rfe", "c", c, low=0.0, strict=True)
    m = min(5, data.p) if m is None else whole("rfe", "m", m, low=1, high=data.p, why=f" (of {data.p} features)")
    step = whole("rfe", "step", step, low=1, high=100_000)
    work, map_ = preprocess(data, scale)
    result = rfe(
        work, build_fsp_sub(work, c=c), m=m, c=c, step=step, solver=run.solver, options=run.options,
        time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    w, sigma = result.point["w"], result.point["sigma"]
    assert result.certificate is not None
    assert result.certificate.objective is not None
    assert result.objective is not None
    plane = {"plane": relative_gap(result.objective, result.certificate.objective)}
    chosen = np.flatnonzero((sigma > 0) & (np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0)))
    return make_fit(
        data, map_, Plane(w, result.point["b"], tuple(chosen.tolist())), objective=result.objective,
        outcome=result, started=started, certificate=extend(result.certificate, plane),
        details=proof("fsp-sub", {"c": c, "sigma": sigma}, result.point["proof"]),
    )  # fmt: skip
