"""Saved fits of L0-MPM: verified again without DCA, and refused where a part of the evidence is another one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import Point, Status
from fsopt.answers.saved import numbers
from fsopt.drivers.penalties.registry import PENALTIES, approximation
from fsopt.methods.mpm.worst_case import accuracy_limit
from fsopt.models.mpm.moments import Moments
from fsopt.verification.checking import check_fit, check_record


def share_of_limit(data, share=0.9):
    return share * accuracy_limit(Moments.of(data)).alpha


def forged(fit):
    """Yield a name and a fit that claims what is not so, for every part of the proof."""
    step, point = fit.details["program_params"], fit.details["point"]

    def with_step(**changes):
        return replace(fit, details={**fit.details, "program_params": {**step, **changes}})

    yield "objective", replace(fit, objective=fit.objective - 1e-3)
    yield "coef", replace(fit, coef=fit.coef * 1.001)
    yield "alpha", replace(fit, params={**fit.params, "alpha": 1.01 * fit.params["alpha"]})
    yield "slope", with_step(alpha=1.01 * step["alpha"])
    yield "step delta", with_step(delta=step["delta"] * 1.01)
    yield "delta", replace(fit, details={**fit.details, "delta": step["delta"] * 0.9})
    for other in PENALTIES:
        if other != fit.params["approx"]:
            yield f"approx {other}", replace(fit, params={**fit.params, "approx": other})
    for change in (-0.01, 0.01):
        yield "v", with_step(v=np.clip(step["v"] + change * step["alpha"], -step["alpha"], step["alpha"]))
    for part in ("y", "z"):
        values = getattr(point, part).copy()
        values[np.argmax(np.abs(values))] *= 1.01
        yield part, replace(fit, details={**fit.details, "point": replace(point, **{part: values})})


@pytest.mark.parametrize("name", ["exp", "capped-l1"])
def test_a_saved_fit_is_verified_and_a_forged_one_is_not(name):
    data = blobs(30, 4, seed=2, gap=0.5)
    fit = fsopt.fit("l0-mpm", data, delta=share_of_limit(data, 0.95), approx=name, alpha=0.5, n_starts=3)
    record = numbers(json.loads(json.dumps(fit_record(fit, data=data, source="here"))))
    checked = check_record(record, data, "here")
    assert checked.verified, checked.certificate
    assert checked.claimed is Status.STATIONARY
    parts = {"objective", "constraints", "remainder", "first order", "linearisation"}
    assert set(checked.certificate.residuals) >= parts
    for part, false in forged(fit):
        assert not check_fit(false, data).ok, part


@pytest.mark.parametrize("name", ["exp", "capped-l1"])
def test_another_critical_point_of_another_penalty_does_not_pass(name):
    """The hyperplane of smallest 1-norm solves the step of v = 0, which is no gradient of h there."""
    data = blobs(30, 4, seed=2, gap=0.5)
    delta = share_of_limit(data, 0.95)
    penalty = approximation(name, 50.0)
    fit = fsopt.fit("l0-mpm", data, delta=delta, approx=name, alpha=50.0, scale="none")
    m = fsopt.build("l0-mpm-step", data, delta=delta, alpha=penalty.slope)
    plane = fsopt.solve(m)
    w = np.array([x.value for x in m.w.values()])
    params = {**fit.details["program_params"], "v": np.zeros(data.p)}
    false = replace(
        fit,
        coef=w,
        intercept=-m.b.value,
        objective=penalty.value(w),
        details={**fit.details, "program_params": params, "point": Point(plane.point.x, plane.point.y, plane.point.z)},
    )
    certificate = check_fit(false, data)
    assert certificate.residuals["first order"] <= 1e-5
    assert not certificate.ok
