"""Search over M, choice of lambda, rounded relaxation: against all values of M, and against the exact optimum."""

import pytest
from support import all_values, blobs

import fsopt
from fsopt.analysis.feature_counts import choose_lambda, fewest_features, round_relaxation
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import ParameterError

TRAIN, VALIDATION = blobs(30, 6, seed=1, gap=0.6), blobs(200, 6, seed=2, gap=0.6)


def test_the_answer_meets_the_condition_and_one_feature_less_does_not():
    found = fewest_features(TRAIN, VALIDATION, method="rfe", within=0.01)
    limit = found.tried[6] + 0.01
    errors = {}
    for m in range(1, 7):
        fit = fsopt.fit("rfe", TRAIN, m=m)
        errors[m] = error_rate(fit.decision_function(VALIDATION.X), VALIDATION.y)
    assert errors[found.value] <= limit
    assert found.value == 1 or errors[found.value - 1] > limit
    assert all(errors[m] == e for m, e in found.tried.items())
    assert len(found.tried) <= 4


@pytest.mark.slow
def test_lambda_gives_the_most_features_that_it_can():
    fits = (fsopt.fit("best-subset-penalised", TRAIN, lam=0.01 * 1.6**k) for k in range(18))
    reached = {len(fit.support) for fit in fits}
    for m in (1, 3):
        found = choose_lambda(TRAIN, m)
        assert max(k for k in reached if k <= m) <= len(found.fit.support) <= m
        assert found.fit.params["lam"] == found.value


def test_the_rounded_relaxation_encloses_the_optimum():
    for m in (1, 3):
        found = round_relaxation(TRAIN, m)
        best = fsopt.fit("best-subset", TRAIN, m=m)
        assert found.bound <= best.objective * (1 + 1e-6)
        assert found.objective >= best.objective * (1 - 1e-6)
        again = fsopt.fit("svm", TRAIN.columns(list(found.support)))
        assert again.objective == pytest.approx(found.objective, rel=1e-6)
        assert found.sigma.sum() <= m + 1e-6


def test_the_largest_sigma_is_not_optimal_and_exchanges_of_one_feature_reach_the_optimum():
    data = blobs(30, 6, seed=13)
    best = min(value for s, value in all_values(data, 1.0).items() if sum(s) <= 2)
    rounded = round_relaxation(data, 2, scale="none", exchange=False)
    assert rounded.objective == pytest.approx(1.1638 * best, rel=1e-4)
    exchanged = round_relaxation(data, 2, scale="none")
    assert exchanged.objective == pytest.approx(best, rel=1e-6)
    assert exchanged.bound == pytest.approx(rounded.bound, rel=1e-9)
    assert len(exchanged.support) == 2


def test_wrong_numbers():
    with pytest.raises(ParameterError, match="'m'"):
        fewest_features(TRAIN, VALIDATION, method="svm")
    with pytest.raises(fsopt.FsoptError, match="features"):
        fewest_features(TRAIN, blobs(20, 3))
    with pytest.raises(ParameterError, match="'m'"):
        choose_lambda(TRAIN, 0)
