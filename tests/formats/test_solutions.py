"""Solution files of other software: what they state, as the programs themselves wrote it, and damaged ones."""

import json

import pyomo.environ as pyo
import pytest
from conic_files import highs, scip
from support import ROOT, written

import fsopt
from fsopt.errors import FileError
from fsopt.formats.read import is_model_file

MODELS = ROOT / "models"


@pytest.mark.parametrize("slug", ["rlp", "fsv-exact", "l1-hinge-part"])
@pytest.mark.parametrize(("solver", "write"), [("HiGHS", highs), ("SCIP", scip)])
def test_a_file_that_a_program_wrote_is_the_optimum(solver, write, slug, tmp_path):
    """A minimum, a maximum and an integer program: values, objective, claim, and multipliers that prove the optimum."""
    path = MODELS / slug / f"{slug}.lp"
    write(path, solution=tmp_path / "answer")
    model = fsopt.read_model(path)
    answer = fsopt.read_solution(tmp_path / "answer", model)
    stored = json.loads((MODELS / slug / "optimum.json").read_text())
    assert answer.solver == solver
    assert answer.status == ("optimal" if solver == "HiGHS" else "feasible")  # from Python SCIP states no status
    assert answer.objective == pytest.approx(stored["objective"], rel=1e-5)
    assert (answer.point.y is not None) == (solver == "HiGHS" and slug != "fsv-exact")
    found = fsopt.verify(answer, model)
    assert found.verified, found.reason
    assert found.certificate.residuals["infeasibility"] < 1e-5
    assert fsopt.verify(fsopt.read_solution(MODELS / slug / "optimum.json", model), model).verified


GUROBI = "# Solution for model m\n# Objective value = 1.0000000000000000e+00\na[1] 1\nlong name, (2) 0\n"
SCIP = "solution status: optimal solution found\nobjective value:      1\na[1]     1 \t(obj:1)\n"
JSON = '{"objective": 1.0, "status": "optimal", "variables": {"a[1]": 1, "long name, (2)": 0}, "duals": {"c one": 1}}'
HIGHS = (
    "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n# Columns 2\na[1] 1\nlong name, (2) 0\n"
)
BY_HAND = {
    "Gurobi": (GUROBI, "feasible", False),
    "": ("# my own\n\nlong name, (2)\t0\na[1] 1e0\n", "feasible", False),
    "SCIP": (SCIP, "optimal", False),
    "HiGHS": (HIGHS, "optimal", False),
    "fsopt": (JSON, "optimal", True),
}


