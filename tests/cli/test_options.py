"""How ``--param k=v`` is read: a JSON value, a number in any of its spellings, or a word."""

from __future__ import annotations

import math

import pytest

from fsopt.cli.options import _value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("5.", 5.0),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("true", True),
        ("null", None),
        ("[1, 2.5]", [1, 2.5]),
        ("dual", "dual"),
        ("theta-cuts", "theta-cuts"),
    ],
)
def test_a_value_is_json_a_number_or_a_word(text, value):
    found = _value(text)
    assert found == value
    assert type(found) is type(value)
