"""Model files read back: the program that was written, programs of other software, and refusals."""

from __future__ import annotations

import gzip
import hashlib
from time import process_time

import numpy as np
import pyomo.environ as pyo
import pytest
from support import ROOT, sampled, written

import fsopt
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import program_class
from fsopt.errors import FileError
from fsopt.formats.solutions import contents, told
from tools.instances import build_instance

FILES = sorted(
    path
    for path in (ROOT / "models").glob("*/*.*")
    if path.suffix in (".lp", ".mps", ".nl", ".cbf")
    and not path.stem.endswith("-lpec")  # complementarities: only written
)
SAMPLE = {
    "gmeb-dual.lp",  # quadratic constraints, a maximum
    "svm-norm.mps",  # QCMATRIX
    "fsp-m-bigm.mps",  # QUADOBJ and integers
    "fsp-m-perspective.cbf",  # rotated cones and integers
    "mmop-convex.cbf",  # rows of cones that are no variables
    "gmeb-sdp.cbf",  # a linear matrix inequality
    "l0-mpm.nl",  # exponentials
    "fsp-lambda.nl",  # products with integers
}


def label(variable: pyo.Var) -> str:
    """Return the name that Pyomo's writers give a variable."""
    name = str(variable.index()) if variable.parent_component().name == "x" else variable.name
    return name.replace("[", "(").replace("]", ")")


def short(number: float) -> float:
    """Return a number to 12 digits: the last ones of a factor of a covariance are those of a processor."""
    return float(f"{number:.12g}") + 0.0


def linear(program: Program) -> set[tuple[tuple[tuple[str, float], ...], float]]:
    """Return the linear constraints and bounds as inequalities a'x >= r to 12 digits, without fixed variables."""
    fixed = np.array([v.fixed for v in program.variables])
    constant = program.A[:, fixed] @ program.lb[fixed] if fixed.any() else np.zeros(program.A.shape[0])
    names = [label(v) for v in program.variables]
    found = set()
    ends = zip(program.lo - constant, program.hi - constant, strict=True)
    listed = [(program.A.getrow(i), lo, hi) for i, (lo, hi) in enumerate(ends)]
    for row, lo, hi in listed:
        terms = [
            (names[j], v) for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True) if v and not fixed[j]
        ]
        for sign, end in ((1, lo), (-1, hi)):
            if np.isfinite(end) and terms:
                found.add((tuple(sorted((n, short(sign * v)) for n, v in terms)), short(sign * end)))
    for name, lo, hi, idle in zip(names, program.lb.tolist(), program.ub.tolist(), fixed, strict=True):
        if not idle:
            found |= {(((name, s),), short(s * end)) for s, end in ((1.0, lo), (-1.0, hi)) if np.isfinite(end)}
    return found


@pytest.mark.parametrize(
    "path", sampled(sorted(FILES, key=lambda p: p.name not in SAMPLE), len(SAMPLE)), ids=lambda p: p.name
)
def test_a_file_of_the_library_is_the_program_that_was_written(path):
    """The program of a file has the numbers of the model that was written."""
    own, read = compile_model(build_instance(path.parent.name)), compile_model(fsopt.read_model(path))
    assert program_class(read) == program_class(own)
    assert (read.sign, read.c0, len(read.nonconic)) == (own.sign, own.c0, len(own.nonconic))
    cost = [{label(v): short(c) for v, c in zip(p.variables, p.c, strict=True) if c} for p in (own, read)]
    assert cost[0] == cost[1]
    whole = [{label(v) for v, z in zip(p.variables, p.integer, strict=True) if z} for p in (own, read)]
    assert whole[0] == whole[1]
    if path.suffix != ".cbf":  # there rows of cones are variables, and bounds may be rows
        kept = {label(v) for v in read.variables}
        assert linear(read) == {(form, end) for form, end in linear(own) if kept >= {name for name, _ in form}}


