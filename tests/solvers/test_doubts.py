"""Claims of solvers that own evidence contradicts: bounds beyond a value, false infeasibility, cancellation."""

import time
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from solver_cases import failing
from support import blobs, there

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.certificates.near import moved
from fsopt.certificates.points import minimised
from fsopt.compiler import compile_model, lmi
from fsopt.solvers.auxiliary import with_evidence
from fsopt.solvers.mending import mended_ray
from fsopt.solvers.outcome import certified_result
from fsopt.solvers.shared import elastic_program, recession_program
from fsopt.solvers.spec import Outcome, Settings


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


def test_a_violation_where_the_gradient_vanishes_costs() -> None:
    """R = W = 0 in min RW: both violations are small in the units of R and W, and all of the constraints."""
    program = compile_model(fsopt.build("kernel-scaling", blobs(20, 3), c=0.0))
    model = program.model
    truth = fsopt.solve(model)
    assert truth.status == "optimal"
    x = truth.point.x.copy()
    assert minimised(program, moved(program, x, time.perf_counter() + 10.0)) == pytest.approx(truth.objective, rel=1e-9)
    x[[program.column[id(model.R)], program.column[id(model.W)]]] = 0.0
    assert minimised(program, x) == pytest.approx(0.0, abs=1e-12)
    assert minimised(program, moved(program, x, time.perf_counter() + 10.0)) >= truth.objective * (1 - 1e-6)


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


@pytest.mark.parametrize("solver", ["highs", "clarabel", "scs", "scip", "gurobi", "xpress"])
def test_a_ray_that_leaves_from_no_point_is_none(solver: str) -> None:
    """x + z >= 1 and x + z <= 1 - 1e-10 exclude one another, by less than the feasibility tolerance."""
    rows = (lambda x, y, z: x + z >= 1), (lambda x, y, z: x + z <= 1 - 1e-10)
    m = model_of(lambda x, y, z: -y, *rows, bounds=[FREE, POSITIVE, FREE])
    assert fsopt.solve(m, there(solver)).status in ("none", "feasible", "infeasible")


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


def test_an_integer_has_whole_bounds() -> None:
    result = fsopt.solve(model_of(lambda x: x, bounds=[(1 + 1e-9, 10)], whole=[0]))
    assert (result.status, result.objective) != ("optimal", pytest.approx(1))


@pytest.mark.parametrize(("reach", "words"), [(1.0, "optimal"), (2.0**30, "optimal (numerically)")])
def test_an_eigenvalue_below_0_by_rounding_is_paid_for_in_a_box(reach: float, words: str) -> None:
    """(x + y)^2 + 2^-51 x y has the value -2^-51 in the unit box, and -512 in the larger one."""
    m = model_of(lambda x, y: x**2 + 2 * (1 + 2.0**-52) * x * y + y**2, bounds=[(-reach, reach)] * 2)
    assert fsopt.solve(m, "clarabel").status_line == words
