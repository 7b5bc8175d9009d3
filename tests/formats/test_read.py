"""Model files by HiGHS: what it refuses, what it remarks, damaged and hostile files, each in one line."""

from __future__ import annotations

import gzip
import hashlib
import os

import pytest
from support import ROOT, written

import fsopt
from fsopt.errors import FileError
from fsopt.formats.read import contents, told

LP = "min\n o: 2 x + y {quadratic}\nst\n c: x + y >= 1\n{row}bounds\n x <= {end}\n y <= 4\n{section}end\n"
MPS = """NAME t
ROWS
 N o
 L c
COLUMNS
 x o {cost} c 1
 y o 1 c 1
RHS
 RHS c 4
BOUNDS
 {bound} BND x 4
{section}ENDATA
"""


def lp(quadratic="", row="", end="4", section=""):
    return LP.format(quadratic=quadratic, row=row, end=end, section=section)


def mps(cost="1", bound="UP", section=""):
    return MPS.format(cost=cost, bound=bound, section=section)


BUILD = r": its own solver reads it; for fsopt build the model with fsopt\.build, or in Pyomo$"
REFUSED = {
    "a.lp": (lp(row=" d: [ x^2 ] <= 2\n"), "HiGHS 1.* quadratic constraints are not supported.*, line 5" + BUILD),
    "b.lp": (lp(section="sos\n s: S1:: x:1 y:2\n"), "SOS constraints are not supported.*" + BUILD),
    "c.lp": (lp(row=" d: x = 1 -> y >= 2\n", section="binary\n x\n"), "indicator constraints are not.*" + BUILD),
    "d.lp": (lp(section="semi\n x\n"), "'x' is semicontinuous"),
    "e.lp": (lp(section="general constraint\n g: y = abs ( x )\n"), "expected a variable.*line 9"),
    "f.lp": (lp(row=" c: x <= 3\n"), "two constraints have one name c"),
    "cut.lp": (lp()[:-5], "expected `end`"),
    "empty.lp": ("", "no variables"),
    "words.lp": ("hello world\n", "expected a section keyword"),
    "binary.lp": (os.urandom(3000), "binary.lp'"),
    "huge.lp": (lp(row=" d: 1e400 x >= 1\n"), r"1 \|value\| in \[inf, inf\]"),
    "a.mps": (mps(section="QCMATRIX c\n x x 1\n"), "Quadratic rows not supported.*" + BUILD),
    "b.mps": (mps(section="SOS\n S1 s1\n x 1\n y 2\n"), "SOS not supported.*" + BUILD),
    "c.mps": (mps(section="INDICATORS\n IF c x 1\n"), "INDICATORS.*" + BUILD),
    "d.mps": (mps(section="CSECTION k 0.0 QUAD\n x\n y\n"), "Cones not supported.*" + BUILD),
    "e.mps": (mps(bound="SC"), "'x' is semicontinuous"),
    "cut.mps": (mps()[:-8], "Parser error"),
    "empty.mps": ("", "Parser error"),
    "binary.mps": (os.urandom(3000), "binary.mps'"),
    "huge.mps": (mps(cost="1e400"), "a number that is not finite"),
    "nan.mps": (mps(cost="nan"), "a number that is not finite"),
    "cut.lp.gz": (gzip.compress(lp().encode())[:-12], "cannot read"),
    "m.nl": ("g3 1 1 0\n", r"fsopt reads \.lp and \.mps, by HiGHS" + BUILD),
    "m.cbf": ("VER\n3\n", "fsopt reads"),
    "m.gms": ("Variables x;\n", "fsopt reads"),
    "m.dat-s": ("1\n", "fsopt reads"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_in_one_line(name, tmp_path, capfd):
    content, words = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_model(path)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().out == ""


def test_a_packed_text_that_is_too_long_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "long.lp.gz", lp() + "\n" * 10**6)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.0001")
    with pytest.raises(FileError, match="FSOPT_DATA_LIMIT"):
        fsopt.read_model(path)
    with pytest.raises(FileError, match="No such file"):
        fsopt.read_model(tmp_path / "gone.lp")


@pytest.mark.parametrize(
    ("name", "text", "optimum"),
    [
        ("a b.lp", lp(), 1.0),
        ("packed.mps.gz", mps().replace("N o", "N o").replace(" L c", " G c"), 4.0),
        ("q.lp", lp(quadratic="+ [ 2 x^2 + 2 x * y + 2 y^2 ] / 2 + 3"), 4.0 + 1.0),
        ("i.lp", lp(row=" d: 2 x + 2 y >= 3\n", section="general\n x\n y\n"), 2.0),
        ("free.lp", lp(row=" d: x + y <= 9\n", section="").replace("min", "max").replace("y <= 4", "y free"), 13.0),
    ],
)
def test_numbers_arrive(name, text, optimum, tmp_path, capfd):
    """A quadratic objective: x^2 + xy + y^2 + 2x + y + 3 at (0, 1)."""
    model = fsopt.read_model(written(tmp_path, name, text))
    assert fsopt.solve(model).objective == pytest.approx(optimum, abs=1e-7)
    assert capfd.readouterr().out == ""


def test_a_remark_of_highs_is_said(tmp_path):
    text = mps().replace(" y o 1 c 1\n", " y o 1 c 1\n y c 3\n")
    with pytest.warns(UserWarning, match=r"HiGHS .* with 2 remarks: Column \"y\" has duplicate nonzero 3"):
        fsopt.read_model(written(tmp_path, "m.mps", text))


def test_what_is_said_of_a_file():
    path = ROOT / "models" / "fsv-exact" / "fsv-exact.mps"
    file = contents(fsopt.read_model(path), path)
    assert (file["constraints"], file["variables"], file["integers"]) == (24, 25, 4)
    assert file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert told(file).startswith("read by HiGHS 1.")
