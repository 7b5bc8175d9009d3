"""Every part of an .lp file: the program that it is, or one line that names it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from support import written

import fsopt
from fsopt.errors import FileError
from fsopt.formats.read_lp import read_lp

INF = np.inf


def lp(objective: str = "x + y", constraints: str = "c: x + y >= 1", rest: str = "") -> str:
    return f"Minimize\n obj: {objective}\nSubject To\n {constraints}\n{rest}End\n"


@pytest.mark.parametrize("word", ["Minimize", "minimise", "MINIMUM", "min"])
@pytest.mark.parametrize("subject", ["Subject To", "SUCH THAT", "st", "S.T.", "st."])
def test_words_of_sections(word, subject):
    read = read_lp(f"{word}\nx\n{subject} x >= 1\nEND\n")
    assert not read.maximise
    assert read_lp(f"{word.lower().replace('min', 'max')} x\n{subject}\nx <= 1\nend").maximise
    assert (read.columns, read.rows, read.lo.tolist()) == (["x"], ["R1"], [1.0])


ROWS = {
    "x + y >= 1": ((1, 1), 1, INF),
    "3 x - 2.5e0y<=-4": ((3, -2.5), -INF, -4),
    "- x + .5 y = + 2": ((-1, 0.5), 2, 2),
    "-x -2 y => - 2": ((-1, -2), -2, INF),
    "+x\n +2 y =< 2": ((1, 2), -INF, 2),
    "x + y > 1": ((1, 1), 1, INF),
    "1 <= x + y <= 3": ((1, 1), 1, 3),
    "3 >= x + y >= -inf": ((1, 1), -INF, 3),
    "x + 3 + y >= 1": ((1, 1), -2, INF),
    "x + y + 2 x <= 5": ((3, 1), -INF, 5),
    "0 x + y >= 1": ((0, 1), 1, INF),
}


@pytest.mark.parametrize("form", ROWS)
@pytest.mark.parametrize("label", ["", "c: ", "c[1,a]: "])
def test_constraints(form, label):
    read = read_lp(lp(constraints=f"{label}{form}\n d: x - y <= 9"))
    coefs, low, high = ROWS[form]
    assert tuple(read.A.toarray()[0]) == coefs
    assert (read.lo[0], read.hi[0]) == (low, high)
    assert read.rows == [label.rstrip(": ") or "R1", "d"]
    assert (read.A.toarray()[1].tolist(), read.hi[1]) == ([1.0, -1.0], 9.0)


def test_objectives():
    read = read_lp(lp("3 x - y + 2.5 - 1"))
    assert (read.c.tolist(), read.c0) == ([3.0, -1.0], 1.5)
    assert read_lp("max\nst\n x<=1\nend").c.tolist() == [0.0]
    assert read_lp("max\n obj:\nst\n x<=1\nend").c.tolist() == [0.0]


BOUNDS = {
    "x <= 4": (0, 4),
    "x >= -1": (-1, INF),
    "-1 <= x <= 4": (-1, 4),
    "4 >= x >= - 1": (-1, 4),
    "x = 2": (2, 2),
    "2=x": (2, 2),
    "x free": (-INF, INF),
    "x FREE": (-INF, INF),
    "-inf <= x <= +infinity": (-INF, INF),
    "-Infinity<=x": (-INF, INF),
    "x >= -1e30": (-1e30, INF),
    "x >= -1\n x <= 4": (-1, 4),
    "x <= -3": (0, -3),
}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_bounds(bounds):
    read = read_lp(lp(rest=f"Bounds\n {bounds}\n y <= 7\n"))
    assert (read.lb[0], read.ub[0]) == BOUNDS[bounds]
    assert (read.lb[1], read.ub[1]) == (0, 7)


@pytest.mark.parametrize("word", ["Generals", "general", "GEN", "Integers", "integer", "int"])
def test_integers(word):
    assert read_lp(lp(rest=f"{word}\n y\n")).integer.tolist() == [False, True]


def test_binaries_have_bounds_0_and_1_and_those_within():
    read = read_lp(lp(rest="Bounds\n x = 1\nBinaries\n x y\n"))
    assert read.integer.all()
    assert (read.lb.tolist(), read.ub.tolist()) == ([1.0, 0.0], [1.0, 1.0])


GUROBI = """\\ LP format - for model browsing
Maximize
  x[0] + 0 z + 3.5 Constant + [ 2 x[1] ^2 ] / 2
Subject To
 R0: x[0] + x[1] >= 2
 - x[0] + [ x[0] ^2 + x[1] * x[2] - 2 x[2,a]^2 ] <= 4
 ind: z = 1 -> x[0] + x[1] <= 3
