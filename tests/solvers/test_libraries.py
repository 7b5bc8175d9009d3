"""HiGHS, SCIP and MOSEK: what each of them does that no other does; MOSEK up to the licence call."""

from pathlib import Path

import conic_files
import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf
from pyomo_models import POSITIVE, model_of
from support import blobs, sampled, there

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import SolverError
from fsopt.solvers import highs
from fsopt.solvers.base import Session
from fsopt.solvers.spec import EITHER, Connection, Settings

BODIES = {
    "ring": lambda x, y: x**2 + y**2,
    "product": lambda x, y: x * y,
    "exp": lambda x, y: pyo.exp(x) - y,
    "log": lambda x, y: pyo.log(x) + y,
    "root": lambda x, y: pyo.sqrt(x * y),
    "power": lambda x, y: x**1.7 + y,
    "base": lambda x, y: 2**x - y,
    "ratio": lambda x, y: x / y,
    "abs": lambda x, y: abs(x - y),
    "sin": lambda x, y: pyo.sin(3 * x) + pyo.cos(y),
}


@pytest.mark.parametrize("body", BODIES)
def test_a_function_in_scip_is_that_of_pyomo(body):
    m = model_of(lambda x, y, t: t, lambda x, y, t: BODIES[body](x, y) <= t, bounds=[(1.3, 1.3), (0.7, 0.7), (-9, 9)])
    result = fsopt.solve(m, there("scip"))
    assert (result.status, result.objective) == ("optimal", pytest.approx(pyo.value(BODIES[body](1.3, 0.7)), rel=1e-6))


def test_an_unknown_function_is_refused_by_name_before_the_call(monkeypatch):
    m = model_of(pyo.tanh, bounds=[(0.2, 3)])
    there("scip")
    monkeypatch.setattr("fsopt.solvers.scip.Scip.solve", lambda *_: pytest.fail("SCIP was called"))
    with pytest.raises(SolverError, match=r"tanh.*'o'"):
        fsopt.solve(m, "scip")


def test_a_failing_linear_program_is_no_answer_and_no_traceback(monkeypatch):
    session = Session(fsopt.build("rlp", blobs()), there("scip"))

    class Broken:
        def __getattr__(self, name):
            if name == "optimize":
                raise RuntimeError("SCIP: error in LP solver!")
            return lambda *_: 1e20

    session.connection.interface.m = Broken()
    result = session.solve()
    assert (result.status, result.stop) == ("none", "numerical")
    assert session.solve().status == "optimal", "the model was not loaded anew"


def test_interior_point_with_crossover_ends_at_a_vertex_proves_infeasibility_and_warm_solves_follow(monkeypatch):
    model = fsopt.build("onsvm", blobs(40, 12, seed=2), c=0.5)
    simplex = fsopt.solve(model, "highs")
    monkeypatch.setattr(highs, "INTERIOR", 0)
    session = Session(model, "highs")
    crossed, again = session.solve(), session.solve()
    assert (crossed.status, crossed.objective) == ("optimal", pytest.approx(simplex.objective, rel=1e-9))
    inside = (crossed.point.x > session.program.lb) & (crossed.point.x < session.program.ub)
    assert np.sum(inside) <= len(crossed.point.y)
    assert again.iterations < crossed.iterations
    assert again.objective == pytest.approx(simplex.objective, rel=1e-9)
    result = fsopt.solve(fsopt.build("gmeb-cuts", blobs(30, 3, gap=0.1), hard=True), "highs")
    assert (result.status, result.certificate.ok) == ("infeasible", True)


def test_the_number_of_threads_may_change_from_run_to_run_and_after_one_of_the_users_own():
    """HiGHS keeps the threads of its first run and calls a run with another number of them an error."""
    model = fsopt.build("onsvm", blobs(20, 3))
    own = highspy.Highs()
    own.setOptionValue("output_flag", False)
    own.setOptionValue("threads", 2)
    own.addVar(0, 1)
    own.addRow(0.5, 9, 1, [0], [1.0])
    own.run()
    values = [fsopt.solve(model, "highs", options={"threads": n}).objective for n in (2, 1, 0, 1, 2, 1)]
    own.changeColCost(0, 1.0)
    values.append(fsopt.solve(model, "highs").objective)
    assert len({round(value, 9) for value in values}) == 1


def test_a_program_that_is_infeasible_or_unbounded_is_told_apart_without_its_objective():
    bounds = {"bounds": [POSITIVE, (0, 1)], "whole": [0]}
    rising = model_of(lambda x, y: x + y, lambda x, y: x - y >= 0, **bounds, sense=pyo.maximize)
    program = compile_model(rising)
    found = highs.Highs(program, Settings()).solve(None)
    assert (found.status, found.stop) == EITHER
    outcome = Connection(fsopt.SOLVERS["highs"], program, Settings()).solve(None)
    assert (outcome.status, outcome.stop) == ("unbounded", "unbounded")


