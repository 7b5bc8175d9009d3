"""Method ``l1-svm``: the one-norm support vector machine of the comparisons in Peleg & Meir, 6.1."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.convex_svm import fit_convex_svm, selected_by_parameters
from fsopt.methods.baselines.onsvm import check, objective
from fsopt.methods.exact.hinge import by_multipliers
from fsopt.methods.large_programs import generation_order, refuse_bounds
from fsopt.methods.selection import SelectionRule
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.feature_lists import weight_bounds
from fsopt.models.gbd.onsvm import build_onsvm

EPSILON = 0.01
"""The threshold of the paper."""


@with_keywords_of(weight_bounds)
def fit_l1_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = EPSILON,
    generate: bool | str = "auto",
    **bounds: Any,
) -> Steps[Fit]:
    r"""Fit the one-norm support vector machine of Peleg & Meir, which selects weights above a share of the largest.

    .. math:: \min\ \|w\|_1 + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\ l \le w \le u

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center``, the paper's, or ``none``; the selection
        depends on it.
    rule : str, default 'relative'
        Whether a weight counts as selected by its size next to the largest one, ``relative`` (default), by its size
        alone, ``absolute``, or by ``either`` of them; see :func:`fsopt.methods.selection.select_by_size`.
    units : str, default 'scaled'
        The weights that the rule compares: those times the features' standard deviations, ``scaled`` (default), or
        those in the features' own units, ``raw``, the paper's, which depend on these units.
    epsilon : float, default 0.01
        >= 0, threshold of the rule: a share of the largest size, or a size; the paper's 0.01.
    generate : bool | str, default 'auto'
        Whether restricted programs of some samples and features are solved (:func:`fsopt.drivers.column_generation`)
        instead of the whole one, with the same objective value and a proof for all samples and features: ``auto``
        (default) does so first for large data, and second where the whole program ends without a certified optimum;
        true first for all data; false never.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. Features below the threshold of the rule are not
        selected, and have a weight in the classifier.

    Raises
    ------
    ParameterError : c <= 0, a selection rule that is unknown, or bounds with restricted programs.

    Notes
    -----
    Peleg & Meir, section 6.1; the paper's own selection is that of ``scale="center", units="raw"``, which depends on
    the units of the features.
    """
    refuse_bounds("generate", generate, bounds)
    order = generation_order(generate, data, run)
    selection = SelectionRule(rule, units, epsilon)
    return fit_convex_svm("onsvm", build_onsvm, data, run, c=c, scale=scale, rule=selection, order=order, bounds=bounds)


SPEC = MethodSpec(
    "l1-svm",
    fit_l1_svm,
    objective,
    check,
    ("onsvm",),
    equation="Peleg & Meir, 6.1",
    estimator="L1SVM",
    support=selected_by_parameters,
    weights="samples",
    sparse=True,
    exact=by_multipliers,
    threshold=EPSILON,
)
