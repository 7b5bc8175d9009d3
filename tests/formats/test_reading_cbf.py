"""A .cbf file is read as what it says, or refused: cuts, counts, indices, repetitions, sizes."""

from __future__ import annotations

import re

import pyomo.environ as pyo
import pytest
from formats.test_reading import CBF
from support import ROOT, written

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError
from fsopt.formats.cbf_sections import read_sections
from tools.instances import build_instance

PSD = """VER
3
OBJSENSE
MIN
VAR
2 1
F 2
PSDCON
1
2
CON
1 1
L+ 1
OBJACOORD
2
0 1.0
1 1.0
ACOORD
2
0 0 1.0
0 1 1.0
BCOORD
1
0 4.0
HCOORD
2
0 0 0 0 1.0
0 1 1 1 1.0
DCOORD
1
0 1 0 1.0
"""
WHOLE = {"matrix variables": CBF, "matrix constraints": PSD}
LIBRARY = ["gmeb-sdp", "fsp-m-perspective"]


def library(slug: str) -> str:
    return (ROOT / "models" / slug / f"{slug}.cbf").read_text()


@pytest.mark.parametrize("text", [*WHOLE.values(), *map(library, LIBRARY)], ids=[*WHOLE, *LIBRARY])
def test_a_file_that_is_cut_after_any_line_is_refused(text):
    """The format has no mark of its end, and sections without entries may be left out."""
    lines = text.splitlines(keepends=True)
    read_sections(text)
    for kept in range(len(lines)):
        with pytest.raises(FileError):
            read_sections("".join(lines[:kept]))


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_file_that_is_cut_within_a_line_is_refused(text):
    for kept in range(len(text)):
        with pytest.raises(FileError):
            read_sections(text[:kept])


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_each_section_comes_once(text):
    parts = re.findall(r"[A-Z]{3,}\n(?:MAX\n|MIN\n|[^A-Z]\S* *.*\n|[LQF].*\n)+", text)
    assert "".join(parts) == text
    for k, part in enumerate(parts):
        for place in range(len(parts)):
            with pytest.raises(FileError):
                read_sections("".join([*parts[: place + 1], part, *parts[place + 1 :]]))
        with pytest.raises(FileError):
            read_sections("".join([*parts, parts[k]]))


