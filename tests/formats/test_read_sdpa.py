"""The strict reader of SDPA's sparse format: cones come back as cones, and a damaged file is refused."""

from __future__ import annotations

import numpy as np
import pytest
from conic_files import solve_sdpa
from support import sampled, written

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.errors import FileError
from tools.instances import SUFFIXES, build_instance

WHOLE = """"A file of another software
* of three variables, a diagonal block, an arrow matrix and another one
 3 = mDIM
 3 = nBLOCK
 (-4, 2, 3) = bLOCKsTRUCT
{1.0, 0.0,
 -1.0}
0 1 3 3 -2
0 1 4 4 2.0
1 1 1 1 1
2 1 2 2 3.0
3 1 3 3 -1.0
3 1 4 4 1.0
1 2 1 1 1.0
2 2 1 2 1.0
3 2 2 2 1.0
0 3 3 2 -0.5
1 3 1 1 1.0
1 3 2 2 1.0
1 3 3 3 1.0
2 3 1 2 1.0
"""
"""min x1 - x3, x1 >= 0, 3 x2 >= 0, x3 = 2, x2^2 <= x1 x3, and [x1 x2 0; x2 x1 1/2; 0 1/2 x1] semidefinite."""
CONIC = [slug for slug, spec in fsopt.MODELS.items() if ".dat-s" in SUFFIXES.get(spec.problem_class, ())]
LINEAR = ["rlp", "fsv-step", "svm"]


def read(text, folder):
    return fsopt.read_model(written(folder, "m.dat-s", text))


def test_a_file_of_other_software(tmp_path):
    """The second matrix needs x1^2 >= x2^2 + 1/4, so that x2 = 0 and x1 = 1/2."""
    m = read(WHOLE, tmp_path)
    p = compile_model(m)
    assert m.x["x0"].bounds == (0, None)
    assert m.x["x1"].bounds == (None, None)  # 3 x2 >= 0 is a row
    assert program_class(p) == "SDP"
    assert [(row.lb, row.ub) for name, row in m.row.items() if name.startswith("row ")] == [(0, None), (-2, -2)]
    assert p.cones.orders.tolist() == [0, 3]
    assert fsopt.solve(m).objective == pytest.approx(0.5 - 2.0, abs=1e-6)
    assert solve_sdpa(fsopt.export(m, tmp_path / "again.dat-s")[0]) == pytest.approx(-1.5, abs=1e-6)


@pytest.mark.parametrize("slug", sampled([*CONIC, *LINEAR], 8))
def test_a_file_of_the_library_comes_back_as_the_cones_it_was_written_from(slug, tmp_path):
    own = build_instance(slug)
    m = fsopt.read_model(fsopt.export(own, tmp_path / "m.dat-s")[0])
    (path,) = fsopt.export(m, tmp_path / "n.dat-s")  # rows of cones are variables there, once
    (again,) = fsopt.export(fsopt.read_model(path), tmp_path / "o.dat-s")
    kept = [[line for line in p.read_text().splitlines() if not line.startswith('"model')] for p in (path, again)]
    assert kept[0] == kept[1]
    classes = [program_class(compile_model(model)) for model in (own, m)]
    assert classes[0] == classes[1] or classes == ["QP", "SOCP"]
    found = fsopt.solve(m).objective * compile_model(own).sign
    assert found == pytest.approx(fsopt.solve(own).objective, rel=1e-6, abs=1e-6)


def test_a_file_of_fsopt_that_lacks_a_line_or_has_one_twice_is_refused(tmp_path):
    lines = (fsopt.export(build_instance("gmeb-sdp"), tmp_path / "m.dat-s")[0]).read_text().splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if "entries" in line)
    for k in np.linspace(first + 1, len(lines) - 1, 40).astype(int).tolist():
        for text in (lines[:k], lines[:k] + lines[k + 1 :], lines[: k + 1] + lines[k:]):
            with pytest.raises(FileError):
                read("".join(text), tmp_path)
    with pytest.raises(FileError, match="so it may be cut"):
        read("".join(lines)[:-1], tmp_path)


def test_a_cut_of_another_file_is_refused_where_a_variable_or_a_row_is_lost(tmp_path):
    lines = WHOLE.splitlines(keepends=True)
    for kept in range(len(lines)):
        with pytest.raises(FileError):
            read("".join(lines[:kept]) if kept < 18 else WHOLE[:-1], tmp_path)


