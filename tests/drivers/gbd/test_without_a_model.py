"""Generalized Benders with a subproblem that is trained without a model: the bounds of the loop with one."""

from __future__ import annotations

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.algorithms.interior_point.driver import svm_interior_point
from fsopt.answers.results import Status
from fsopt.drivers import GbdSettings, gbd
from fsopt.verification.checking import check_fit

C = 0.7


@pytest.mark.parametrize(
    ("unit", "limits", "settings"),
    [
        (1.0, {"m": 2}, {"root_cuts": 5}),
        (1.0, {"costs": [1.0, 2.0, 1.0, 3.0], "budget": 3.0}, {"start": "zero", "stabilisation": "none"}),
        (10.0, {"lam": 0.4}, {}),
    ],
    ids=["cardinality", "budget", "penalty weight"],
)
def test_the_optimum_is_that_of_the_model(unit, limits, settings):
    data = blobs(30, 4, seed=3, gap=0.5)
    data = data.with_X(unit * data.X)
    answers = [
        gbd(data, fsopt.build("fsp-master", data, **limits), sub, c=C, settings=GbdSettings(**settings))
        for sub in (svm_interior_point, fsopt.build("fsp-sub", data, c=C))
    ]
    ours, theirs = answers
    assert ours.status is Status.OPTIMAL
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert np.array_equal(ours.point["sigma"], theirs.point["sigma"])
    assert ours.bound <= theirs.objective * (1 + 1e-7)


@pytest.mark.parametrize(("method", "params"), [("gbd", {"m": 2}), ("gbd-lambda", {"lam": 0.4})])
def test_the_method_builds_no_subproblem_of_large_data(method, params, monkeypatch):
    data = blobs(30, 4, seed=4, gap=0.5)
    whole = fsopt.fit(method, data, **params)
    monkeypatch.setattr("fsopt.methods.large_programs.REPEATED", 100)
    monkeypatch.setattr("fsopt.methods.gbd.decomposition.build_fsp_sub", None)
    fit = fsopt.fit(method, data, **params)
    assert fit.status is Status.OPTIMAL
    assert fit.support == whole.support
    assert fit.objective == pytest.approx(whole.objective, rel=1e-6)
    assert check_fit(fit, data).ok
    with pytest.raises(TypeError, match="not callable"):
        fsopt.fit(method, data, solver="clarabel", **params)
