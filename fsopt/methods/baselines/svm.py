"""Methods ``svm``, the baseline that selects nothing, linear or with a kernel, and ``l1-svm`` of Peleg & Meir, 6.1."""

from __future__ import annotations

from dataclasses import replace

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines import onsvm
from fsopt.methods.baselines.machines import fit_machine
from fsopt.methods.spec import MethodSpec


def fit_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    kernel: str | None = None,
    width: float | None = None,
) -> Steps[Fit]:
    r"""Fit the support vector machine (C-SVM), the baseline that selects nothing.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Of data of 500,000 entries and more fsopt's own interior point solves the program, without a model, where no solver
    is named (:func:`fsopt.linear.interior_point.minimise`), of sparse data of more than 5 million entries
    first-order steps, :func:`fsopt.linear.first_order.minimise`.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``.
    kernel : str, optional
        ``gaussian`` or ``linear``: a classifier on the kernel values of the preprocessed
        samples, whose features are the training samples; None for a hyperplane in the space of the features.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. With a kernel the support vectors are selected.

    Raises
    ------
    ParameterError : c <= 0, or an unknown kernel.

    Notes
    -----
    Aytug, (1); with a kernel Bi, (4) and section 4.1.
    """
    return fit_machine("svm", data, run, c, scale=scale, kernel=kernel, width=width)


SVM = MethodSpec(
    "svm",
    fit_svm,
    ("svm",),
    equation="Aytug, (1)",
    estimator="SVM",
    driver="interior-point",
    weights="samples",
    sparse=True,
)


EPSILON = 0.01
"""The threshold of the paper."""


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
    :class:`fsopt.methods.preprocessing.SelectionRule` of ``fit.coef``. Method ``onsvm`` is the same program.
    """
    return fit_machine("onsvm", data, run, c, scale=scale)


L1_SVM = replace(
    onsvm.SPEC,
    name="l1-svm",
    fit=fit_l1_svm,
    equation="Peleg & Meir, 6.1",
    estimator="L1SVM",
    threshold=EPSILON,
)
SPECS = (SVM, L1_SVM)
