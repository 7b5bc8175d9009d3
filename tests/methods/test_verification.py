"""Wide tolerances and gaps, parameters out of range, and the exact claims of every method."""

import contextlib
import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from support import blobs, check_fit, there, without_model

import fsopt
from fsopt.answers.certificate import WIDEST
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.certificates.exact.claims import NOT_VERIFIED, VERIFIED
from fsopt.common.arguments import ALL, range_of
from fsopt.errors import FileError, FsoptError, ParameterError
from fsopt.methods.checking import WORDS, refused
from fsopt.methods.registry import METHODS
from fsopt.verification.verify import check_proof, verify_record
from fsopt.verifier import verify

DATA = blobs(40, 4, seed=3)


def test_a_large_tolerance_excuses_nothing_but_the_gap():
    fit = fsopt.fit("best-subset", DATA, m=1)
    for tolerance in (10**400, 1e9, float("inf")):
        loose = dataclasses.replace(fit, params={**fit.params, "tolerance": tolerance})
        for false in ({"objective": fit.objective + 0.1}, {"intercept": fit.intercept + 1.0}, {"features": ()}):
            with contextlib.suppress(FileError):
                assert not check_fit(dataclasses.replace(loose, **false), DATA).ok


@pytest.mark.parametrize("name", ["onsvm", "svm", "l1-svm", "mpm", "l1-mpm", "svm-norm", "rsvm"])
def test_a_fit_by_a_solver_without_multipliers_is_verified_by_those_that_it_was_certified_with(name):
    data = blobs(16, 3, gap=0.4)
    fit = fsopt.fit(name, data, solver=there("scip"))
    assert fit.status == "optimal"
    assert fsopt.verify(fit, data).verified
    forged = dataclasses.replace(fit, objective=fit.objective * 1.01, bound=fit.bound * 1.01)
    assert not fsopt.verify(forged, data).verified


@pytest.mark.parametrize("method", list(METHODS))
def test_defaults_are_taken_and_every_word_and_number_outside_its_range_is_refused_by_the_method(method):
    spec = METHODS[method]
    defaults = dict(spec.parameters)
    assert refused(spec, defaults) == []
    for name in defaults:
        words = name in WORDS or f"{method}.{name}" in WORDS
        if not words and range_of(method, name) == ALL:
            continue
        bad = "zzz" if words else -1
        assert refused(spec, {**defaults, name: bad}) == [name]
        with pytest.raises(FsoptError):
            fsopt.fit(method, DATA, **{name: bad})


WIDE = 10.0
SEARCHES = [("best-subset", {"m": 5}), ("gbd", {"m": 5}), ("best-subset-penalised", {})]


@pytest.mark.parametrize(("method", "params"), SEARCHES)
def test_a_gap_above_a_thousandth_is_feasible_within_the_tolerance(method, params, wdbc):
    data = wdbc.rows(slice(0, 120)).columns(slice(0, 8))
    fit = fsopt.fit(method, data, tolerance=WIDE, **params)
    assert (fit.objective - fit.bound) / max(1.0, fit.objective) > WIDEST
    assert (fit.status, fit.stop) == ("feasible", "within 10")
    assert fit.certificate.ok
    assert "feasible, within 10" in fit.summary()
    record = json.loads(json.dumps(fit_record(fit, source="wdbc")))
    found = verify_record(sealed(record), data, "fit.json")
    assert (found.verified, found.recomputed) == (True, "feasible")
    claimed = sealed(record | {"status": "optimal", "stop": "optimal"})
    assert not verify_record(claimed, data, "fit.json").verified
    narrow = fsopt.fit(method, data, tolerance=WIDEST, **params)
    assert (narrow.status, narrow.stop) == ("optimal", "optimal")
    assert (narrow.objective - narrow.bound) / max(1.0, narrow.objective) <= WIDEST


@pytest.mark.parametrize("c", [1e8, 1e12])
def test_a_gap_that_rounding_leaves_open_is_the_reason_to_stop(c):
    fit = fsopt.fit("best-subset", blobs(n=20, p=3, seed=7, gap=0.3), m=2, c=c, scale="none")
    gap = (fit.objective - fit.bound) / fit.objective
    assert (fit.status, fit.stop) == ("feasible", f"within {gap:.3g}")
    assert gap > 1e-6


