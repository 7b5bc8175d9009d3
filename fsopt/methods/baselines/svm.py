"""Method ``svm``: the linear support vector machine, a baseline that selects nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsopt.data import Dataset
from fsopt.data.hyperplanes import svm_value
from fsopt.drivers.run import Run
from fsopt.methods.baselines.convex_svm import fit_convex_svm, selected_by_parameters
from fsopt.methods.selection import THRESHOLDS, SelectionRule
from fsopt.methods.spec import MethodSpec, Value
from fsopt.methods.verification import check_program
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
    epsilon: float = THRESHOLDS["svm"],
) -> Fit:
    r"""Fit the linear support vector machine, the baseline that selects nothing.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Parameters
    ----------
    c : > 0, penalty weight of the hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``.
    rule, units, epsilon : which weights count as selected, as in
        :func:`fsopt.methods.selection.select_by_size`; Peleg & Meir have ``raw`` and 0.01.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units.

    Raises
    ------
    ParameterError : c <= 0, or a selection rule that is unknown.

    Notes
    -----
    Aytug, (1).
    """
    selection = SelectionRule(rule, units, epsilon)
    return fit_convex_svm("svm", build_svm, data, run, c=c, scale=scale, rule=selection)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (1) of Aytug at a hyperplane."""
    return svm_value(data, w, b, at["c"]), 0.0


SPEC = MethodSpec(
    "svm",
    fit_svm,
    objective,
    check_program,
    ("svm",),
    equation="Aytug, (1)",
    support=selected_by_parameters,
)
