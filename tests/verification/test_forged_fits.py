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
from fsopt.verification.checking import check_record

DATA = blobs(24, 3, seed=1)
RIDGE = {"ridge": 0.01}
FITS: dict[str, dict[str, Any]] = {
    "gmeb": {},
    "onsvm": {},
    "gbd": {},
    "fsv": {},
    "l0-mpm": {},
    "mpm": RIDGE,
    "l1-mpm": RIDGE,
    "s-mpm": RIDGE,
}


def falsehoods(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is false, and the changed parts of the record."""
    optimal = record["status"] == "optimal"
    for name in ("objective", "intercept"):
        yield name, {name: record[name] * 0.9 - 0.1}
    yield "status", {"status": "stationary" if optimal else "optimal"}
    coef = np.array(record["coef"])
    coef[np.abs(coef).argmax()] *= 1.05
    yield "weight", {"coef": coef.tolist()}
    if record["bound"] is None:  # a linearised step has a bound, which is none of the driver
        yield "bound", {"status": "optimal", "bound": record["objective"]}
    else:
        yield "bound", {"bound": record["bound"] * 0.9 - 0.1}


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


@pytest.mark.parametrize("method", FITS)
def test_a_false_statement_is_refused(method):
    record = fit_record(fsopt.fit(method, DATA, **FITS[method]), data=DATA, source="blobs")
    assert check_record(sealed(record), DATA, "file").verified
    false = [*falsehoods(record), *(falsehoods_of_moments(record) if "ridge" in FITS[method] else ())]
    for what, parts in false:
        assert not check_record(sealed({**record, **parts}), DATA, "file").verified, what


def test_the_bound_of_the_last_step_is_no_bound_of_the_errors():
    record = fit_record(fsopt.fit("misclass", DATA), data=DATA, source="blobs")
    assert record["bound"] is None
    false = {"status": "optimal", "bound": record["objective"]}
    assert not check_record(sealed({**record, **false}), DATA, "file").verified
