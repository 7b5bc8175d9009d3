"""Methods gmeb, gmeb-penalised and svm-norm: routes to one certified optimum, paths, brute force, special data."""

import json
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from gmeb_cases import mirrored, moments, skewed, values
from hypothesis import given, settings
from hypothesis import strategies as st
from support import REFERENCE, blobs, check_fit, reference

import fsopt
from fsopt.data import gmeb_type1
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.hyperplanes import hinge
from fsopt.drivers import working_set
from fsopt.errors import SolverError
from fsopt.methods import large_programs
from fsopt.methods.gmeb import gmeb
from fsopt.methods.gmeb.gmeb import ROUTES, certify_gmeb
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty
from fsopt.models.gmeb.norm import GmebNorm

TINY = [e for e in json.loads((REFERENCE / "golden.json").read_text()) if (e["name"], e["data"]) == ("gmeb", "tiny6")]
FEW = settings(max_examples=4, deadline=None, derandomize=True)


@pytest.mark.parametrize("route", ["auto", *ROUTES])
def test_every_route_reaches_the_optimum_and_certifies_it(route):
    data = reference("tiny6")
    for entry in TINY:
        fit = fsopt.fit("gmeb", data, route=route, **entry["params"])
        assert fit.status == "optimal"
        assert fit.objective == pytest.approx(entry["objective"], rel=1e-7)
        assert fit.bound == pytest.approx(entry["objective"], rel=1e-7)
        assert fit.bound <= entry["objective"] * (1 + 1e-9)
        assert set(fit.certificate.residuals) == {"norm", "gap"}
        assert fit.certificate.worst <= 1e-6
        z = data.X - data.X.mean(axis=0)
        scores = z @ fit.coef + fit.intercept + data.X.mean(axis=0) @ fit.coef
        assert hinge(scores, data.y) == pytest.approx(fit.objective)


@FEW
@given(seed=st.integers(0, 10**6))
def test_the_bound_is_valid_for_any_multipliers(seed):
    data = blobs(12, 3, seed=seed)
    norm = GmebNorm.of(data, 0.5, 0.8)
    fit = fsopt.fit("gmeb", data, r_plus=0.5, r_minus=0.8, scale="none")
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(3)
    w /= norm.at(w)[0]
    certificate = certify_gmeb(data, norm, w, 0.0, rng.random(12))
    assert certificate.bound <= fit.objective + 1e-9
    assert certificate.objective >= fit.objective - 1e-6


@pytest.mark.parametrize("route", ["dual", "primal", "theta-cuts"])
def test_separable_data_get_the_plane_of_least_norm_by_every_route(route):
    data = blobs(20, 3, gap=3.5)
    fit = fsopt.fit("gmeb", data, r_plus=8.0, r_minus=8.0, route=route)
    assert fit.status == "optimal"
    assert fit.details["separable"]
    assert "separable" in fit.warnings[-1]
    centred = data.with_X(data.X - data.X.mean(axis=0))
    least = fsopt.solve(fsopt.build("gmeb-hard-margin", centred, r_plus=8.0, r_minus=8.0))
    assert fit.details["norm"] == pytest.approx(np.sqrt(least.objective), rel=1e-6)
    assert fit.bound == 0.0
    assert check_fit(fit, data).ok
    worse = replace(fit, coef=1.1 * fit.coef, intercept=1.1 * fit.intercept)
    assert not check_fit(worse, data).ok


@pytest.mark.parametrize("solver", [None, "highs"])
def test_the_path_holds_what_single_fits_give(solver):
    data, test = blobs(20, 3, seed=1), blobs(30, 3, seed=2)
    path = fsopt.radius_path(data, ((0.3, 2.0), (0.2, 0.5, np.inf)), test=test, solver=solver)
    assert path["certified"].all()
    for row in path.to_records():
        fit = fsopt.fit("gmeb", data, r_plus=row["r_plus"], r_minus=row["r_minus"])
        assert row["objective"] == pytest.approx(fit.objective, rel=1e-6, abs=1e-7)
        assert row["n_features"] == np.sum(np.abs(fit.coef) >= 0.01 * np.abs(fit.coef).max())
        assert row["test_error"] == pytest.approx(1 - fit.scores(test)["accuracy"])
        assert row["train_error"] == pytest.approx(1 - fit.scores(data)["accuracy"])
    for axis in (0, 1):
        assert np.all(np.diff(path["objective"].reshape(2, 3), axis=axis) <= 1e-6)


