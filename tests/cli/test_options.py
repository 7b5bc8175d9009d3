"""How ``--param k=v`` is read: a JSON value, a number in any of its spellings, or a word."""

from __future__ import annotations

import math

from fsopt.cli.options import _value

VALUES = {
    "3": 3,
    ".5": 0.5,
    "1e-3": 0.001,
    "5.": 5.0,
    "inf": math.inf,
    "-Infinity": -math.inf,
    "true": True,
    "null": None,
    "[1, 2.5]": [1, 2.5],
    "theta-cuts": "theta-cuts",
}


def test_a_value_is_json_a_number_or_a_word():
    for text, value in VALUES.items():
        found = _value(text)
        assert (found, type(found)) == (value, type(value)), text
