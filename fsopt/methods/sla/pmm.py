"""Method ``pmm`` (paper 3, Table 1): few misclassified rows by parametric minimisation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.pmm import Stuck, certify_pmm, pmm
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods.assembly import extend, make_fit
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.selection import select
from fsopt.methods.sla.concave_minimisation import THRESHOLD
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.sla.misclass_step import build_misclass_step
from fsopt.results import Fit
from fsopt.saved import point_from
from fsopt.typing import Vector


def fit_pmm(data: Dataset, run: Run, *, scale: str = "standard") -> Fit:
    """Fit the plane with few misclassified rows by parametric minimisation (PMM).

    Parameters
    ----------
    scale : ``standard`` (default), ``center`` or ``none``; the problem is invariant to it, its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is the number of rows on the wrong side of the plane or on it, an upper bound on the least one;
        ``stationary`` where the search for one error less ended at the minimum principle, kept in ``details["below"]``.
        Paper 3, Table 1; :func:`fsopt.drivers.pmm.pmm` says how.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    result = pmm(work, run=run)
    w, b = result.point["w"], -result.point["gamma"]
    assert result.objective is not None
    return make_fit(
        data, map_, Hyperplane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result, started=started,
        details={"plane_errors": int(result.objective), "below": result.point["below"]},
    )  # fmt: skip


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the number of samples on the wrong side of the hyperplane or on it."""
    return float(hyperplane_errors(data, w, b)), 0.0


def check(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a fit from its saved details; raises FileError where they are damaged."""
    fit, program = saved.fit, compile_model(build_misclass_step(saved.data, alpha=1.0))
    below = fit.details.get("below")
    with reading("proof"):
        if isinstance(below, Mapping):
            point = None if below["point"] is None else point_from(below["point"], program)
            w = np.array(below["w"], dtype=float)
            below = Stuck(int(below["d"]), float(below["value"]), w, float(below["b"]), point)
        proof = certify_pmm(saved.data, int(fit.objective or 0), below)
    return replace(extend(proof, saved.residuals), objective=fit.objective)


SPEC = MethodSpec(
    "pmm", fit_pmm, objective, check, ("misclass-step",), paper="sla", equation="(16), Table 1", driver="pmm"
)