def test_cross_validation_of_the_path_is_that_of_its_folds_and_ties_go_to_the_smallest_radii():
    data = blobs(20, 3, seed=4)
    path = fsopt.radius_path(data, (0.3, 1.0), folds=2, seed=7)
    parts = [train_and_test(data, fold) for fold in stratified_folds(data, 2, 7)]
    alone = [fsopt.radius_path(train, (0.3, 1.0), test=test) for train, test in parts]
    np.testing.assert_allclose(path["cv_error"], np.mean([one["test_error"] for one in alone], axis=0))
    np.testing.assert_allclose(path["cv_features"], np.mean([one["n_features"] for one in alone], axis=0))
    assert path.chosen == np.argmin(path["cv_error"].round(12))
    assert fsopt.radius_path(data, (0.3, 1.0)).chosen == np.argmin(path["train_error"])


def test_a_dual_that_is_not_solved_leaves_the_cuts_unless_it_was_asked_for(monkeypatch):
    data, entry = reference("tiny6"), TINY[0]

    def unsolved(result, what):
        raise SolverError(f"{what} was not solved: almost", "try another solver")

    monkeypatch.setattr("fsopt.methods.gmeb.gmeb.usable", unsolved)
    fit = fsopt.fit("gmeb", data, **entry["params"])
    assert fit.status == "optimal"
    assert fit.objective == pytest.approx(entry["objective"], rel=1e-7)
    assert fit.warnings == ("the dual (16) was not solved: almost: the answer is that of highs",)
    assert fsopt.verify(fit, data).verified
    for asked in ({"route": "dual"}, {"solver": "clarabel"}):
        with pytest.raises(SolverError, match="almost"):
            fsopt.fit("gmeb", data, **entry["params"], **asked)


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(large_programs, "LONG", 30)
    monkeypatch.setattr(large_programs, "LARGE", 0)
    monkeypatch.setattr(working_set, "COLUMNS", 6)


def test_a_changed_model_and_features_that_are_not_priced_leave_no_wrong_optimum(few_are_many, monkeypatch):
    data = gmeb_type1(24, 1, p=40)

    def capped(m):
        assert len(m.J) == data.p  # a changed model has all features
        m.cap = pyo.Constraint(expr=m.mu1 <= 1e-3)

    for route in ("dual", "auto"):
        fit = fsopt.fit("gmeb", data, route=route, customise={"gmeb-dual": capped}, r_plus=2.0, r_minus=7.0)
        assert (fit.status, fit.bound) == ("feasible", None)  # no other route, whose model is unchanged
    monkeypatch.setattr(gmeb, "EXCESS", 1e9)  # no feature is ever added
    assert fsopt.fit("gmeb", data, r_plus=2.0, r_minus=7.0).status == "feasible"


METHOD = "gmeb-penalised"
MANY = settings(max_examples=20, deadline=None, derandomize=True)


def loss(data, fit):
    return np.maximum(1 - data.y * fit.decision_function(data.X), 0).sum()


def test_the_answer_is_the_best_of_four_local_minima_at_one_of_which_alternation_is_stuck():
    data = mirrored()
    fit, grid = fsopt.fit(METHOD, data, c_plus=0.1, c_minus=0.1), values(data, 0.1, 0.1)
    valleys = np.flatnonzero((grid[1:-1] < grid[:-2] - 1e-9) & (grid[1:-1] < grid[2:] - 1e-9))
    assert len(valleys) == 4
    assert fit.history[0]["objective"] > fit.objective + 1e-4
    assert max(fit.bound, fit.objective) <= grid.min() + 1e-9
    at_share = values(data, 0.1, 0.1, [fit.history[-1]["share"]])[0]
    assert at_share == pytest.approx(fit.objective, abs=1e-9)  # more accurate than the gap that is asked for


