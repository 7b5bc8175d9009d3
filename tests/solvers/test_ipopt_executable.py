"""The route over an ``ipopt`` executable: a stand-in that reads .nl, solves with casadi's Ipopt and writes .sol."""

import json
import sys

import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from support import blobs

import fsopt
from fsopt.cli import catalogue
from fsopt.errors import OptionError, SolverError
from fsopt.solvers import spec

pytest.importorskip("casadi", reason="casadi, whose Ipopt stands in for the executable, is not installed")

SHIM = """#!{python}
import ast, sys
if "-v" in sys.argv:
    sys.exit(print("Ipopt 3.14.11 (ASL 20190605)"))
import casadi
def number(text):
    return ast.literal_eval(text) if text[-1].isdigit() else text
stub = sys.argv[1].removesuffix(".nl")
options = {{}}
for given in sys.argv[3:]:
    with open(given.removeprefix("option_file_name=")) as lines:
        options |= {{name: number(value) for name, value in map(str.split, lines)}}
nl = casadi.NlpBuilder()
nl.import_nl(stub + ".nl")
problem = {{"x": casadi.vertcat(*nl.x), "f": nl.f, "g": casadi.vertcat(*nl.g)}}
try:
    s = casadi.nlpsol("s", "ipopt", problem, {{"ipopt": options, "print_time": False}})
    r = s(x0=nl.x_init, lbx=nl.x_lb, ubx=nl.x_ub, lbg=nl.g_lb, ubg=nl.g_ub)
except RuntimeError as error:
    sys.exit(str(error))
words = s.stats()["return_status"]
codes = {{"Solve_Succeeded": 0, "Solved_To_Acceptable_Level": 1, "Infeasible_Problem_Detected": 200,
         "Diverging_Iterates": 300, "Maximum_Iterations_Exceeded": 400, "Maximum_CpuTime_Exceeded": 401}}
y, x = [-a for a in r["lam_g"].full().ravel()], list(r["x"].full().ravel())
counts = [3, 1, 1, 0, len(y), len(y), len(x), len(x)]
with open(stub + ".sol", "w") as out:
    print("", "Ipopt 3.14.11: " + words, "", "Options", *counts, *map(repr, map(float, y + x)), sep="\\n", file=out)
    print("objno 0", codes.get(words, 500), file=out)
"""


@pytest.fixture(autouse=True)
def without_package(monkeypatch):
    found = spec.find_spec
    monkeypatch.setattr(spec, "find_spec", lambda name: None if name == "cyipopt" else found(name))
    monkeypatch.setitem(sys.modules, "cyipopt", None)  # its import raises ImportError
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def executable(tmp_path, monkeypatch):
    path = tmp_path / "ipopt"
    path.write_text(SHIM.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def hyperbola():
    bounds = [(-0.01, None), POSITIVE]  # with x >= 0 it would be a cone
    return model_of(lambda x, y: x + 4 * y, lambda x, y: x * y >= 1, bounds=bounds, start=[3.0, 0.3])


def test_without_package_and_executable_the_pip_line_is_given():
    with pytest.raises(SolverError, match=r"ipopt.*not installed.*pip install cyipopt-wheels"):
        fsopt.solve(hyperbola(), "ipopt")


def test_the_listing_says_available_or_why_not(executable, monkeypatch, capsys):
    def row():
        catalogue.solvers(json=True)
        return next(r for r in json.loads(capsys.readouterr().out)["solvers"] if r["solver"] == "ipopt")

    assert (row()["available"], row()["why_not"]) == (True, "")
    monkeypatch.setenv("PATH", "")
    assert not row()["available"]
    assert "no executable 'ipopt'" in row()["why_not"]


@pytest.mark.parametrize("slug", ["svm", "gmeb-dual"])
def test_models_are_certified_and_agree_with_the_other_solver(executable, slug, capfd):
    m = fsopt.build(slug, blobs(12, 3, seed=5, gap=0.5))
    other, result = fsopt.solve(m), fsopt.solve(m, "ipopt")
    assert (result.status, result.stop, result.certificate.kind) == ("optimal", "optimal", "convex"), result
    assert result.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-7)
    assert result.iterations > 0
    assert capfd.readouterr().out == ""


def test_a_nonconvex_program_is_stationary_and_has_shadow_prices(executable):
    rows = (lambda x, y, z: x * y >= 1), (lambda x, y, z: pyo.log(z) + z == 1)
    bounds = [(-0.01, None), POSITIVE, (0.1, 3)]
    m = model_of(lambda x, y, z: x + 4 * y - pyo.sqrt(z), *rows, bounds=bounds, start=[3.0, 0.3, 1.0])
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.certificate.kind, result.bound) == ("stationary", "kkt", None)
    assert [v.value for v in m.x.values()] == pytest.approx([2, 0.5, 1])
    assert (m.dual[m.row[0]], m.dual[m.row[1]]) == pytest.approx((2.0, -0.25))


@pytest.mark.slow
def test_infeasible_and_unbounded_programs_are_not_called_solved(executable):
    rows = (lambda x, y: x + y >= 2), (lambda x, y: x + 2 * y <= 1)
    result = fsopt.solve(model_of(lambda x, y: x + y**2, *rows, bounds=[POSITIVE] * 2), "ipopt")
    assert (result.status, result.stop, result.certificate.ok) == ("infeasible", "infeasible", True)
    free = model_of(lambda x, y, z: x + y**2 - z, lambda x, y, z: x + y >= 2, bounds=[POSITIVE, POSITIVE, FREE])
    assert fsopt.solve(free, "ipopt").status == "unbounded"
    m = hyperbola()
    m.d = pyo.Constraint(expr=m.x[0] + m.x[1] <= 1.5)
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.stop, result.objective) == ("none", "infeasible", None)


@pytest.mark.slow
def test_options_limits_repeated_equations_and_constraints_without_variables(executable):
    with pytest.raises(OptionError, match="'nope'"):
        fsopt.solve(hyperbola(), "ipopt", options={"nope": 1, "max_iter": 3})
    result = fsopt.solve(hyperbola(), "ipopt", options={"max_iter": 2, "mu_init": 1})
    assert (result.stop, result.iterations) == ("iteration-limit", 2)
    # The limit has passed when the executable is called: it stops at its first look at the clock, however fast it is.
    assert fsopt.solve(fsopt.build("gmeb-primal", blobs()), "ipopt", time_limit=1e-6).stop == "time-limit"
    m = pyo.ConcreteModel()
    m.x, m.p = pyo.Var(range(3)), pyo.Param(initialize=0.0, mutable=True)
    m.x[2].fix(2)
    m.same = pyo.Constraint(range(4), rule=lambda m, i: m.x[0] + m.x[1] + m.x[2] == 3)
    m.empty = pyo.Constraint(expr=m.p * m.x[0] <= 1)
    m.o = pyo.Objective(expr=1 - (m.x[0] - m.x[1]) ** 2 - m.x[0], sense=pyo.maximize)
    assert fsopt.solve(m, "ipopt").status == "optimal"
    assert (m.x[0].value, m.x[1].value) == (pytest.approx(0.375), pytest.approx(0.625))