WRONG = {
    "index of a variable": ("\n0 1.0\n1 1.0", "\n0 1.0\n2 1.0", "line 17: the index 2 of OBJACOORD is out of range"),
    "negative index": ("0 0 1.0\n0 1 1.0\nB", "0 0 1.0\n0 -1 1.0\nB", "index -1 of ACOORD"),
    "index of a row": ("1\n0 4.0", "1\n1 4.0", "index 1 of BCOORD"),
    "index of a matrix": ("0 1 0 1.0", "1 1 0 1.0", "index 1 of DCOORD"),
    "index of an entry": ("0 1 0 1.0", "0 2 0 1.0", "index 2 of DCOORD"),
    "a row as a variable": ("0 0 0 0 1.0", "0 2 0 0 1.0", "index 2 of HCOORD"),
    "an entry twice": ("0 0 1.0\n0 1 1.0\nB", "0 1 1.0\n0 1 1.0\nB", "entry of ACOORD is stated twice"),
    "both triangles": ("DCOORD\n1", "DCOORD\n2\n0 0 1 1.0", "entry of DCOORD is stated twice"),
    "a count": ("OBJACOORD\n2", "OBJACOORD\n1", "section '1 1.0'"),
    "a count too many": ("OBJACOORD\n2", "OBJACOORD\n3", "line 18"),
    "negative count": ("OBJACOORD\n2", "OBJACOORD\n-2", "ends within"),
    "no sense": ("OBJSENSE\nMIN\n", "", "no section OBJSENSE, so it may be cut"),
    "no constants": ("BCOORD\n1\n0 4.0\n", "", "no section BCOORD, so it may be cut"),
    "constants twice": ("HCOORD", "DCOORD\n0\nHCOORD", "line 31: the section DCOORD comes twice"),
    "constants not last": (
        PSD[PSD.index("HCOORD") :],
        "DCOORD\n1\n0 1 0 1.0\nHCOORD\n2\n0 0 0 0 1.0\n0 1 1 1 1.0\n",
        "does not end with the section DCOORD",
    ),
    "no objective": ("OBJACOORD\n2\n0 1.0\n1 1.0\n", "", "objective .* has no entries"),
    "an order": ("PSDCON\n1\n2", "PSDCON\n1\n3", "row 2 of matrix 0 .* has no entry"),
    "a row more": ("CON\n1 1\nL+ 1\n", "CON\n2 1\nL+ 2\n", "row 1 of the .cbf file has no entry"),
    "order": ("VER\n3\nOBJSENSE\nMIN\n", "OBJSENSE\nMIN\nVER\n3\n", "VER has to be the first"),
    "sizes late": ("CON\n1 1\nL+ 1\n", "OBJBCOORD\n1.0\nCON\n1 1\nL+ 1\n", "CON comes after numbers"),
    "digits": ("0 4.0", "0 4_0", "'4_0'"),
    "infinite": ("0 4.0", "0 inf", "not finite"),
    "no constant": ("0 4.0", "0 1e25", "constant of 1e[+]20"),
    "large integer": ("0 4.0", "99999999999999999999999 4.0", "not finite"),
    "words": ("0 4.0", "0 4.0 5", "BCOORD has 2 words, not 3"),
    "empty matrix": ("PSDCON\n1\n2", "PSDCON\n1\n0", "no rows"),
    "short cone": ("L+ 1", "QR 1", "too short"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_line_is_refused_by_name(case, tmp_path):
    old, new, words = WRONG[case]
    assert PSD.count(old) == 1
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_model(written(tmp_path, "m.cbf", PSD.replace(old, new)))
    assert error.value.hint


SIZES = [
    "VAR\n3000000 1\nF 3000000",
    "VAR\n1 1\nF 1\nPSDCON\n1\n800",
    "PSDVAR\n2\n500\n500",
    "VAR\n1 1\nF 1\nCON\n9999999 1\nQ 9999999",
]


@pytest.mark.parametrize("sizes", SIZES)
def test_stated_sizes_beyond_the_limit_are_refused_before_they_take_memory(sizes, tmp_path):
    text = f"VER\n3\nOBJSENSE\nMIN\n{sizes}\nOBJBCOORD\n0\n"
    with pytest.raises(FileError, match="more than the limit of") as error:
        fsopt.read_model(written(tmp_path, "m.cbf", text))
    assert "FSOPT_DATA_LIMIT=" in error.value.hint


def unconstrained() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.NonNegativeReals)
    m.cost = pyo.Objective(expr=m.x + 3)
    return m


def homogeneous() -> pyo.ConcreteModel:
    m = unconstrained()
    m.y = pyo.Var()
    m.row = pyo.Constraint(expr=m.x - 2 * m.y == 0)
    return m


def test_an_order_of_a_matrix_variable_that_is_too_large_is_refused():
    with pytest.raises(FileError, match="row 2 of matrix 0"):
        read_sections(CBF.replace("PSDVAR\n1\n2", "PSDVAR\n1\n3"))


def constant() -> pyo.ConcreteModel:
    m = homogeneous()
    m.idle = pyo.Constraint(expr=pyo.inequality(-1, 0 * m.y, None))
    m.cost.set_value(0 * m.x + 3)
    return m


@pytest.mark.parametrize("build", [unconstrained, homogeneous, constant])
def test_a_program_without_constants_is_written_so_that_a_cut_is_seen(build, tmp_path):
    path = fsopt.export(build(), tmp_path / "m.cbf")[0]
    read = compile_model(fsopt.read_model(path))
    assert (read.c0, sum(read.c)) == (3.0, 0.0 if build is constant else 1.0)
    lines = path.read_text().splitlines(keepends=True)
    for kept in range(len(lines)):
        with pytest.raises(FileError):
            read_sections("".join(lines[:kept]))


def test_a_program_does_not_grow_by_writing_and_reading(tmp_path):
    """A matrix of free variables, each of it alone, is the matrix of the model; any other one gets variables."""
    own = compile_model(build_instance("gmeb-sdp"))
    path = fsopt.export(own.model, tmp_path / "m.cbf")[0]
    read = compile_model(fsopt.read_model(path))
    assert (read.n, len(read.constraints)) == (own.n, len(own.constraints))
    (again,) = fsopt.export(read.model, tmp_path / "n.cbf")
    sections = [[line for line in p.read_text().splitlines() if not line.startswith("#")] for p in (path, again)]
    assert sections[0] == sections[1]
    assert fsopt.solve(read.model).objective == pytest.approx(fsopt.solve(own.model).objective, rel=1e-6)


SHARED = {
    "an entry twice": ("HCOORD\n2", "HCOORD\n3\n0 0 1 0 1.0", "DCOORD\n1\n0 1 0 1.0", "DCOORD\n0"),
    "a bound": ("VAR\n2 1\nF 2", "VAR\n2 2\nL+ 1\nF 1", "PSDCON\n1\n2", "PSDCON\n1\n2"),
}


@pytest.mark.parametrize("case", SHARED)
def test_a_matrix_that_shares_its_variables_has_variables_of_its_own(case, tmp_path):
    old, new, other, another = SHARED[case]
    read = compile_model(fsopt.read_model(written(tmp_path, "m.cbf", PSD.replace(old, new).replace(other, another))))
    assert (read.n, len(read.constraints)) == (5, 4)
    assert fsopt.solve(read.model).status == "optimal"
