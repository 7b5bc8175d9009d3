"""Method ``l1-svm``: the one-norm support vector machine of the comparisons in Peleg & Meir, 6.1."""

from __future__ import annotations

from functools import partial

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.machines import fit_machine, selected_by
from fsopt.methods.preprocessing import SelectionRule
from fsopt.methods.spec import MethodSpec

EPSILON = 0.01
"""The threshold of the paper."""
RULE = SelectionRule(units="scaled", epsilon=EPSILON)


def fit_l1_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit the one-norm support vector machine of Peleg & Meir, which selects weights above a share of the largest.

    .. math:: \min\ \|w\|_1 + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Of large data restricted programs of some samples and features are solved (:func:`fsopt.drivers.column_generation`)
    instead of the whole one, as ``onsvm`` does.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center``, the paper's, or ``none``; the selection
        depends on it.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. Features below the threshold of the rule are not
        selected, and have a weight in the classifier.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Peleg & Meir, section 6.1. A weight is selected whose size, times the standard deviation of its feature, is at least
    0.01 of the largest; the paper's own rule compares weights in the features' units:
    :class:`fsopt.methods.preprocessing.SelectionRule` of ``fit.coef``. Method ``onsvm`` is the same program, with
    signs and bounds of the weights.
    """
    return fit_machine("onsvm", data, run, c=c, scale=scale, rule=RULE)


SPEC = MethodSpec(
    "l1-svm",
    fit_l1_svm,
    ("onsvm",),
    equation="Peleg & Meir, 6.1",
    estimator="L1SVM",
    support=partial(selected_by, RULE),
    weights="samples",
    sparse=True,
    threshold=EPSILON,
)
