"""The strict reader of .nl: a file with one part lost, twice or changed is the same program, or is refused."""

from __future__ import annotations

import math

import pyomo.environ as pyo
import pytest
from support import written

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError

WHOLE = """g3 1 1 0
 4 3 1 1 1
 1 1
 0 0
 2 1 1
 0 0 0 1
 1 0 0 1 0
 7 3
 0 0
 1 0 0 0 0
S0 2 sosno
1 -1
2 -1
S4 2 ref
1 1.5
2 2.5
S1 1 priority
0 3
V4 1 0
0 3
o5
v0
n2
C0
o2
v4
v1
C1
n0
C2
n1
O0 1
v4
d1
0 1
x1
0 0.5
r
0 1 8
4 3
1 7
b
0 0 2
2 1
0 0 9
0 0 1
k3
1
2
5
J0 3
0 0
1 0
2 1
J1 2
2 1
3 1
J2 2
2 2
3 1
G0 3
0 0
2 1
3 2
"""
"""One integer and one binary variable, a set of type 2 and a shared expression."""
LINES = WHOLE.splitlines(keepends=True)
SEGMENTS = [k for k, line in enumerate(LINES) if line[0].isalpha() and line[0] not in "gnov"]


def program(text, tmp_path):
    """Return the program of a text, as something that can be compared, or None if it is refused."""
    try:
        model = fsopt.read_model(written(tmp_path, "m.nl", text))
    except FileError as error:
        return None if error.hint and "\n" not in str(error) else str(error)
    p = compile_model(model)
    sets = [(one.kind, one.columns.tolist()) for one in p.ordered]
    bodies = [(str(row.body), row.lb, row.ub) for row in model.row.values()]
    sense = model.objective.sense, str(model.objective.expr)
    return sense, bodies, sets, p.integer.tolist(), p.lb.tolist(), p.ub.tolist()


def refused(text, words, tmp_path):
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_model(written(tmp_path, "m.nl", text))
    assert "\n" not in str(error.value)
    assert error.value.hint


def test_the_whole_file(tmp_path):
    sense, bodies, sets, integer, *_ = program(WHOLE, tmp_path)
    assert sense[0] == pyo.maximize
    assert [ends for _, *ends in bodies] == [[1, 8], [3, 3], [None, 6]]
    assert sets == [(2, [1, 2])]
    assert integer == [False, True, False, True]


def test_a_file_cut_at_any_line_is_refused(tmp_path):
    read = [k for k in range(1, len(LINES)) if program("".join(LINES[:k]), tmp_path)]
    assert read == []


def test_a_file_without_one_of_its_lines_is_refused(tmp_path):
    read = [k for k in range(len(LINES)) if program("".join(LINES[:k] + LINES[k + 1 :]), tmp_path)]
    assert read == []


def test_a_segment_that_comes_twice_is_refused(tmp_path):
    ends = [*SEGMENTS[1:], len(LINES)]
    for start, end in zip(SEGMENTS, ends, strict=True):
        refused("".join(LINES[:end] + LINES[start:]), "twice", tmp_path)


def test_a_count_of_the_header_that_is_wrong_is_refused(tmp_path):
    """The exceptions say nothing about the program: network constraints, the kind of arithmetic, flags, lengths of
    names, and where shared expressions are used. One more integer is no contradiction: the program has one."""
    free = {(3, 0), (3, 1), (5, 0), (5, 2), (5, 3), (8, 0), (8, 1)}
    whole = program(WHOLE, tmp_path)
    for k in range(1, 10):
        words = LINES[k].split()
        for place, word in enumerate(words):
            for other in {int(word) + 1, int(word) - 1} - {-1}:
                line = " " + " ".join([*words[:place], str(other), *words[place + 1 :]]) + "\n"
                found = program("".join([*LINES[:k], line, *LINES[k + 1 :]]), tmp_path)
                if (k, place) in free:
                    assert found == whole
                elif k == 6:
                    assert found is None or sum(found[3]) == 2 + other - int(word)
                else:
                    assert found is None, (k, place, other)


