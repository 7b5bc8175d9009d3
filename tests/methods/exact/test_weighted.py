"""Exact claims of fits whose samples have weights: shown for the weighted program, or not at all."""

from fractions import Fraction

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.analysis.necessity import necessity
from fsopt.errors import ParameterError

DATA = blobs(30, 4, seed=3, gap=0.3).weighted(sample_weight=1.0 + np.arange(30) % 3)

BY_CLASS = blobs(30, 4, seed=3, gap=0.3).weighted(class_weight={"+1": 2.0})


@pytest.mark.parametrize("method", ["svm", "l1-svm", "onsvm", "gmeb", "rsvm", "rfe", "pearson"])
def test_the_interval_is_that_of_the_weighted_program(method):
    data = DATA if fsopt.METHODS[method].weights == "samples" else BY_CLASS
    fit = fsopt.fit(method, data)
    found = fsopt.verify(fit, data, exact=True).exact.plain()
    claim = found["claims"][0]
    ends = [Fraction(end) for end in claim["interval"] if end is not None]
    if found["word"] == "verified exactly":
        assert all(abs(float(end) - fit.objective) <= 1e-5 * max(1.0, abs(fit.objective)) for end in ends)
    else:
        assert claim["reason"]


def test_a_tree_of_weighted_samples_is_not_called_exact():
    fit = fsopt.fit("best-subset", DATA, m=2)
    found = fsopt.verify(fit, DATA, exact=True)
    assert found.numerically
    assert found.exact.plain()["word"] != "verified exactly"
    assert "weights" in found.exact.plain()["claims"][0]["reason"]
    with pytest.raises(ParameterError, match="weights"):
        necessity(DATA, 2, exact=True)