TASKS = [slug for slug, spec in fsopt.MODELS.items() if spec.problem_class in ("LP", "QP", "SOCP", "SDP")]


def mixed():
    """Return cones, an integer, a range, an equation and a fixed variable."""
    rows = (lambda x, y, t, k: x**2 + 4 * y**2 <= t**2), (lambda x, y, t, k: y**2 <= k * t)
    rows += (lambda x, y, t, k: x + y + k == 2.5), (lambda x, y, t, k: (-2, x - 2.5 * y, 11))
    bounds = [(-4, 9), (-3, 8), (0, 20), (0, 9)]
    m = model_of(lambda x, y, t, k: 2 - x + 3 * t - k, *rows, bounds=bounds, whole=[3])
    m.x[1].fix(0.75)
    return m


@pytest.mark.parametrize("slug", sampled(["mixed", *TASKS[::2], *TASKS[1::2]], 13))
def test_the_task_of_a_model_has_its_optimum_in_another_reader(slug, tmp_path: Path):
    mosek = pytest.importorskip("fsopt.solvers.mosek", exc_type=ImportError)
    data = blobs(12, 3, seed=1, gap=8.0 if "hard" in slug else 0.6)
    model = mixed() if slug == "mixed" else fsopt.build(slug, data)
    program = compile_model(model)
    optimum = program.sign * fsopt.solve(model).objective
    path = tmp_path / ("m.cbf" if len(program.cones) else "m.mps")
    interface = mosek.Mosek(program, Settings.make({}))
    interface.task.writedata(str(path))
    if len(program.cones):
        whole = {j: float(round(program.variables[j].value)) for j in np.flatnonzero(program.integer)}
        assert parse_cbf(path).integer == list(whole)
        found = solve_cbf(parse_cbf(path), whole)
    else:
        found = conic_files.highs(path)
    assert found == pytest.approx(optimum, rel=1e-6, abs=1e-6)


def answered(monkeypatch, model, status, point, ended="ok"):
    """Solve a model while MOSEK's optimize, which needs a licence, puts this point of the program instead."""
    import mosek

    def optimize(t):
        program, form = compile_model(model), session.connection.interface.form
        which = session.connection.interface._solution()
        t.putxx(which, point.x / form.scale)
        linear, at = form.equalities + form.inequalities, form.blocks
        parts = [-point.y[at.equal], 0 * at.fixed, -np.minimum(point.y[at.upper], 0), 0 * at.above]
        z = np.concatenate([*parts, np.maximum(point.y[at.lower], 0), 0 * at.below]) / form.factors[:linear]
        t.puty(which, -z)
        multipliers = program.scaling.uncone.T @ point.z if len(program.cones) else point.z
        for k in range(len(program.cones)):
            part = slice(program.cones.starts[k], program.cones.starts[k + 1])
            t.putaccdoty(which, k, multipliers[program.cones.by_lower_triangles()][part])
        return getattr(mosek.rescode, ended)

    session = Session(model, "mosek")
    monkeypatch.setattr(mosek.Task, "optimize", optimize)
    monkeypatch.setattr(mosek.Task, "solutiondef", lambda t, which: which == mosek.soltype.itr)
    monkeypatch.setattr(mosek.Task, "getsolsta", lambda t, which: getattr(mosek.solsta, status))
    return session.solve()


@pytest.mark.parametrize("slug", ["rlp", "svm", "mpm", "gmeb-primal", "gmeb-sdp"])
def test_a_point_in_mosek_s_signs_is_certified(monkeypatch, slug):
    model = fsopt.build(slug, blobs(30, 4, seed=1))
    reference = fsopt.solve(model, "clarabel")
    result = answered(monkeypatch, model, "optimal", reference.point)
    assert (result.status, result.stop, result.certificate.ok) == ("optimal", "optimal", True)
    assert result.objective == pytest.approx(reference.objective, rel=1e-9)
    assert result.certificate.bound == pytest.approx(reference.objective, rel=1e-6)


def test_without_a_licence_the_error_says_in_one_line_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("MOSEKLM_LICENSE_FILE", str(tmp_path / "none.lic"))
    for slug in ("rlp", "svm", "gmeb-primal"):
        with pytest.raises(SolverError, match=r"licence.*mosek\.com.*mosek\.lic.*MOSEKLM_LICENSE_FILE") as caught:
            fsopt.solve(fsopt.build(slug, blobs(12, 2, seed=1)), "mosek")
        assert "\n" not in str(caught.value)
