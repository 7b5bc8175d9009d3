"""Method ``pmm`` (paper 3, Table 1): few misclassified rows by parametric minimisation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fsopt.certify import Certificate
from fsopt.data import Dataset
from fsopt.drivers.pmm import Stuck, certify_pmm, pmm
from fsopt.errors import FileError
from fsopt.methods.claim import Claim
from fsopt.methods.common import Plane, Run, extend, make_fit, preprocess, select
from fsopt.methods.polyhedral import THRESHOLD
from fsopt.results import Fit
from fsopt.saved import point_from


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
    result = pmm(work, solver=run.solver, options=run.options, time_limit=run.time_limit, progress=run.progress)
    w, b = result.point["w"], -result.point["gamma"]
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result, started=started,
        details={"plane_errors": int(result.objective), "below": result.point["below"]},
    )  # fmt: skip


def check_pmm(claim: Claim) -> Certificate:
    """Recompute the certificate of a fit from its saved details; raises FileError where they are damaged."""
    fit = claim.fit
    below = fit.details.get("below")
    try:
        if isinstance(below, Mapping):
            below = Stuck(
                int(below["d"]), float(below["value"]), np.array(below["w"], dtype=float), float(below["b"]),
                point_from(below["point"]),
            )  # fmt: skip
        proof = certify_pmm(claim.data, int(fit.objective or 0), below)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"the saved proof is damaged: {error}", "fit again and save with -o") from error
    return replace(extend(proof, claim.residuals), objective=fit.objective)
