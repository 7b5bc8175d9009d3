"""Signs and bounds on the weights of ``svm``, ``onsvm`` and ``l1-svm``, in the units of the features.

The C-SVM with a kernel: libsvm finds the same scores, and a changed fit is not verified.
"""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC
from support import blobs, exact_value

import fsopt

SAMPLE = blobs(24, 4, seed=1)
DATA = fsopt.Dataset(SAMPLE.X * [1.0, 20.0, 0.1, 3.0] + 7.0, SAMPLE.y, features=list("abcd"))
WORDS = {"upper": {"a": 0.3, "b": 0.03}, "lower": {"c": 0.0, "d": -0.5}}
LOWER, UPPER = np.array([-np.inf, -np.inf, 0.0, -0.5]), np.array([0.3, 0.03, np.inf, np.inf])
SCALE = DATA.X.std(axis=0)
WORK = fsopt.Dataset((DATA.X - DATA.X.mean(axis=0)) / SCALE, DATA.y)


def one_norm_value(data, c, lower, upper):
    """Return the optimum of the one-norm machine by scipy, in w+, w-, b and the slacks."""
    n, p = data.n, data.p
    signed = data.X * data.y[:, None]
    A = -np.hstack([signed, -signed, data.y[:, None], np.eye(n)])
    ends = [*((0, u) for u in upper), *((0, -v) for v in lower), (None, None), *[(0, None)] * n]
    return linprog(np.r_[np.ones(2 * p), 0.0, np.full(n, c)], A_ub=A, b_ub=-np.ones(n), bounds=ends).fun


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_the_optimum_keeps_the_bounds_in_the_units_of_the_features(method) -> None:
    fit = fsopt.fit(method, DATA, c=2.0, **WORDS)
    if method == "svm":
        expected = exact_value(WORK, np.ones(4), 2.0, "hinge", LOWER * SCALE, UPPER * SCALE)
    else:
        expected = one_norm_value(WORK, 2.0, LOWER * SCALE, UPPER * SCALE)
    assert fit.objective == pytest.approx(expected, rel=1e-6)
    assert fit.objective > 1.001 * fsopt.fit(method, DATA, c=2.0).objective
    assert np.all((fit.coef >= LOWER) & (fit.coef <= UPPER * (1 + 1e-15)))
    assert fit.coef[1] == pytest.approx(0.03, rel=1e-6)
    assert (fit.status, fsopt.verify(fit, DATA, exact=True).exact.verified) == ("optimal", True)
    assert fsopt.fit(method, DATA, c=2.0, scale="none", **WORDS).coef[1] <= 0.03


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_rows_on_the_weights_are_a_change_of_the_model_and_are_proved_like_bounds(method) -> None:
    def rows(model):
        model.own = pyo.Constraint(model.J, rule=lambda m, j: (-0.5 if j == 3 else None, 4.0 * m.w[j], 0.4))

    changed = {method: rows}
    fit = fsopt.fit(method, WORK, c=2.0, scale="none", customise=changed)
    assert (fit.status, fsopt.verify(fit, WORK, customise=changed).verified) == ("optimal", True)
    lower, upper = np.array([-np.inf] * 3 + [-0.125]), np.full(4, 0.1)
    expected = exact_value(WORK, np.ones(4), 2.0, "hinge", lower, upper)
    if method == "onsvm":
        expected = one_norm_value(WORK, 2.0, lower, upper)
    assert fit.objective == pytest.approx(expected, rel=1e-6)
    assert fit.coef.max() == pytest.approx(0.1, rel=1e-6)


KERNEL_DATA = blobs(30, 4, gap=0.5)
Z = (KERNEL_DATA.X - KERNEL_DATA.X.mean(axis=0)) / KERNEL_DATA.X.std(axis=0)
KERNELS = {
    "gaussian": ({"width": 1.5}, {"kernel": "rbf", "gamma": 1 / (2 * 1.5**2)}),
    "polynomial": ({}, {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}),
    "linear": ({}, {"kernel": "linear"}),
}


@pytest.mark.parametrize("c", [0.1, 5.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_libsvm_has_the_same_scores(kernel, c):
    ours, theirs = KERNELS[kernel]
    fit = fsopt.fit("svm", KERNEL_DATA, kernel=kernel, c=c, **ours)
    machine = SVC(C=c, tol=1e-10, **theirs).fit(Z, KERNEL_DATA.y)
    assert fit.status == "optimal"
    wanted = machine.decision_function(Z)
    assert fit.decision_function(KERNEL_DATA.X) == pytest.approx(wanted, rel=1e-4, abs=1e-4 * np.abs(wanted).max())
    # Some samples may be exactly on the margin without a multiplier.
    assert set(fit.support) <= set(machine.support_.tolist())
