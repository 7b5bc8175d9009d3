"""Bounds of programs with integers: no solver's word counts where its integer tolerance leaks through a big-M."""

import dataclasses
import functools
import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, model_of
from scipy.optimize import linprog
from solver_cases import PRICES, active_bounds, shadow_prices, takers
from support import blobs, least_errors, there

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.compiler import compile_model
from fsopt.errors import SolverError
from fsopt.solvers.outcome import LEAK, believed, big_m
from fsopt.solvers.registry import SOLVERS, solver_spec
from fsopt.solvers.spec import COARSE, Outcome, SolverSpec

LAM = 0.05
LARGE = 1e4
DATA = blobs(12, 3, seed=5, gap=0.8)


def in_units(unit):
    return fsopt.Dataset(DATA.X * unit, DATA.y, features=["radius", "texture", "area"])


@functools.cache
def fsv_optimum(unit):
    """Return the optimum of fsv-exact by a linear program for each selection of features, in units of size 1."""
    X, y = DATA.X, DATA.y
    average = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())

    def value(chosen):
        k = len(chosen)
        A = -np.hstack([y[:, None] * X[:, chosen], -y[:, None], np.eye(len(y))])
        bounds = [(-LARGE * unit, LARGE * unit)] * k + [(None, None)] + [(0, None)] * len(y)
        cost = np.concatenate([np.zeros(k + 1), (1 - LAM) * average])
        return linprog(cost, A_ub=A, b_ub=-np.ones(len(y)), bounds=bounds).fun + LAM * k

    p = X.shape[1]
    return min(value(list(chosen)) for k in range(p + 1) for chosen in itertools.combinations(range(p), k))


def answer(model, solver, **options):
    return fsopt.solve(model, solver, time_limit=30, options=options)


@pytest.mark.parametrize("unit", [1e-3, 1e6])
@pytest.mark.parametrize("solver", takers("MILP"))
@pytest.mark.parametrize("slug", ["fsv-exact", "misclass-milp", "a big-M that fits the unit"])
def test_no_optimum_and_no_bound_is_false_in_any_unit_of_the_features(slug, solver, unit):
    if slug == "a big-M that fits the unit":
        result = answer(fsopt.build("fsv-exact", in_units(unit), lam=LAM, big_m=20.0 / unit), solver)
        assert (result.status, result.objective) == ("optimal", pytest.approx(fsv_optimum(1.0), rel=1e-5))
        return
    truth = fsv_optimum(unit) if slug == "fsv-exact" else least_errors(DATA)
    params = {"lam": LAM} if slug == "fsv-exact" else {}
    result = answer(fsopt.build(slug, in_units(unit), **params), solver)
    assert result.status in ("optimal", "feasible", "none")
    if result.status == "optimal":
        assert result.objective == pytest.approx(truth, rel=1e-5)
    if result.bound is not None:
        assert result.bound <= truth * (1 + 1e-6)
    fine = solver != "pyomo:glpk"  # its integer tolerance is 1e-5
    if fine and (slug == "misclass-milp" or unit <= 1.0):
        assert result.status == "optimal"
    if slug == "fsv-exact" and unit >= 1e3:
        assert (result.status, result.bound) == ("feasible", None) or result.status == "none"
        assert any("integer tolerance" in note for note in result.certificate.notes)


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        ("highs", "mip_feasibility_tolerance"),
        ("pyomo:cbc", "integerTolerance"),
        ("pyomo:cbc", "integerT"),
        ("scip", "numerics/feastol"),
        ("gurobi", "IntFeasTol"),
        ("xpress", "miptol"),
    ],
)
def test_the_tolerance_that_the_user_sets_counts(solver, name):
    there(solver)
    model = fsopt.build("fsv-exact", in_units(1.0), lam=LAM)
    assert answer(model, solver).status == "optimal"
    found = answer(model, solver, **{name: 1e-4})
    assert (found.status, found.bound) == ("feasible", None)


def test_the_leak_of_a_program_is_the_same_in_all_units_and_integers_alone_have_none():
    sizes = [big_m(compile_model(fsopt.build("misclass-milp", in_units(unit)))) for unit in (1e-6, 1.0, 1e6)]
    assert sizes == [sizes[0]] * 3
    assert LARGE / 4 <= sizes[0] <= 4 * LARGE  # units are powers of 4
    program = compile_model(fsopt.build("fsv-exact", in_units(1.0), big_m=3.0))
    assert 0.25 <= big_m(program) / (3.0 * np.abs(DATA.X).max()) <= 4
    rows = (lambda s, v, w: v**2 + w**2 <= (1e7 * s) ** 2), (lambda s, v, w: v >= 1)
    cone = compile_model(model_of(lambda s, v, w: s + v, *rows, bounds=[(0, 1), FREE, FREE], whole=[0]))
    assert (len(cone.cones), big_m(cone) > 1e6) == (1, True)
    row, binary = (lambda a, b, c: 1e9 * a + 3e9 * b + 2e9 * c <= 4e9), {"bounds": [(0, 1)] * 3, "whole": range(3)}
    integers = model_of(lambda a, b, c: a + 2 * b + c, row, **binary, sense=pyo.maximize)
    assert (big_m(compile_model(integers)), fsopt.solve(integers).status) == (0.0, "optimal")


