"""Rounding of the relaxation by exchanges, against all selections; the inventory holds M, lambda and the rounding."""

import pytest
from support import all_values, blobs

import fsopt
from fsopt.analysis.feature_counts import choose_lambda, fewest_features, round_relaxation
from fsopt.errors import ParameterError

TRAIN, VALIDATION = blobs(30, 6, seed=1, gap=0.6), blobs(200, 6, seed=2, gap=0.6)


def test_the_largest_sigma_is_not_optimal_and_exchanges_of_one_feature_reach_the_optimum():
    data = blobs(30, 6, seed=13)
    best = min(value for s, value in all_values(data, 1.0).items() if sum(s) <= 2)
    rounded = round_relaxation(data, 2, scale="none", exchange=False)
    assert rounded.objective == pytest.approx(1.1638 * best, rel=1e-4)
    exchanged = round_relaxation(data, 2, scale="none")
    assert exchanged.objective == pytest.approx(best, rel=1e-6)
    assert exchanged.bound == pytest.approx(rounded.bound, rel=1e-9)
    assert exchanged.bound <= best * (1 + 1e-6)
    assert exchanged.sigma.sum() <= 2 + 1e-6
    assert len(exchanged.support) == 2


def test_wrong_numbers():
    with pytest.raises(ParameterError, match="'m'"):
        fewest_features(TRAIN, VALIDATION, method="svm")
    with pytest.raises(fsopt.FsoptError, match="features"):
        fewest_features(TRAIN, blobs(20, 3))
    with pytest.raises(ParameterError, match="'m'"):
        choose_lambda(TRAIN, 0)
