"""Claims of solvers that own evidence contradicts, and bounds that leak through a big-M: no word counts alone.

A nonconvex program whose rows or objective are in other units has the answer of the same program in natural ones.
"""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from scipy.optimize import linprog
from solver_cases import failing, takers
from support import blobs, least_errors, sampled, there

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.compiler import compile_model, lmi
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.solvers.auxiliary import with_evidence
from fsopt.solvers.base import Session
from fsopt.solvers.outcome import LEAK, believed, big_m, certified_result
from fsopt.solvers.registry import preference
from fsopt.solvers.spec import COARSE, Outcome, Settings


@pytest.mark.parametrize(
    ("bound", "status", "kept"), [(9.0, "optimal", True), (9.5, "feasible", True), (8.5, "feasible", False)]
)
def test_a_bound_that_an_attained_value_exceeds_is_none(bound: float, status: str, kept: bool) -> None:
    row, binary = (lambda x, y, z: 3 * x + 4 * y + 5 * z <= 8), {"bounds": [(0, 1)] * 3, "whole": range(3)}
    program = compile_model(model_of(lambda x, y, z: 3 * x + 4 * y + 6 * z, row, **binary, sense=pyo.maximize))
    outcome = Outcome(Status.OPTIMAL, "optimal", Point(np.array([1.0, 0.0, 1.0])), -bound, 1, 0.0, "")
    result = certified_result(program, outcome, "somebody")
    assert (result.status, result.bound) == (status, bound if kept else None)


@pytest.mark.parametrize("slug", ["rlp", "svm", "svm-norm", "fsp-m-bigm", "fsp-lambda"])
def test_infeasibility_is_not_believed_where_there_is_a_point(slug: str) -> None:
    params = {"m": 1} if slug == "fsp-m-bigm" else {}
    program = compile_model(fsopt.build(slug, blobs(12, 2), **params))
    said = Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, "infeasible")
    found = with_evidence(program, said, Settings.make(None), 20.0, "somebody")
    assert (found.ray, certified_result(program, found, "somebody").status) == (None, "none")


@pytest.mark.parametrize(
    ("kind", "what", "ended"),
    sampled(
        itertools.product(["LP", "QP", "SOCP"], ["infeasible", "unbounded"], ["without a point", "at a point"]), 7, 0
    ),
)
def test_another_solver_decides_where_one_ends_without_a_word(kind: str, what: str, ended: str) -> None:
    program = compile_model(failing(kind, what))
    n, m, k = program.n, *program.A.shape[:1], program.cones.G.shape[0]
    point = Point(np.ones(n), np.zeros(m), np.zeros(k)) if ended == "at a point" else None
    said = Outcome(Status.FEASIBLE, "numerical", point, None, 0, 0.0, "it failed")
    found = with_evidence(program, said, Settings.make(None), 20.0, "somebody")
    result = certified_result(program, found, "somebody")
    assert (found.status, found.stop, result.status, result.certificate.ok) == (what, what, what, True)
    assert result.message in [f"it failed, but {other} found it {what}" for other in ("highs", "clarabel")]


@pytest.mark.parametrize(("slug", "known", "other"), [("svm", "clarabel", ""), ("onsvm", "highs", "clarabel")])
def test_multipliers_that_prove_nothing_are_those_of_the_next_solver(slug: str, known: str, other: str) -> None:
    """But for a solver that is asked again at a finer tolerance."""
    model = fsopt.build(slug, blobs(12, 2))
    optimum, program = fsopt.solve(model).point, compile_model(model)
    said = Outcome(Status.OPTIMAL, "optimal", replace(optimum, y=-optimum.y), None, 0, 0.0, "")
    found = with_evidence(program, said, Settings.make(None), 20.0, known)
    assert found.evidence_source == other
    # A loop reads them from the point of the answer, where they prove as much as the evidence.
    for outcome in (found, replace(found, evidence=None, evidence_source="")):
        assert (certified_result(program, outcome, known).status == "optimal") == bool(other)


def test_infeasibility_of_integers_by_a_farkas_vector_of_the_relaxation() -> None:
    rows = (lambda x, y, z: x + y + z >= 2.5), (lambda x, y, z: x + y <= 1)
    program = compile_model(model_of(lambda x, y, z: x, *rows, bounds=[(0, 1)] * 3, whole=range(3)))
    said = Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, "infeasible")
    assert with_evidence(program, said, Settings.make(None), 20.0, "somebody").status == "infeasible"


