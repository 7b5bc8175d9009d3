"""The strict reader of GAMS's scalar form: files of Convert and of Pyomo are the same program, others are refused."""

from __future__ import annotations

from time import process_time

import pyomo.environ as pyo
import pytest
from support import written

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError

WHOLE = """$offlisting
*  MINLP written by GAMS Convert
*
Variables  x1,x2,b3,i4 'a count, and more; of it',s5,objvar;

Positive Variables  X1;
Binary Variables  b3;
Integer Variables  i4;
SemiCont Variables  s5;

Equations  e1,e2,e3 "the last",e4;

$ontext
e1.. x1 =E= 1;
$offtext
e1..  - objvar + 2*x1 - sqr(x2)/4 + exp(-x2)
      + b3*i4 + 3 =E= 0.5;

e2.. power(x1, 3) + x2 ** 1.5 =G= 2 ;
e3..    4 =g= (x1 - (-2)*X2) + s5;
e4.. x1 - i4 =E= x2 - b3;

* set non-default bounds
x1.up = 3; x2.lo = -INF; x2.up = 4e0;
i4.lo = -1; i4.up = 6; b3.l = 1; e2.m = .5;
s5.lo = 1.5; s5.up = 2;

Model m / all /;
m.limrow=0; m.limcol=0;
option nlp = ipopt;
$if NOT '%gams.u1%' == '' $include '%gams.u1%'
$if not set MINLP $set MINLP MINLP
Solve m using %MINLP% maximizing objvar;
Scalars MODELSTAT 'model status', SOLVESTAT;
MODELSTAT = m.modelstat
Scalar NUMVAR 'number of variables';
NUMVAR = m.numvar
display x1.l;
"""


def read(text, folder):
    return fsopt.read_model(written(folder, "m.gms", text))


def test_a_file_of_convert(tmp_path):
    """The equation of the objective, with the coefficient -1, is the objective; values at a point by hand."""
    m = read(WHOLE, tmp_path)
    assert list(m.x) == ["x1", "x2", "b3", "i4", "s5"]
    assert list(m.row) == ["e2", "e3", "e4"]
    for name, value in {"x1": 2.0, "x2": 4.0, "b3": 1.0, "i4": 3.0, "s5": 1.5}.items():
        m.x[name].set_value(value)
    assert m.objective.sense == pyo.maximize
    assert pyo.value(m.objective) == pytest.approx(4 - 4 + pyo.exp(-4.0) + 3 + 3 - 0.5)
    assert [pyo.value(row.body) for row in m.row.values()] == [16.0, 11.5, -4.0]
    assert [(row.lb, row.ub) for row in m.row.values()] == [(2, None), (None, 4), (0, 0)]
    bounds = [m.x[name].bounds for name in ("x1", "x2", "b3", "i4")]
    assert bounds == [(0, 3), (None, 4), (0, 1), (-1, 6)]
    p = compile_model(m)
    assert p.integer[:4].tolist() == [False, False, True, True]
    assert sorted(m.x["s5"].domain.ranges(), key=lambda r: r.start)[1].end == 2


def test_a_file_that_ends_before_its_model_is_solved_is_refused(tmp_path):
    lines = WHOLE.splitlines(keepends=True)
    solved = next(k for k, line in enumerate(lines) if line.startswith("Solve"))
    for kept in range(solved + 1):
        with pytest.raises(FileError) as error:
            read("".join(lines[:kept]), tmp_path)
        assert error.value.hint
    own = str(compile_model(read(WHOLE, tmp_path)).A)
    for kept in range(solved + 1, len(lines)):
        assert str(compile_model(read("".join(lines[:kept]), tmp_path)).A) == own


def test_a_line_that_comes_twice_is_refused_or_changes_nothing(tmp_path):
    lines = WHOLE.splitlines(keepends=True)
    refused = 0
    for k in range(len(lines)):
        try:
            read("".join([*lines[: k + 1], *lines[k:]]), tmp_path)
        except FileError:
            refused += 1
        else:  # a remark, an option or a report
            assert lines[k][0] in "*$\nmoMSNd" or lines[k] == "e1.. x1 =E= 1;\n"
    assert refused > 16


OBJECTIVES = {
    "alone on the left": ("z =e= 2*x + 1", ["x"], 7.0),
    "alone on the right": ("2*x + 1 =e= z", ["x"], 7.0),
    "negative": ("2*x - z =e= -1", ["x"], 7.0),
    "in the middle": ("x + z + 3 =e= 3*x + 4", ["x"], 7.0),
    "constant": ("z =e= 4", ["x"], 4.0),
    "twice": ("z + x =e= 3*x + 1 - 0*z", ["x", "z"], None),
    "with a factor": ("2*z =e= x", ["x", "z"], None),
    "in a bracket": ("(z - x) =e= 0", ["x", "z"], None),
    "in a product": ("x*z =e= 1", ["x", "z"], None),
    "a bound": ("z =g= x", ["x", "z"], None),
}


