"""The search behind gmeb-penalised: its proof leaf by leaf, saved and corrupted, and what every driver owes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from gmeb_cases import mirrored, skewed, values
from support import blobs, sampled

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import SolveResult, Status
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.recorder import PHASES
from fsopt.drivers.run import Run
from fsopt.drivers.scale_search import Leaf, scale_search
from fsopt.errors import FileError, SolverError
from fsopt.methods import large_programs
from fsopt.models.gmeb.gmeb_weighted_l1 import build_gmeb_weighted_l1
from fsopt.models.gmeb.penalty import GmebPenalty
from fsopt.solvers.base import Session
from fsopt.verification.checking import check_fit, check_record

METHOD = "gmeb-penalised"


# ---------------------------------------------------------------- the proof


@pytest.mark.parametrize("kind", ["random", "cancelling", "noisy", "optimal"])
@pytest.mark.parametrize("seed", sampled(range(3), 1))
def test_whatever_a_leaf_holds_its_bound_is_one(kind, seed):
    rng = np.random.default_rng(seed)
    data = skewed(seed)[0]
    data = data.with_X(data.X - data.X.mean(axis=0))
    penalty = GmebPenalty.of(data, 0.2, 0.1)
    positive = 0
    for _ in range(8):
        left, right = np.sort(rng.uniform(0, 1, 2))
        at = rng.uniform(left, right) if rng.random() < 0.7 else rng.uniform(0, 1)
        model = build_gmeb_weighted_l1(data, c_plus=0.2, c_minus=0.1, share=at)
        session = Session(model)
        mu = np.tile(session.solve().point.y[session.rows(model.margin)], (2, 1))
        lam = {"random": rng.exponential(1.0, 2), "cancelling": np.array([left - at, at - right])}.get(
            kind, np.zeros(2)
        )
        if kind == "noisy":
            mu += rng.standard_normal(mu.shape) / data.n
        bound = Leaf(left, right, at, lam, mu).bound(data, penalty)
        inside = np.linspace(max(left, 1e-3), min(right, 1 - 1e-3), 4)
        assert bound <= values(data, 0.2, 0.1, inside).min() + 1e-9
        positive += bound > 0
    assert positive >= 3


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_multipliers_outside_their_bounds_prove_no_more_than_those_inside(size):
    data = skewed(1)[0]
    few = np.minimum((data.y > 0).mean(), (data.y < 0).mean())
    leaf = Leaf(0.0, 1.0, 0.5, np.zeros(2), np.full((2, data.n), size / data.n))
    assert leaf.bound(data, GmebPenalty.of(data, 500.0, 500.0)) == pytest.approx(2 * few, rel=1e-12)


def saved(data, **params):
    """Return the JSON object of a fit, read back."""
    fit = fsopt.fit(METHOD, data, **params)
    return json.loads(json.dumps(fit_record(fit, data=data, source="test")))


@cache
def proved():
    """Return the saved text of a fit to the mirrored data."""
    return json.dumps(saved(mirrored(), c_plus=0.1, c_minus=0.1))


def test_a_saved_proof_is_verified_without_a_solver(monkeypatch):
    data = mirrored()
    record = json.loads(proved())
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    found = check_record(record, data, "fit.json")
    assert found.claimed == "optimal"
    assert found.verified
    assert found.certificate.residuals["bound"] == 0.0
    for changed in (record | {"bound": record["bound"] + 3e-6}, record | {"objective": record["objective"] - 3e-6}):
        assert not check_record(changed, data, "fit.json").verified


def halve(leaves, k):
    leaves[k]["mu"][0] = [0.5 * m for m in leaves[k]["mu"][0]]


CHANGES = {
    "mu": halve,
    "signs": lambda leaves, k: leaves[k]["mu"][1].reverse(),
    "missing": lambda leaves, k: leaves.pop(k),
    "shifted": lambda leaves, k: leaves[k].update(left=leaves[k]["left"] + 1e-9),
    "wider": lambda leaves, k: leaves[k].update(right=1.0),
    "share": lambda leaves, k: leaves[k].update(share=0.05),
    "outside": lambda leaves, k: leaves[k].update(share=0.0),
    "last": lambda leaves, k: leaves.remove(max(leaves, key=lambda leaf: leaf["right"])),
    "none": lambda leaves, k: leaves.clear(),
}
"""Name -> change of the leaves of a proof, of which the k-th is an inner one."""


def test_a_corrupted_proof_is_refused():
    data = mirrored()
    for name, change in CHANGES.items():
        record = json.loads(proved())
        leaves = record["details"]["leaves"]
        change(leaves, next(k for k, leaf in enumerate(leaves) if leaf["left"] > 0.1 and leaf["right"] < 0.9))
        assert not check_record(record, data, "fit.json").verified, name
    record = json.loads(proved())
    record["details"]["sigma"][0] *= 1.001
    assert not check_record(record, data, "fit.json").verified
    record = json.loads(proved())
    record["params"]["c_plus"] *= 0.99
    assert not check_record(record, data, "fit.json").verified


def test_a_proof_that_cannot_be_read_is_a_clear_error():
    for change in ("lam", "mu", "length", "text", "nan", "bound", "gone"):
        record = json.loads(proved())
        leaf = record["details"]["leaves"][0]
        if change == "length":
            leaf["mu"][0].pop()
        elif change == "text":
            leaf["left"] = "here"
        elif change == "nan":
            leaf["mu"][1][0] = float("nan")
        elif change == "bound":
            record["bound"] = None
        elif change == "gone":
            del record["details"]["leaves"]
        else:
            del leaf[change]
        with pytest.raises(FileError):
            check_record(record, mirrored(), "fit.json")


# ---------------------------------------------------------------- the driver


def search(data=None, **options):
    data = data or mirrored()
    return scale_search(
        data, build_gmeb_weighted_l1(data, c_plus=0.1, c_minus=0.1), GmebPenalty.of(data, 0.1, 0.1), **options
    )


@cache
def undisturbed():
    return search()


@pytest.mark.parametrize(("seed", "unit"), sampled([(0, 1e-3), (1, 1e4), (2, 1.0)], 2))
def test_column_generation_ends_at_the_optimum_of_the_models(seed, unit):
    data, c_plus, c_minus = skewed(seed)
    data = data.with_X(unit * (data.X - data.X.mean(axis=0)))
    penalty = GmebPenalty.of(data, c_plus, c_minus)
    generated = scale_search(data, None, penalty)
    assert generated.status is Status.OPTIMAL
    grid = values(data, c_plus, c_minus)
    assert generated.objective <= grid.min() + 1e-9
    assert generated.bound <= grid.min() + 1e-9
    whole = scale_search(data, build_gmeb_weighted_l1(data, c_plus=c_plus, c_minus=c_minus), penalty)
    assert generated.objective == pytest.approx(whole.objective, abs=1e-6)


def test_the_method_takes_column_generation_for_large_data_and_its_proof_can_be_refused(monkeypatch):
    monkeypatch.setattr("fsopt.methods.gmeb.gmeb_penalised.build_gmeb_weighted_l1", None)
    monkeypatch.setattr(large_programs, "LONG", 60)
    monkeypatch.setattr(large_programs, "LARGE", 1000)
    data = blobs(30, 60, seed=3, gap=0.4)
    fit = fsopt.fit(METHOD, data, c_plus=0.4, c_minus=0.8, tolerance=1e-4)
    assert fit.status is Status.OPTIMAL
    assert len(fit.support) > 1
    grid = values(data, 0.4, 0.8, [0.3, fit.history[-1]["share"]])
    assert grid[1] == pytest.approx(fit.objective, abs=1e-7)
    assert fit.bound <= grid.min() + 1e-9
    record = json.loads(json.dumps(fit_record(fit, data=data, source="test")))
    assert check_record(record, data, "fit.json").verified
    halve(record["details"]["leaves"], 0)
    assert not check_record(record, data, "fit.json").verified
    stopped = fsopt.fit(METHOD, data, c_plus=0.4, c_minus=0.8, time_limit=1e-9)
    assert (stopped.status, stopped.stop, stopped.support) == ("feasible", "time-limit", ())
    assert not stopped.warnings


@pytest.mark.parametrize("call", [1, 4])
def test_a_limit_in_column_generation_leaves_a_point_with_a_valid_bound(call, monkeypatch):
    data, best, calls = mirrored(), undisturbed(), []
    whole = column_generation

    def stopped(*args, **keywords):
        calls.append(args)
        return whole(*args, **keywords) if len(calls) < call else replace(whole(*args, **keywords), stop="interrupted")

    monkeypatch.setattr(sys.modules[scale_search.__module__], "column_generation", stopped)
    result = scale_search(data, None, GmebPenalty.of(data, 0.1, 0.1))
    assert (result.stop, result.status) == ("interrupted", Status.FEASIBLE)
    assert result.bound <= best.objective <= result.objective + 1e-9


def test_bounds_never_get_worse_and_nothing_is_translated_again():
    result = undisturbed()
    upper, lower = ([h[k] for h in result.history] for k in ("objective", "bound"))
    assert np.all(np.diff(upper) <= 0)
    assert np.all(np.diff(lower) >= 0)
    assert max(lower) == result.bound <= result.objective == min(upper)
    assert [h["rebuilt"] for h in result.history] == [""] * result.iterations
    assert [h["seconds_translate"] for h in result.history[1:]] == [0.0] * (result.iterations - 1)
    assert all(h[f"seconds_{k}"] >= 0 for h in result.history for k in PHASES)


@pytest.mark.parametrize(
    ("limit", "stop"), [({"max_leaves": 4}, "iteration-limit"), ({"run": Run(time_limit=1e-9)}, "time-limit")]
)
def test_a_limit_is_named_and_leaves_a_point_with_a_valid_bound(limit, stop):
    best, result = undisturbed(), search(**limit)
    assert (result.stop, result.status) == (stop, Status.FEASIBLE)
    assert result.bound <= best.objective <= result.objective
    assert not result.certificate.ok


def test_an_interruption_returns_the_best_point_with_its_bound(monkeypatch):
    best, solve, calls = undisturbed(), Session.solve, []

    def interrupt(self, **keywords):
        calls.append(self)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return solve(self, **keywords)

    monkeypatch.setattr(Session, "solve", interrupt)
    result = search()
    assert (result.stop, result.status) == ("interrupted", Status.FEASIBLE)
    assert 0 < result.bound <= best.objective <= result.objective


@pytest.mark.parametrize("call", [1, 9])
def test_a_linear_program_out_of_time_ends_the_search(call, monkeypatch):
    solve, calls = Session.solve, []

    def out_of_time(self, **keywords):
        calls.append(self)
        if len(calls) < call:
            return solve(self, **keywords)
        return SolveResult(Status.NONE, "time-limit", None, None, self.spec.name, {}, 0)

    monkeypatch.setattr(Session, "solve", out_of_time)
    if call == 1:
        with pytest.raises(SolverError, match="time limit"):
            search(run=Run(time_limit=1e3))
        return
    assert search(run=Run(time_limit=1e3)).stop == "time-limit"


def test_an_unfinished_fit_is_saved_and_checked_as_feasible(monkeypatch):
    data = mirrored()
    fit = fsopt.fit(METHOD, data, c_plus=0.1, c_minus=0.1, time_limit=1e-9)
    assert (fit.status, fit.stop) == ("feasible", "time-limit")
    assert check_fit(fit, data).ok
    assert not check_fit(replace(fit, bound=fit.objective), data).ok


def test_a_solver_without_multipliers_is_refused(monkeypatch):
    solve = Session.solve

    def without(self, **keywords):
        result = solve(self, **keywords)
        return replace(result, point=replace(result.point, y=None))

    monkeypatch.setattr(Session, "solve", without)
    with pytest.raises(SolverError, match="no multipliers"):
        search()