@pytest.mark.parametrize(
    ("solver", "size"),
    sampled(zip(["highs", "clarabel", "scip", "ipopt"] * 3, np.repeat([1e-8, 1e8, 1.0], 4), strict=True), 6),
)
def test_a_gap_of_1e_7_is_infeasible(solver: str, size: float) -> None:
    rows = (lambda x, y: x + y >= size), (lambda x, y: x + y <= size * (1 - 1e-7))
    if solver == "clarabel":
        rows = (lambda x, y: x**2 + y**2 <= size**2), (lambda x, y: x >= size * (1 + 1e-7))
    assert fsopt.solve(model_of(lambda x, y: x, *rows, bounds=[FREE] * 2), solver).status_line == "infeasible"


TIGHT = [("clarabel", 4e-9), ("scs", 1e-9), ("scip", 1e-10), ("ipopt", 4e-9)]
TIGHT += [
    case for case in itertools.product(["clarabel", "scs", "scip", "ipopt"], [1e-10, 1e-9, 4e-9]) if case not in TIGHT
]


@pytest.mark.parametrize(("solver", "gap"), sampled(TIGHT, 4))
def test_tangents_that_meet_beside_a_cone_are_no_point_of_it(solver: str, gap: float) -> None:
    """The largest 3 x + 4 y in the disc of radius 5 is 25, the least x + y with [[x, 1], [1, y]] semidefinite is 2.

    The least a x + y / a with xy >= 1 is 2 as well, for each a.
    """
    curve = (lambda x, y: x * y >= 1), (lambda x, y: 2.0**15 * x + 2.0**-15 * y <= 2 - gap)
    disc = (lambda x, y: x**2 + y**2 <= 25), (lambda x, y: 3 * x + 4 * y >= 25 + gap)
    matrix = model_of(lambda x, y: x + y, lambda x, y: x + y <= 2 - gap, bounds=[FREE, FREE])
    matrix.lmi = lmi([[matrix.x[0], 1], [1, matrix.x[1]]])
    models = [model_of(lambda x, y: 3 * x + 4 * y, *disc, bounds=[FREE, FREE])]
    models.append(model_of(lambda x, y: x, *curve, bounds=[POSITIVE, POSITIVE]))
    for model in [*models, matrix] if solver in ("clarabel", "scs") else models:
        assert fsopt.solve(model, there(solver)).status != "optimal"


@pytest.mark.parametrize("reach", [1e2, 1e6, 1e10, 1e12])
@pytest.mark.parametrize("solver", ["highs", "scip", "gurobi", "xpress"])
def test_a_loose_bound_hides_nothing_that_an_integer_pays_for(solver: str, reach: float) -> None:
    rows = (lambda t, y: t <= 6 * y), (lambda t, y: t <= 7 - y)
    m = model_of(lambda t, y: t, *rows, bounds=[(-reach, reach), (0, 5)], whole=[1], sense=pyo.maximize)
    result = fsopt.solve(m, there(solver))
    assert (result.status, result.objective) == ("optimal", pytest.approx(6, rel=1e-6))


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


@pytest.mark.parametrize(
    ("slug", "solver", "unit"),
    sampled(
        itertools.product(["fsv-exact", "misclass-milp", "a big-M that fits the unit"], takers("MILP"), [1e-3, 1e6]),
        14,
        0,
    ),
)
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


def test_infeasible_and_unbounded_are_the_word_of_no_leaking_solver():
    program = compile_model(fsopt.build("fsv-exact", in_units(1.0)))
    for status in (Status.INFEASIBLE, Status.UNBOUNDED):
        word = Outcome(status, status.value, None, None, 0, 0.0, "said", integer_tolerance=1e-9)
        assert believed(program, word, "cbc")[0].status is status
        unsaid = Outcome(status, status.value, None, None, 0, 0.0, "said")
        assert unsaid.integer_tolerance == COARSE, "a new solver cannot forget the rule"
        found, reason = believed(program, unsaid, "cbc")
        assert (found.status, found.stop) == (Status.NONE, "numerical")
        assert "smaller big-M" in reason
    assert 1e-9 * big_m(program) < LEAK < COARSE * big_m(program)


@pytest.mark.parametrize("solver", sampled(takers("LP"), 6))
def test_what_rounding_leaves_of_a_zero_weight_does_not_break_its_bounds(solver):
    """Of w = 1e-17 between -v and v at v = 0, say: relative to the terms of the constraint it is all of them."""
    for slug, n, p, seed in (("fsv-step", 20, 8, 4), ("onsvm", 30, 20, 0)):
        assert fsopt.solve(fsopt.build(slug, blobs(n, p, seed=seed)), solver).status == "optimal", slug


def noise():
    """The right-hand side of c is rounding noise of 0: t = -3.25, a = 2.25, b = 1."""
    rows = (lambda t, a, b: a - b <= 1.25), (lambda t, a, b: -t - a - b <= -1e-16)
    return model_of(lambda t, a, b: t + 0.1 * b**2, *rows, bounds=[FREE, (0, 2.5), (0, 1)]), -3.25 - 0.25 + 0.25 + 0.1