def test_weights_of_zero_are_no_word_on_the_selected_features():
    data = fsopt.Dataset([[0.0], [1.0], [0.0], [1.0]], [-1, -1, 1, 1], ["a"])
    fit = fsopt.fit("best-subset", data, m=1, include=["a"])
    assert (fit.features, fit.coef.tolist()) == (("a",), [0.0])
    assert "w = 0: every sample has the same score" in fit.warnings


PARAMS = {"best-subset": {"m": 2}, "best-subset-penalised": {"lam": 0.5}, "fsv": {"lam": 0.3}, "l0-mpm": {"delta": 0.1}}
NAMED = {"gmeb-penalised": "no multipliers", "s-mpm": "outer"}
"""Methods whose status is not shown exactly -> a word of the reason or the claim."""


CLAIMS_DATA = blobs(n=20, p=3, seed=7, gap=0.3)


@pytest.mark.parametrize("name", METHODS)
def test_a_fit_is_verified_exactly_or_the_reason_is_named_and_its_proof_is_confirmed_alone(name, tmp_path, capsys):
    fit = fsopt.fit(name, CLAIMS_DATA, **PARAMS.get(name, {}))
    found = fsopt.verify(fit, CLAIMS_DATA, exact=True)
    assert found.numerically
    exact, proof = found.record()["exact"], found.proof()
    if proof["claims"]:
        path = tmp_path / "proof.json"
        path.write_text(json.dumps(proof))
        assert verify.main([str(path)]) == 0
        assert "proved for the programs in this file" in capsys.readouterr().out
        assert check_proof(path, CLAIMS_DATA)["reason"] == ""
        other = CLAIMS_DATA.with_X(CLAIMS_DATA.X + 1e-9)
        assert "the data are other ones" in check_proof(path, other)["reason"]
    if name in NAMED or (name == "pmm" and fit.status != "optimal"):
        assert exact["word"] == NOT_VERIFIED
        assert any(claim["reason"] for claim in exact["claims"])
        assert NAMED.get(name, "") in json.dumps(exact["claims"])
        return
    assert exact["word"] == VERIFIED, exact["claims"]
    for claim in exact["claims"]:
        if claim["relative_width"] is not None:
            assert float(claim["relative_width"]) <= 1e-5
            assert Fraction(claim["lower"]) <= Fraction(claim["upper"])


def test_multipliers_of_column_generation_and_of_the_interior_point_suffice():
    for name, params in (("onsvm", {}), ("svm", {}), ("fsv", {"lam": 0.3})):
        assert fsopt.verify(without_model(name, CLAIMS_DATA, **params), CLAIMS_DATA, exact=True).verified, name


CLAIMS_WEIGHTED = blobs(30, 4, seed=3, gap=0.3).weighted(sample_weight=1.0 + np.arange(30) % 3)
BY_CLASS = blobs(30, 4, seed=3, gap=0.3).weighted(class_weight={"+1": 2.0})


@pytest.mark.parametrize("method", ["svm", "l1-svm", "onsvm", "gmeb", "rsvm", "rfe", "pearson"])
def test_the_interval_is_that_of_the_weighted_program(method):
    data = CLAIMS_WEIGHTED if fsopt.METHODS[method].weights == "samples" else BY_CLASS
    fit = fsopt.fit(method, data)
    found = fsopt.verify(fit, data, exact=True).record()["exact"]
    claim = found["claims"][0]
    ends = [Fraction(end) for end in claim["interval"] if end is not None]
    if found["word"] == "verified exactly":
        assert all(abs(float(end) - fit.objective) <= 1e-5 * max(1.0, abs(fit.objective)) for end in ends)
    else:
        assert claim["reason"]


def test_a_tree_of_weighted_samples_is_not_called_exact():
    fit = fsopt.fit("best-subset", CLAIMS_WEIGHTED, m=2)
    found = fsopt.verify(fit, CLAIMS_WEIGHTED, exact=True)
    assert found.numerically
    assert found.word != "verified exactly"
    assert "weights" in found.claims[0].reason
    with pytest.raises(ParameterError, match="weights"):
        fsopt.verify(fsopt.necessity(CLAIMS_WEIGHTED, 2), CLAIMS_WEIGHTED, exact=True)