LP = """\\ a comment with [ x^2 ]
Minimize
 cost: 2 x#1 + y.2 + [ 2 x#1 ^2 - 4 x#1 * y.2 + 3 y.2^2 ] / 2
Subject To
 disk: 3 z + [ x#1^2 + 2.5e0 y.2 ^ 2 ] - z <= 4.5
 hyper: - [ x#1 * y.2 ] + z >= -8
 free(1,2): x#1 + y.2 + z >= 1
Bounds
 -2 <= x#1 <= 5
 y.2 free
 0 <= z <= 4
Generals
 z
End
"""


def test_a_constraint_without_bounds_is_kept(tmp_path):
    """It says nothing, and keeps the order of the constraints, which some solution files go by."""
    text = "min\n o: x + y\nst\n idle: x - y >= -inf\n c: x + 2 y >= 2\nend\n"
    model = fsopt.read_model(written(tmp_path, "m.lp", text))
    assert list(model.row) == ["idle", "c"]
    assert fsopt.solve(model).objective == pytest.approx(1.0)


CBF = """VER
3
OBJSENSE
MAX
PSDVAR
1
2
VAR
3 2
L+ 2
F 1
INT
1
0
CON
5 2
L= 2
Q 3
OBJFCOORD
2
0 0 0 1.0
0 1 0 1.0
OBJACOORD
1
2 -1.0
FCOORD
3
0 0 0 0 1.0
1 0 1 1 1.0
2 0 1 0 0.5
ACOORD
3
2 2 1.0
3 0 1.0
4 1 2.0
BCOORD
3
0 -1.0
1 -1.0
4 0.5
"""


def test_a_cbf_file_by_hand(tmp_path):
    r"""Matrix variables in rows, cones and the objective: :math:`X = (1, r; r, 1)`, maximise 1 + 2r - t,
    ``||(k, 2 v + 1/2)|| <= t + r``, so r = 1, t = 0 - where t + r = 1/2 with k = v = 0, and the value 1 + 2 + 1/2.
    """
    result = fsopt.solve(model := fsopt.read_model(written(tmp_path, "hand.cbf", CBF.replace("INT\n1\n0\n", ""))))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(3.5, abs=1e-6)
    assert model.x["X0[1,0]"].value == pytest.approx(1.0, abs=1e-4)
    assert fsopt.read_model(written(tmp_path, "whole.cbf", CBF)).x["x0"].is_integer()


REFUSED = {
    "no suffix": ("model.txt", LP, "no suffix of a model file"),
    "no variables": ("m.mps", "NAME\nROWS\n N obj\nCOLUMNS\nRHS\nENDATA\n", "no variables"),
    "binary nl": ("m.nl", "b3 1 1 0\n", "not in text form"),
    "exponential cone": ("m.cbf", CBF.replace("Q 3", "EXP 3"), "cone EXP"),
    "section": ("m.cbf", CBF.replace("BCOORD", "POWCONES"), "POWCONES"),
    "sizes": ("m.cbf", CBF.replace("5 2\nL= 2", "6 2\nL= 2"), "5 rows, not 6"),
}


LONG = 40_000
COSTLY = {
    "brackets": ("c: " + "[" * LONG, "no partner"),
    "a word": (f"c: [ {'x' * 3 * LONG} ] <= 1", "quadratic term"),
    "digits": (f"c: [ {'1' * 3 * LONG} ] <= 1", "quadratic term"),
    "blanks": (f"c: [ {' ' * LONG}^ ] <= 1", "quadratic term"),
    "colons": (f"c{':' * LONG} [ x^2 ] <= 1", "no term"),
    "no name": (f"{'x' * 3 * LONG} [ x^2 ] <= 1", "no term"),
    "factor": ("c: 2 [ x^2 ] <= 1", "no term"),
    "divisor": ("c: [ x^2 ] / 2.5 <= 1", "another number than 2"),
    "two signs": ("c: x - - [ x^2 ] <= 1", "no term"),
    "fraction of a power": ("c: [ x^2.5 x^2 ] <= 1", r"x \^ 2\.5"),
    "no sign": ("c: [ x^2 x^2 ] <= 1", "quadratic term"),
}


