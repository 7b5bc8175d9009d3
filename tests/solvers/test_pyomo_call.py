"""Solvers called through Pyomo's interfaces: pyomo:NAME, with Pyomo's own solvers as oracle, absent ones refused."""

import pyomo.environ as pyo
import pytest
from solver_cases import one_cone
from support import there

import fsopt
from fsopt.errors import SolverError, UnknownNameError
from fsopt.models.draws import build_trial


@pytest.mark.parametrize("name", ["pyomo:appsi_highs", "pyomo:highs"])
def test_other_interfaces_to_highs_have_its_optimum(name):
    for slug in ("onsvm", "misclass-milp"):
        found = fsopt.solve(build_trial(slug), there(name))
        assert (found.status, found.solver) == ("optimal", name)
        assert found.objective == pytest.approx(fsopt.solve(build_trial(slug), "highs").objective, rel=1e-7)


@pytest.mark.parametrize("name", ["pyomo:gurobi_direct", "pyomo:mosek_direct", "pyomo:xpress_direct"])
def test_interfaces_in_python_are_called_too(name):
    try:
        found = fsopt.solve(build_trial("onsvm"), there(name))
    except SolverError as error:
        assert "licen" in str(error).lower()  # noqa: PT017 - what a machine without one says
        return
    assert found.objective == pytest.approx(fsopt.solve(build_trial("onsvm")).objective, rel=1e-6)


def test_a_cone_goes_through_pyomo():
    for shape in ("ball", "lorentz", "parabola"):
        m, _ = one_cone(shape, pyo.minimize)
        found = fsopt.solve(m, there("pyomo:scip_direct"))
        other, _ = one_cone(shape, pyo.minimize)
        assert found.objective == pytest.approx(fsopt.solve(other, "clarabel").objective, rel=1e-5)


def test_an_absent_solver_is_one_line_with_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for name, line in (("glpk", "glpk-utils"), ("cbc", "coinor-cbc"), ("cplex", "CPLEX"), ("baron", "BARON")):
        with pytest.raises(SolverError, match=line) as caught:
            fsopt.solve(build_trial("onsvm"), f"pyomo:{name}")
        assert "\n" not in str(caught.value)


def test_an_unknown_name_is_one_line_too(capfd):
    with pytest.raises(UnknownNameError, match=r"Pyomo knows no solver 'glkp'.*glpk") as caught:
        fsopt.solve(build_trial("onsvm"), "pyomo:glkp")
    assert "\n" not in str(caught.value)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_an_option_reaches_the_solver():
    model = build_trial("misclass-milp")
    result = fsopt.solve(model, there("pyomo:cbc"), options={"maxNodes": 0, "heuristicsOnOff": "off", "cuts": "off"})
    assert result.status != "optimal" or result.iterations == 0