@pytest.mark.parametrize("case", OBJECTIVES)
def test_the_variable_of_the_objective_goes_where_it_only_names_it(case, tmp_path):
    equation, columns, value = OBJECTIVES[case]
    text = "variables x, z;\nequations c, o;\nc.. x =l= 5;\no.. %s;\nmodel m /all/;\nsolve m using nlp minimizing z;\n"
    m = read(text % equation, tmp_path)
    assert list(m.x) == columns
    m.x["x"].set_value(3.0)
    assert pyo.value(m.objective, exception=False) == value


SMALL = """variables x, y, z;
integer variables y;
equations c, o;
c.. x + 2*y =g= 1;
o.. z =e= x + y;
y.up = 9;
model m /all/;
solve m using mip minimizing z;
"""
WRONG = {
    "sets": ("variables x", "set i /1*3/;\nvariables x", "line 1 .*'set': this statement is not read"),
    "indexed variable": ("variables x,", "variables x(i),", "no comma"),
    "explaining text": ("variables x,", "variables x a text,", "no comma before"),
    "name twice": ("variables x,", "variables x, X,", "declared twice"),
    "kind twice": ("integer variables y", "integer variables y, y", "declared twice"),
    "another kind": ("equations c", "binary variables y;\nequations c", "declared twice"),
    "a function's name": ("variables x,", "variables exp,", "this is no name"),
    "unknown variable": ("x + 2*y =g=", "x + 2*w =g=", "line 4 .*'w': this is no variable"),
    "idle variable": ("variables x,", "variables w, x,", "variable 'w' .* is in no equation"),
    "equation not defined": ("equations c,", "equations c, d,", "equation 'd' .* is not defined"),
    "equation not declared": ("c.. x", "d.. x", "not declared"),
    "equation twice": ("o.. z", "c.. x =l= 7;\no.. z", "defined twice"),
    "no relation": ("=g= 1", "", "one relation"),
    "two relations": ("=g= 1", "=g= 1 =l= 3", "one relation"),
    "complementarity": ("=g= 1", "=x= 1", "one relation"),
    "no variables": ("x + 2*y =g= 1", "3 =g= 1", "no variables"),
    "side by side": ("2*y =g=", "2 y =g=", "'y': this is not expected here"),
    "two signs": ("x + 2*y =g=", "x + -2*y =g=", "'-': a number, a variable or a bracket is expected"),
    "open bracket": ("2*y =g=", "2*(y =g=", "'\\)' is expected"),
    "closed bracket": ("2*y =g=", "2*y) =g=", "not expected"),
    "nothing": ("2*y =g=", "=g=", "a term is expected"),
    "function": ("2*y =g=", "errorf(y) =g=", "'errorf': this function is not read"),
    "arguments": ("2*y =g=", "exp(y, 2) =g=", "2 arguments, not 1"),
    "power": ("2*y =g=", "power(y, 1.5) =g=", "no whole number"),
    "whole power": ("2*y =g=", "y**2 =g=", "error in GAMS where its base is negative"),
    "power of a power": ("2*y =g=", "y**.5**.5 =g=", "brackets"),
    "complex": ("2*y =g=", "y*(-2)**.5 =g=", "no real number"),
    "division by 0": ("2*y =g=", "y/(1 - 1) =g=", "without value"),
    "logarithm": ("2*y =g=", "y*log(0) =g=", "without value"),
    "large number": ("2*y =g=", "1e999*y =g=", "not finite"),
    "underscore": ("2*y =g=", "2_0*y =g=", "this sign is not read"),
    "letter": ("2*y =g=", "2*ü =g=", "this sign is not read"),
    "bound twice": ("y.up = 9;", "y.up = 9; y.up = 8;", "stated twice"),
    "fixed and bounded": ("y.up = 9;", "y.fx = 3; y.up = 8;", "stated twice"),
    "bound of a variable": ("y.up = 9;", "y.up = x;", "no variable"),
    "bound of an equation": ("y.up = 9;", "y.up = 9; c.lo = 1;", "no variable"),
    "scale": ("y.up = 9;", "y.up = 9; x.scale = 100;", "attribute of a variable is not read"),
    "no upper bound": ("y.up = 9;\n", "", "GAMS takes 100 or none"),
    "infinite": ("y.up = 9;", "y.up = 9; x.lo = inf;", "leaves no number"),
    "binary": ("integer variables y", "binary variables y", "binary variable 'y' .* other bounds"),
    "model of some": ("/all/", "/c, o/", "this statement is not read"),
    "two models": ("model m /all/;", "model m /all/; model k /all/;", "this statement is not read"),
    "other model": ("solve m", "solve k", "no model of the file"),
    "class": ("using mip", "using rmip", "class is not read"),
    "continuous class": ("using mip", "using lp", "'y' .* is integer, and its class lp"),
    "macro": ("using mip", "using %mip%", "class is not read"),
    "no objective": ("minimizing z", "minimizing w", "no variable"),
    "semicolon": ("minimizing z;\n", "minimizing z\n", "no semicolon"),
    "solved twice": ("minimizing z;\n", "minimizing z;\nsolve m using mip maximizing z;\n", "after solve is not read"),
    "changed after": ("minimizing z;\n", "minimizing z;\nx.up = 3;\n", "after solve is not read"),
    "hidden": ("minimizing z;\n", "minimizing z;\nscalar k solve m using mip maximizing z;\n", "another solve"),
    "include": ("variables x", "$include other.gms\nvariables x", "instruction is not read"),
    "comments of lines": ("variables x", "$eolcom #\nvariables x", "instruction is not read"),
    "open remark": ("variables x", "$ontext\nvariables x", "no \\$offtext"),
    "no remark": ("variables x", "$offtext\nvariables x", "a remark"),
}


