"""Claims of solvers that own evidence contradicts, and bounds that leak through a big-M: no word counts alone."""

import dataclasses
import functools
import itertools
import time
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from scipy.optimize import linprog
from solver_cases import failing, takers
from support import blobs, least_errors, there

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.compiler import compile_model, lmi
from fsopt.solvers.auxiliary import with_evidence
from fsopt.solvers.mending import mended_ray
from fsopt.solvers.outcome import LEAK, believed, big_m, certified_result
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.shared import elastic_program, recession_program
from fsopt.solvers.spec import COARSE, Outcome, Settings, SolverSpec


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
def test_infeasibility_is_not_believed_where_another_solver_finds_a_point(slug: str) -> None:
    params = {"m": 1} if slug == "fsp-m-bigm" else {}
    program = compile_model(fsopt.build(slug, blobs(12, 2), **params))
    said = Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, "infeasible")
    found = with_evidence(program, said, Settings.make(None), 20.0, "somebody")
    assert (found.status, found.ray) == ("none", None)
    assert "found a feasible point" in found.message


@pytest.mark.parametrize("kind", ["LP", "QP", "SOCP"])
@pytest.mark.parametrize("what", ["infeasible", "unbounded"])
@pytest.mark.parametrize("ended", ["without a point", "at a point"])
def test_another_solver_decides_where_one_ends_without_a_word(kind: str, what: str, ended: str) -> None:
    program = compile_model(failing(kind, what))
    n, m, k = program.n, *program.A.shape[:1], program.cones.G.shape[0]
    point = Point(np.ones(n), np.zeros(m), np.zeros(k)) if ended == "at a point" else None
    said = Outcome(Status.FEASIBLE, "numerical", point, None, 0, 0.0, "it failed")
    found = with_evidence(program, said, Settings.make(None), 20.0, "somebody")
    result = certified_result(program, found, "somebody")
    assert (found.status, found.stop, result.status, result.certificate.ok) == (what, what, what, True)
    assert result.message in [f"it failed, but {other} found it {what}" for other in ("highs", "clarabel")]


@pytest.mark.parametrize(("slug", "known", "other"), [("svm", "clarabel", None), ("onsvm", "highs", "clarabel")])
def test_multipliers_that_prove_nothing_are_those_of_the_next_solver(slug: str, known: str, other: str | None) -> None:
    """But for a solver that is asked again at a finer tolerance."""
    model = fsopt.build(slug, blobs(12, 2))
    optimum, program = fsopt.solve(model).point, compile_model(model)
    said = Outcome(Status.OPTIMAL, "optimal", replace(optimum, y=-optimum.y), None, 0, 0.0, "")
    found = with_evidence(program, said, Settings.make(None), 20.0, known)
    assert (found.evidence_source or None, certified_result(program, found, known).status == "optimal") == (
        other,
        other is not None,
    )
    # A loop reads them from the point of the answer, where they prove as much as the evidence.
    alone = certified_result(program, replace(found, evidence=None, evidence_source=""), known)
    assert (alone.status == "optimal") == (other is not None)


def test_infeasibility_of_integers_by_a_farkas_vector_of_the_relaxation() -> None:
    rows = (lambda x, y, z: x + y + z >= 2.5), (lambda x, y, z: x + y <= 1)
    program = compile_model(model_of(lambda x, y, z: x, *rows, bounds=[(0, 1)] * 3, whole=range(3)))
    said = Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, "infeasible")
    assert with_evidence(program, said, Settings.make(None), 20.0, "somebody").status == "infeasible"


@pytest.mark.parametrize("solver", ["highs", "clarabel", "scip", "ipopt"])
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_a_gap_of_1e_7_is_infeasible(solver: str, size: float) -> None:
    rows = (lambda x, y: x + y >= size), (lambda x, y: x + y <= size * (1 - 1e-7))
    if solver == "clarabel":
        rows = (lambda x, y: x**2 + y**2 <= size**2), (lambda x, y: x >= size * (1 + 1e-7))
    assert fsopt.solve(model_of(lambda x, y: x, *rows, bounds=[FREE] * 2), solver).status_line == "infeasible"


def soon():
    return time.perf_counter() + 10


def solved(program):
    return fsopt.SOLVERS["clarabel"].connect(program, Settings()).solve(None)


def disc(level):
    """Minimise x + y over the unit disc where x + y >= level: infeasible above sqrt(2)."""
    rows = (lambda x, y: x**2 + y**2 <= 1), (lambda x, y: (level, x + y, 9))
    return compile_model(model_of(lambda x, y: x + y, *rows, bounds=[FREE, (-5, None)]))


@pytest.mark.parametrize(("level", "feasible"), [(1.0, True), (2.0, False)])
def test_the_elastic_optimum_is_positive_with_a_farkas_vector_where_there_is_no_point(level, feasible):
    program = disc(level)
    outcome = solved(elastic_program(program))
    assert outcome.status == "optimal"
    point = outcome.point
    violation = float(elastic_program(program).c @ point.x)
    assert violation == pytest.approx(0.0, abs=1e-6) if feasible else violation > 1e-2
    ray = mended_ray(program, Point(point.x[: program.n], point.y, point.z), soon())
    assert (ray is None) is feasible


@pytest.mark.parametrize(("slope", "falls"), [(3.0, True), (-1.0, False)])
def test_the_recession_program_finds_a_direction_where_the_objective_falls_for_ever(slope, falls):
    rows = (lambda x, y, z: x + z >= -4), (lambda x, y, z: y**2 <= z)
    m = model_of(lambda x, y, z: slope * x + (y - 2) ** 2, *rows, bounds=[(None, 3), (0, 7), POSITIVE])
    falling = recession_program(compile_model(m))
    outcome = solved(falling)
    assert outcome.status == "optimal"
    assert (falling.c @ outcome.point.x < -1e-3) is np.bool_(falls)


@pytest.mark.parametrize("gap", [1e-10, 1e-9, 4e-9])
@pytest.mark.parametrize("solver", ["clarabel", "scs", "scip", "ipopt"])
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
