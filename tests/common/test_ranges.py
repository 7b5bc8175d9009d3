"""Intervals of parameters: their ends belong to them or not, as written."""

import math

import pytest

from fsopt.common.arguments import RANGES, ends, range_of, within


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ("(0, 1)", (0.5, 1e-300), (0, 1, -1, 2, math.nan)),
        ("[0, 1]", (0, 1), (-1e-9, 1.001, math.nan)),
        ("(0, 1]", (1,), (0,)),
        ("(0, inf)", (1e300,), (0, math.inf)),
        ("[0, inf]", (0, math.inf), (-1, math.nan)),
        ("[1e-9, 1e-3]", (1e-9, 1e-3), (0, 1)),
    ],
)
def test_a_number_is_inside_or_outside_an_interval(interval, inside, outside):
    assert all(within(value, interval) for value in inside)
    assert not any(within(value, interval) for value in outside)


def test_the_range_of_an_owner_comes_before_that_of_the_name_and_every_range_can_be_read():
    assert range_of("fsv", "lam") == "[0, 1]" != range_of("fsp-lambda", "lam")
    assert ends(range_of("svm", "no such name")) == (-math.inf, math.inf)
    assert all(low < high for low, high in map(ends, RANGES.values()))
