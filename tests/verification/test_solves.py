"""Solves: verify says what their certificates say; claims without a point, bounds by a solver's word, forgeries."""

import copy
import itertools
import json

import numpy as np
import pyomo.environ as pyo
import pytest
from solver_cases import failing
from support import blobs, sampled

import fsopt
from fsopt.answers.records import plain, sealed
from fsopt.answers.results import Point, Status
from fsopt.answers.saved import numbers, solve_record
from fsopt.certificates.model import certify_unbounded
from fsopt.compiler import compile_model
from fsopt.errors import FileError
from fsopt.formats.solution import read_solution, solution_record
from fsopt.models.draws import build_trial, trial_data
from fsopt.solvers.outcome import certified_result
from fsopt.solvers.spec import Outcome
from fsopt.verification import verify as verifying
from fsopt.verification.verify import verify_record

DATA = blobs(14, 2)


def saved(slug, data=DATA, solver=None, **params):
    model = fsopt.build(slug, data, **params)
    result = fsopt.solve(model, solver, time_limit=60)
    return solve_record(model, result, slug=slug, data=data, source="blobs", params=params)


def check(record, **part):
    return verify_record(numbers(plain({**copy.deepcopy(record), **part})), DATA, "file")


LOOSE = ("clarabel", {"max_iter": 4}), ("scs", {"max_iters": 20}), ("ipopt", {"max_iter": 4})
"""Solvers that stop at a feasible point, or at none."""
CONTINUOUS = ("LP", "QP", "SOCP")
WHATS = ("optimal", "infeasible", "unbounded", "crossed", "crossed row", "no whole number")


def stated(kind, what, sense):
    """Return a program of a class: bounded, without a point, without an optimum, or with bounds that exclude others."""
    m = failing(kind, what if what == "infeasible" else "unbounded")
    m.o.set_value(m.o.expr if sense == pyo.minimize else -m.o.expr)
    m.o.sense = sense
    m.x[3].setub(None if what == "unbounded" else 4)
    m.end = pyo.Param(initialize=9.5, mutable=True)
    m.range = pyo.Constraint(expr=(m.end, m.x[0] + m.x[1], 9)) if what == "crossed row" else pyo.Constraint()
    if what in ("crossed", "no whole number"):
        m.x[2].setlb(8.75 if what == "no whole number" else 11)
        m.x[2].setub(8.9 if what == "no whole number" else 10)
    return m


def agreed(model, result):
    """Return the status of a result, of which verify says what its certificate says."""
    assert fsopt.verify(result, model).verified == result.certificate.ok, result
    assert result.certificate.ok == (result.status != "none"), result
    return str(result.status)


@pytest.mark.parametrize(
    ("kind", "sense"),
    sampled(zip(["LP", "QP", "SOCP", "MILP", "MIQP"] * 2, [1, -1, -1, 1, -1, -1, 1, 1, -1, 1], strict=True), 5),
)
def test_verify_says_of_every_solve_what_its_certificate_says(kind, sense, tmp_path):
    for what in WHATS:
        model = stated(kind, what, sense)
        expected = "optimal" if (what, "MI" in kind) == (WHATS[-1], False) else what
        plain = fsopt.solve(model)
        assert agreed(model, plain) == (expected if expected in WHATS[:3] else "infeasible")
        if kind in CONTINUOUS and what in WHATS[:3]:
            solver, options = LOOSE[WHATS.index(what) - (sense < 0)]
            agreed(model, fsopt.solve(model, solver, options=options))
        for suffix in (".lp" if sense < 0 else ".mps",) if kind != "SOCP" and what in WHATS[:3] else ():
            fsopt.export(model, path := tmp_path / f"m{suffix}")
            read = fsopt.read_model(path)
            result = fsopt.solve(read)
            agreed(read, result)
            assert result.status == plain.status
            assert (result.objective or 0.0) == pytest.approx(plain.objective or 0.0, rel=1e-6)
            record = sealed(solution_record(read, result, str(path)))
            (tmp_path / "answer.json").write_text(json.dumps(record))
            assert fsopt.verify(read_solution(tmp_path / "answer.json", read), read).verified == result.certificate.ok
            (tmp_path / "answer.json").write_text(json.dumps({**record, "bound": 7.0}))
            with pytest.raises(FileError, match="changed after it was saved"):
                read_solution(tmp_path / "answer.json", read)
    model = stated(kind, "optimal", sense)
    program, x = compile_model(model), np.array([0.0, 2.0, 0.0, 0.0])
    x = x[[program.column[id(v)] for v in model.x.values()]]
    for bound, ended in itertools.product((None, -100.0, -np.inf, 1e9), ("optimal", "time-limit")):
        outcome = Outcome(Status.FEASIBLE, ended, Point(x), bound, 1, 0.0, "")
        assert agreed(model, certified_result(program, outcome, "somebody")) == "feasible"


