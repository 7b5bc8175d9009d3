"""The search behind gmeb-penalised: its proof leaf by leaf, saved and corrupted, and what every driver owes."""

from dataclasses import replace

import numpy as np
import pytest
from gmeb_cases import mirrored, skewed, values
from saved_records import as_read
from support import blobs, check_fit, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.scale_search import ShareInterval, scale_search
from fsopt.methods import large_programs
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty, build_gmeb_weighted_l1
from fsopt.solvers.base import Session
from fsopt.verification.verify import verify_record

METHOD = "gmeb-penalised"


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
        bound = ShareInterval(left, right, at, lam, mu).bound(data, penalty)
        inside = np.linspace(max(left, 1e-3), min(right, 1 - 1e-3), 4)
        assert bound <= values(data, 0.2, 0.1, inside).min() + 1e-9
        positive += bound > 0
    assert positive >= 3


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_multipliers_outside_their_bounds_prove_no_more_than_those_inside(size):
    data = skewed(1)[0]
    few = np.minimum((data.y > 0).mean(), (data.y < 0).mean())
    leaf = ShareInterval(0.0, 1.0, 0.5, np.zeros(2), np.full((2, data.n), size / data.n))
    assert leaf.bound(data, GmebPenalty.of(data, 500.0, 500.0)) == pytest.approx(2 * few, rel=1e-12)


def halve(leaf):
    leaf["mu"][0] = [0.5 * m for m in leaf["mu"][0]]


def search(data=None, **options):
    data = data or mirrored()
    return scale_search(
        data, build_gmeb_weighted_l1(data, c_plus=0.1, c_minus=0.1), GmebPenalty.of(data, 0.1, 0.1), **options
    )


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
    fit = fsopt.fit(METHOD, data, c_plus=0.4, c_minus=0.8)
    assert fit.status is Status.OPTIMAL
    assert len(fit.support) > 1
    grid = values(data, 0.4, 0.8, [0.3, fit.history[-1]["share"]])
    assert grid[1] == pytest.approx(fit.objective, abs=1e-7)
    assert fit.bound <= grid.min() + 1e-9
    record = as_read(fit, data)
    assert verify_record(record, data, "fit.json").verified
    halve(record["details"]["leaves"][0])
    assert not verify_record(record, data, "fit.json").verified
    stopped = fsopt.fit(METHOD, data, c_plus=0.4, c_minus=0.8, time_limit=1e-9)
    assert (stopped.status, stopped.stop, stopped.support) == ("feasible", "time-limit", ())
    assert not stopped.warnings
    assert check_fit(stopped, data).ok
    assert not check_fit(replace(stopped, bound=stopped.objective), data).ok
