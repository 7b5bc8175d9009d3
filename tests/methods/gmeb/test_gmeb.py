"""Method gmeb: four routes to one certified optimum, separable data, and the path over the radii.

Working sets of features, against the cone programs of all features.
"""

import json
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import REFERENCE, blobs, reference

import fsopt
from fsopt.data import gmeb_type1
from fsopt.data.hyperplanes import hinge
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.drivers import working_set
from fsopt.errors import SolverError
from fsopt.methods import large_programs
from fsopt.methods.gmeb import gmeb
from fsopt.methods.gmeb.gmeb import ROUTES, certify_gmeb
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.verification.verify import check_fit

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


RADII = [{"r_plus": plus, "r_minus": minus} for plus, minus in ((2.0, 7.0), (20.0, 20.0))]


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(large_programs, "LONG", 30)
    monkeypatch.setattr(large_programs, "LARGE", 0)
    monkeypatch.setattr(working_set, "COLUMNS", 6)


@pytest.mark.parametrize("route", ["auto", "theta-cuts"])
def test_a_working_set_ends_at_the_hyperplane_of_all_features(route, few_are_many, monkeypatch):
    data = gmeb_type1(24, 1, p=40)
    fits = [fsopt.fit("gmeb", data, route=route, **at) for at in RADII]
    assert [fit.details["separable"] for fit in fits] == [False, True]
    monkeypatch.setattr(large_programs, "LONG", 50)
    for fit, at in zip(fits, RADII, strict=True):
        whole = fsopt.fit("gmeb", data, **at)
        assert (fit.status, fit.support) == ("optimal", whole.support)
        np.testing.assert_allclose(fit.coef, whole.coef, atol=1e-6 * np.abs(whole.coef).max())
        assert check_fit(fit, data).ok
        forged = {**fit.details, "mu": np.roll(fit.details["mu"], 1)}
        assert not fsopt.verify(replace(fit, details=forged), data).verified


def test_a_changed_model_and_features_that_are_not_priced_leave_no_wrong_optimum(few_are_many, monkeypatch):
    data = gmeb_type1(24, 1, p=40)

    def capped(m):
        assert len(m.J) == data.p  # a changed model has all features
        m.cap = pyo.Constraint(expr=m.mu1 <= 1e-3)

    assert fsopt.fit("gmeb", data, route="dual", customise={"gmeb-dual": capped}, **RADII[0]).status != "optimal"
    monkeypatch.setattr(gmeb, "EXCESS", 1e9)  # no feature is ever added
    assert fsopt.fit("gmeb", data, **RADII[0]).status == "feasible"