@given(seed=st.integers(0, 10_000))
@MANY
def test_the_penalty_of_a_plane_is_the_least_over_all_scales(seed):
    rng = np.random.default_rng(seed)
    data, c_plus, c_minus = skewed(seed)
    data = data.with_X(data.X - data.X.mean(axis=0))
    penalty = GmebPenalty.of(data, c_plus, c_minus)
    w = rng.standard_normal(data.p) * (rng.random(data.p) < 0.7)
    smallest, share = penalty.at(w)
    sigma = penalty.scales(w)

    def both(squared):
        return np.sqrt(penalty.alpha @ squared) + np.sqrt(penalty.beta @ squared)

    assert both(sigma**2) == pytest.approx(smallest, rel=1e-9)
    used = np.abs(w) > 0
    assert np.sum((w[used] / sigma[used]) ** 2) == pytest.approx(float(used.any()), rel=1e-9)
    for trial in np.exp(0.3 * rng.standard_normal((20, data.p))):
        other = (sigma * trial) ** 2
        other[used] *= np.sum(w[used] ** 2 / other[used])
        assert both(other) >= smallest * (1 - 1e-9)
    if used.any():
        rise = (penalty.weights(share + 1e-6) - penalty.weights(share - 1e-6)) / 2e-6
        np.testing.assert_allclose(penalty.slopes(share), rise, rtol=1e-5, atol=1e-7)
        assert np.abs(w) @ rise == pytest.approx(0.0, abs=1e-5 * smallest)


@pytest.mark.slow
def test_the_converse_of_lemma_13_fails_there_are_radii_that_no_penalty_weights_lead_to():
    """The optimum of (15) half way between two mirror images is beaten by one of them at any penalty weights."""
    data = mirrored()
    ends = fsopt.fit(METHOD, data, c_plus=0.3, c_minus=0.3)
    asymmetric = fsopt.fit(METHOD, data, c_plus=0.1, c_minus=0.4)
    x, z = (np.sqrt(v @ ends.details["sigma"] ** 2) for v in moments(data)[:2])
    middle = fsopt.fit("gmeb", data, r_plus=((x + z) / 2) ** 2, r_minus=((x + z) / 2) ** 2)
    swapped = fsopt.fit("gmeb", data, r_plus=z**2, r_minus=x**2)
    assert swapped.objective == pytest.approx(loss(data, ends), rel=1e-6)
    assert loss(data, middle) > loss(data, ends) + 0.5
    _, _, root_plus, root_minus = moments(data)
    centred = data.with_X(data.X - data.X.mean(axis=0))
    for a in np.linspace(0.0, 1.0, 11)[1:-1]:
        penalty, _ = GmebPenalty.of(centred, a / root_plus, (1 - a) / root_minus).at(middle.coef)
        assert penalty >= min(a * x + (1 - a) * z, a * z + (1 - a) * x) - 1e-6
    for best, c_plus, c_minus in ((ends, 0.3, 0.3), (asymmetric, 0.1, 0.4)):
        penalty, _ = GmebPenalty.of(centred, c_plus, c_minus).at(middle.coef)
        assert loss(data, middle) / data.n + penalty > best.objective + 1e-3


@pytest.mark.parametrize(("label", "count"), [(1.0, 1), (-1.0, 3)])
def test_a_feature_that_vanishes_on_a_class_makes_its_norm_term_free(label, count):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((30, 3)) + 0.3 * y[:, None]
    X[:, 0] = rng.exponential(0.2, 30) + 0.3
    X[y < 0, :count] = 0.0
    data = fsopt.Dataset(X, label * y)
    fit = fsopt.fit(METHOD, data, c_plus=0.3, c_minus=0.3, scale="none")
    assert fit.status == "optimal"
    assert fit.history[-1]["share"] == (1.0 if label > 0 else 0.0)
    assert min(fit.details["penalties"]) == 0.0 < max(fit.details["penalties"])
    free = fsopt.Dataset(X[:, :count], label * y)
    v = np.sqrt((X[y > 0, :count] ** 2).mean(axis=0))
    weight = 0.3 * np.sqrt(15) / 30
    scaled = fsopt.fit("onsvm", free.with_X(free.X / v), c=1 / (30 * weight), scale="none")
    assert fit.objective <= weight * scaled.objective + 1e-9
    assert fit.bound >= weight * scaled.objective - 1e-6
    assert check_fit(fit, data).ok