WRONG = {
    "integers": ('"A file', '*INTEGER\n*1\n"A file', "integer variables"),
    "another count": ('"A file', '"19 entries\n"A file', "14 entries, not 19"),
    "no variables": (" 3 = mDIM", " 0 = mDIM", "line 3 .*number of variables"),
    "two numbers": (" 3 = mDIM", " 3 2 = mDIM", "line 3"),
    "number of blocks": (" 3 = nBLOCK", " 2 = nBLOCK", "sizes of 2 blocks"),
    "size 0": ("(-4, 2, 3)", "(-4, 2, 0)", "none of them 0"),
    "size too large": ("(-4, 2, 3)", "(-4, 2, 4)", "row 4 of block 3"),
    "large matrix": ("(-4, 2, 3)", "(-4, 2, 99999)", "FSOPT_DATA_LIMIT"),
    "many variables": (" 3 = mDIM", " 999999999 = mDIM", "FSOPT_DATA_LIMIT"),
    "many costs": (" -1.0}", " -1.0, 2}", "more than 3 costs"),
    "few costs": (" -1.0}", "", "line 8"),
    "matrix": ("3 1 4 4 1.0", "4 1 4 4 1.0", "matrix 4"),
    "block": ("3 1 4 4 1.0", "3 4 4 4 1.0", "block 4"),
    "row": ("3 1 4 4 1.0", "3 1 5 5 1.0", "row 5"),
    "row 0": ("3 1 4 4 1.0", "3 1 0 0 1.0", "row 0"),
    "outside a diagonal": ("3 1 4 4 1.0", "3 1 3 4 1.0", "is diagonal"),
    "twice": ("3 1 4 4 1.0", "3 1 4 4 1.0\n3 1 4 4 1.0", "stated twice"),
    "both triangles": ("2 3 1 2 1.0", "2 3 1 2 1.0\n2 3 2 1 1.0", "stated twice"),
    "four words": ("3 1 4 4 1.0", "3 1 4 4", "line 13"),
    "no number": ("3 1 4 4 1.0", "3 1 4 4 1_0", "'1_0' is not a number"),
    "infinite": ("3 1 4 4 1.0", "3 1 4 4 inf", "not finite"),
    "large constant": ("0 1 4 4 2.0", "0 1 4 4 1e20", "1e[+]20 or more"),
    "fraction": ("3 1 4 4 1.0", "3 1 4.5 4 1.0", "not a whole number"),
    "idle variable": ("2 1 2 2 3.0\n", "0 1 2 2 3.0\n", ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_part_is_refused_by_its_line(case, tmp_path):
    old, new, words = WRONG[case]
    assert WHOLE.count(old) == 1
    text = WHOLE.replace(old, new)
    if not words:
        text, words = text.replace("2 2 1 2", "3 2 1 2").replace("2 3 1 2", "3 3 1 2"), "variable 2 .* has no entry"
    with pytest.raises(FileError, match=words) as error:
        read(text, tmp_path)
    assert error.value.hint
    assert "\n" not in str(error.value)


def arrow(corner, rest, tail):
    """Return the file of one variable as a factor of an arrow matrix, and -1 as the cost."""
    size = len(tail) + 1
    entries = [(1, 1, corner), *((k, k, rest) for k in range(2, size + 1)), *((1, k, v) for k, v in enumerate(tail, 2))]
    diagonal = "".join(f"0 1 {i} {j} {-v}\n" for i, j, v in entries if i == j and v)
    return f"1\n1\n{size}\n-1\n{diagonal}" + "".join(f"1 1 {i} {j} {v}\n" for i, j, v in entries if i != j)


@pytest.mark.parametrize(("corner", "rest"), [(4.0, 4.0), (9.0, 1.0), (0.25, 8.0)])
def test_an_arrow_matrix_is_the_second_order_cone_of_the_same_points(corner, rest, tmp_path):
    """t (a, b) in the first row: t^2 (a^2 + b^2) <= corner rest."""
    m = read(arrow(corner, rest, [1.0, -2.0]), tmp_path)
    assert program_class(compile_model(m)) in ("SOCP", "QP")
    assert -fsopt.solve(m).objective == pytest.approx(np.sqrt(corner * rest / 5.0), rel=1e-5)
    assert solve_sdpa(tmp_path / "m.dat-s") == pytest.approx(-np.sqrt(corner * rest / 5.0), rel=1e-5)


def test_a_matrix_that_is_nearly_an_arrow_stays_a_matrix(tmp_path):
    text = arrow(4.0, 4.0, [1.0, -2.0])
    for changed in (text + "1 1 2 3 1.0\n", text.replace("0 1 3 3 -4.0", "0 1 3 3 -5.0")):
        p = compile_model(read(changed, tmp_path))
        assert p.cones.orders.tolist() == [3]


def test_a_text_whose_words_would_take_more_memory_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.000001")
    with pytest.raises(FileError, match="words of the file would take") as error:
        read(WHOLE, tmp_path)
    assert "FSOPT_DATA_LIMIT=" in error.value.hint
