"""The proof behind a saved fit of GBD: forgeries, and what the search over its cuts had no time for."""

import copy
from functools import cache

import numpy as np
import pytest
from saved_records import as_read, refuse_all
from support import reference

import fsopt
from fsopt.errors import FileError
from fsopt.verification.checking import check_record

CASES = {
    "m": ("gbd", {"m": 2, "c": 4.0}),
    "budget": ("gbd", {"costs": [1, 2, 3, 1, 2, 3], "budget": 6.0, "implies": [[0, 1]], "conflicts": [[4, 5]]}),
    "held out": ("gbd", {"m": 2, "c": 4.0, "validation": 0.25, "patience": 3}),
    "few cuts": ("gbd", {"m": 2, "c": 4.0, "max_cuts": 4}),
    "lambda": ("gbd-lambda", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
}


@cache
def saved(case):
    method, params = CASES[case]
    data = reference("gbd_n6")
    return as_read(fsopt.fit(method, data, scale="none", **params), data)


def record_of(case):
    """Return the data and the saved record of a fit, as it is read from a file."""
    return reference("gbd_n6"), copy.deepcopy(saved(case))


@pytest.mark.parametrize("case", CASES)
def test_an_honest_record_is_verified_without_a_solver(case, monkeypatch):
    data, record = record_of(case)
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    found = check_record(record, data, "test")
    assert found.verified, found.certificate
    assert "recomputed from the cuts" in found.notes[0]


FORGERIES = {
    "bound raised": lambda r: r.update(bound=1.001 * r["bound"]),
    "objective lowered": lambda r: r.update(objective=0.999 * r["objective"]),
    "both raised": lambda r: r.update(objective=1.01 * r["objective"], bound=1.01 * r["bound"]),
    "bound above objective": lambda r: r.update(bound=1.5 * r["objective"], status="feasible"),
    "cuts removed": lambda r: r["details"].update(alphas=r["details"]["alphas"][:1]),
    "cut unbalanced": lambda r: r["details"]["alphas"][0].__setitem__(0, r["details"]["alphas"][0][0] + 0.01),
    "cuts scaled": lambda r: r["details"].update(alphas=(3.0 * np.array(r["details"]["alphas"])).tolist()),
    "no cuts": lambda r: r["details"].update(alphas=[]),
    "bound nan": lambda r: r.update(bound=float("nan")),
    "selection too large": lambda r: r["details"].update(sigma=[1.0] * 6),
    "selection without a used feature": lambda r: r["details"].update(sigma=[0.0] * 6),
    "another weight": lambda r: r["coef"].__setitem__(4, 1.01 * r["coef"][4]),
    "another intercept": lambda r: r.update(intercept=r["intercept"] + 0.01),
    "penalty weight lowered": lambda r: r["params"].update(c=0.9 * r["params"]["c"]),
}


@pytest.mark.parametrize("case", ["m", "lambda"])
def test_a_forged_record_is_not_verified(case):
    data, record = record_of(case)
    refuse_all(record, data, FORGERIES, {"bound nan": "bound is not a number"})


def test_damaged_cuts_and_a_damaged_selection_are_said():
    _, honest = record_of("m")
    unknown = copy.deepcopy(honest["details"]["alphas"])
    unknown[0][0] = float("nan")
    wrong = {"alphas": [None, [["x"]], [[1.0]], unknown], "sigma": [None, [1.0], ["x"] * 6, [0.5] * 6]}
    words = {"alphas": "list of cuts is damaged", "sigma": "selection is damaged"}
    for name, values in wrong.items():
        for value in values:
            data, record = record_of("m")
            record["details"][name] = value
            with pytest.raises(FileError, match=words[name]):
                check_record(record, data, "test")


def test_an_open_gap_cannot_be_called_optimal():
    data, record = record_of("few cuts")
    assert record["status"] == "feasible"
    record["status"] = "optimal"
    assert not check_record(record, data, "test").verified


def test_a_bound_between_the_proved_one_and_the_objective_is_refuted_by_the_search():
    data, record = record_of("few cuts")
    record["bound"] += 0.1 * (record["objective"] - record["bound"])
    found = check_record(record, data, "test")
    assert not found.verified
    assert found.certificate.residuals["bound"] > 1e-3


def test_a_bound_that_the_search_had_no_time_for_is_not_verified(monkeypatch):
    """What was not proved counts for nothing, though the fit is honest."""
    data, record = record_of("m")
    monkeypatch.setattr("fsopt.methods.gbd.verification.NODE_LIMIT", 3)
    found = check_record(record, data, "test")
    assert not found.verified
    assert "not confirmed" in found.notes[0]


def test_other_rows_than_those_held_out_are_noticed():
    data, record = record_of("held out")
    record["params"]["seed"] = 1
    assert not check_record(record, data, "test").verified
