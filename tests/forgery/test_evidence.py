"""Evidence that proves something of another program, in other units or of some features alone proves nothing."""

from dataclasses import replace

import numpy as np
import pytest
from saved_records import as_read
from support import blobs

import fsopt
from fsopt.answers.results import Point
from fsopt.data import Dataset
from fsopt.errors import FileError, ParameterError
from fsopt.methods.checking import saved_fit
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import METHODS
from fsopt.methods.verdict import restriction, rows_of, saved_program
from fsopt.verification.verify import verify_record

DATA = blobs(40, 5, gap=0.8)


def refused(record, data=DATA, **given):
    return verify_record(record, data, "file", **given).certificate.refused()


@pytest.mark.parametrize(
    ("method", "units", "params"),
    [
        ("mpm", 1.0, {}),
        ("l1-mpm", 1.0, {"delta": 0.3}),
        ("l0-mpm", 1e-3, {"delta": 0.3, "alpha": 1e-3}),
        ("s-mpm", 1e-3, {"lam": 1e-5}),
    ],
)
def test_a_program_with_another_ridge_or_a_parameter_that_no_fit_has_is_refused_in_any_unit(method, units, params):
    data = Dataset(DATA.X * units, DATA.y)
    fit = fsopt.fit(method, data, scale="none", ridge=1e-9, **params)
    for change in ({"unbiased": True}, {"ridge": 3e-6}):
        record = as_read(fit, data)
        record["details"]["program_params"] |= change
        assert refused(record, data)["program's parameters"] > 0.9, change


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_multipliers_of_margins_prove_nothing_of_bounds_or_changed_models(method):
    record = as_read(fsopt.fit(method, DATA), DATA)
    with pytest.raises(FileError, match="multipliers of margins alone"):
        refused({**record, "params": {**record["params"], "lower": {"x1": 0.0}}})
    changed = {**record, "details": {**record["details"], "customised": {method: "rows"}}}
    with pytest.raises(FileError, match="multipliers of margins alone"):
        refused(changed, customise={method: lambda model: None})
    with pytest.raises(ParameterError, match="nothing proves an answer of a changed 'rsvm'"):
        fsopt.fit("rsvm", DATA, customise={"rsvm": lambda model: None})


def test_a_program_on_kernel_values_is_not_that_of_a_kernel_machine():
    record = as_read(fsopt.fit("svm", DATA, kernel="gaussian"), DATA)
    point = as_read(fsopt.fit("svm", DATA, lower={"x1": -9.0}), DATA)["details"]["point"]
    record["details"] = {"program": "svm", "program_params": {"c": 1.0}, "point": point}
    with pytest.raises(FileError, match="it has no 'alpha'"):
        refused(record)


def test_scales_and_patterns_are_compared_in_units_of_the_features():
    far = Dataset(DATA.X + 9e5 * (np.arange(5) == 0), DATA.y)
    record = as_read(fsopt.fit("svm", far), far)
    record["preprocessing"]["scale"][0] *= 1.5
    assert refused(record, far)["preprocessing"] == pytest.approx(0.5)
    small = Dataset(DATA.X * 1e-10, DATA.y)
    record = as_read(fsopt.fit("svm", small, kernel="linear", scale="none", c=1e19), small)
    record["kernel"]["patterns"] = (2.0 * small.X).tolist()
    with pytest.raises(FileError, match="patterns"):
        refused(record, small)


def test_a_weight_outside_the_selection_counts_in_any_unit():
    large = Dataset(DATA.X * 1e8, DATA.y)
    record = as_read(fsopt.fit("best-subset", large, m=1, scale="none"), large)
    record["coef"][int(np.argmin(np.abs(record["coef"])))] = 1e-9
    assert refused(record, large)["constraints"] == 1.0


def test_ranges_of_one_feature_alone_bound_no_program_of_all():
    """With the row of w = w+ - w- alone as multipliers the ranges of the one weight prove its value."""
    fit = fsopt.fit("l1-mpm", DATA, delta=0.05)
    work, map_ = preprocess(DATA, "standard")
    model = fsopt.build("l1-mpm", work.columns(np.array([1])), **fit.details["program_params"])
    result, session = fsopt.solve(model), fsopt.Session(model, "clarabel")
    weight = next(iter(model.w.values())).value
    y = np.zeros_like(result.point.y)
    y[rows_of(session.program, model, "split")] = -np.sign(weight)
    details = {**fit.details, "columns": [1], "point": Point(result.point.x, y, np.zeros_like(result.point.z))}
    coef = np.where(np.arange(5) == 1, weight / map_.scale, 0.0)
    saved = saved_fit(METHODS["l1-mpm"], replace(fit, coef=coef, details=details), DATA)
    assert restriction(saved, *saved_program(saved))["bound of some features"] > 0.1