class Boaster:
    """A solver that calls a point optimal whatever the program is, and does not say when an integer is whole."""

    def __init__(self, program, settings):
        self.program = program

    def update(self, change):
        return None

    def solve(self, time_limit, mip_gap=None):
        found = fsopt.solve(self.program.model, "highs").point
        value = float(self.program.c @ found.x + self.program.c0)
        return Outcome(Status.OPTIMAL, "optimal", Point(found.x), value, 0, 0.0, "done")


def test_a_new_solver_cannot_forget_the_rule(monkeypatch):
    spec = SolverSpec(
        name="boaster",
        connect=Boaster,
        package="numpy",
        ranks={"MILP": None},
        proves="global",
        duals=False,
        vertex=True,
        in_place=False,
        tolerance=1e-6,
        pip="",
        licence="",
    )
    monkeypatch.setitem(SOLVERS.shipped, "boaster", spec)
    large, fitting = (fsopt.build("fsv-exact", in_units(1.0), lam=LAM, big_m=m) for m in (LARGE, 20.0))
    assert fsopt.solve(fitting, "boaster").status == "optimal"
    found = fsopt.solve(large, "boaster")
    assert (found.status, found.bound) == ("feasible", None)
    assert f"{COARSE:.0e}" in found.certificate.notes[0]


def test_infeasible_and_unbounded_are_the_word_of_no_leaking_solver():
    program = compile_model(fsopt.build("fsv-exact", in_units(1.0)))
    for status in (Status.INFEASIBLE, Status.UNBOUNDED):
        word = Outcome(status, status.value, None, None, 0, 0.0, "said", integer_tolerance=1e-9)
        assert believed(program, word, "cbc")[0].status is status
        found, reason = believed(program, dataclasses.replace(word, integer_tolerance=COARSE), "cbc")
        assert (found.status, found.stop) == (Status.NONE, "numerical")
        assert "smaller big-M" in reason
    assert 1e-9 * big_m(program) < LEAK < COARSE * big_m(program)


@pytest.mark.parametrize("solver", takers("MILP"))
def test_an_infeasible_relaxation_is_proved_by_its_multipliers(solver):
    m = fsopt.build("fsv-exact", in_units(1e6))
    m.never = pyo.Constraint(expr=m.w[0] >= 2e4)
    result = answer(m, solver)
    assert result.status == "infeasible"
    assert result.certificate.ok


def test_a_false_word_of_an_unbounded_program_is_none(monkeypatch):

    class Wrong(Boaster):
        def solve(self, time_limit, mip_gap=None):
            return Outcome(Status.UNBOUNDED, "unbounded", None, None, 0, 0.0, "unbounded", integer_tolerance=1e-9)

    model = fsopt.build("fsv-exact", in_units(1.0))
    monkeypatch.setitem(SOLVERS.shipped, "highs", dataclasses.replace(solver_spec("highs"), connect=Wrong))
    found = fsopt.solve(model, "highs")
    assert (found.status, found.stop, found.certificate.ok) == ("none", "unbounded", False)


@pytest.mark.parametrize("unit", [1e-7, 1e7])
@pytest.mark.parametrize("solver", ["pyomo:glpk", "pyomo:cbc", "pyomo:appsi_highs"])
def test_prices_and_optimum_come_back_from_balanced_units(solver, unit):
    there(solver)
    m = active_bounds(pyo.minimize, 0.0)
    optimum = fsopt.solve(m, "highs").objective
    m.o.set_value(unit * m.o.expr)
    found = fsopt.solve(m, solver)
    assert (found.status, found.objective) == ("optimal", pytest.approx(unit * optimum, rel=1e-6))
    assert {name: price / unit for name, price in shadow_prices(m).items()} == pytest.approx(PRICES, abs=1e-6)


def test_a_quadratic_program_through_pyomo_has_the_optimum_in_any_units():
    name = "pyomo:gurobi_direct"
    there(name)
    for unit in (1e-4, 1e-2, 1.0):  # gaps are relative to max(1, |optimum|)
        model = fsopt.build("svm", in_units(unit), c=1.0 / unit**2)
        try:
            found = fsopt.solve(model, name)
        except SolverError as error:
            assert "licen" in str(error).lower()  # noqa: PT017 - what a machine without one says
            return
        assert found.objective * unit**2 == pytest.approx(
            fsopt.solve(fsopt.build("svm", in_units(1.0))).objective, rel=1e-6
        )