def loose_rows():
    """The rows x <= 1e8 z are loose: z = (8000, 2000)."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var([1, 2], bounds=(0, None)), pyo.Var([1, 2], bounds=(0, None))
    m.q = pyo.Var(bounds=(0, None))
    m.b = pyo.Constraint(expr=m.x[1] + m.x[2] - m.q == 0)
    m.g = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - m.z[i] == 0)
    m.u = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - 1e8 * m.z[i] <= 0)
    m.d = pyo.Constraint([1, 2], rule=lambda m, i: m.z[i] + 0 * m.q >= 1000 * i)
    m.k = pyo.Constraint(expr=m.q + 0 * m.x[1] <= 10000)
    m.o = pyo.Objective(expr=3 * m.z[1] + 2 * m.z[2] - m.q, sense=pyo.maximize)
    return m, 18000.0


def tiny_row():
    """The coefficient 1e-9 is one that HiGHS leaves out of a row: y >= x / 1000 >= 1 / 2."""
    return model_of(lambda x, y: x + 200 * y, lambda x, y: 1e-9 * x <= 1e-6 * y, bounds=[(500, 1e10), (0, 1)]), 600.0


def tiny_whole_row():
    """Integers, which keep their unit: 1e-10 z <= 2.5e-10 holds for z <= 2."""
    row = lambda z, y: 1e-10 * z + 1e-10 * y <= 2.5e-10  # noqa: E731
    return model_of(lambda z, y: z + y, row, bounds=[(0, 100), (0, 1)], whole=[0], sense=pyo.maximize), 2.5


PROGRAMS = (noise, loose_rows, tiny_row, tiny_whole_row)
CASES = [
    (make, spec.name)
    for make in PROGRAMS
    for spec in preference(program_class(compile_model(make()[0])))
    if spec.available
]


@pytest.mark.parametrize(("make", "solver"), sampled(CASES, 22, 0))
def test_every_solver_finds_the_optimum(make, solver):
    model, optimum = make()
    session = Session(model, solver)
    try:
        outcome = session.connection.solve(20.0)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return
    assert outcome.point is not None, outcome
    assert session.program.objective_at(outcome.point.x) == pytest.approx(optimum, rel=1e-4)


UNITS = [2.0**k for k in (-26, -20, 20)]
GLOBAL = [("gurobi", ()), ("gurobi", (1,)), ("scip", ()), ("scip", (1,)), ("xpress", (1,))]


def crossing(row=1.0, goal=1.0, whole=()):
    """Return a program with the optimum -7 at (3/2, 1), where the rows cross with the multipliers 13/5 and 7/20.

    With y whole, y = 0 and y = 2 leave -3.2 and -5.75 at best.
    """
    m = model_of(
        lambda x, y: goal * (-x * y - 3 * x - y),
        lambda x, y: row * (x * y) <= row * 1.5,
        lambda x, y: row * (x**2 - 2 * y**2 + x) <= row * 1.75,
        bounds=[(-1, 4), (0, 2)],
        whole=whole,
    )
    m.unit = pyo.Suffix()
    m.unit[m.o] = goal
    return m


@pytest.mark.parametrize(("solver", "whole", "row"), sampled([(*g, u) for g in GLOBAL for u in (1.0, *UNITS)], 10, 0))
def test_small_rows_are_met_as_closely_as_others(solver, whole, row):
    result = fsopt.solve(crossing(row, whole=whole), there(solver))
    assert (result.status, result.objective) == ("optimal", pytest.approx(-7.0, abs=1e-6))


@pytest.mark.parametrize(("solver", "whole", "goal"), sampled([(*g, u) for g in GLOBAL for u in UNITS], 8, 0))
def test_a_small_objective_is_searched_as_closely_as_another(solver, whole, goal):
    result = fsopt.solve(crossing(goal=goal, whole=whole), there(solver))
    assert result.objective / goal == pytest.approx(-7.0, abs=1e-6)
    assert result.status == "optimal" or whole  # the proof may be left out: the unit of x follows its cost alone


@pytest.mark.parametrize("goal", [1.0, *UNITS])
@pytest.mark.parametrize("row", [1.0, *UNITS])
def test_multipliers_are_in_the_units_of_the_model(row, goal):
    m = crossing(row, goal)
    result = fsopt.solve(m, there("ipopt"))
    found = [m.dual[m.row[i]] * row / goal for i in range(2)]
    assert (result.status, found) == ("stationary", pytest.approx([-2.6, -0.35], abs=1e-5))
