"""Linear fits as ONNX programs, as the page for users of scikit-learn writes them, in another runtime."""

import numpy as np
import onnxruntime
import pytest
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType
from sklearn.linear_model import LinearRegression
from support import blobs

import fsopt


@pytest.mark.parametrize("method", ["svm", "l1-svm", "fsv", "mpm", "fisher"])
def test_the_score_of_a_linear_fit_is_that_of_its_program(method):
    rng = np.random.default_rng(3)
    small = blobs(40, 4)
    data = fsopt.Dataset(small.X * [1e-4, 1.0, 30.0, 1e5] + [0.0, 7.0, 1e4, -3e5], small.y)
    fit = fsopt.fit(method, data, **({"scale": "standard"} if method == "fisher" else {}))
    score = LinearRegression()
    score.coef_, score.intercept_, score.n_features_in_ = fit.coef, np.array([fit.intercept]), data.p
    program = to_onnx(score, initial_types=[("X", DoubleTensorType([None, data.p]))])
    X = data.X[rng.integers(40, size=200)] + rng.standard_normal((200, 4)) * data.X.std(axis=0)
    found = onnxruntime.InferenceSession(program.SerializeToString()).run(None, {"X": X})[0].ravel()
    assert found == pytest.approx(fit.decision_function(X), rel=1e-9, abs=1e-9)
    assert np.array_equal(np.where(found > 0, 1.0, -1.0), fit.predict(X))