Bounds
 x[0] <= 4
 x[1] <= 4
 x[2] <= 4
 x[2,a] <= 4
 Constant = 1
Binaries
 z
SOS
 s0:  S1 :: x[0]:1 x[1]:2
 S2 :: x[0]:1 x[1]:2.5 x[2]:3
End
"""


def test_names_with_brackets_unnamed_quadratic_constraints_sets_and_indicators(tmp_path):
    model = fsopt.read_model(written(tmp_path, "m.lp", GUROBI))
    assert list(model.x) == ["x[0]", "z", "Constant", "x[1]", "x[2]", "x[2,a]", "(row 1 - z)"]
    for name, value in (("x[0]", 3.0), ("x[1]", 2.0), ("x[2]", 5.0), ("x[2,a]", 7.0), ("Constant", 1.0)):
        model.x[name].set_value(value, skip_validation=True)
    assert pyo.value(model.row["R2"].body) == -3 + 9 + 10 - 2 * 49
    assert pyo.value(model.objective) == 3 + 3.5 + 4
    assert [len(model.component(f"sos{kind}")) for kind in (1, 2)] == [1, 1]
    weights = {v.index(): w for v, w in model.sos2[0].get_items()}
    assert weights == {"x[0]": 1.0, "x[1]": 2.5, "x[2]": 3.0}


INDICATORS = {  # max x + 2 b with x <= 9: the optimum, by hand
    "b = 1 -> x <= 3": 9.0,
    "b = 0 -> x <= 3": 11.0,
    "b = 1 -> x <= 8": 10.0,
    "b = 0 -> x + b <= 3": 11.0,
    "b = 0 -> - x >= -3": 11.0,
    "b = 1 -> x = 8": 10.0,
    "b = 0 -> 1 <= x <= 3\n d: b <= .5": 3.0,
    "b = 0 -> x = 3\n d: b <= .5": 3.0,
    "b = 1 -> x >= 10": 9.0,
    "b = 1 -> x <= 3\n d: b = 1 -> x >= 2\n e: b >= .5": 5.0,
}


@pytest.mark.parametrize("form", INDICATORS)
def test_indicators(form, tmp_path):
    text = f"max\n x + 2 b\nst\n c: {form}\nbounds\n x <= 9\nbin\n b\nend\n"
    model = fsopt.read_model(written(tmp_path, "m.lp", text))
    assert fsopt.solve(model).objective == pytest.approx(INDICATORS[form])


REFUSED = {
    "cut": ("End\n", "", "no line 'End'"),
    "no constraints": ("Subject To\n c: x + y >= 1\n", "", "no line 'Subject To'"),
    "after the end": ("End\n", "End\n x\n", "after End"),
    "first": ("Minimize\n", "", "line 1 .*does not begin"),
    "two senses": ("Subject To", "Maximize\nSubject To", "line 3 .*twice"),
    "twice": ("End", "Bounds\n x <= 1\nBounds\n x <= 2\nEnd", "line 7 .*twice"),
    "term twice": ("c: x", "c: x + x", "line 4 .*a term of 'x' is stated twice"),
    "product twice": ("c: x", "c: [ x * y + y * x ] + x", "line 4 .*is stated twice"),
    "two numbers": ("c: x", "c: 2 3 x", "line 4 .*no term"),
    "two names": ("c: x", "c: x y", "line 4 .*no term"),
    "two signs": ("c: x", "c: - - x", "line 4 .*no term"),
    "sign at the end": ("x + y >=", "x + y + >=", "line 4 .*a sign without a term"),
    "no terms": ("x + y >=", ">=", "line 4 .*without terms"),
    "no number": (">= 1", ">= z", "line 4 .*a number has to follow"),
    "number on the left": ("c: x + y >= 1", "c: 1 <= x + y", "line 4 .*no relation"),
    "no relation": (">= 1", "", "line 4 .*no relation"),
    "two relations": (">= 1", ">= 1 >= 0", "line 4"),
    "one side twice": ("c: x + y >= 1", "c: 1 <= x + y >= 1", "line 4 .*two bounds of one side"),
    "name within": ("c: x + y", "c: x + d: y", "line 4 .*name in the middle"),
    "number as a name": ("c: x + y", "4: x + y", "line 4 .*none before its colon"),
    "power": ("c: x", "c: x ^ 2", "line 4 .*no term"),
    "cube": ("c: x", "c: [ x ^ 3 ]", "line 4 .*quadratic term"),
    "infinite": ("c: x", "c: 1e999 x", "line 4 .*not finite"),
    "indicator": ("c: x", "c: x >= 1 -> x", "line 4 .*not of the form"),
    "indicator within": ("c: x", "c: 2 x + b = 1 -> x", "line 4 .*in the middle"),
    "indicator of no binary": ("c: x", "c: y = 1 -> x", "not binary"),
    "unknown bound": ("End", "Bounds\n z <= 1\nEnd", "line 6 .*name 'z' is in no objective"),
    "unknown integer": ("End", "General\n z\nEnd", "line 6 .*name 'z' is in no objective"),
    "unknown in a set": ("End", "SOS\n s: S1:: z:1\nEnd", "line 6 .*name 'z' is in no objective"),
    "two bounds": ("End", "Bounds\n x <= 1\n x <= 2\nEnd", "line 6 .*two bounds of one side"),
    "two bounds at once": ("End", "Bounds\n 1 >= x <= 2\nEnd", "line 6 .*two bounds of one side"),
    "no bound": ("End", "Bounds\n x\nEnd", "line 6 .*without a bound"),
    "shared number": ("End", "Bounds\n x <= 1 <= y\nEnd", "line 6 .*no bound"),
    "number in bounds": ("End", "Bounds\n x <= 1 2\nEnd", "line 6 .*no bound"),
    "number in integers": ("End", "General\n x 2\nEnd", "line 6 .*name of a variable"),
    "binary with bound": ("End", "Bounds\n x <= 5\nBinary\n x\nEnd", "line 8 .*outside 0 and 1"),
    "set without type": ("End", "SOS\n s: x:1\nEnd", "line 6 .*no set"),
    "set of type 3": ("End", "SOS\n s: S3:: x:1\nEnd", "line 6 .*does not begin with its type"),
    "set without weight": ("End", "SOS\n s: S1:: x:1 y\nEnd", "line 6 .*no variable with its weight"),
    "set with an infinite weight": ("End", "SOS\n s: S1:: x:1 y:1e999\nEnd", "line 6 .*not finite"),
    "set with equal weights": ("End", "SOS\n s: S1:: x:1 y:1\nEnd", "line 6 .*twice"),
    "lazy": ("End", "Lazy Constraints\n x <= 3\nEnd", "line 5 .*lazy constraints is not read"),
    "cuts": ("End", "User Cuts\n x <= 3\nEnd", "line 5 .*user cuts"),
    "general": ("End", "General Constraints\n g: x = MAX ( y )\nEnd", "line 5 .*general constraints"),
    "piecewise": ("End", "PWLObj\n x: (0, 1)\nEnd", "line 5 .*pwlobj"),
    "sos1": ("End", "SOS1\n s: x:1 y:2\nEnd", "line 5 .*sos1 is not read"),
    "objectives": ("Minimize", "Minimize multi-objectives", "line 2 .*no term"),
    "scenario": ("End", "Scenario a\n x <= 3\nEnd", "line"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_program_is_refused_by_its_line(case):
    old, new, words = REFUSED[case]
    assert old in lp()
    with pytest.raises(FileError, match=words) as error:
        read_lp(lp().replace(old, new, 1))
    assert "\n" not in str(error.value)


def test_a_constraint_without_name_gets_one_of_its_own():
    assert read_lp(lp(constraints="R2: x >= 1\n y >= 1\n x >= 2")).rows == ["R2", "R2_", "R3"]


def test_an_indicator_without_bounds_says_what_to_do():
    with pytest.raises(FileError, match="variable 'x' no bound") as error:
        read_lp(lp(constraints="c: b = 1 -> x + y <= 1", rest="Binary\n b\n").replace("x + y\nS", "x + y + b\nS"))
    assert "give 'x' the bound" in error.value.hint


@pytest.mark.parametrize("text", ["x >= 1e30", "x <= -1e25"])
def test_a_bound_beyond_every_number_is_refused(text, tmp_path):
    with pytest.raises(FileError, match="leaves no number"):
        fsopt.read_model(written(tmp_path, "m.lp", lp(rest=f"Bounds\n {text}\n")))
    with pytest.raises(FileError, match="leaves no number"):
        fsopt.read_model(written(tmp_path, "m.lp", lp(constraints=text)))


def test_blanks_between_tokens_may_be_left_out():
    """Files whose tokens have no blanks between them are the same program as those with blanks."""
    spaced = lp("2 x - y", "c: x + 3 y >= 1\n d: x - y <= - 2", "Bounds\n x <= 3\n")
    read, dense = read_lp(spaced), read_lp(spaced.replace(" + ", "+").replace(" - ", "-").replace(" <= ", "<="))
    assert (read.A != dense.A).nnz == 0
    assert (read.hi.tolist(), read.c.tolist(), read.ub.tolist()) == (dense.hi.tolist(), [2.0, -1.0], dense.ub.tolist())
