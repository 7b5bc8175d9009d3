"""The selection rule of Peleg & Meir, 6.2: absolute, relative or either, in raw or scaled units."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import blobs

import fsopt
from fsopt.methods.preprocessing import SelectionRule, support_vectors, without_rounding

WEIGHTS = st.lists(st.one_of(st.just(0.0), st.floats(1e-4, 1e3), st.floats(-1e3, -1e-4)), min_size=1, max_size=8)


@example(np.zeros(3), 0.0, "absolute", "raw")
@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    WEIGHTS.map(np.array),
    st.floats(0.0, 1.0),
    st.sampled_from(["relative", "absolute", "either"]),
    st.sampled_from(["raw", "scaled"]),
)
def test_the_rule_feature_by_feature(coef, epsilon, rule, units):
    deviation = np.arange(1.0, len(coef) + 1)
    size = [abs(w) * (d if units == "scaled" else 1.0) for w, d in zip(coef, deviation, strict=True)]
    limits = {"relative": epsilon * max(size), "absolute": epsilon, "either": epsilon * min(max(size), 1.0)}
    expected = tuple(j for j, s in enumerate(size) if s > 0 and s >= limits[rule])
    assert SelectionRule(rule, units, epsilon).select(coef, deviation) == expected


def test_l1_svm_selects_by_a_hundredth_of_the_largest_size(wdbc):
    data = wdbc.columns(slice(0, 20))
    fit = fsopt.fit("l1-svm", data, scale="center", c=0.02)
    size = np.abs(fit.coef * data.X.std(axis=0))
    assert fit.support == tuple(np.flatnonzero(size >= 0.01 * size.max()))


@pytest.mark.parametrize("method", ["onsvm", "l1-svm"])
def test_rounding_is_not_selected_where_w_is_zero(method):
    fit = fsopt.fit(method, blobs(30, 3), c=1e-3, scale="standard")  # HiGHS returns 7e-15 for one weight
    assert fit.objective == pytest.approx(0.03)
    assert fit.support == ()


def test_a_method_selects_by_its_threshold():
    for name, spec in fsopt.METHODS.items():
        w = np.array([-2.0, 0.0, 2.0 * spec.threshold, 1.9 * spec.threshold])
        assert spec.select(w) == (0, 2), name
        assert spec.select(np.zeros(3)) == (), name


def test_support_vectors_have_a_multiplier():
    assert support_vectors(np.array([0.0, 1.0, 1e-9, 1e-5])) == (1, 3)
    assert support_vectors(np.zeros(3)) == ()


def test_a_rounded_zero_is_a_weight_that_moves_no_score():
    w = without_rounding(np.array([1e-12, 1e-12, -1.0]), np.array([1.0, 1e6, 1.0]))
    assert w.tolist() == [0.0, 1e-12, -1.0]
