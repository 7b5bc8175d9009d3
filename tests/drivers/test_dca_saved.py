"""Saved fits of L0-MPM: verified again without DCA, and refused where a part of the evidence is another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from saved_records import as_read
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.penalties.registry import PENALTIES
from fsopt.methods.mpm.worst_case import accuracy_limit
from fsopt.models.mpm.moments import Moments
from fsopt.verification.checking import check_fit, check_record


def forged(fit):
    """Yield a name and a fit that claims what is not so, for every part of the proof."""
    step, point = fit.details["program_params"], fit.details["point"]

    def with_step(**changes):
        return replace(fit, details={**fit.details, "program_params": {**step, **changes}})

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
    delta = 0.95 * accuracy_limit(Moments.of(data)).alpha
    fit = fsopt.fit("l0-mpm", data, delta=delta, approx=name, alpha=0.5, n_starts=3)
    checked = check_record(as_read(fit, data), data, "here")
    assert checked.verified, checked.certificate
    assert checked.claimed is Status.STATIONARY
    parts = {"objective", "constraints", "remainder", "first order", "linearisation"}
    assert set(checked.certificate.residuals) >= parts
    for part, false in forged(fit):
        assert not check_fit(false, data).ok, part
