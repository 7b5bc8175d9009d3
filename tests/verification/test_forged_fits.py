"""Saved fits with one false statement and a renewed digest: each is refused, whatever its method."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.methods.registry import METHODS
from fsopt.verification.checking import check_record

DATA = blobs(24, 3, seed=1)
MOMENTS = ("mpm", "l1-mpm", "s-mpm")
"""Minimax probability machines, with a ridge."""
PARAMS = {method: {"ridge": 0.01} for method in MOMENTS}
PARAMS |= {"gbd": {"m": 2}, "best-subset": {"m": 2}, "gmeb-penalised": {"c_plus": 0.05, "c_minus": 0.05}}


def falsehoods(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is false, and the changed parts of the record."""
    optimal = record["status"] == "optimal"
    yield "objective", {"objective": record["objective"] * 0.9 - 0.1}
    yield "intercept", {"intercept": record["intercept"] - 1.0}
    if record["method"] != "gmeb-penalised":  # whose optimum is stationary, too
        yield "status", {"status": "stationary" if optimal else "optimal"}
    coef = np.array(record["coef"])
    coef[np.abs(coef).argmax()] *= -1.0 if record["method"] == "pmm" else 1.05  # other weights may have as few errors
    yield "weight", {"coef": coef.tolist()}
    if record["bound"] is None:  # a linearised step has a bound, which is none of the driver
        yield "bound", {"status": "optimal", "bound": record["objective"]}
        for bound in (record["objective"], record["objective"] - 10.0):
            yield "bound of a heuristic", {"bound": bound}
    else:
        for away in (-0.01, 0.01):
            yield "bound", {"bound": record["bound"] + away * max(1.0, record["bound"])}


def falsehoods_of_moments(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is false of a minimax probability machine."""
    details, params = record["details"], record["params"]
    one, two = details["worst_case"]
    yield "worst case", {"details": {**details, "worst_case": [one + 0.01, two]}}
    ridge = params["ridge"] + 0.1
    yield "ridge", {"params": {**params, "ridge": ridge}, "details": {**details, "ridge": ridge}}
    point = copy.deepcopy(details["point"])
    point["z"][int(np.abs(point["z"]).argmax())] *= 1.01
    yield "point", {"details": {**details, "point": point}}
    if record["method"] == "s-mpm":
        yield "beta", {"details": {**details, "beta": details["beta"] + 0.01}}
        yield "lam", {"params": {**params, "lam": params.get("lam", 0.0) + 0.1}}


@pytest.mark.parametrize("method", METHODS)
def test_a_false_statement_is_refused(method):
    record = fit_record(fsopt.fit(method, DATA, **PARAMS.get(method, {})), data=DATA, source="blobs")
    assert check_record(sealed(record), DATA, "file").verified
    false = [*falsehoods(record), *(falsehoods_of_moments(record) if method in MOMENTS else ())]
    for what, parts in false:
        assert not check_record(sealed({**record, **parts}), DATA, "file").verified, what
