"""The models against reference optima, and in other units of the features."""

import json

import pytest
from support import REFERENCE, reference, sampled, solved

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
