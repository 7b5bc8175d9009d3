"""GMEB of many radii on few of many features, against the cone programs of all features."""

import numpy as np
import pytest

import fsopt
from fsopt.data import gmeb_type1
from fsopt.methods.gmeb import gmeb as module
from fsopt.methods.gmeb.gmeb import gmeb_hyperplanes

RADII = [{"r_plus": plus, "r_minus": minus} for plus, minus in ((2.0, 7.0), (20.0, 20.0))]


def test_hyperplanes_are_those_of_all_features_with_and_without_separation(monkeypatch):
    monkeypatch.setattr(module, "FEW", 10)
    data = gmeb_type1(24, 1, p=40)
    fits = [fsopt.fit("gmeb", data, **at) for at in RADII]
    assert {fit.details["separable"] for fit in fits} == {False, True}
    for fit, (w, b) in zip(fits, gmeb_hyperplanes(data, RADII), strict=True):
        np.testing.assert_allclose(w, fit.coef, atol=1e-6 * np.abs(fit.coef).max())
        assert b == pytest.approx(fit.intercept, abs=1e-6)


def test_few_features_and_other_parameters_are_fitted_one_by_one():
    data = gmeb_type1(24, 1)
    assert gmeb_hyperplanes(data.columns(np.arange(2 * module.FEW)), RADII) is None
    assert gmeb_hyperplanes(data, [{**RADII[0], "scale": "none"}]) is None


def test_an_answer_that_is_not_proved_on_all_features_is_none(monkeypatch):
    data = gmeb_type1(24, 1, p=20)
    monkeypatch.setattr(module, "EXCESS", 1e9)  # no feature is ever added
    monkeypatch.setattr(module, "FEW", 3)
    assert gmeb_hyperplanes(data, RADII[:1]) is None
