"""Every part of an .mps file: the program that it is, or one line that names it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from support import written

import fsopt
from fsopt.errors import FileError
from fsopt.formats.read_mps import read_mps

INF = np.inf
FILE = """NAME t
ROWS
 N obj
 L r1
 G r2
 E r3
COLUMNS
 x obj -1 r1 1
 x r2 1
{marker} y obj 2 r1 1
 y r3 1
{end}RHS
 RHS r1 5 r3 3
 RHS r2 1
{ranges}BOUNDS
{bounds}{more}ENDATA
"""
MARKERS = {"marker": " M1 'MARKER' 'INTORG'\n", "end": " M2 'MARKER' 'INTEND'\n"}


def mps(**parts: str) -> str:
    return FILE.format(**{"marker": "", "end": "", "ranges": "", "bounds": "", "more": ""} | parts)


BOUNDS = {
    "": (0, INF),
    " UP B y 3\n": (0, 3),
    " UP B y 0\n": (0, 0),
    " LO B y 2\n": (2, INF),
    " LO B y -4\n UP B y -3\n": (-4, -3),
    " MI B y\n UP B y -3\n": (-INF, -3),
    " MI B y\n": (-INF, INF),
    " PL B y\n": (0, INF),
    " FR B y\n": (-INF, INF),
    " FX B y 2\n": (2, 2),
    " BV B y\n": (0, 1),
    " LI B y 2\n": (2, INF),
    " UI B y 4\n": (0, 4),
    " UP y 3\n": (0, 3),
    " FR y\n": (-INF, INF),
    " SC B y 4\n": (0, 4),
}


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("integer", [False, True])
def test_bounds(bounds, integer):
    read = read_mps(mps(bounds=bounds, **(MARKERS if integer else {})))
    low, high = BOUNDS[bounds]
    if integer and not bounds:  # an integer variable between markers without a bound is binary
        high = 1
    assert (read.lb[1], read.ub[1]) == (low, high)
    assert (read.integer[1], read.semi[1]) == (integer or bounds[1:3] in ("BV", "LI", "UI"), "SC" in bounds)


@pytest.mark.parametrize(
    ("row", "value", "ends"),
    [
        ("r1", 2, (3, 5)),
        ("r1", -2, (3, 5)),
        ("r2", 2, (1, 3)),
        ("r2", -2, (1, 3)),
        ("r3", 2, (3, 5)),
        ("r3", -2, (1, 3)),
        ("r3", 0, (3, 3)),
    ],
)
def test_ranges(row, value, ends):
    read = read_mps(mps(ranges=f"RANGES\n RNG {row} {value}\n"))
    i = read.rows.index(row)
    assert (read.lo[i], read.hi[i]) == ends


def test_the_constant_of_the_objective_is_minus_its_right_hand_side():
    assert read_mps(mps().replace("RHS r2 1", "RHS r2 1 obj 7")).c0 == -7.0


@pytest.mark.parametrize("words", ["OBJSENSE\n MAX\n", "OBJSENSE MAX\n", "OBJSENSE\n MAXIMIZE\n", "MAX\n"])
def test_senses(words):
    assert read_mps(mps().replace("ROWS\n", f"{words}ROWS\n", 1)).maximise
    assert not read_mps(mps()).maximise


def test_further_rows_without_sense_are_constraints_without_bounds():
    text = mps().replace(" L r1", " N r0\n L r1").replace("x r2 1", "x r2 1 r0 -1")
    read = read_mps(text)
    assert read.rows == ["r0", "r1", "r2", "r3"]
    assert (read.lo[0], read.hi[0], read.A[0, 0]) == (-INF, INF, -1.0)
    assert read_mps(text.replace("ROWS\n", "OBJNAME\n r0\nROWS\n")).c.tolist() == [-1.0, 0.0]


def test_remarks():
    text = "* a remark\n" + mps(bounds=" UP B y 3 $ of May\n").replace("x r2 1", "x r2 1 $ another")
    assert read_mps(text.replace("COLUMNS\n", "COLUMNS\n* one\n\n")).ub[1] == 3.0


QUADRATIC = {
    "QUADOBJ\n x x 2\n x y 3\n": "objective",
    "QSECTION\n x x 2\n y x 3\n": "objective",
    "QSECTION obj\n x x 2\n y x 3\n": "objective",
    "QMATRIX\n x x 2\n x y 3\n y x 3\n": "objective",
    "QCMATRIX r1\n x x 1\n x y 1.5\n y x 1.5\n": "r1",
}


@pytest.mark.parametrize("section", QUADRATIC)
def test_quadratic_sections(section, tmp_path):
    model = fsopt.read_model(written(tmp_path, "m.mps", mps(more=section)))
    x, y = 2.0, 5.0
    model.x["x"], model.x["y"] = x, y
    cost, row = -x + 2 * y, x + y
    cost, row = (
        v + (x**2 + 3 * x * y) * (name == QUADRATIC[section]) for name, v in (("objective", cost), ("r1", row))
    )
    assert pyo.value(model.objective) == pytest.approx(cost)
    assert pyo.value(model.row["r1"].body) == pytest.approx(row)


@pytest.mark.parametrize(
    "form", [" {0} s{1}\n x 1\n y 2\n", " {0} SOS s{1}\n SOS x 1\n SOS y 2\n", " {0} s{1}\n s{1} x 1\n s{1} y 2\n"]
)
def test_special_ordered_sets(form):
    text = mps(bounds=" UP B y 3\n", more="SOS\n" + form.format("S1", 1) + form.format("S2", 2))
    before = text.partition("SOS\n")[2].removesuffix("ENDATA\n")
    other = text.replace("SOS\n" + before, "").replace("RHS\n", f"SETS\n{before}RHS\n", 1)
    assert read_mps(other).sets == read_mps(text).sets
    assert read_mps(text).sets == [(1, [0, 1], [1.0, 2.0]), (2, [0, 1], [1.0, 2.0])]


def test_a_semicontinuous_variable_is_0_or_between_its_bounds(tmp_path):
    model = fsopt.read_model(written(tmp_path, "m.mps", mps(bounds=" LO B y 2\n SC B y 4\n")))
    assert [v in model.x["y"].domain for v in (-1, 0, 1, 2, 3.5, 4, 5)] == [False, True, False, True, True, True, False]
    model = fsopt.read_model(written(tmp_path, "m.mps", mps(bounds=" LO B y 2\n SC B y 4\n", **MARKERS)))
    assert [v in model.x["y"].domain for v in (0, 1, 2, 3.5, 4)] == [True, False, True, False, True]


FIXED = """NAME          FIXED
ROWS
 N  COST
 L  LIM 1
 G  LAST ROW
