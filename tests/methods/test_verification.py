"""Saved fits in which parts vouch for each other: the program behind an answer is that of its method and parameters."""

import contextlib
import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq
from support import blobs, there

import fsopt
from fsopt.errors import FileError
from fsopt.verification.checking import check_fit

DATA = blobs(40, 4, seed=3)


def forged(fit, **details):
    return dataclasses.replace(fit, details={**fit.details, **details})


def test_the_program_has_the_penalty_weight_of_the_fit():
    """A worse hyperplane is the optimum of another program, whose optimal value is its own value at the given one."""
    fit = fsopt.fit("svm", DATA, c=1.0)
    worse = dataclasses.replace(fit, coef=1.05 * fit.coef)
    work, w = DATA.with_X(fit.preprocessing.apply(DATA.X)), worse.coef * fit.preprocessing.scale
    b = fit.intercept + float(worse.coef @ fit.preprocessing.shift)
    value = 0.5 * w @ w + np.maximum(1 - work.y * (work.X @ w + b), 0).sum()

    def optimum(c):
        return fsopt.solve(fsopt.build("svm", work, c=c)).objective - value

    c = brentq(optimum, 1.0, 2.0, xtol=1e-12)
    point = fsopt.solve(fsopt.build("svm", work, c=c)).point
    false = forged(worse, program_params={"c": c}, point=point)
    false = dataclasses.replace(false, objective=value, bound=value)
    found = check_fit(false, DATA)
    assert found.residuals["bound"] <= 1e-6  # all but the parameters of the program fit together
    assert not found.ok
    assert check_fit(fit, DATA).ok


@pytest.mark.parametrize(
    ("method", "params", "other"),
    [
        ("svm", {}, "onsvm"),
        ("l1-mpm", {"delta": 0.1}, "mpm"),
        ("fsv", {}, "misclass-step"),
        ("l0-mpm", {"delta": 0.1}, "l1-mpm"),
    ],
)
def test_the_program_is_one_of_the_method(method, params, other):
    fit = fsopt.fit(method, DATA, **params)
    assert check_fit(fit, DATA).ok
    with contextlib.suppress(fsopt.errors.FsoptError):
        assert not check_fit(forged(fit, program=other), DATA).ok


@pytest.mark.parametrize("method", ["mpm", "l1-mpm", "l0-mpm", "s-mpm"])
def test_limits_and_defaults_are_recomputed(method):
    fit = fsopt.fit(method, DATA)
    assert check_fit(fit, DATA).ok
    names = {"ridge", "kappa_limit", "alpha_limit", "delta"} & set(fit.details)
    assert len(names) >= 3
    for name in names:
        with contextlib.suppress(fsopt.errors.FsoptError):
            assert not check_fit(forged(fit, **{name: fit.details[name] + 1e-3}), DATA).ok, name


def test_a_part_of_the_features_is_not_all_of_them():
    """The optimum of gmeb on fewer features is none on all of them, whatever columns the file names."""
    fit = fsopt.fit("gmeb", DATA, r_plus=1.0, r_minus=1.0)
    few = fsopt.Dataset(np.column_stack([DATA.X[:, 2:], np.ones((DATA.n, 2))]), DATA.y)
    part = fsopt.fit("gmeb", few, r_plus=1.0, r_minus=1.0)
    coef = np.append(np.zeros(2), part.coef[:2])
    false = dataclasses.replace(
        fit,
        coef=coef,
        intercept=part.intercept,
        objective=part.objective,
        bound=part.bound,
        support=tuple(j + 2 for j in part.support),
        features=tuple(DATA.features[j + 2] for j in part.support),
    )
    details = {**part.details, "columns": [2, 3], "sigma": np.append(np.zeros(2), part.details["sigma"][:2])}
    with pytest.raises(FileError):
        check_fit(forged(false, **details), DATA)
    longer = {**details, "columns": [0, 1, 2, 3], "units": fit.details["units"]}
    assert not check_fit(forged(false, **longer), DATA).ok


def test_rfe_leaves_the_number_of_features_that_was_asked_for():
    fit = fsopt.fit("rfe", DATA, m=2)
    assert check_fit(fit, DATA).ok
    assert not check_fit(dataclasses.replace(fit, params={**fit.params, "m": 3}), DATA).ok


def test_the_kernel_is_that_of_the_parameters():
    fit = fsopt.fit("l1-mpm", DATA, kernel="gaussian", delta=0.1)
    assert check_fit(fit, DATA).ok
    for change in ({"kernel": "polynomial"}, {"kernel": None}, {"width": 9.0}):
        assert not check_fit(dataclasses.replace(fit, params={**fit.params, **change}), DATA).ok, change
    half = {**fit.params, "width": fit.kernel.width / 2.0}
    assert fsopt.verify(dataclasses.replace(fit, params=half), DATA).residuals["kernel"] == pytest.approx(1.0)


def test_a_large_tolerance_excuses_nothing_but_the_gap():
    fit = fsopt.fit("best-subset", DATA, m=1)
    for tolerance in (10**400, 1e9, float("inf")):
        loose = dataclasses.replace(fit, params={**fit.params, "tolerance": tolerance})
        for false in ({"objective": fit.objective + 0.1}, {"intercept": fit.intercept + 1.0}, {"features": ()}):
            with contextlib.suppress(FileError):
                assert not check_fit(dataclasses.replace(loose, **false), DATA).ok


@pytest.mark.parametrize("name", ["onsvm", "svm", "l1-svm", "mpm", "l1-mpm", "svm-norm"])
def test_a_fit_by_a_solver_without_multipliers_is_verified_by_those_that_it_was_certified_with(name):
    data = blobs(16, 3, gap=0.4)
    fit = fsopt.fit(name, data, solver=there("scip"))
    assert fit.status == "optimal"
    assert fsopt.verify(fit, data).verified
    forged = dataclasses.replace(fit, objective=fit.objective * 1.01, bound=fit.bound * 1.01)
    assert not fsopt.verify(forged, data).verified
