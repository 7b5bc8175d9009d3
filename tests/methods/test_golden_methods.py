"""Values of the methods against other software: tests/reference/golden.json."""

import json

import numpy as np
import pytest
from support import REFERENCE, reference, sampled

import fsopt

ENTRIES = json.loads((REFERENCE / "golden.json").read_text())
FITS = [e for e in ENTRIES if e["kind"] == "fit" and e["name"] in fsopt.METHODS]
LONG = [e for e in FITS if (e["name"], e["data"]) in (("gmeb-penalised", "wdbc_std"), ("fsv", "sgm_wdbc_std"))]


def name_of(entry):
    words = [f"{k}={v}" for k, v in entry["params"].items() if not isinstance(v, list)]
    return "-".join([entry["name"], entry["data"], *words])


def ends_first(entries):
    """Return the entries, first and last of each method, data set and C before those between them."""
    groups = {}
    for entry in entries:
        groups.setdefault((entry["name"], entry["data"], entry["params"].get("c")), []).append(entry)
    ends = [e for group in groups.values() for e in group if e in (group[0], group[-1]) and e not in LONG]
    return sampled([*ends, *(e for e in entries if e not in ends)], len(ends))


@pytest.mark.parametrize("entry", ends_first(FITS), ids=name_of)
def test_fit_reaches_the_reference_value(entry):
    data = reference(entry["data"])
    stored = {"scale": "none"} if entry.get("no_scaling") else {}  # the value was computed on the data as stored
    fit = fsopt.fit(entry["name"], data, **entry["params"], **stored)
    value, allowed = entry["objective"], entry["atol"] + entry["rtol"] * abs(entry["objective"])
    if entry.get("at_most"):
        assert fit.objective <= value + allowed
    else:
        assert fit.objective == pytest.approx(value, abs=allowed, rel=0)
    assert fit.certificate.ok, fit.certificate
    if entry.get("support") is not None:
        assert list(fit.support) == entry["support"]
        assert fit.features == tuple(data.features[j] for j in entry["support"])
    if "support_at_1e5" in entry:
        size = np.abs(fit.coef)
        assert np.flatnonzero(size > 1e-5 * size.max()).tolist() == entry["support_at_1e5"]
    if "plane_errors" in entry:
        wrong = int(np.sum(data.y * fit.decision_function(data.X) <= 0))
        assert fit.details["plane_errors"] == wrong == entry["plane_errors"]
