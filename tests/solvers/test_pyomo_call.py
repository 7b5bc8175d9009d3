"""Solvers called through Pyomo's interfaces: pyomo:NAME, with Pyomo's own solvers as oracle, absent ones refused."""

import pyomo.environ as pyo
import pytest
from solver_cases import one_cone
from support import there

import fsopt
from fsopt.errors import OptionError, SolverError, UnknownNameError
from fsopt.models.draws import build_trial
from fsopt.solvers.pyomo_call import PREFIX
from fsopt.solvers.pyomo_names import KNOWN
from fsopt.solvers.registry import solver_spec

CALLED = [name for name in KNOWN if solver_spec(PREFIX + name).available]
"""The rows of the table whose program is installed; the others are left out, as no machine has them all."""


@pytest.mark.parametrize("name", CALLED)
def test_every_row_of_the_table_is_called_and_certified(name):
    """A model of each class; a time limit goes by the option of its own that the row names."""
    spec = solver_spec(PREFIX + name)
    for slug, limit in (("onsvm", 30.0), ("svm-dual", None), ("l1-mpm", None), ("mmop", None), ("fsp-master", 30.0)):
        if fsopt.MODELS[slug].problem_class not in spec.classes:
            continue
        try:
            found = fsopt.solve(build_trial(slug), spec.name, time_limit=limit)
        except SolverError as error:
            assert "licen" in str(error).lower()  # noqa: PT017 - what a machine without one says
            return
        proved = fsopt.MODELS[slug].problem_class != "NLP" or spec.proves == "global"
        assert (found.status, found.solver) == ("optimal" if proved else "stationary", spec.name), (slug, found.message)
        if proved:
            assert found.objective == pytest.approx(fsopt.solve(build_trial(slug)).objective, rel=1e-6), slug


def test_a_cone_goes_through_pyomo():
    for shape in ("ball", "lorentz", "parabola"):
        m, _ = one_cone(shape, pyo.minimize)
        found = fsopt.solve(m, there("pyomo:scip_direct"))
        other, _ = one_cone(shape, pyo.minimize)
        assert found.objective == pytest.approx(fsopt.solve(other, "clarabel").objective, rel=1e-5)


def test_an_absent_solver_is_one_line_with_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for name, line in (("glpk", "glpk-utils"), ("cbc", "coinor-cbc"), ("baron", "not installed")):
        with pytest.raises(SolverError, match=line) as caught:
            fsopt.solve(build_trial("onsvm"), f"pyomo:{name}")
        assert "\n" not in str(caught.value)


def test_an_unknown_name_is_one_line_too(capfd):
    with pytest.raises(UnknownNameError, match=r"Pyomo knows no solver 'glkp'.*glpk") as caught:
        fsopt.solve(build_trial("onsvm"), "pyomo:glkp")
    assert "\n" not in str(caught.value)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


@pytest.mark.parametrize("name", CALLED)
def test_a_wrong_option_is_named_whatever_the_solver_says_of_it(name):
    with pytest.raises(OptionError, match=f"pyomo:{name}.*'no_such_option'"):
        fsopt.solve(build_trial("onsvm"), PREFIX + name, options={"no_such_option": 1})


def test_an_option_reaches_the_solver():
    model = build_trial("misclass-milp")
    result = fsopt.solve(model, there("pyomo:cbc"), options={"maxNodes": 0, "heuristicsOnOff": "off", "cuts": "off"})
    assert result.status != "optimal" or result.iterations == 0
