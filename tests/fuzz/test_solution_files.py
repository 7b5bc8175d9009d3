"""Solution files of which one part is another: its values are those that the file says then, or it is refused."""

from __future__ import annotations

import re

import pytest
from formats.test_solutions import named_model
from fuzz.attack import FACTOR, attack, generator
from fuzz.grammar import damaged, plain
from support import written

import fsopt
from fsopt.errors import FsoptError

CASES = 60
HIGHS = """Model status
Optimal

# Primal solution values
Feasible
Objective 1{value}
# Columns 2
a[1] 1{x 0}
long name, (2) 0{x 1}
# Rows 1
c one 1

# Dual solution values
Feasible
# Columns 2
a[1] 0
long name, (2) 1
# Rows 1
c one 1{y 0}
"""
JSON = """{"objective": 1{value}, "status": "optimal",
 "variables": {
 "a[1]": 1{x 0},
 "long name, (2)": 0{x 1}},
 "duals": {"c one": 1{y 0}}}
"""
SCIP = "solution status: optimal solution found\nobjective value:      1{value}\na[1]     1{x 0} \t(obj:1)\n"
GUROBI = "# Solution for model m\n# Objective value = 1{value}\na[1] 1{x 0}\nlong name, (2) 0{x 1}\n"
TEMPLATES = {"HiGHS": HIGHS, "fsopt": JSON, "SCIP": SCIP, "Gurobi": GUROBI}
OPEN = ("SCIP",)
"""Software that leaves zeros out and has no mark of the end: a line less is another file of the format."""


@pytest.mark.parametrize("software", TEMPLATES)
def test_a_solution_of_which_a_part_is_another_is_read_as_it_says_or_refused(software, tmp_path):
    model, template = named_model(), TEMPLATES[software]
    ways: dict[str, int] = {}

    def values(answer):
        """Return what an answer states, by the names of the facts; multipliers of all signs are turned together."""
        found = {f"x {j}": value for j, value in enumerate(answer.point.x.tolist())} | {"value": answer.objective}
        return found if answer.point.y is None else found | {"y 0": abs(float(answer.point.y[0]))}

    def run(case):
        try:
            answer = fsopt.read_solution(written(tmp_path, "answer", case.text), model)
            fsopt.verify(answer, model)
            found = values(answer)
        except FsoptError:
            ways["refused"] = ways.get("refused", 0) + 1
            return
        ways["read"] = ways.get("read", 0) + (case.facts is not None)
        expected = plain(template)[1] if case.facts is None else case.facts
        if case.facts is not None or (re.search("lines|ends", case.what) and software not in OPEN):
            wrong = {
                key
                for key in expected
                if key in found and found[key] != (abs(expected[key]) if key == "y 0" else expected[key])
            }
            assert not wrong, f"{wrong} differ: {found}"

    def cases():
        for k in range(CASES * FACTOR):
            case = damaged(template, generator(30, k))
            yield f"case {k}, {case.what}", lambda case=case: run(case)

    attack(cases())
    assert min(ways["read"], ways["refused"]) > CASES / 15, ways
