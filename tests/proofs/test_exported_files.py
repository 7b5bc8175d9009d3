"""The bounds of a variable in an MPS file, each kind as the format defines it."""

from fractions import Fraction

import pytest

from fsopt.verifier import verify_files


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("FR", [None, None]),
        ("MI", [None, 9]),
        ("PL", [1, None]),
        ("LO", [4, 9]),
        ("LI", [4, 9]),
        ("UP", [1, 4]),
        ("UI", [1, 4]),
        ("FX", [4, 4]),
        ("BV", [0, 1]),
    ],
)
def test_the_bounds_of_an_mps_file(kind, expected):
    ends = [Fraction(1), Fraction(9)]
    verify_files.bound(ends, kind, Fraction(4))
    assert ends == expected
