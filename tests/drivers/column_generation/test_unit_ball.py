"""GMEB by column generation: the optimum of the whole program, bounds that always hold, the smallest norm."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import Status
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.column_generation.trust_region import GenerationSettings
from fsopt.drivers.column_generation.unit_ball import UnitBall, smallest_norm_generation, unit_ball_generation
from fsopt.drivers.run import NoPoint, Run
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.errors import ParameterError
from fsopt.methods import large_programs
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.verification.checking import check_fit, check_record

SMALL = GenerationSettings(rows=6, columns=2)
"""So small restricted problems that samples cross, features are added and the trust region is moved."""


def spread(seed, n=60, p=12, gap=0.4, unit=1.0):
    """Return centred data whose features have other moments in each class."""
    data = blobs(n, p, seed=seed, gap=gap)
    scales = np.exp(np.random.default_rng(seed).uniform(-0.7, 0.7, (2, p)))[(data.y > 0).astype(int)]
    return data.with_X(unit * (scales * data.X - (scales * data.X).mean(axis=0)))


def norm_of(data, radii):
    return GmebNorm.of(data, *radii)


def optimum(data, norm, hard=False):
    """Return the optimum of the whole program by the other driver."""
    model = fsopt.build("gmeb-cuts", data, r_plus=norm.r_plus, r_minus=norm.r_minus, hard=hard)
    return theta_cuts(data, model, norm).objective


@pytest.mark.parametrize(
    ("seed", "unit", "radii"),
    [
        (1, 1.0, (3.0, 3.0)),
        (2, 1e-3, (1.0, 1.3)),
        (3, 1e4, (0.5, 0.2)),
        (1, 1.0, (np.inf, 1.0)),
        (2, 1.0, (1.0, np.inf)),
    ],
)
def test_the_optimum_is_that_of_the_whole_program(seed, unit, radii):
    data = spread(seed, unit=unit)
    norm = norm_of(data, radii)
    found = unit_ball_generation(data, norm, settings=SMALL)
    best = optimum(data, norm)
    assert best > 1.0
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(best, rel=1e-7)
    assert found.bound <= best * (1 + 1e-9)
    w, b = found.point["w"], found.point["b"]
    assert norm.at(w)[0] <= 1 + 1e-9
    assert found.objective == pytest.approx(hinge(data.X @ w + b, data.y), rel=1e-12)


def test_weighted_samples_count_as_often_as_their_weights():
    data = spread(5, n=30)
    often = np.array([1, 2, 3] * 10)
    rows = np.repeat(np.arange(30), often)
    norm = norm_of(data, (1.0, 1.3))
    weighted = fsopt.Dataset(data.X, data.y, weights=often)
    found = unit_ball_generation(weighted, norm, settings=SMALL)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(unit_ball_generation(data.rows(rows), norm).objective, rel=1e-7)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_the_multipliers_their_bound_is_one(seed):
    data = spread(seed, n=24, p=5)
    norm, random = norm_of(data, (1.0, 0.7)), np.random.default_rng(seed)
    best = optimum(data, norm)
    program = UnitBall.over(data, norm, np.ones(data.n))
    honest = unit_ball_generation(data, norm).point["mu"]
    bounds = [
        program.bound(honest + size * random.standard_normal(data.n), np.ones(data.p, dtype=bool))[2]
        for size in (0.0, 0.01, 0.1, 1.0)
    ]
    assert max(bounds) <= best + 1e-9
    assert bounds[0] == pytest.approx(best, rel=1e-7)
    assert bounds[1] > 0


@pytest.mark.parametrize("seed", range(2))
def test_the_quotient_is_the_smallest_over_theta(seed):
    data = spread(seed)
    program = UnitBall.over(data, norm_of(data, (1.0, 1.2)), np.ones(data.n))
    s = np.random.default_rng(seed).standard_normal(data.p)
    theta, value = program.quotient(s)
    at = [np.max(np.abs(s) / program.norm.weights(t)) for t in np.linspace(0, 1, 5001)]
    assert np.max(np.abs(s) / program.norm.weights(theta)) == pytest.approx(value, rel=1e-12)
    assert min(at) * (1 - 1e-4) <= value <= min(at) * (1 + 1e-12)


@pytest.mark.parametrize("radii", [(1.0, 5.0), (np.inf, 2.0)])
def test_the_smallest_norm_is_that_of_the_whole_program(radii):
    data = spread(2, n=24, p=16, gap=1.0)
    norm = norm_of(data, radii)
    found = smallest_norm_generation(data, norm, settings=GenerationSettings(rows=16, columns=5))
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(optimum(data, norm, hard=True), rel=1e-7)
    assert found.history[-1]["objective"] == pytest.approx(found.objective, rel=1e-6)
    assert (data.y * (data.X @ found.point["w"] + found.point["b"])).min() >= 1 - 1e-9


def test_data_that_are_not_separable_have_no_smallest_norm():
    data = spread(1, n=80, p=2, gap=0.1)
    with pytest.raises(NoPoint, match="not separable"):
        smallest_norm_generation(data, norm_of(data, (1.0, 1.0)))


def test_a_limit_leaves_a_point_with_a_valid_bound():
    data = spread(3, n=80)
    norm = norm_of(data, (1.0, 1.0))
    best = optimum(data, norm)
    for limit in ({"run": Run(time_limit=1e-9)}, {"settings": GenerationSettings(rows=6, columns=2, max_iterations=2)}):
        found = unit_ball_generation(data, norm, **limit)
        assert found.status is Status.FEASIBLE
        assert found.bound <= best <= found.objective


@pytest.mark.parametrize("radii", sampled([((1.0, 1.2),), ((30.0, 30.0),)], 1))
def test_the_method_builds_no_model_of_large_data_and_refuses_forged_multipliers(radii, monkeypatch):
    for name in ("build_gmeb_cuts", "build_gmeb_dual", "build_gmeb_hard_margin"):
        monkeypatch.setattr(f"fsopt.methods.gmeb.formulations.{name}", None)
    monkeypatch.setattr(large_programs, "LONG", 40)
    monkeypatch.setattr(large_programs, "LARGE", 500)
    data = blobs(16, 40, seed=3, gap=0.4)
    fit = fsopt.fit("gmeb", data, r_plus=radii[0], r_minus=radii[1])
    assert fit.status is Status.OPTIMAL
    assert fit.details["separable"] == (radii[0] == 30.0)
    assert len(fit.support) > 3
    assert check_fit(fit, data).ok
    record = json.loads(json.dumps(fit_record(fit, data=data, source="test")))
    mu = record["details"]["mu"]
    record["details"]["mu"] = mu[1:] + mu[:1]
    assert not check_record(record, data, "fit.json").verified


def test_weights_of_norms_that_are_none_are_refused():
    for norms in ([[1.0, 2.0]], [[1.0, -1.0, 1.0]], [[1.0, np.nan, 1.0]]):
        with pytest.raises(ParameterError, match="norms"):
            fsopt.build("l1-hinge-part", spread(4, n=16, p=3), norms=norms)
