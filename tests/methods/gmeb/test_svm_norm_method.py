"""Method svm-norm: the hyperplane of the ordinary SVM at C' = 2 ||w|| C, w = 0 below the threshold."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.methods.preprocessing import preprocess
from fsopt.verification.checking import check_fit


def test_its_hyperplane_is_an_ordinary_svm():
    data = blobs(50, 4, gap=0.6)
    fit = fsopt.fit("svm-norm", data, c=2.0)
    assert fit.status == "optimal"
    other = fsopt.fit("svm", data, c=2.0 * 2.0 * float(np.linalg.norm(fit.coef)), scale="center")
    assert fit.coef == pytest.approx(other.coef, rel=1e-4)
    assert check_fit(fit, data).ok


def test_below_the_threshold_w_is_0_and_it_says_so():
    data = blobs(50, 4, gap=0.6)
    work, _ = preprocess(data, "center")
    threshold = 1.0 / (2.0 * np.linalg.norm(work.X.T @ work.y))  # of classes of one size
    assert "w is 0" in fsopt.fit("svm-norm", data, c=0.5 * threshold).warnings[0]
    fit = fsopt.fit("svm-norm", data, c=2 * threshold)
    assert not fit.warnings
    assert 0 < fit.details["theorem_c"] < threshold
