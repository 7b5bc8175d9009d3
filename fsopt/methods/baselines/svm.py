"""Method ``svm``: the linear support vector machine, a baseline that selects nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsopt.data import Dataset
from fsopt.data.hyperplanes import svm_value
from fsopt.drivers.run import Run
from fsopt.methods.baselines.convex_svm import THRESHOLD, fit_one_solve
from fsopt.methods.verification import check_program
from fsopt.methods.spec import MethodSpec, Value
from fsopt.models.gbd.svm import build_svm
from fsopt.results import Fit
from fsopt.typing import Vector


def fit_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = THRESHOLD,
) -> Fit:
    """Fit the linear support vector machine, the baseline that selects nothing.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``.
    rule, units, epsilon : which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`; paper 1
        has ``raw`` and 0.01.

    Returns
    -------
    Fit
        ``objective`` is (1) of paper 4, in preprocessed units.
    """
    return fit_one_solve("svm", build_svm, data, run, c=c, scale=scale, rule=rule, units=units, epsilon=epsilon)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (1) of Aytug at a hyperplane."""
    return svm_value(data, w, b, at["c"]), 0.0


SPEC = MethodSpec("svm", fit_svm, objective, check_program, ("svm",), equation="Aytug, (1)")
