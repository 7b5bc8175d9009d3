"""The exact claims of every method on a small data set: verified exactly, or not and named; with weights, too."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support import blobs, without_model

import fsopt
from fsopt.certificates.exact.claims import NOT_VERIFIED, VERIFIED
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.verification.origins import check_proof
from fsopt.verification.verify import exactly
from fsopt.verifier import verify

PARAMS = {"best-subset": {"m": 2}, "best-subset-penalised": {"lam": 0.5}, "fsv": {"lam": 0.3}, "l0-mpm": {"delta": 0.1}}
NAMED = {
    "gmeb-penalised": "leaves",
    "s-mpm": "outer",
}
"""Methods whose status is not shown exactly -> a word of the reason or the claim."""


DATA = blobs(n=24, p=4, seed=7, gap=0.3)


@pytest.fixture(scope="module")
def fits():
    return {name: fsopt.fit(name, DATA, **PARAMS.get(name, {})) for name in METHODS}


@pytest.mark.parametrize("name", METHODS)
def test_a_fit_is_verified_exactly_or_the_reason_is_named(name, fits):
    found = fsopt.verify(fits[name], DATA, exact=True)
    assert found.numerically
    exact = found.exact.plain()
    if name in NAMED or (name == "pmm" and fits[name].status != "optimal"):
        assert exact["word"] == NOT_VERIFIED
        assert any(claim["reason"] for claim in exact["claims"])
        assert NAMED.get(name, "") in json.dumps(exact["claims"])
        return
    assert exact["word"] == VERIFIED, exact["claims"]
    for claim in exact["claims"]:
        if claim["relative_width"] is not None:
            assert float(claim["relative_width"]) <= 1e-5
            assert Fraction(claim["lower"]) <= Fraction(claim["upper"])


@pytest.mark.parametrize("name", METHODS)
def test_the_proof_is_confirmed_alone_and_its_program_is_that_of_the_data(name, fits, tmp_path, capsys):
    proof = exactly(fits[name], DATA).proof()
    if not proof["claims"]:
        return
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(proof))
    assert verify.main([str(path)]) == 0
    assert "proved for the programs in this file" in capsys.readouterr().out
    assert check_proof(path, DATA).reason == ""
    other = DATA.with_X(DATA.X + 1e-9)
    assert "the data are other ones" in check_proof(path, other).reason


@pytest.mark.parametrize("name", ["svm", "gmeb", "mpm", "rsvm"])
def test_a_stated_number_that_is_wrong_is_not_verified(name, fits):
    for change in ({"objective": fits[name].objective * 1.001}, {"bound": fits[name].bound * 1.001}):
        assert not exactly(replace(fits[name], **change), DATA).verified


@pytest.mark.parametrize(("name", "key"), [("l1-mpm", "delta"), ("l0-mpm", "delta")])
def test_a_program_of_nearly_the_same_parameters_is_not_that_of_the_fit(name, key, fits):
    details = fits[name].details
    params = {**details["program_params"], key: details["program_params"][key] * (1 + 1e-12)}
    found = exactly(replace(fits[name], details={**details, "program_params": params}), DATA)
    assert not found.verified
    assert "exactly those" in found.claims[0].reason


def test_multipliers_of_column_generation_and_of_the_interior_point_suffice():
    for name, params in (("onsvm", {}), ("svm", {}), ("fsv", {"lam": 0.3})):
        assert exactly(without_model(name, DATA, **params), DATA).verified, name


WEIGHTED = blobs(30, 4, seed=3, gap=0.3).weighted(sample_weight=1.0 + np.arange(30) % 3)
BY_CLASS = blobs(30, 4, seed=3, gap=0.3).weighted(class_weight={"+1": 2.0})


@pytest.mark.parametrize("method", ["svm", "l1-svm", "onsvm", "gmeb", "rsvm", "rfe", "pearson"])
def test_the_interval_is_that_of_the_weighted_program(method):
    data = WEIGHTED if fsopt.METHODS[method].weights == "samples" else BY_CLASS
    fit = fsopt.fit(method, data)
    found = fsopt.verify(fit, data, exact=True).exact.plain()
    claim = found["claims"][0]
    ends = [Fraction(end) for end in claim["interval"] if end is not None]
    if found["word"] == "verified exactly":
        assert all(abs(float(end) - fit.objective) <= 1e-5 * max(1.0, abs(fit.objective)) for end in ends)
    else:
        assert claim["reason"]


def test_a_tree_of_weighted_samples_is_not_called_exact():
    fit = fsopt.fit("best-subset", WEIGHTED, m=2)
    found = fsopt.verify(fit, WEIGHTED, exact=True)
    assert found.numerically
    assert found.exact.plain()["word"] != "verified exactly"
    assert "weights" in found.exact.plain()["claims"][0]["reason"]
    with pytest.raises(ParameterError, match="weights"):
        fsopt.verify(fsopt.necessity(WEIGHTED, 2), WEIGHTED, exact=True)
