"""Linear programs of large data, solved by small ones of some rows and columns: when, and how that is checked."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.drivers.column_generation.l1_hinge import certify_l1_hinge
from fsopt.drivers.run import Run
from fsopt.errors import FileError, ParameterError
from fsopt.methods.spec import SavedFit
from fsopt.solvers.registry import SOLVERS
from fsopt.typing import Vector

LONG, LARGE = 3_000, 150_000
"""Rows or columns, and entries, from which small programs beat the whole one 3 times, see benchmarks/scale.py."""


def generates_columns(generate: bool | str, data: Dataset, run: Run, *, columns: bool = True) -> bool:
    """Return whether small programs of some rows and columns are solved instead of the whole one.

    Many columns are a reason only where they have costs (``columns``): without, all of them are kept.

    Raises
    ------
    ParameterError : ``generate`` is neither true nor false nor ``auto``.
    """
    if generate not in (True, False, "auto"):
        raise ParameterError(f"generate is {generate!r}", "one of auto, true, false")
    if generate != "auto":
        return bool(generate)
    large = max(data.X.shape if columns else (data.n,)) >= LONG and data.X.size >= LARGE
    return large and (run.solver is None or (run.solver in SOLVERS and SOLVERS[run.solver].duals))


def certify_generated(claim: SavedFit, row_costs: Vector, column_costs: Vector) -> Certificate:
    """Certify the plane of a saved fit for costs (n,) and (p,) by its saved multipliers."""
    alpha = np.asarray(claim.fit.details["alpha"])
    if alpha.shape != (claim.data.n,) or alpha.dtype.kind not in "if" or not np.all(np.isfinite(alpha)):
        raise FileError("the saved multipliers are damaged", "fit again and save with -o")
    return certify_l1_hinge(
        claim.data, row_costs, column_costs, claim.w, claim.b, alpha.astype(float), residuals=claim.residuals
    )
