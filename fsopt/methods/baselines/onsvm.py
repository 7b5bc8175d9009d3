"""Method ``onsvm``: the one-norm support vector machine of the comparisons in Aytug, section 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.run import Run
from fsopt.methods.baselines.convex_svm import fit_one_solve
from fsopt.methods.large_programs import certify_generated, generates_columns
from fsopt.methods.verification import check_program
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.results import Fit
from fsopt.typing import Vector


def fit_onsvm(
    data: Dataset, run: Run, *, c: float = 1.0, scale: str = "standard", generate: bool | str = "auto"
) -> Fit:
    """Fit the one-norm support vector machine, a linear program whose vertices are sparse.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    generate : solve small programs of some rows and columns (:func:`fsopt.drivers.column_generation.loop.column_generation`) instead of
        the whole one, with the same objective and a proof for all rows and columns: true, false, or ``auto``
        (default), which does so for large data.

    Returns
    -------
    Fit
        ``objective`` is (ONSVM) of paper 4, in preprocessed units.
    """
    return fit_one_solve(
        "onsvm", build_onsvm, data, run, c=c, scale=scale, generate=generates_columns(generate, data, run)
    )


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (ONSVM) at a hyperplane."""
    return float(np.abs(w).sum()) + at["c"] * hinge(data.X @ w + b, data.y), 0.0


def check(saved: SavedFit) -> Certificate:
    """Certify the linear program again, whole or by the multipliers of column generation."""
    if "alpha" not in saved.fit.details:
        return check_program(saved)
    return certify_generated(saved, np.full(saved.data.n, float(saved.params["c"])), np.ones(saved.data.p))


SPEC = MethodSpec("onsvm", fit_onsvm, objective, check, ("onsvm",), equation="Aytug, (ONSVM)")
