"""The generalization error bounds of Peleg & Meir: two points by hand, conditions, and fits."""

from dataclasses import replace

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.bound_terms import RiskBound, ScaledClassifier, margin_bound_terms, scaled_bound_terms
from fsopt.papers.gmeb.generalization_bounds import margin_bound, scaled_bound


def test_conditions_are_told_apart():
    data, w, sigma = blobs(12, 4, seed=1), np.full(4, 0.5), np.array([1.0, 0.0, 2.0, 0.05])
    X, y = data.X, data.y
    radius = np.linalg.norm(X, axis=1).max()
    told = [
        scaled_bound_terms(X, y, ScaledClassifier(w * f, sigma, b), r=r).conditions
        for f, r, b in ((1.0, radius, 0.5), (1.0, radius / 2, 0.5), (1.0, radius, 2 * radius), (1.1, radius, 0.5))
    ]
    assert [[k for k, ok in c.items() if not ok] for c in told] == [[], ["||x|| <= r"], ["|b| <= r"], ["||w|| <= B"]]
    assert not RiskBound({}, told[1]).applies
    for gamma0, applies in ((1.0, True), (2.5, False)):
        bound = margin_bound_terms(X, y, w, 0.5, r=radius, gamma=2.0, gamma0=gamma0)
        assert bound.conditions["gamma >= gamma0"] == applies


# ---------------------------------------------------------------- bounds of fits


@pytest.mark.parametrize("route", sampled(["primal", "theta-cuts", "sdp"], 2))
def test_theorem_9_does_not_depend_on_the_noise_of_a_solver(wdbc, route):
    """Cone programs leave 1e-10 in place of zeros; its root is above sigma0, and costs 5 to 17 in the union bound."""
    fit = fsopt.fit("gmeb", wdbc, r_plus=5.0, r_minus=1.75, scale="standard", route=route)
    assert len(fit.support) == 6
    bound = scaled_bound(fit, wdbc)
    assert bound.total == pytest.approx(56.3745, abs=1e-3)
    assert bound.terms["margin loss"] == pytest.approx(fit.objective / wdbc.n, rel=1e-7)


def test_theorem_9_keeps_small_weights_that_the_rule_of_the_user_does_not_select():
    data = blobs(60, 5, seed=2)
    fit = fsopt.fit("gmeb", data)
    few = fsopt.fit("gmeb", data, rule="relative", units="scaled", epsilon=0.5)
    assert len(few.support) < len(fit.support)
    assert scaled_bound(few, data).total == scaled_bound(fit, data).total


def test_theorem_9_of_a_penalised_fit_is_its_objective_and_more():
    data = blobs(60, 5, seed=2, gap=2.0)
    fit = fsopt.fit("gmeb-penalised", data, c_plus=4.0, c_minus=4.0)
    bound = scaled_bound(fit, data)
    assert np.any(fit.coef)
    assert bound.applies
    # (7) is the theorem's data-dependent part at gamma = 1, B = 1, up to the scales below sigma0.
    assert sum(bound.terms[k] for k in ("margin loss", "class +1", "class -1")) == pytest.approx(
        fit.objective, rel=1e-5
    )


def test_a_fit_without_scales_or_weights_is_refused():
    data = blobs(30, 3)
    with pytest.raises(ParameterError, match="margin_bound"):
        scaled_bound(fsopt.fit("svm", data), data)
    with pytest.raises(ParameterError, match="features"):
        margin_bound(fsopt.fit("svm", data), blobs(30, 4))
    with pytest.raises(ParameterError, match="w = 0"):
        margin_bound(replace(fsopt.fit("svm", data), coef=np.zeros(3)), data)


def test_numbers_outside_their_range_are_refused_by_name():
    data = blobs(30, 3)
    fit = fsopt.fit("gmeb", data)
    for name, value in (("gamma", 0.0), ("r", -1.0), ("sigma0", 0.0), ("delta", 1.0), ("delta", 0.0)):
        with pytest.raises(ParameterError, match=name):
            scaled_bound(fit, data, **{name: value})
    with pytest.raises(ParameterError, match="negative"):
        scaled_bound_terms(data.X, data.y, ScaledClassifier(np.ones(3), -np.ones(3), 0.0), r=1.0)
