"""Exported files: the bounds of a variable in an MPS file, each kind as the format defines it, and the sense."""

from fractions import Fraction

import pytest

from fsopt.verifier import verify, verify_files


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


@pytest.mark.parametrize("pair", ["x y", "y x"])
def test_a_product_in_the_objective_is_no_square(pair):
    lines = ["NAME x", "ROWS", " N f", "COLUMNS", " x f 1", " y f 1", "QUADOBJ", f" {pair} 1", "ENDATA"]
    with pytest.raises(verify_files.Unlike, match="no sum of squares"):
        verify_files.read_mps(lines)


def test_a_file_that_maximises_is_compared_in_minimisation_form(tmp_path):
    """max 3 + x - x^2 is min -3 - x + x^2: the square, as the cost and the constant, changes its sign."""
    lines = ["NAME x", "OBJSENSE", " MAX", "ROWS", " N f", "COLUMNS", " x f 1", "RHS", " r f -3", "QUADOBJ", " x x -2"]
    path = tmp_path / "x.mps"
    path.write_text("\n".join([*lines, "ENDATA"]))
    held = {"c": [Fraction(-1)], "c0": Fraction(-3), "quadratic": [(0, Fraction(2))], "lb": [Fraction(0)], "ub": [None]}
    held |= {"rows": [], "cones": [], "matrices": [], "integer": []}
    verify_files.compare(str(path), verify.Program(held))
    for part, value in (("c", [Fraction(1)]), ("c0", Fraction(3)), ("quadratic", [(0, Fraction(3))])):
        with pytest.raises(verify_files.Unlike, match="another one"):
            verify_files.compare(str(path), verify.Program(held | {part: value}))
