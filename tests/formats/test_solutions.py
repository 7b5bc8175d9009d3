"""Solution files of other software: what they state, as the programs themselves wrote it, and damaged ones."""

from __future__ import annotations

import json
import subprocess

import pytest
from support import ROOT, there, written

import fsopt
from fsopt.errors import FileError
from fsopt.verification.foreign import unrounded

MODELS = ROOT / "models"


def library(slug: str, suffix: str = ".lp"):
    return MODELS / slug / f"{slug}{suffix}"


def highs(path, target, style: int) -> None:
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    solver.run()
    solver.writeSolution(str(target), style)


def scip(path, target, *, zeros: bool = False) -> None:
    model = pytest.importorskip("pyscipopt").Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    model.writeBestSol(str(target), write_zeros=zeros)


def program(name: str, *words: str) -> None:
    subprocess.run([there(name), *words], check=True, capture_output=True)


WRITERS = {
    "HiGHS raw": ("HiGHS", lambda m, s: highs(m, s, 0)),
    "HiGHS pretty": ("HiGHS", lambda m, s: highs(m, s, 1)),
    "HiGHS as GLPK": ("GLPK", lambda m, s: highs(m, s, 2)),
    "SCIP": ("SCIP", scip),
    "SCIP with zeros": ("SCIP", lambda m, s: scip(m, s, zeros=True)),
    "GLPK raw": ("GLPK", lambda m, s: program("glpsol", "--lp", str(m), "--write", str(s))),
    "GLPK report": ("GLPK", lambda m, s: program("glpsol", "--lp", str(m), "--output", str(s))),
    "CBC": ("CBC", lambda m, s: program("cbc", str(m), "solve", "solution", str(s))),
    "CBC all": ("CBC", lambda m, s: program("cbc", str(m), "solve", "printingOptions", "all", "solution", str(s))),
}
SIX_DIGITS = {"HiGHS pretty", "GLPK report"}
DUALS = {"HiGHS raw", "HiGHS pretty", "HiGHS as GLPK", "GLPK raw", "GLPK report", "CBC all"}
CLAIMS_NO_OPTIMUM = {"SCIP", "SCIP with zeros"}
"""Written from Python: the console's ``write solution`` states the status."""


