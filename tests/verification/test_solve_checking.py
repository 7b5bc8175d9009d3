"""Saved solves: claims without a point, bounds by a solver's word or by cuts, constraints beside the arrays."""

import copy

import numpy as np
import pyomo.environ as pyo
from support import blobs

import fsopt
from fsopt.answers.records import plain
from fsopt.answers.results import Point
from fsopt.answers.saved import numbers, solve_record
from fsopt.certificates.model import certify_unbounded
from fsopt.compiler import compile_model
from fsopt.verification import solve_checking
from fsopt.verification.checking import check_record

DATA = blobs(14, 2)


def saved(slug, data=DATA, solver=None, **params):
    model = fsopt.build(slug, data, **params)
    result = fsopt.solve(model, solver, time_limit=60)
    return solve_record(model, result, slug=slug, data=data, source="blobs", params=params)


def check(record, **part):
    return check_record(numbers(plain({**copy.deepcopy(record), **part})), DATA, "file")


def test_infeasibility_is_verified_by_its_vector_and_no_other():
    record = saved("l1-mpm", delta=0.999)
    assert (record["status"], record["point"]) == ("infeasible", None)
    found = check(record)
    assert (found.verified, found.recomputed, found.certificate.kind) == (True, "infeasible", "infeasible")
    ray = record["ray"]
    assert not check(record, ray=None).verified
    assert not check(record, ray={**ray, "y": [0.0] * len(ray["y"]), "z": [0.0] * len(ray["z"])}).verified
    assert not check(record, ray={**ray, "y": [v + 1.0 for v in ray["y"]]}).verified
    for false in ({"objective": 1.0}, {"bound": 1.0}, {"status": "unbounded"}, {"params": {"delta": 0.1}}):
        assert not check(record, **false).verified, false


def unbounded(integers=False):
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, None), within=pyo.Integers if integers else pyo.Reals)
    model.y = pyo.Var(bounds=(0, 1))
    model.c = pyo.Constraint(expr=model.x - model.y >= 0)
    model.objective = pyo.Objective(expr=-model.x + model.y)
    return model


def test_unboundedness_is_verified_by_its_ray_and_no_other(monkeypatch):
    monkeypatch.setattr(solve_checking, "build", lambda slug, data, **params: unbounded())
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


def test_a_feasible_point_has_integers():
    """The relaxation of fsv-exact at its own optimum has fractions: they are no answer, whatever the status."""
    model = fsopt.build("fsv-exact", DATA, lam=0.2)
    program = compile_model(model)
    relaxed = fsopt.build("fsv-exact", DATA, lam=0.2)
    for variable in relaxed.component_data_objects(pyo.Var):
        if not variable.is_continuous():
            variable.domain = pyo.Reals
    result = fsopt.solve(relaxed)
    x = result.point.x
    assert np.abs(x - np.round(x))[program.integer].max() > 1e-4
    record = solve_record(relaxed, result, slug="fsv-exact", data=DATA, source="blobs", params={"lam": 0.2})
    assert not check(record, status="feasible", bound=None, evidence=None).verified


def test_a_bound_is_that_of_an_optimum_and_a_local_solver_has_none():
    record = saved("svm")
    for bound in (record["bound"] / 2, record["bound"] + 1e-3, None, float("inf")):
        assert not check(record, bound=bound).verified, bound
    assert check(record, status="feasible", bound=record["bound"] / 2).verified
    local = saved("gmeb-nonconvex", solver="ipopt")
    assert (local["status"], local["bound"]) == ("stationary", None)
    assert check(local).verified
    assert not check(local, bound=local["objective"]).verified


def test_multipliers_count_where_a_bound_is_stated():
    """A feasible point has its value with any multipliers; a bound holds with feasible ones alone."""
    record = saved("svm")
    wrong = {**record["point"], "y": [-1.0 - v for v in record["point"]["y"]]}
    feasible = {"status": "feasible", "point": wrong, "evidence": None}
    assert check(record, **feasible, bound=None).verified
    found = check(record, **feasible, bound=record["bound"] / 2)
    assert not found.verified
    assert found.certificate.residuals["stated bound"] > 1e-3


def test_a_changed_point_or_multiplier_of_a_cone_program_is_refused():
    record = saved("rsvm")
    assert check(record).verified
    for part in ("x", "y", "z"):
        values = list(record["point"][part])
        values[int(np.argmax(np.abs(values)))] *= 1.01
        assert not check(record, point={**record["point"], part: values}).verified, part


def test_constraints_beside_the_arrays_are_never_verified():
    model = fsopt.build("misclass-lpec", DATA)
    program = compile_model(model)
    assert program.unsupported
    record = {
        "model": "misclass-lpec",
        "params": {},
        "status": "feasible",
        "objective": 0.0,
        "point": {"x": [0.0] * program.n, "y": None, "z": None},
        "data_sha256": saved("rlp")["data_sha256"],
        "labels": saved("rlp")["labels"],
    }
    found = check(record)
    assert not found.certificate.ok
    assert any("not checked" in note for note in found.notes)
