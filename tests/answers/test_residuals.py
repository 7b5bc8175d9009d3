"""Residuals of several sources: none hides another one."""

import numpy as np

from fsopt.answers.certificate import Kind, make, merged
from fsopt.methods.verdict import extend


def test_of_a_name_that_occurs_twice_the_largest_is_kept():
    assert merged({"gap": 1.0, "primal": 0.0}, {"gap": 0.0}) == {"gap": 1.0, "primal": 0.0}
    assert np.isnan(merged({"gap": np.nan}, {"gap": 0.0})["gap"])
    assert np.isnan(merged({"gap": 0.0}, {"gap": np.nan})["gap"])


def test_a_certificate_stays_false_and_says_why():
    false = extend(make(Kind.FEASIBLE, {"gap": 1.0}), {"gap": 0.0})
    assert not false.ok
    assert false.residuals == {"gap": 1.0}
