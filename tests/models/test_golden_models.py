"""The models against reference optima, and in other units of the features."""

import json

import numpy as np
import pytest
from support import REFERENCE, blobs, reference, sampled, solved

import fsopt

KINDS = {"model": {}, "relax": {"relax": True}}
"""Kind of a reference value -> parameters of its model that the entry does not name."""
ENTRIES = [
    entry
    for entry in json.loads((REFERENCE / "golden.json").read_text())
    if entry["kind"] in KINDS and entry["name"] in fsopt.MODELS
]
FIRST = list({(entry["name"], entry["data"]): entry for entry in ENTRIES}.values())


def name_of(entry):
    return "-".join([entry["name"], entry["data"], *(f"{k}={v}" for k, v in entry["params"].items())])


@pytest.mark.parametrize("entry", sampled([*FIRST, *(e for e in ENTRIES if e not in FIRST)], len(FIRST)), ids=name_of)
def test_reference_optimum(entry):
    data = reference(entry["data"])
    m, result = solved(entry["name"], data, **entry["params"], **KINDS[entry["kind"]])
    assert abs(result.objective - entry["objective"]) <= entry["atol"] + entry["rtol"] * abs(entry["objective"])
    integers = "MI" if entry["kind"] == "relax" else ""
    assert integers + fsopt.classify(m) == fsopt.MODELS[entry["name"]].problem_class


@pytest.mark.parametrize("name", ["gmeb-primal", "gmeb-dual", "svm", "onsvm"])
@pytest.mark.parametrize("size", sampled(["small", "wdbc"], 1))
def test_units_do_not_decide_what_is_certified(name, size, wdbc_std):
    params = {"r_plus": 0.4, "r_minus": 0.3} if name.startswith("gmeb") else {"c": 0.7}
    data = blobs(24, 4, seed=5, gap=0.3) if size == "small" else wdbc_std
    base = fsopt.solve(fsopt.build(name, data, **params)).objective
    mixed = 10.0 ** np.random.default_rng(1).uniform(-4, 4, data.p)
    for factors in (1e-4, 1e-2, 1e2, 1e4, mixed):
        m = fsopt.build(name, fsopt.Dataset(data.X * factors, data.y), **params)
        result = fsopt.solve(m)
        assert result.status == "optimal", (factors, result.certificate.residuals)
        if name.startswith("gmeb"):
            assert result.objective == pytest.approx(base, rel=1e-6)
