"""Pieces that the interfaces share: absent bounds, and options by name."""

import numpy as np
import pytest

from fsopt.errors import OptionError
from fsopt.solvers.interface import optional, set_options


def test_absent_bounds_are_none():
    assert optional(np.array([1.0, -np.inf, np.inf, 1e20, 5.0])) == [1.0, None, None, None, 5.0]


def test_an_option_that_is_refused_is_named_with_its_value_and_the_solver_s_words():
    taken = {}

    def put(name, value):
        if name == "bad":
            raise ValueError("only in\n[0, 1]")
        taken[name] = value

    with pytest.raises(OptionError, match=r"solver 'some' does not take the option 'bad' \(.*7: only in \[0, 1\]\)"):
        set_options("some", {"good": 1, "bad": 7}, put, (ValueError,))
    assert taken == {"good": 1}