def named_model():
    """Return min a + 3 b with a + 2 b >= 1, with names as other software has them."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(["a[1]", "long name, (2)"], domain=pyo.NonNegativeReals)
    m.row = pyo.Constraint(["c one"], rule=lambda m, _: m.x["a[1]"] + 2 * m.x["long name, (2)"] >= 1)
    m.objective = pyo.Objective(expr=m.x["a[1]"] + 3 * m.x["long name, (2)"])
    m.read_by = "HiGHS"
    return m


@pytest.mark.parametrize("software", BY_HAND)
def test_names_with_brackets_and_spaces(software, tmp_path):
    text, status, duals = BY_HAND[software]
    model = named_model()
    answer = fsopt.read_solution(written(tmp_path, "answer", text), model)
    assert (answer.solver, answer.status, answer.objective) == (software, status, 1.0)
    assert answer.point.x.tolist() == [1.0, 0.0]
    assert (answer.point.y is not None) == duals
    assert fsopt.verify(answer, model).verified == (duals or status == "feasible")


NAMES = "a[1]", "long name, (2)"
FALSE = [  # values, other changes of the answer, words of the reason
    ((2, 0), {"objective": None}, "elsewhere"),
    ((0.5, 0), {"objective": 0.5}, "violates"),
    ((1, 0), {"objective": 2.0}, "recomputed 1"),
    ((1, 0), {"duals": {}}, "nothing in the answer bounds"),
    ((1, 1e-4), {"objective": None}, "is no whole number"),
    (None, {"status": "unbounded", "objective": None}, "nothing in the answer proves"),
]


@pytest.mark.parametrize(("values", "changes", "words"), FALSE)
def test_a_false_optimum_is_refused_with_the_reason(values, changes, words, tmp_path):
    model = named_model()
    model.x["long name, (2)"].domain = pyo.NonNegativeIntegers if "whole" in words else pyo.NonNegativeReals
    variables = None if values is None else dict(zip(NAMES, values, strict=True))
    text = json.dumps({**json.loads(JSON), "variables": variables, **changes})
    found = fsopt.verify(fsopt.read_solution(written(tmp_path, "answer", text), model), model)
    assert not found.verified
    assert words in found.reason


def own_model():
    m = pyo.ConcreteModel()
    m.w = pyo.Var([0, 1], bounds=(0, 4))
    m.limit = pyo.Constraint(expr=(1, m.w[0] + m.w[1], 5))
    m.gain = pyo.Objective(expr=m.w[0] + 2 * m.w[1], sense=pyo.maximize)
    return m


def test_a_model_of_the_user_itself(tmp_path):
    """Names of a Pyomo model, as its own or as its writers write them; of the two rows of a range one has the price."""
    m = own_model()
    for suffix in (".lp", ".mps"):
        fsopt.export(m, tmp_path / f"m{suffix}")
        highs(tmp_path / f"m{suffix}", tmp_path / "answer")
        answer = fsopt.read_solution(tmp_path / "answer", m)
        assert answer.objective == pytest.approx(9.0)
        assert fsopt.verify(answer, m, exact=True).verified


AMPL = "solver: done\n\nOptions\n3\n0\n1\n0\n1\n1\n2\n2\n1\n1\n4\nobjno 0 0\n"
"""Multiplier 1 of the range, and w = (1, 4)."""
SUFFIX = "suffix 0 1 8 12 1\nsstatus\n0 none\n1 3\n"
SOL = {
    "plain": (AMPL, "optimal"),
    "suffix": (AMPL + SUFFIX, "optimal"),
    "tolerance": (AMPL.replace("\n3\n0\n1\n0\n", "\n5\n0\n3\n0\n").replace("2\n2\n", "2\n2\n1e-9\n"), "optimal"),
    "lines of DOS": (AMPL.replace("\n", "\r\n"), "optimal"),
    "limit": (AMPL.replace("objno 0 0", "objno 0 400"), "feasible"),
    "infeasible": (AMPL.replace("objno 0 0", "objno 0 200"), "infeasible"),
    "another model": (
        AMPL.replace("2\n2\n1\n1\n4", "3\n3\n1\n1\n4\n5"),
        "it has 3 values and 1 multipliers, the model 2",
    ),
    "no code": (AMPL.replace("objno 0 0", "objno"), "damaged"),
    "cut": (AMPL[: AMPL.index("4\nobjno")], "damaged"),
    "a word": (AMPL.replace("4\nobjno", "four\nobjno"), "damaged"),
}


@pytest.mark.parametrize("case", SOL)
def test_what_a_sol_file_says(case, tmp_path):
    text, words = SOL[case]
    path, model = written(tmp_path, "answer", text), own_model()
    if words not in ("optimal", "feasible", "infeasible"):
        with pytest.raises(FileError, match=words):
            fsopt.read_solution(path, model)
        return
    answer = fsopt.read_solution(path, model)
    assert answer.status == words
    if words != "infeasible":
        assert answer.point.x.tolist() == [1.0, 4.0]
    if words == "optimal":
        assert fsopt.verify(answer, model, exact=True).verified
    with pytest.raises(FileError, match=r"order of an \.nl file"):
        fsopt.read_solution(path, named_model())


DAMAGED = {
    "unknown format": ("what is this\n", "no format that is known"),
    "HiGHS's pretty style": ("Columns\n    Index Status        Lower\n", "give HiGHS's raw style"),
    "cut HiGHS": (HIGHS[:-17], "ends before"),
    "cut JSON": (JSON[:-9], "damaged"),
    "other model": (SCIP.replace("a[1]", "b[1]"), "no variable"),
    "missing value": (JSON.replace(', "long name, (2)": 0', ""), "no value of 'long name"),
    "twice": (GUROBI + "a[1] 2\n", "come twice"),
    "a word": (SCIP.replace(" 1 \t", " one \t"), "damaged"),
    "not finite": (SCIP.replace(" 1 \t", " nan \t"), "finite"),
    "binary": (b"\xff\xfe\x00" * 9, "damaged"),
    "cut gzip": (b"\x1f\x8b\x08" + b"a" * 9, "damaged"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(case, tmp_path):
    text, words = DAMAGED[case]
    path = written(tmp_path, "answer", text)
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_solution(path, named_model())
    assert "\n" not in str(error.value)


def test_multipliers_of_other_names_are_none(tmp_path):
    path = written(tmp_path, "answer.gz", JSON.replace('"c one": 1', '"c two": 1'))
    assert fsopt.read_solution(path, named_model()).point.y is None
    assert [is_model_file(name) for name in ("a.LP.gz", "a.nl", "a.dat-s", "svm", "a.json")] == [True] * 3 + [False] * 2
