"""Exported files: the same bytes on every run, refusals, and what the models of the papers lack."""

import gzip
import json
import os
import tomllib
from pathlib import Path
from zlib import crc32

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, scip, solve_cbf
from pyomo.core.base.label import cpxlp_label_from_name
from pyomo_models import model_of
from support import ROOT, sampled, written

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError
from fsopt.formats.writers import FORMATS


def zoo(sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """Return a mixed-integer model with what the papers' models lack: a constant, ranges, a fixed variable, ..."""
    turn = 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel(name="zoo")
    m.x = pyo.Var([0, 1], bounds=(-1.5, 2.25))
    m.pair = pyo.Var(["a b", "c^2"], within=pyo.NonNegativeReals)
    m.k = pyo.Var(within=pyo.Integers, bounds=(-3, 4))
    m.on = pyo.Var(within=pyo.Binary)
    m.below = pyo.Var(within=pyo.NonPositiveReals)
    m.still = pyo.Var(initialize=0.5)
    m.still.fix()
    m.objective = pyo.Objective(
        expr=turn * (3.25 + m.x[0] ** 2 + (m.x[0] - m.x[1]) ** 2 + 0.7 * m.k + m.on - m.below + 1e-3 * m.pair["a b"]),
        sense=sense,
    )
    m.range = pyo.Constraint(expr=(1, m.x[0] + m.x[1] + m.pair["c^2"] + m.still, 3))
    m.level = pyo.Constraint(expr=m.k + 2 * m.on >= -1.3 + 0.1 * m.x[1] - m.below)
    m.cone = pyo.Constraint(expr=m.x[1] ** 2 + 0.5 <= m.pair["a b"])
    m.ball = pyo.Constraint(expr=m.x[0] ** 2 + 2 * m.x[1] ** 2 <= 4)
    m.same = pyo.Constraint(expr=m.pair["a b"] == 1 + m.on)
    return m


@pytest.mark.parametrize("suffix", FORMATS)
def test_constants_ranges_and_senses_arrive(suffix: str, tmp_path: Path) -> None:
    for sense, turn in ((pyo.minimize, 1), (pyo.maximize, -1)):
        model = zoo(sense)
        if suffix == ".cbf":
            model.name = "two \n lines of é"  # they stand in a comment
            file = parse_cbf(fsopt.export(model, tmp_path / "zoo.cbf")[0])
            found = solve_cbf(file, dict(zip(file.integer, (-3.0, 1.0), strict=True)))
        else:
            found = scip(fsopt.export(model, tmp_path / f"zoo{suffix}")[0])
        assert turn * found == pytest.approx(ZOO, abs=2e-6)


ZOO = 3.25 - 2.1 + 1 + 2e-3
"""By hand: x = 0 and below = 0; on = 1 pays, since it lets k = -3 and makes pair[a b] = 2."""


LINEAR = lambda x, y: x  # noqa: E731
REFUSED = {  # objective, row, sense, ending, words of the message
    "lp-cubic": (LINEAR, lambda x, y: x**3 >= 1, 1, ".lp", r"to \.lp.*in 'row\[0\]' the term x\[0\]\*\*3.*use \.nl"),
    "mps-cubic": (LINEAR, lambda x, y: x**3 >= 1, 1, ".mps", r"to \.mps.*'row\[0\]'"),
    "lp-objective": (lambda x, y: pyo.exp(x), lambda x, y: x >= 1, 1, ".lp", r"'o' the term exp\(x\[0\]\)"),
    "cbf-cubic": (LINEAR, lambda x, y: x**3 >= 1, 1, ".cbf", r"'row\[0\]'.*x\[0\]\*\*3"),
    "cbf-nonconvex": (LINEAR, lambda x, y: x * y >= 0.25, 1, ".cbf", r"'row\[0\]' is neither.*not convex"),
    "cbf-concave": (lambda x, y: x**2, lambda x, y: x >= 1, -1, ".cbf", "objective 'o' is not convex"),
    "unknown": (LINEAR, lambda x, y: x >= 1, 1, ".xyz", r"unknown format '\.xyz'.*\.lp.*\.cbf"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_format_refuses_what_it_cannot_hold_and_leaves_nothing_behind(case: str, tmp_path: Path) -> None:
    goal, row, sense, suffix, words = REFUSED[case]
    with pytest.raises(FileError, match=words):
        fsopt.export(model_of(goal, row, bounds=[(-1, 2)] * 2, sense=sense), tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []


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
READ_REFUSED = {
    "a.lp": (lp(row=" d: [ x^2 ] <= 2\n"), "HiGHS 1.* quadratic constraints are not supported.*, line 5" + BUILD),
    "b.lp": (lp(section="sos\n s: S1:: x:1 y:2\n"), "SOS constraints are not supported.*" + BUILD),
    "c.lp": (lp(row=" d: x = 1 -> y >= 2\n", section="binary\n x\n"), "indicator constraints are not.*" + BUILD),
    "d.lp": (lp(section="semi\n x\n"), "'x' is semicontinuous"),
    "e.lp": (lp(section="general constraint\n g: y = abs ( x )\n"), "expected a variable.*line 9"),
    "f.lp": (lp(row=" c: x <= 3\n"), "two constraints have one name c"),
    "cut.lp": (lp()[:-5], "expected `end`"),
    "empty.lp": ("", "no variables"),
    "binary.lp": (os.urandom(3000), "binary.lp'"),
    "huge.lp": (lp(row=" d: 1e400 x >= 1\n"), r"1 \|value\| in \[inf, inf\]"),
    "a.mps": (mps(section="QCMATRIX c\n x x 1\n"), "Quadratic rows not supported.*" + BUILD),
    "b.mps": (mps(section="SOS\n S1 s1\n x 1\n y 2\n"), "SOS not supported.*" + BUILD),
    "e.mps": (mps(bound="SC"), "'x' is semicontinuous"),
    "cut.mps": (mps()[:-8], "Parser error"),
    "binary.mps": (os.urandom(3000), "binary.mps'"),
    "huge.mps": (mps(cost="1e400"), "a number that is not finite"),
    "nan.mps": (mps(cost="nan"), "a number that is not finite"),
    "cut.lp.gz": (gzip.compress(lp().encode())[:-12], "cannot read"),
    "m.nl": ("g3 1 1 0\n", r"fsopt reads \.lp and \.mps, by HiGHS" + BUILD),
    "m.cbf": ("VER\n3\n", "fsopt reads"),
    "m.dat-s": ("1\n", "fsopt reads"),
}


@pytest.mark.parametrize("name", READ_REFUSED)
def test_what_is_not_read_is_refused_in_one_line(name, tmp_path, capfd):
    content, words = READ_REFUSED[name]
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


LIBRARY = ROOT / "models"
SLOW = ("fsp", "l0-mpm", "l1-mpm", "misclass", "mmop", "gmeb-nonconvex", "svm-norm", "svm-margin", "gmeb-penalised")
"""Beginnings of the names of models whose global solution takes a while."""


def fact(slug):
    return tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))


FILES = sorted(
    (
        (slug, suffix)
        for slug, spec in fsopt.MODELS.items()
        for suffix in (".lp", ".mps", ".nl", ".cbf")
        if spec.problem_class != "MPEC"
        and (LIBRARY / slug / f"{slug}{suffix}").is_file()
        and not (suffix in (".lp", ".mps") and spec.problem_class in ("LP", "MILP", "QP"))
    ),
    key=lambda file: (file[0].startswith(SLOW), crc32("".join(file).encode())),
)


@pytest.mark.parametrize(("slug", "suffix"), sampled(FILES, sum(not slug.startswith(SLOW) for slug, _ in FILES) // 2))
def test_another_reader_of_a_file_finds_the_optimum_of_its_model(slug, suffix):
    path, optimum, kind = LIBRARY / slug / f"{slug}{suffix}", fact(slug)["optimum"], fsopt.MODELS[slug].problem_class
    if suffix == ".cbf":
        found = parse_cbf(path)
        stored = json.loads((LIBRARY / slug / "optimum.json").read_text(encoding="utf-8"))["variables"]
        own = compile_model(
            fsopt.build(slug, fsopt.load_dataset(LIBRARY / slug / "data.csv"), **fact(slug)["parameters"])
        )
        chosen = {j: float(round(stored[own.variables[j].name])) for j in found.integer}
        assert found.integer == np.flatnonzero(own.integer).tolist()
        value = solve_cbf(found, chosen)
    else:
        # A tolerance of 1e-9 on w^2 <= s t is one of 3e-5 on w at s = t = 0.
        value = scip(path, 1e-12 if "SOCP" in kind else 1e-9)
        value *= -1 if suffix == ".nl" and optimum["sense"] == "maximise" and value * optimum["objective"] < 0 else 1
    assert value == pytest.approx(optimum["objective"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("slug", "suffix"),
    sampled([(s, end) for s in fsopt.MODELS for end in (".lp", ".mps") if (LIBRARY / s / f"{s}.lp").is_file()], 38, 0),
)
def test_a_file_of_the_library_is_the_program_of_its_model_or_is_refused(slug, suffix):
    path = LIBRARY / slug / f"{slug}{suffix}"
    own = compile_model(fsopt.build(slug, fsopt.load_dataset(LIBRARY / slug / "data.csv"), **fact(slug)["parameters"]))
    if own.cones.G.shape[0] or own.general:
        with pytest.raises(
            FileError, match=r"(?i)quadratic (constraints are|rows) not supported by HiGHS.*fsopt\.build"
        ):
            fsopt.read_model(path)
        return
    read = compile_model(fsopt.read_model(path))
    place = {str(v.index()): j for j, v in enumerate(read.variables)}
    labels = [cpxlp_label_from_name(v.name) for v in own.variables]
    kept = [j for j, label in enumerate(labels) if label in place]  # a file leaves out what is fixed at 0
    order = [place[labels[j]] for j in kept]
    assert sorted(order) == list(range(read.n))
    assert not np.delete([own.lb, own.ub], kept, axis=1).any()
    assert np.allclose(read.c[order], own.c[kept], rtol=1e-12)
    assert abs(read.P[order][:, order] - own.P[kept][:, kept]).max() <= 1e-12 * max(1.0, abs(own.P).max())
    assert all(np.array_equal(getattr(read, k)[order], getattr(own, k)[kept]) for k in ("lb", "ub", "integer"))
    assert sorted(map(repr, rows(read, order))) == sorted(map(repr, rows(own, kept)))


def rows(program, order):
    """Return the ends of the constraints with their coefficients, without their order: Pyomo writes a range as two."""
    A = program.A.tocsc()[:, order].toarray().tolist()
    ends = [(end, k, a) for k in ("lo", "hi") for end, a in zip(getattr(program, k).tolist(), A, strict=True)]
    return [one for one in ends if np.isfinite(one[0])]
