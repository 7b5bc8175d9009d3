"""Theorem 9 by its proof: (21) bounds the suprema that it is made of; Remark 10's norms."""

import itertools
import math

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.bound_terms import ScaledClassifier
from fsopt.methods.gmeb.grid_bound import Confidence, fixed_scale_terms, khintchine
from fsopt.papers.gmeb.generalization_bounds import scaled_bound

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((9, 4)), np.where(np.arange(9) < 4, 1.0, -1.0)
S = np.array([0.5, 1.0, 2.0, 0.3])


FLAT = ScaledClassifier(np.zeros(4), np.zeros(4), 0.0)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_the_class_terms_of_21_bound_the_suprema_over_all_signs(exponent):
    found = fixed_scale_terms(X, Y, FLAT, S, r=9.0, norm=1.5, exponent=exponent)
    q = math.inf if exponent == 1 else 1.0 if math.isinf(exponent) else exponent / (exponent - 1)
    for label in (1, -1):
        rows = X[label == Y] * S
        # sup over ||w|| <= B and sigma <= s of sum_i eps_i w'(sigma * x_i) is B times the dual norm at sigma = s.
        sups = [1.5 * np.linalg.norm(np.array(e) @ rows, ord=q) for e in itertools.product((-1, 1), repeat=len(rows))]
        assert 2.0 / len(Y) * np.mean(sups) <= found.terms[f"class {label:+d}"]


def test_khintchine_constants():
    assert khintchine(2.0) == khintchine(5.0) == 1.0
    assert khintchine(4 / 3) == pytest.approx(3 ** (1 / 4))  # q = 4: the fourth moment of a sum of signs
    assert khintchine(1.0, 50) == pytest.approx(math.sqrt(2 * math.log(100)))
    with pytest.raises(ParameterError, match="exponent"):
        khintchine(0.5)
    with pytest.raises(ParameterError, match="concentration"):
        Confidence(0.05, "hoeffding")


def test_a_scale_above_s_voids_21():
    found = fixed_scale_terms(X, Y, ScaledClassifier(np.zeros(4), 2 * S, 0.0), S, r=9.0)
    assert not found.conditions["sigma <= s"]


def test_the_proof_is_an_option_of_the_bound_of_a_fit():
    data = blobs(60, 5)
    fit = fsopt.fit("gmeb", data, scale="standard")
    proof, theorem = scaled_bound(fit, data, form="proof"), scaled_bound(fit, data)
    assert proof.applies
    assert proof.terms["margin loss"] == theorem.terms["margin loss"]
    assert proof.terms["class +1"] <= theorem.terms["class +1"] * (1 + 1e-9), "the theorem rounds up once more"
    entropy = scaled_bound(fit, data, form="entropy")
    assert entropy.applies
    assert entropy.terms["class +1"] == proof.terms["class +1"]
    assert entropy.terms["confidence"] != proof.terms["confidence"]
    with pytest.raises(ParameterError, match="form"):
        scaled_bound(fit, data, form="print")