WRONG = {
    "constraint": ("C2\n", "C3\n", "constraint 3"),
    "negative constraint": ("C2\n", "C-1\n", "constraint -1"),
    "objective": ("O0 1", "O1 1", "objective 1"),
    "sense": ("O0 1", "O0 2", "sense 2"),
    "negative variable": ("v4\nv1", "v4\nv-1", "in lines 24 to 27: variable .* -1"),
    "later shared expression": ("o5\nv0", "o5\nv4", "earlier shared expression 4"),
    "other variable": ("v4\nv1", "v4\nv3", "variable 3 is in a nonlinear term, and not in the segment J0"),
    "other variable of the row": ("v4\nv1", "v4\nv2", "variable 2 is in a nonlinear term, and linear"),
    "shared expression": ("V4 1 0", "V3 1 0", "shared expression 3"),
    "user of a shared expression": ("V4 1 0", "V4 1 5", "use of a shared expression 5"),
    "column": ("J1 2\n2 1", "J1 2\n4 1", "variable 4"),
    "column twice": ("J1 2\n2 1", "J1 2\n3 1", "variable 3 comes twice"),
    "other column": ("J1 2\n2 1", "J1 2\n1 1", "segment k"),
    "negative column": ("G0 3\n0 0", "G0 3\n-1 0", "variable -1"),
    "long segment": ("G0 3", "G0 5", "length of a segment 5"),
    "negative length": ("G0 3", "G0 -3", "length of a segment -3"),
    "words": ("J1 2\n", "J1 2 2\n", "words"),
    "words of a bound": ("\n2 1\n0 0 9", "\n2 1 5\n0 0 9", "kind '2' has 2 numbers"),
    "infinite bound": ("\n4 3\n", "\n4 1e20\n", "no number meets the bound"),
    "infinite lower bound": ("\n2 1\n0 0 9", "\n2 inf\n0 0 9", "no number meets the bound"),
    "binary": ("0 0 1\nk3", "0 0 2\nk3", "is binary"),
    "number": ("4 3\n", "4 3_0\n", "'3_0' is not a number"),
    "not finite": ("G0 3\n0 0", "G0 3\n0 inf", "not finite"),
    "empty sum": ("o2\nv4\nv1\n", "o54\n0\n", "a sum has 0 terms"),
    "complex": ("C2\nn1\n", "C2\no5\nn-1\nn.5\n", "without variables"),
    "set of a fraction": ("1 -1\n", "1 -1.5\n", "not whole"),
    "weight without a set": ("1 -1\n", "3 -1\n", "weight"),
    "no sets": ("S0 2 sosno\n1 -1\n2 -1\n", "", "weight"),
    "equal weights": ("2 2.5", "2 1.5", "same weight"),
    "unknown suffix": (" priority", " relax", "suffix relax"),
    "kind of a suffix": ("S1 1", "S9 1", "kind of suffix 9"),
    "operator": ("o2\nv4\nv1", "o48\nv4\nv1", r"operator o48 \(atan2\)"),
    "piecewise linear term": ("o2\nv4\nv1", "o64\n2\nn1\nn0\nn2\nv1", r"operator o64 \(piecewise linear term\)"),
    "unknown operator": ("o2\nv4\nv1", "o99\nv4\nv1", "operator o99 of the"),
    "truth": ("o2\nv4\nv1", "o23\nv4\nv1", "comparison, not a number"),
    "truth as a factor": ("o2\nv4\nv1", "o2\no23\nv4\nn1\nv1", "comparison in the place of a number"),
    "number as a condition": ("o2\nv4\nv1", "o35\nv4\nv1\nn0", "a number in that of one"),
    "empty list": ("o2\nv4\nv1", "o11\n0\n", "a list has 0 terms"),
    "piecewise": ("S0 2 sosno", "S0 2 sos", "piecewise"),
    "logical": (" 4 3 1 1 1", " 4 3 1 1 1 1", "logical"),
    "complementarities": ("\n 1 1\n", "\n 1 1 1 0 0 0\n", "complementarities"),
    "complementarity of a row": ("\n1 7\n", "\n5 1 3\n", "complementarities"),
    "segment of a function": ("C0\n", "F0 1 1 f\nC0\n", "an imported function"),
    "logical segment": ("C0\n", "L0\nn1\nC0\n", "a logical constraint"),
    "two objectives": (" 4 3 1 1 1", " 4 3 2 1 1", "2 objectives"),
    "functions": (" 0 0 0 1\n", " 0 1 0 1\n", "imported functions"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_part_is_refused_by_name(case, tmp_path):
    old, new, words = WRONG[case]
    assert WHOLE.count(old) == 1
    refused(WHOLE.replace(old, new), words, tmp_path)


def test_counts_of_a_header_take_no_memory(tmp_path):
    refused(WHOLE.replace(" 4 3 1 1 1", " 20000000 19999999 1 1 1"), "FSOPT_DATA_LIMIT", tmp_path)


def test_names_of_another_model_are_refused(tmp_path):
    (tmp_path / "m.col").write_text("a\nb\nc\n")
    refused(WHOLE, r"\.col file .* has 3 names, not 4", tmp_path)


OPERATORS = {
    "floor": ("o13\nv1\n", 2, "floor"),
    "ceil": ("o14\nv1\n", 3, "ceil"),
    "if": ("o35\no23\nv1\nn2\nv1\no5\nv1\nn2\n", 6.25, "if"),
    "if greater": ("o35\no29\nv1\nn2\nv1\no5\nv1\nn2\n", 2.5, "if"),
    "if equal": ("o35\no24\nv1\nn2.5\nn7\nv1\n", 7, "if"),
    "min": ("o11\n3\nv1\nn4\no2\nn-1\nv1\n", -2.5, "min"),
    "max": ("o12\n3\nv1\nn4\no2\nn-1\nv1\n", 4, "max"),
    "logarithm": ("o43\nv1\n", math.log(2.5), ""),
    "root": ("o39\nv1\n", math.sqrt(2.5), ""),
    "absolute value": ("o15\no16\nv1\n", 2.5, ""),
    "if of numbers": ("o2\no35\no28\nn1\nn2\nn3\no11\n2\nn5\nn6\nv1\n", 12.5, ""),
}


@pytest.mark.parametrize("case", OPERATORS)
def test_operators_are_read_and_refused_by_name_where_nothing_takes_them(case, tmp_path):
    """The value at 2.5, Pyomo's own file of the same function where it writes one, and the refusal of solvers."""
    tokens, expected, kind = OPERATORS[case]
    text = nested(0).replace("C0\nv0\n", f"C0\n{tokens}").replace("\nv1\n", "\nv0\n")
    model = fsopt.read_model(written(tmp_path, "m.nl", text.replace("0 0 1\nk0", "0 0 9\nk0")))
    model.x["x0"].value = 2.5
    assert pyo.value(model.row["row0"].body) == pytest.approx(expected)
    assert list(compile_model(model).unsupported) == ([kind] if kind else [])
    if kind in ("min", "max"):
        return
    again = fsopt.read_model(fsopt.export(model, tmp_path / "again.nl")[0])
    again.x["x0"].value = 2.5
    assert pyo.value(again.row["row0"].body) == pytest.approx(expected)


def test_a_header_of_before_1993_is_read(tmp_path):
    """It has two counts of nonlinear variables and two of integers."""
    old = nested(0).replace("\n 1 0 0\n 0 0 0 1\n 0 0 0 0 0\n", "\n 1 0\n 0 0\n 0 0\n").replace("C0\nv0", "C0\no44\nv0")
    row = fsopt.read_model(written(tmp_path, "m.nl", old)).row["row0"]
    assert "exp(" in str(row.body)
    refused(old.replace("\n 1 0\n 0 0\n 0 0\n", "\n 0 0\n 0 0\n 0 0\n"), "linear by the header", tmp_path)
    refused(old.replace("\n 1 0\n 0 0\n 0 0\n", "\n 1 0\n 0 0\n 0 0 0 0 0\n"), "and not both", tmp_path)


# -- shared expressions --------------------------------------------------------------------------------------


def nested(count, body="o0\nv{0}\nv{0}\n", last="v{}\n"):
    """Return a file of one variable in which each of some shared expressions uses the one before twice."""
    shared = "".join(f"V{k} 0 0\n{body.format(k - 1)}" for k in range(1, count + 1))
    return f"""g3 1 1 0
 1 1 1 0 0
 1 0
 0 0
 1 0 0
 0 0 0 1
 0 0 0 0 0
 1 1
 0 0
 {count} 0 0 0 0
{shared}C0
{last.format(count)}O0 0
n0
r
2 2
b
0 0 1
k0
J0 1
0 0
G0 1
0 1
"""


def test_a_shared_expression_is_one_object(tmp_path):
    model = fsopt.read_model(written(tmp_path, "m.nl", nested(2, "o2\no44\nv{0}\no41\nv{0}\n")))
    left, right = (function.args[0] for function in model.row["row0"].body.args[-1].args)
    assert left is right


@pytest.mark.parametrize("body", ["o2\nv{0}\nv{0}\n", "o0\nv{0}\no44\nv{0}\n"])
def test_shared_expressions_that_double_too_often_are_refused(body, tmp_path):
    refused(nested(3000, body), "100,000 terms", tmp_path)


def test_a_chain_of_shared_expressions_is_read(tmp_path):
    """2,000 of them, each a sine of the one before, and each an object."""
    model = fsopt.read_model(written(tmp_path, "m.nl", nested(2000, "o41\nv{0}\n")))
    node, depth = model.row["row0"].body.args[-1], 0
    while node is not model.x["x0"]:
        node, depth = node.args[0], depth + 1
    assert depth == 2000


# -- fsopt's own files ---------------------------------------------------------------------------------------


def with_sets():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3, 4], bounds=(0, 3))
    m.o = pyo.Objective(expr=2 * m.x[1] + 3 * m.x[2] + 4 * m.x[3], sense=pyo.maximize)
    m.c = pyo.Constraint(expr=m.x[1] + m.x[2] + m.x[3] <= 9)
    m.one = pyo.SOSConstraint(var=m.x, index=[1, 2, 3], sos=1)
    return m