COLUMNS
    X ONE     COST               1.0   LIM 1              1.0
    X ONE     LAST ROW           1.0
    MARKER    'MARKER'                 'INTORG'
    Y TWO     COST               2.0   LIM 1              1.0
    MARKER    'MARKER'                 'INTEND'
RHS
              LIM 1              4.0   LAST ROW           1.0
RANGES
    RNG       LIM 1              2.0
BOUNDS
 UP BND       X ONE              4.0
ENDATA
"""


def test_the_fixed_form_has_names_with_spaces_and_sets_without_name():
    read = read_mps(FIXED)
    assert (read.columns, read.rows) == (["X ONE", "Y TWO"], ["LIM 1", "LAST ROW"])
    assert (read.lo.tolist(), read.hi.tolist(), read.ub.tolist()) == ([2.0, 1.0], [4.0, INF], [4.0, 1.0])
    assert read.integer.tolist() == [False, True]


REFUSED = {
    "three pairs": (" x r2 1", " x r2 1 r3 1 r1 2", "line 9 .*one or two pairs"),
    "no value": (" x r2 1", " x r2", "line 9 .*one or two pairs"),
    "entry twice": (" x r2 1", " x r2 1\n x r1 2", "line 10 .*stated twice"),
    "apart": (" y r3 1", " y r3 1\n x r3 1", "line 12 .*not together"),
    "unknown row": (" x r2 1", " x r9 1", "line 9 .*unknown name 'r9'"),
    "unknown column": ("BOUNDS\n", "BOUNDS\n UP B z 1\n", "line 16 .*unknown name 'z'"),
    "no number": (" x r2 1", " x r2 1_0", "line 9 .*'1_0' is not a number"),
    "nan": (" x r2 1", " x r2 nan", "line 9 .*'nan' is not a number"),
    "infinite": (" x r2 1", " x r2 1e30", "line 9 .*1e\\+20 or more"),
    "no sense": (" L r1", " r1", "line 4 .*no sense"),
    "row twice": (" L r1", " L r1\n G r1", "line 5 .*stated twice"),
    "no objective": (" N obj", " G obj", "no row of kind N"),
    "two right-hand sides": ("RHS r2 1", "RHS r2 1 r1 4", "line 14 .*two values"),
    "two sets RHS": (" RHS r2 1", " RHS2 r2 1", "line 14 .*second set"),
    "two sets RANGES": ("BOUNDS\n", "RANGES\n A r1 1\n B r2 1\nBOUNDS\n", "line 17 .*second set"),
    "two sets BOUNDS": ("BOUNDS\n", "BOUNDS\n UP A x 1\n UP B y 1\n", "line 17 .*second set"),
    "range of the objective": ("BOUNDS\n", "RANGES\n A obj 1\nBOUNDS\n", "kind N has a range"),
    "negative upper bound": ("BOUNDS\n", "BOUNDS\n UP B y -3\n", "line 16 .*negative"),
    "two upper bounds": ("BOUNDS\n", "BOUNDS\n UP B y 3\n UP B y 4\n", "line 16 .*two bounds"),
    "free and upper": ("BOUNDS\n", "BOUNDS\n FR B y\n UP B y 4\n", "two bounds of one side"),
    "kind of bound": ("BOUNDS\n", "BOUNDS\n XX B y 3\n", "line 16 .*kind of bound"),
    "crossed": ("BOUNDS\n", "BOUNDS\n LO B y 5\n SC B y 3\n", "crossed bounds"),
    "marker": (" y obj", " M 'MARKER' 'SOSORG'\n y obj", "line 10 .*marker"),
    "marker open": (" y obj", " M 'MARKER' 'INTORG'\n y obj", "line 10 .*no INTEND"),
    "section twice": ("BOUNDS\n", "BOUNDS\n UP B y 3\nBOUNDS\n", "line 17 .*twice"),
    "order": ("ROWS\n", "BOUNDS\nROWS\n", "line 3 .*too late"),
    "section": ("BOUNDS\n", "CSECTION k 0.0 QUAD\n x\nBOUNDS\n", "line 15 .*section CSECTION"),
    "general constraints": ("BOUNDS\n", "GENCONS\n MAX g\n x\nBOUNDS\n", "section GENCONS"),
    "lazy constraints": ("BOUNDS\n", "LAZYCONS\n L l\nBOUNDS\n", "section LAZYCONS"),
    "cut": ("ENDATA\n", "", "no section ENDATA"),
    "after the end": ("ENDATA\n", "ENDATA\nSOS\n", "line 17 .*after ENDATA"),
    "both triangles": ("ENDATA", "QUADOBJ\n x y 1\n y x 1\nENDATA", "both triangles"),
    "one triangle": ("ENDATA", "QMATRIX\n x y 1\nENDATA", "not symmetric"),
    "one triangle of a constraint": ("ENDATA", "QCMATRIX r1\n x y 1\nENDATA", "not symmetric"),
    "quadratic entry twice": ("ENDATA", "QUADOBJ\n x y 1\n x y 1\nENDATA", "stated twice"),
    "quadratic constraint": ("ENDATA", "QSECTION r1\n x y 1\nENDATA", "QSECTION of a constraint"),
    "unknown constraint": ("ENDATA", "QCMATRIX r9\n x x 1\nENDATA", "has to name a constraint"),
    "sense": ("ROWS\n", "OBJSENSE\n UP\nROWS\n", "no sense"),
    "set": ("ENDATA", "SOS\n x 1\nENDATA", "line 17 .*in no set"),
    "set with two weights": ("ENDATA", "SOS\n S1 s\n x 1\n y 1\nENDATA", "line 19 .*twice"),
    "indicator": ("ENDATA", "INDICATORS\n IF r1 y 2\nENDATA", "line 17 .*0 or 1"),
    "indicator of a continuous variable": ("ENDATA", "INDICATORS\n IF r1 y 1\nENDATA", "not binary"),
    "indicator without bound": ("BOUNDS\n", "BOUNDS\n BV B y\nINDICATORS\n IF r1 y 1\n", "'x' no bound"),
    "dollar": (" L r1", " L $r1", "line 4 .*begins with"),
    "first line": ("NAME t\n", " NAME t\n", "line 1 .*does not begin"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_program_is_refused_by_its_line(case):
    old, new, words = REFUSED[case]
    text = mps()
    assert old in text
    with pytest.raises(FileError, match=words) as error:
        read_mps(text.replace(old, new, 1))
    assert "\n" not in str(error.value)
