"""The text of a linear program has its numbers as they are: objective and constraints at points, by another reader."""

import re
from fractions import Fraction

import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.certificates.exact.rational_lp import rational_lp
from fsopt.errors import NotShownError
from fsopt.verification.exact_checking import exactly


def model():
    """Return a maximum with a range, an equation, a constraint on nothing, infinite bounds, and 0.1 beside 1e300."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = pyo.Var(bounds=(None, 0.3)), pyo.Var(), pyo.Var(bounds=(-2.5, None))
    m.gain = pyo.Objective(expr=0.1 * m.x - 3 * m.y - 1.7, sense=pyo.maximize)
    m.between = pyo.Constraint(expr=pyo.inequality(-1.1, m.x + m.y, 4))
    m.equal = pyo.Constraint(expr=m.y - 1e-300 * m.z == 0.7)
    m.idle = pyo.Constraint(expr=pyo.inequality(None, m.x - m.z, 1e300))
    return m


def claim(m):
    result = fsopt.solve(m)
    return fsopt.verify(result, m, exact=True).exact.claims[0]


def lines_of(text):
    """Return sense, objective, constraints and bounds of the text; an expression is a mapping, numbers are rational."""
    parts = re.fullmatch(
        r"Problem\n fsopt\n(M\w+)\n cost:\n(.*)\nSubject To\n(.*)\nBounds\n one = 1\n(.*)\nEnd\n", text, re.DOTALL
    )
    sense, cost, rows, bounds = parts.groups()

    def terms(part):
        return {n: Fraction(s + v) for s, v, n in re.findall(r"^ ([+-]) (\S+) (\w+)$", part, re.MULTILINE)}

    found = []
    for row in re.split(r"^ r\S+:\n", rows, flags=re.MULTILINE)[1:]:
        *_, last = row.strip("\n").split("\n")
        relation, end = last.split()
        found.append((terms(row), relation, Fraction(end)))
    ends = [re.fullmatch(r" (\S+) <= (\w+) <= (\S+)", line).groups() for line in bounds.split("\n")]
    return sense, terms(cost), found, {n: (lo, hi) for lo, n, hi in ends}


def test_the_text_is_the_program():
    sense, cost, rows, bounds = lines_of(rational_lp(claim(model()).part))
    third, tenth = Fraction(0.3), Fraction(0.1)
    assert sense == "Maximize"
    assert cost == {"x0": tenth, "x1": -3, "x2": 0, "one": -Fraction(1.7)}
    assert rows == [
        ({"x0": 1, "x1": 1}, ">=", -Fraction(1.1)),
        ({"x0": 1, "x1": 1}, "<=", 4),
        ({"x1": 1, "x2": -Fraction(1e-300)}, "=", Fraction(0.7)),
        ({"x0": 1, "x2": -1}, "<=", Fraction(1e300)),
    ]
    assert bounds == {"x0": ("-infinity", str(third)), "x1": ("-infinity", "infinity"), "x2": ("-5/2", "infinity")}


@pytest.mark.parametrize("method", ["svm", "mpm"])
def test_another_program_has_no_such_text(method):
    data = blobs(n=20, p=3, seed=1, gap=0.4)
    (found,) = exactly(fsopt.fit(method, data), data).claims
    with pytest.raises(NotShownError, match="linear program"):
        rational_lp(found.part)