def test_an_exported_set_has_its_weights(tmp_path):
    m = with_sets()
    m.one.set_items([m.x[1], m.x[2], m.x[3]], [2.5, 0.5, 1])
    path = fsopt.export(m, tmp_path / "m.nl")[0]
    assert "S4 3 ref\n" in path.read_text()
    read = fsopt.read_model(path)
    assert [(v.name, w) for v, w in read.sos1[0].get_items()] == [
        (f"x['x[{k}]']", w) for k, w in ((1, 2.5), (2, 0.5), (3, 1))
    ]


def overlapping(m):
    m.two = pyo.SOSConstraint(var=m.x, index=[2, 3], sos=2)


def fixed(m):
    m.x[3].fix(1)


def unused(m):
    m.two = pyo.SOSConstraint(var=m.x, index=[4], sos=1)


def by_suffix(m):
    m.one.deactivate()
    m.sosno = pyo.Suffix(direction=pyo.Suffix.EXPORT, datatype=pyo.Suffix.INT)
    m.sosno[m.x[1]] = 1


def of_a_user(m):
    m.mine = pyo.Suffix(direction=pyo.Suffix.EXPORT)
    m.mine[m.x[1]] = 3


def test_a_suffix_that_changes_nothing_and_a_local_one_are_exported(tmp_path):
    m = with_sets()
    m.priority, m.mine = pyo.Suffix(direction=pyo.Suffix.EXPORT), pyo.Suffix(direction=pyo.Suffix.LOCAL)
    m.priority[m.x[1]] = m.mine[m.x[1]] = 3
    path = fsopt.export(m, tmp_path / "m.nl")[0]
    assert " priority" in path.read_text()
    assert " mine" not in path.read_text()
    assert len(fsopt.read_model(path).x) == 4 - 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (of_a_user, "its suffix 'mine' may change the program"),
        (overlapping, r"in the special ordered set 'two' another one has 'x\[2\]' too"),
        (fixed, r"'x\[3\]' is fixed"),
        (unused, "no constraint"),
        (by_suffix, "sosno"),
    ],
)
def test_a_set_that_nl_cannot_hold_is_not_exported(change, words, tmp_path):
    m = with_sets()
    change(m)
    with pytest.raises(FileError, match=words):
        fsopt.export(m, tmp_path / "m.nl")


def test_shared_expressions_of_pyomo_are_read(tmp_path):
    m = with_sets()
    m.one.deactivate()
    m.e = pyo.Expression(expr=m.x[1] * m.x[2] + m.x[3])
    m.f = pyo.Expression(expr=m.e * m.e)
    m.a = pyo.Constraint(expr=m.e**2 + pyo.exp(m.e) <= 100)
    m.b = pyo.Constraint(expr=m.f + m.x[1] <= 3)
    read = fsopt.read_model(fsopt.export(m, tmp_path / "m.nl")[0])
    for k in (1, 2, 3):
        m.x[k].value = read.x[f"x[{k}]"].value = 1.0 / k
    for name in ("a", "b", "c"):
        assert pyo.value(read.row[name].body) == pytest.approx(pyo.value(m.component(name).body))