FIRST = {spec.problem_class: slug for slug, spec in fsopt.MODELS.items() if not slug.startswith("fsp-")}


@pytest.mark.parametrize(
    "slug", sampled(sorted(fsopt.MODELS, key=lambda slug: slug not in FIRST.values()), len(FIRST) + 4)
)
def test_verify_says_of_the_solve_of_every_model_what_its_certificate_says(slug):
    model, at = build_trial(slug), dict(fsopt.MODELS[slug].trial.params)
    if compile_model(model).unsupported:
        return  # no solver takes it
    result = fsopt.solve(model, time_limit=5)
    agreed(model, result)
    record = solve_record(model, result, slug=slug, data=trial_data(slug), source="drawn", params=at)
    found = verify_record(numbers(json.loads(json.dumps(record))), trial_data(slug), "file")
    assert found.verified == result.certificate.ok


def unbounded(integers=False):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, None), within=pyo.Integers if integers else pyo.Reals)
    model.y = pyo.Var(bounds=(0, 1))
    model.c = pyo.Constraint(expr=model.x - model.y >= 0)
    model.objective = pyo.Objective(expr=-model.x + model.y)
    return model


def test_unboundedness_is_verified_by_its_ray_and_no_other(monkeypatch):
    monkeypatch.setattr(verifying, "build", lambda slug, data, **params: unbounded())
    model = unbounded()
    result = fsopt.solve(model)
    assert (result.status, result.point) == ("unbounded", None)
    record = solve_record(model, result, slug="drawn", data=DATA, source="blobs", params={})
    assert check(record).verified
    columns = compile_model(model).column
    up = np.eye(2)[columns[id(model.y)]].tolist()
    for false in ({"direction": None}, {"evidence": None}, {"direction": {**record["direction"], "x": up}}):
        assert not check(record, **false).verified, false
    outside = {**record["evidence"], "x": up}  # y = 1 and x = 0, where x - y >= 0 asks for more
    assert not check(record, evidence=outside).verified


def test_a_ray_needs_a_point_with_whole_integers():
    ray, half = Point(np.array([1.0, 0.0])), Point(np.array([0.5, 0.5]))
    assert certify_unbounded(compile_model(unbounded()), ray, half).ok
    assert certify_unbounded(compile_model(unbounded(integers=True)), ray, ray).ok
    assert not certify_unbounded(compile_model(unbounded(integers=True)), ray, half).ok


def test_the_bound_of_a_search_is_the_word_of_its_solver():
    record = saved("fsp-m-bigm", m=1)
    found = check(record)
    assert (found.verified, found.claimed, found.recomputed) == (True, "optimal", "feasible")
    assert found.certificate.bound_source == f"the word of {record['solver']}"
    assert found.status_line == f"optimal (bound: {record['solver']})"
    # The point answers m = 2 as well, its bound does not. The multipliers at fixed integers show it; without them
    # nobody can tell without a search.
    for one in (record, saved("fsp-m", m=1)):
        assert not check(one, params={"m": 2}).verified
        assert check(one, params={"m": 2}, evidence=None).recomputed == "feasible"
    assert not check(record, bound=record["bound"] / 2).verified
    assert not check(record, status="feasible", bound=2 * record["objective"]).verified
    fraction = copy.deepcopy(record["point"])
    fraction["x"] = [0.5 * v for v in fraction["x"]]
    assert not check(record, status="feasible", point=fraction, solution=None).verified


def test_a_bound_is_that_of_an_optimum_and_a_local_solver_has_none():
    record = saved("svm")
    for bound in (record["bound"] / 2, record["bound"] + 1e-3, None, float("inf")):
        assert not check(record, bound=bound).verified, bound
    assert check(record, status="feasible", bound=record["bound"] / 2).verified
    local = saved("gmeb-nonconvex", solver="ipopt")
    assert (local["status"], local["bound"]) == ("stationary", None)
    assert check(local).verified
    assert not check(local, bound=local["objective"]).verified
