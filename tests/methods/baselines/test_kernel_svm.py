"""The C-SVM with a kernel: libsvm finds the same scores, and a changed fit is not verified."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC
from support import blobs

import fsopt
from fsopt.verification.checking import check_fit

DATA = blobs(30, 4, gap=0.5)
Z = (DATA.X - DATA.X.mean(axis=0)) / DATA.X.std(axis=0)
KERNELS = {
    "gaussian": ({"width": 1.5}, {"kernel": "rbf", "gamma": 1 / (2 * 1.5**2)}),
    "polynomial": ({}, {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}),
    "linear": ({}, {"kernel": "linear"}),
}


@pytest.mark.parametrize("c", [0.1, 5.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_libsvm_has_the_same_scores(kernel, c):
    ours, theirs = KERNELS[kernel]
    fit = fsopt.fit("svm", DATA, kernel=kernel, c=c, **ours)
    machine = SVC(C=c, tol=1e-10, **theirs).fit(Z, DATA.y)
    assert fit.status == "optimal"
    wanted = machine.decision_function(Z)
    assert fit.decision_function(DATA.X) == pytest.approx(wanted, rel=1e-4, abs=1e-4 * np.abs(wanted).max())
    # Some samples may be exactly on the margin without a multiplier.
    assert set(fit.support) <= set(machine.support_.tolist())


def test_a_changed_fit_is_not_verified():
    fit = fsopt.fit("svm", DATA, kernel="gaussian", width=1.5)
    assert check_fit(fit, DATA).ok
    assert not check_fit(replace(fit, coef=1.01 * fit.coef), DATA).ok
    assert not check_fit(replace(fit, support=fit.support[1:], features=fit.features[1:]), DATA).ok
