"""Cuts of kernel scaling in saved files: multipliers of other numbers of samples are refused."""

import pytest

from fsopt.certificates.kernel_scaling.bounds import Cut

CUT = {"mu": [0.5, 0.5], "beta": [1.0, 0.0], "delta": 0.25, "priced": True}


def test_a_cut_has_two_multipliers_of_each_sample():
    assert Cut.of(CUT, 2).delta == 0.25
    for change in ({"mu": [0.5]}, {"beta": [1.0, 0.0, 0.0]}, {"delta": float("nan")}, {"mu": [0.5, float("inf")]}):
        with pytest.raises(ValueError, match="a cut has 2 and 2 multipliers"):
            Cut.of(CUT | change, 2)