def test_a_small_file_has_its_optimum(tmp_path):
    """By hand: y = 9, x = -17."""
    assert fsopt.solve(read(SMALL, tmp_path)).objective == pytest.approx(-8.0)


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_part_is_refused_by_its_line(case, tmp_path, capfd):
    old, new, words = WRONG[case]
    assert SMALL.count(old) == 1
    with pytest.raises(FileError, match=words) as error:
        read(SMALL.replace(old, new), tmp_path)
    assert error.value.hint
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "body", ["(" * 50_000 + "x", "x" + "+ 2*x" * 20_000, "x" * 200_000, "1" * 200_000, "'" * 99_999]
)
def test_long_expressions_are_read_in_linear_time_or_refused(body, tmp_path):
    start = process_time()
    text = SMALL.replace("x + 2*y", f"{body} + 2*y")
    if body.startswith("x+"):
        assert compile_model(read(text, tmp_path)).A[0, 0] == 40_001
    else:
        with pytest.raises(FileError) as error:
            read(text, tmp_path)
        assert len(str(error.value)) < 250
    assert process_time() - start < 5.0


def shapes():
    m = pyo.ConcreteModel(name="shapes")
    m.log = pyo.Var([0, "β b"], bounds=(0.5, 3), initialize=1.5)
    m.k = pyo.Var(domain=pyo.Integers, initialize=2)
    m.e_lo = pyo.Var(domain=pyo.NonPositiveReals, initialize=-0.5)
    a, b = m.log.values()
    m.e = pyo.Constraint(expr=(-1, (a + 1) ** 0.5 - (b - a) / (a * b) - -(a**2), 7))
    m.f_lo = pyo.Constraint(expr=a / b / (m.k + 9) == 2 - b**-1.5 + abs(m.e_lo) * (-3) ** 2)
    m.f = pyo.Constraint(expr=(1, -m.k * (m.e_lo - 4) + pyo.atan(b) ** 3, 5))
    m.two, m.less = pyo.Param(mutable=True, initialize=2), pyo.Param(mutable=True, initialize=-3)
    m.f_lo.set_value(m.f_lo.expr.args[0] - pyo.sin(b) ** m.less == m.f_lo.expr.args[1] + (m.e_lo + 0.25) ** m.two)
    m.o = pyo.Objective(expr=2 ** (a - b) - (3 - (b - m.k)), sense=pyo.maximize)
    return m


def test_names_and_expressions_of_a_model_arrive(tmp_path):
    """Words of GAMS, names that differ in capital letters, and the names that Pyomo gives to both ends of a range."""
    own = shapes()
    read_ = fsopt.read_model(fsopt.export(own, tmp_path / "m.gms")[0])
    values = {"log_0_": 1.5, "log___b_": 1.5, "k": 2, "e_lo_": -0.5}
    assert len(read_.x) == 4
    for name, variable in read_.x.items():
        variable.set_value(values.get(name, 1.5))
    assert pyo.value(read_.objective) == pytest.approx(pyo.value(own.o))
    bodies = sorted(pyo.value(row.body) for row in read_.row.values())
    twice = [pyo.value(c.body) for c in (own.e, own.f) for _ in range(2)]
    ends = own.f_lo.to_bounded_expression()
    assert bodies == pytest.approx(sorted([*twice, pyo.value(ends[1])]))


def test_a_text_whose_words_would_take_more_memory_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.000001")
    with pytest.raises(FileError, match="words of the file would take") as error:
        read(SMALL, tmp_path)
    assert "FSOPT_DATA_LIMIT=" in error.value.hint