@pytest.mark.parametrize("case", COSTLY)
def test_quadratic_parts_are_read_in_linear_time_or_refused(case, tmp_path):
    body, words = COSTLY[case]
    start = process_time()
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_model(written(tmp_path, "m.lp", f"min\n o: x\nst\n {body}\nend\n"))
    assert process_time() - start < 1.0  # minutes where the time is quadratic in the length
    assert len(str(error.value)) < 200


def test_many_quadratic_constraints_are_read_in_linear_time(tmp_path):
    rows = "".join(f" c{i}: x + [ x^2 ] / 2 <= {i}\n" for i in range(2000))
    start = process_time()
    model = fsopt.read_model(written(tmp_path, "m.lp", f"min\n o: x\nst\n{rows}end\n"))
    assert process_time() - start < 1.0
    assert str(model.row["c1999"].body) == "x[x] + 0.5*x[x]*x[x]"


def test_a_packed_file_is_unpacked_up_to_the_limit(tmp_path, monkeypatch):
    path = written(tmp_path, "m.LP.gz", LP)
    assert fsopt.read_model(path).name == "m"
    with gzip.open(path, "ab") as file:
        file.write(b" " * 3_000_000)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.01")
    with pytest.raises(FileError, match="text of the packed file would take more than") as error:
        fsopt.read_model(path)
    assert "FSOPT_DATA_LIMIT=" in error.value.hint


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_no_such_program_is_refused_in_one_line(case, tmp_path, capfd):
    name, text, words = REFUSED[case]
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_model(written(tmp_path, name, text))
    assert capfd.readouterr().out == ""  # where --json has one object
    assert "\n" not in str(error.value)
    assert error.value.hint


# -- integers without bounds, special ordered sets ------------------------------------------------------------


@pytest.mark.parametrize("domain", [pyo.Integers, pyo.NonNegativeIntegers, pyo.NonPositiveIntegers, pyo.Binary])
@pytest.mark.parametrize("own", [True, False])
def test_an_integer_with_infinite_bounds_is_read_again_from_mps(domain, own, tmp_path):
    m = pyo.ConcreteModel()
    m.y, m.x, m.z = pyo.Var(bounds=(0, 9)), pyo.Var(domain=domain), pyo.Var(bounds=(None, 2))
    m.c = pyo.Constraint(expr=m.x + m.y + m.z >= -5.5)
    m.d = pyo.Constraint(expr=m.x + m.y <= 7.5)
    m.o = pyo.Objective(expr=m.y + m.z + 2 * m.x)
    path = tmp_path / "model.mps"
    if own:
        fsopt.export(m, path)
    else:  # with 10E20, as Pyomo writes it
        m.write(str(path), io_options={"symbolic_solver_labels": True})
    read = fsopt.read_model(path)
    for variable in (m.y, m.x, m.z):
        [again] = [v for name, v in read.x.items() if name.strip("()") == variable.name]
        assert again.bounds == variable.bounds
        assert again.is_integer() == (not variable.is_continuous())


def test_what_a_file_says_is_counted_as_it_was_written(tmp_path):
    """Coefficients: 2 + 3 linear ones of the objective and of constraints; 3 + 3 products."""
    model = fsopt.read_model(path := written(tmp_path, "m.lp", LP))
    own = {"constraints": 3, "variables": 3, "nonzeros": 7, "nonlinear": 6, "integers": 1, "sets": 0, "matrices": 0}
    found = contents(model, path)
    assert found.pop("sha256") == hashlib.sha256(LP.encode()).hexdigest()
    assert found == own
    assert "3 constraints, 3 variables, 7 nonzeros, 6 nonlinear, 1 integers, sha256" in told(contents(model, path))
    cbf = contents(fsopt.read_model(path := written(tmp_path, "m.cbf", CBF)), path)
    assert (cbf["matrices"], cbf["integers"], cbf["nonlinear"]) == (1, 1, 3)
