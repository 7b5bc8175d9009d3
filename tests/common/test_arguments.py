"""Arguments of another kind, or outside their interval, end in an error of the package that names them."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.common.arguments import LIST, PATH, RANGES, SECONDS, TEXT, WHOLE, checked, ends, optional, range_of, within
from fsopt.errors import ParameterError


def test_what_is_of_the_kind_passes():
    assert fsopt.solve(fsopt.build("svm", blobs(20, 3)), "ipopt", time_limit=Fraction(7, 3)).status == "optimal"
    for kind, values in (
        (SECONDS, (1, 0.5, np.float32(2), float("inf"), Fraction(1, 2))),
        (WHOLE, (0, -3, np.int64(4))),
        (TEXT, ("", np.str_("a"))),
        (PATH, ("a", Path("b"))),
        (LIST, ([], (1,), np.ones(2), range(3))),
        (optional(TEXT), (None, "a")),
    ):
        for value in values:
            kind.check("value", value)


def test_a_checked_function_keeps_its_name_and_signature_and_refuses_by_position_too():
    @checked(second=WHOLE)
    def function(first: str, second: int = 1) -> str:
        """Return something."""
        return first * second

    assert (function.__name__, function.__doc__, function("a", 2)) == ("function", "Return something.", "aa")
    with pytest.raises(ParameterError, match="the second must be a whole number, not 'b'"):
        function("a", "b")
    with pytest.raises(
        TypeError, match=r"function\(\) got an unexpected keyword argument 'third': it takes first, second"
    ):
        function("a", third=1)
    with pytest.raises(TypeError, match="'secnd': did you mean second"):
        function("a", secnd=1)
    with pytest.raises(TypeError, match=r"function\(\) missing a required argument: 'first'$"):
        function(second=1)


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
