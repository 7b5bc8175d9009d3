"""A tolerance stops a search; it makes no optimum of a wide interval, neither in a fit nor in a saved file."""

import json

import pytest

import fsopt
from fsopt.answers.certificate import WIDEST, closed, gap_allowed
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.verification.checking import check_record

WIDE = 10.0
SEARCHES = [("best-subset", {"m": 5}), ("gbd", {"m": 5}), ("best-subset-penalised", {})]


@pytest.mark.parametrize(("method", "params"), SEARCHES)
def test_a_gap_above_a_thousandth_is_feasible_within_the_tolerance(method, params, wdbc):
    data = wdbc.rows(slice(0, 120)).columns(slice(0, 8))
    fit = fsopt.fit(method, data, tolerance=WIDE, **params)
    assert (fit.objective - fit.bound) / max(1.0, fit.objective) > WIDEST
    assert (fit.status, fit.stop) == ("feasible", "within 10")
    assert not fit.certificate.ok
    assert "feasible (within 10)" in fit.summary()
    record = json.loads(json.dumps(fit_record(fit, source="wdbc")))
    found = check_record(sealed(record), data, "fit.json")
    assert (found.verified, found.recomputed) == (True, "feasible")
    claimed = sealed(record | {"status": "optimal", "stop": "optimal"})
    assert not check_record(claimed, data, "fit.json").verified
    narrow = fsopt.fit(method, data, tolerance=WIDEST, **params)
    assert (narrow.status, narrow.stop) == ("optimal", "optimal")
    assert (narrow.objective - narrow.bound) / max(1.0, narrow.objective) <= WIDEST


def test_the_words_and_the_gap_that_a_tolerance_gives():
    assert closed("optimal", 0.06, 10.0) == "within 10"
    assert closed("optimal", WIDEST, 10.0) == "optimal"
    assert closed("time-limit", 0.06, 10.0) == "time-limit"
    assert [gap_allowed(v) for v in (0.0, 1e-6, 1e-3, 10.0)] == [0.0, 1e-6, 1e-3, 1e-3]


def test_an_exact_check_of_a_wide_interval_claims_bounds_and_prints_its_width(wdbc):
    data = wdbc.rows(slice(0, 120)).columns(slice(0, 8))
    fit = fsopt.fit("best-subset", data, m=5, tolerance=WIDE)
    [claim] = fsopt.verify(fit, data, exact=True).exact.plain()["claims"]
    assert claim["claim"] == "bounds on the optimum over all allowed selections"
    assert float(claim["relative_width"]) > WIDEST
    [proved] = fsopt.verify(fsopt.fit("best-subset", data, m=5), data, exact=True).exact.plain()["claims"]
    assert proved["claim"] == "the optimum over all allowed selections"
    assert float(proved["relative_width"]) <= 1e-6