@pytest.mark.parametrize("slug", ["rlp", "fsv-exact", "l1-hinge-part"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_a_program_wrote_is_the_optimum(writer, slug, tmp_path):
    """A minimum, a maximum and an integer program: values, objective, claim, and multipliers that prove the optimum."""
    name, write = WRITERS[writer]
    write(library(slug), tmp_path / "answer")
    model = fsopt.read_model(library(slug))
    answer = fsopt.read_solution(tmp_path / "answer", model)
    stored = json.loads((MODELS / slug / "optimum.json").read_text())
    assert answer.solver == name
    assert answer.status == ("feasible" if writer in CLAIMS_NO_OPTIMUM else "optimal")
    assert answer.objective == pytest.approx(stored["objective"], rel=1e-5)
    linear = slug != "fsv-exact"
    # GLPK's rows hold the objective in files that HiGHS writes in its style: they are not those of the model.
    duals = linear and writer in DUALS and writer != "HiGHS as GLPK"
    assert (answer.point.y is not None) == duals
    found = fsopt.verify(unrounded(model, answer), model)
    if writer in SIX_DIGITS:
        assert found.residuals["infeasibility"] < 1e-4
    elif duals:
        assert found.verified, found.reason
        assert found.certificate.kind == "convex"
        assert found.certificate.bound == pytest.approx(stored["objective"], rel=1e-6)
    else:
        assert found.residuals["infeasibility"] <= 1e-9
        assert found.residuals["objective"] < 1e-6
        assert found.verified == (answer.status == "feasible" or (not linear and answer.bound is not None))


@pytest.mark.parametrize("slug", ["svm-dual"])
def test_multipliers_of_a_quadratic_program_prove_its_optimum(slug, tmp_path):
    highs(library(slug), tmp_path / "answer", 0)
    model = fsopt.read_model(library(slug))
    found = fsopt.verify(fsopt.read_solution(tmp_path / "answer", model), model, exact=True)
    assert found.verified
    assert found.word == "verified exactly"


GUROBI = "# Solution for model m\n# Objective value = 1.0000000000000000e+00\na[1] 1\nlong name, (2) 0\n"
CPLEX = """<?xml version = "1.0" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header objectiveValue="1" solutionStatusString="optimal" solutionStatusValue="1"/>
 <linearConstraints><constraint name="c one" index="0" dual="1"/></linearConstraints>
 <variables><variable name="a[1]" index="0" value="1"/><variable name="long name, (2)" index="1" value="0"/></variables>
</CPLEXSolution>
"""
SCIP = "solution status: optimal solution found\nobjective value:      1\na[1]     1 \t(obj:1)\n"
CBC = "Optimal - objective value 1.00000000\n      0 a[1]   1   0\n"
AMPL = "solver: done\n\nOptions\n3\n0\n1\n0\n1\n1\n2\n2\n1\n1\n0\nobjno 0 0\n"
JSON = '{"objective": 1.0, "status": "optimal", "variables": {"a[1]": 1, "long name, (2)": 0}, "duals": {"c one": 1}}'
BY_HAND = {
    "Gurobi": (GUROBI, "feasible", False),
    "CPLEX": (CPLEX, "optimal", True),
    "SCIP": (SCIP, "optimal", False),
    "CBC": (CBC, "optimal", False),
    "AMPL (solver)": (AMPL, "optimal", True),
    "fsopt": (JSON, "optimal", True),
}
NAMED = """NAME m
ROWS
 N  cost
 G  c one
COLUMNS
    a[1]      cost               1.0   c one              1.0
    long name, (2)  cost         3.0   c one              2.0
RHS
    RHS       c one              1.0
ENDATA
"""


def named_model():
    """Return min a + 3 b with a + 2 b >= 1, with names as other software has them."""
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.x = pyo.Var(["a[1]", "long name, (2)"], domain=pyo.NonNegativeReals)
    m.row = pyo.Constraint(["c one"], rule=lambda m, _: m.x["a[1]"] + 2 * m.x["long name, (2)"] >= 1)
    m.objective = pyo.Objective(expr=m.x["a[1]"] + 3 * m.x["long name, (2)"])
    m.read_from_file = ".nl"
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


SUFFIX = "suffix 0 1 8 12 1\nsstatus\n0 none\n1 3\n"
SOL = {
    "suffix": (AMPL + SUFFIX, "optimal"),
    "two suffixes": (AMPL + SUFFIX + "suffix 4 1 3 0 0\nrc\n0 0.5\n", "optimal"),
    "tolerance": (AMPL.replace("\n3\n0\n1\n0\n", "\n5\n0\n3\n0\n").replace("2\n2\n", "2\n2\n1e-9\n"), "optimal"),
    "lines of DOS": (AMPL.replace("\n", "\r\n"), "optimal"),
    "limit": (AMPL.replace("objno 0 0", "objno 0 400"), "feasible"),
    "failure": (AMPL.replace("objno 0 0", "objno 0 -1"), "feasible"),
}
WRONG_SOL = {
    "count of values": (AMPL.replace("2\n2\n", "3\n2\n"), "2 values of 3 variables"),
    "count of multipliers": (AMPL.replace("0\n1\n1\n2", "0\n2\n1\n2"), "1 multipliers of 2 constraints"),
    "another model": (AMPL.replace("2\n2\n1", "3\n3\n1\n1"), "3 values, the model 2"),
    "another objective": (AMPL.replace("objno 0", "objno 1"), "first objective"),
    "no code": (AMPL.replace("objno 0 0", "objno"), "damaged"),
    "what follows": (AMPL + "3\n", "other lines"),
    "place of a suffix": (AMPL + SUFFIX.replace("\n1 3", "\n2 3"), "a suffix has the place 2, of 2"),
}


@pytest.mark.parametrize("case", SOL)
def test_what_a_sol_file_says(case, tmp_path):
    text, status = SOL[case]
    answer = fsopt.read_solution(written(tmp_path, "answer", text), named_model())
    assert (answer.status, answer.point.x.tolist(), answer.objective) == (status, [1.0, 0.0], 1.0)


@pytest.mark.parametrize("case", WRONG_SOL)
def test_a_wrong_part_of_a_sol_file_is_refused_by_name(case, tmp_path):
    text, words = WRONG_SOL[case]
    with pytest.raises(FileError, match=words):
        fsopt.read_solution(written(tmp_path, "answer", text), named_model())


def test_a_sol_file_cut_at_any_line_is_refused(tmp_path):
    lines = (AMPL + SUFFIX).splitlines(keepends=True)
    whole = len(AMPL.splitlines())
    for k in (k for k in range(len(lines)) if k != whole):  # there a suffix is missing, which says nothing
        with pytest.raises(FileError):
            fsopt.read_solution(written(tmp_path, "answer", "".join(lines[:k])), named_model())


def test_a_model_of_the_user_itself(tmp_path):
    """Names of a Pyomo model, as its own or as its writers write them."""
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.w = pyo.Var([0, 1], bounds=(0, 4))
    m.limit = pyo.Constraint(expr=m.w[0] + m.w[1] <= 5)
    m.gain = pyo.Objective(expr=m.w[0] + 2 * m.w[1], sense=pyo.maximize)
    m.write(str(tmp_path / "m.lp"), io_options={"symbolic_solver_labels": True})
    highs(tmp_path / "m.lp", tmp_path / "answer", 0)
    answer = fsopt.read_solution(tmp_path / "answer", m)
    assert answer.objective == pytest.approx(9.0)
    assert fsopt.verify(answer, m, exact=True).verified


def test_values_in_the_order_of_an_nl_file_are_refused_for_another_file(tmp_path):
    """Another file of the same program, and the model itself, may have the variables in another order."""
    model = named_model()
    for suffix in (".mps", None):
        model.read_from_file = suffix
        with pytest.raises(FileError, match=r"order of a \.nl file"):
            fsopt.read_solution(written(tmp_path, "answer", AMPL), model)


DAMAGED = {
    "unknown format": ("what is this\n", "no format that is known"),
    "nothing": ("", "no format that is known"),
    "cut HiGHS": (
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n# Columns 2\na[1] 1\n",
        "ends before",
    ),
    "cut GLPK": ("c Status: OPTIMAL\nc\ns bas 1 2 f f 1\ni 1 b 1 0\nj 1 b 1 0\n", "ends before"),
    "cut AMPL": (AMPL[: AMPL.index("objno") - 4], "ends before"),
    "cut XML": (CPLEX[:-30], "damaged"),
    "cut JSON": (JSON[:-9], "damaged"),
    "other model": (SCIP.replace("a[1]", "b[1]"), "no variable"),
    "missing value": (JSON.replace(', "long name, (2)": 0', ""), "no value of 'long name"),
    "missing duals only": (JSON.replace('"c one": 1', '"c two": 1'), ""),
    "a word": (SCIP.replace(" 1 \t", " one \t"), "damaged"),
    "not finite": (SCIP.replace(" 1 \t", " nan \t"), "finite"),
    "other size": (AMPL.replace("1\n1\n2\n2\n1\n1\n0\n", "1\n1\n1\n1\n1\n1\n"), "has 1 values"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(case, tmp_path):
    text, words = DAMAGED[case]
    path = written(tmp_path, "answer", text)
    if not words:  # multipliers of other names are none
        assert fsopt.read_solution(path, named_model()).point.y is None
        return
    with pytest.raises(FileError, match=words) as error:
        fsopt.read_solution(path, named_model())
    assert "\n" not in str(error.value)
