"""Programs that prove: Farkas vectors, directions of recession."""

import time

import numpy as np
import pytest
from pyomo_models import FREE, POSITIVE, model_of

import fsopt
from fsopt.answers.results import Point
from fsopt.compiler import compile_model
from fsopt.solvers.interface import Settings
from fsopt.solvers.mending import mended_ray
from fsopt.solvers.shared import elastic_program, recession_program


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
