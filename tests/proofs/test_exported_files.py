"""Programs of files and of statements: bounds in MPS files, as the format defines them, the sense, and other parts."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from fsopt.verifier import verify, verify_data, verify_files


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


@pytest.mark.parametrize(("part", "value"), [("matrices", ["Z"]), ("integer", [0]), ("c0", Fraction(1))])
def test_a_program_with_a_part_that_the_statement_has_not_is_another_one(part, value):
    """min x with x >= 0, as a statement gives it."""
    known = {"cost": [(Fraction(1), Fraction(0))], "lb": [0], "quadratic": [], "slopes": []}
    sketch = SimpleNamespace(**known, rows=[], cones=[], factors=[])
    held = {"n": 1, "rows": [], "limits": [], "cones": [], "matrices": [], "integer": [], "P": {}}
    held |= {"c": [Fraction(1)], "c0": Fraction(0), "bounds": [(Fraction(0), None)]}
    verify_data.compare_program(sketch, SimpleNamespace(**held), {"kind": "convex"})
    with pytest.raises(verify_data.Different, match="parts that the statement has not"):
        verify_data.compare_program(sketch, SimpleNamespace(**held | {part: value}), {"kind": "convex"})


def a_form(column, value=1, constant=0):
    return SimpleNamespace(columns=[column], values=[value], constant=constant, bottom=1)


@pytest.mark.parametrize(
    "cone",
    [
        ([1], [a_form(0), a_form(0), a_form(2)]),  # the norm of another variable
        ([2], [a_form(0), a_form(0), a_form(1)]),  # twice the square
        ([1], [a_form(0), a_form(2), a_form(1)]),  # another head
        ([1], [a_form(0), a_form(0), a_form(1, 2)]),
        ([1], [a_form(0), a_form(0), a_form(1, 1, 1)]),
        ([1, 1], [a_form(0), a_form(0), a_form(1), a_form(2)]),
    ],
    ids=["other tail", "weight", "other head", "factor", "constant", "larger tail"],
)
def test_another_cone_is_another_program(cone):
    """min x0 with x0 >= |x1|, as a statement gives it."""
    known = {"cost": [(Fraction(c), Fraction(0)) for c in (1, 0, 0)], "lb": [None] * 3, "quadratic": [], "slopes": []}
    sketch = SimpleNamespace(**known, rows=[], cones=[(0, 0, [1])], factors=[])
    held = {"n": 3, "rows": [], "limits": [], "matrices": [], "integer": [], "P": {}, "c0": Fraction(0)}
    held |= {"c": [Fraction(1), Fraction(0), Fraction(0)], "bounds": [(None, None)] * 3}
    right = ([1], [a_form(0), a_form(0), a_form(1)])
    verify_data.compare_program(sketch, SimpleNamespace(**held, cones=[right]), {"kind": "convex"})
    with pytest.raises(verify_data.Different, match="its cone 0"):
        verify_data.compare_program(sketch, SimpleNamespace(**held, cones=[cone]), {"kind": "convex"})
