"""Baselines: filters beside SciPy and by hand, machines with signs, bounds and kernels, VS-SSVM with its parts."""

import math
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import ks_2samp, pearsonr
from sklearn.svm import SVC
from support import blobs, check_fit, exact_value

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.baselines import nonzero, partitions
from fsopt.drivers.run import Run
from fsopt.methods.baselines.by_weights import parts_of
from fsopt.methods.baselines.filters import FILTERS, entropy, fisher, infogain, ks, order_of, pearson, ranking


def feature(values, labels):
    return Dataset(np.array(values, dtype=float)[:, None], np.array(labels, dtype=float))


@pytest.mark.parametrize("ties", [False, True])
def test_scores_agree_with_other_software(ties, wdbc):
    data = wdbc.with_X(np.round(wdbc.X / wdbc.X.std(axis=0))) if ties else wdbc
    X, y = data.X, data.y
    np.testing.assert_allclose(pearson(data), [abs(pearsonr(x, y).statistic) for x in X.T], rtol=1e-9)
    np.testing.assert_allclose(ks(data), [ks_2samp(x[y > 0], x[y < 0]).statistic for x in X.T], rtol=1e-12)
    expected = [(x[y > 0].mean() - x[y < 0].mean()) ** 2 / (x[y > 0].var() + x[y < 0].var()) for x in X.T]
    np.testing.assert_allclose(fisher(data), expected, rtol=1e-9)


@pytest.mark.parametrize("name", FILTERS)
def test_scores_do_not_depend_on_shift_and_unit(name, wdbc):
    rng = np.random.default_rng(1)
    shift, unit = rng.normal(0, 10, wdbc.p), 10 ** rng.uniform(-3, 3, wdbc.p)
    moved = wdbc.with_X(shift + wdbc.X * unit)
    np.testing.assert_allclose(FILTERS[name](moved), FILTERS[name](wdbc), rtol=1e-6, atol=1e-12)
    if name != "infogain":
        np.testing.assert_allclose(FILTERS[name](wdbc.with_X(-wdbc.X)), FILTERS[name](wdbc), rtol=1e-9)


@pytest.mark.parametrize("name", FILTERS)
def test_constant_features_score_zero_and_ranking_is_in_order(name):
    data = blobs(40, 3, gap=1.0)
    flat = Dataset(np.column_stack([np.full(40, 0.1), data.X, np.zeros(40), np.full(40, 1e9 / 3)]), data.y)
    scores = FILTERS[name](flat)
    assert scores[[0, 4, 5]].tolist() == [0, 0, 0]
    assert np.all(scores >= 0)
    assert scores[1] > 0
    order = ranking(scores).tolist()
    assert sorted(order) == list(range(6))
    assert order.index(0) < order.index(4) < order.index(5)


@given(
    columns=st.lists(st.lists(st.integers(0, 2), min_size=12, max_size=12), min_size=5, max_size=9),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=10, deadline=None, derandomize=True)
@pytest.mark.parametrize("name", FILTERS)
def test_a_ranking_does_not_depend_on_the_order_of_the_columns(name, columns, order):
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    names = [f"f{j}" for j in range(len(columns))]
    shuffled = order.sample(range(len(columns)), len(columns))
    X = np.array(columns, dtype=float).T
    one = Dataset(X, y, features=names)
    other = Dataset(X[:, shuffled], y, features=[names[j] for j in shuffled])
    ranked = [[data.features[j] for j in order_of(FILTERS[name](data), data)] for data in (one, other)]
    assert ranked[0] == ranked[1]


def test_equal_gains_are_told_apart_by_correlation_then_by_name():
    y = np.array([1.0, 1, 1, -1, -1, -1])
    apart = [4.0, 5, 9, 1, 2, 3]  # both separate the classes: all information, and no equal correlation
    close = [4.0, 5, 6, 1, 2, 3]
    data = Dataset(np.column_stack([apart, close, apart, [0, 1, 0, 1, 0, 1]]), y, features=["b", "d", "a10", "a9"])
    fit = fsopt.fit("infogain", data, m=2)
    assert fit.details["scores"].tolist()[:3] == [1.0] * 3
    assert fit.details["ranking"].tolist() == [1, 0, 2, 3]
    assert fit.features == ("b", "d")
    kept = fsopt.fit("infogain", data, m=4)
    assert check_fit(kept, data).ok
    for other in ([0, 1, 2, 3], [1, 2, 0, 3]):
        assert not check_fit(replace(kept, details={**kept.details, "ranking": np.array(other)}), data).ok


def test_fisher_of_classes_without_variance_is_infinite():
    data = Dataset(np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 1.0], [3.0, 5.0]]), [1, 1, -1, -1])
    assert fisher(data).tolist() == [math.inf, (1.5 - 3.0) ** 2 / (0.25 + 4.0)]


def test_information_gain_by_hand():
    # Ten bins of two samples: three positive, one mixed, with a bit left, six negative; the label is 7 to 13.
    labels = [1] * 7 + [-1] * 13
    whole = -(7 / 20 * math.log2(7 / 20) + 13 / 20 * math.log2(13 / 20))
    assert infogain(feature(range(20), labels))[0] == pytest.approx(whole - 2 / 20 * 1.0)
    half = -(0.7 * math.log2(0.7) + 0.3 * math.log2(0.3))
    assert infogain(feature([0] * 10 + [1] * 10, labels))[0] == pytest.approx(whole - 0.5 * half)
    assert entropy(np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 2.0]])) == pytest.approx(4 / 7)


@pytest.mark.parametrize("method", FILTERS)
def test_the_svm_is_that_of_the_best_features(method):
    data = blobs(60, 7, seed=5)
    machine, params = ("svm", {"c": 2.0}) if method == "infogain" else ("rsvm", {"w_cap": 1.5})
    fit = fsopt.fit(method, data, m=3, scale="standard", **params)
    work = data.with_X((data.X - data.X.mean(axis=0)) / data.X.std(axis=0))
    selected = sorted(fit.details["ranking"][:3].tolist())
    assert fit.support == tuple(selected)
    assert fit.features == tuple(data.features[j] for j in selected)
    whole = fsopt.fit(machine, work.columns(selected), scale="none", **params)
    assert fit.objective == pytest.approx(whole.objective, rel=1e-6)
    assert (fit.status, fit.bound, fit.stop) == ("feasible", None, "complete")
    assert fit.certificate.ok
    assert check_fit(fit, data).ok
    np.testing.assert_allclose(fit.details["scores"], FILTERS[method](work), rtol=1e-9)


SAMPLE = blobs(24, 4, seed=1)
DATA = fsopt.Dataset(SAMPLE.X * [1.0, 20.0, 0.1, 3.0] + 7.0, SAMPLE.y, features=list("abcd"))
WORDS = {"upper": {"a": 0.3, "b": 0.03}, "lower": {"c": 0.0, "d": -0.5}}
LOWER, UPPER = np.array([-np.inf, -np.inf, 0.0, -0.5]), np.array([0.3, 0.03, np.inf, np.inf])
SCALE = DATA.X.std(axis=0)
WORK = fsopt.Dataset((DATA.X - DATA.X.mean(axis=0)) / SCALE, DATA.y)


def one_norm_value(data, c, lower, upper):
    """Return the optimum of the one-norm machine by scipy, in w+, w-, b and the slacks."""
    n, p = data.n, data.p
    signed = data.X * data.y[:, None]
    A = -np.hstack([signed, -signed, data.y[:, None], np.eye(n)])
    ends = [*((0, u) for u in upper), *((0, -v) for v in lower), (None, None), *[(0, None)] * n]
    return linprog(np.r_[np.ones(2 * p), 0.0, np.full(n, c)], A_ub=A, b_ub=-np.ones(n), bounds=ends).fun


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_the_optimum_keeps_the_bounds_in_the_units_of_the_features(method) -> None:
    fit = fsopt.fit(method, DATA, c=2.0, **WORDS)
    if method == "svm":
        expected = exact_value(WORK, np.ones(4), 2.0, "hinge", LOWER * SCALE, UPPER * SCALE)
    else:
        expected = one_norm_value(WORK, 2.0, LOWER * SCALE, UPPER * SCALE)
    assert fit.objective == pytest.approx(expected, rel=1e-6)
    assert fit.objective > 1.001 * fsopt.fit(method, DATA, c=2.0).objective
    assert np.all((fit.coef >= LOWER) & (fit.coef <= UPPER * (1 + 1e-15)))
    assert fit.coef[1] == pytest.approx(0.03, rel=1e-6)
    assert (fit.status, fsopt.verify(fit, DATA, exact=True).verified) == ("optimal", True)
    assert fsopt.fit(method, DATA, c=2.0, scale="none", **WORDS).coef[1] <= 0.03


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_rows_on_the_weights_are_a_change_of_the_model_and_are_proved_like_bounds(method) -> None:
    def rows(model):
        model.own = pyo.Constraint(model.J, rule=lambda m, j: (-0.5 if j == 3 else None, 4.0 * m.w[j], 0.4))

    changed = {method: rows}
    fit = fsopt.fit(method, WORK, c=2.0, scale="none", customise=changed)
    assert (fit.status, fsopt.verify(fit, WORK, customise=changed).verified) == ("optimal", True)
    lower, upper = np.array([-np.inf] * 3 + [-0.125]), np.full(4, 0.1)
    expected = exact_value(WORK, np.ones(4), 2.0, "hinge", lower, upper)
    if method == "onsvm":
        expected = one_norm_value(WORK, 2.0, lower, upper)
    assert fit.objective == pytest.approx(expected, rel=1e-6)
    assert fit.coef.max() == pytest.approx(0.1, rel=1e-6)


KERNEL_DATA = blobs(30, 4, gap=0.5)
Z = (KERNEL_DATA.X - KERNEL_DATA.X.mean(axis=0)) / KERNEL_DATA.X.std(axis=0)
KERNELS = {
    "gaussian": ({"width": 1.5}, {"kernel": "rbf", "gamma": 1 / (2 * 1.5**2)}),
    "linear": ({}, {"kernel": "linear"}),
}


@pytest.mark.parametrize("c", [0.1, 5.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_libsvm_has_the_same_scores(kernel, c):
    ours, theirs = KERNELS[kernel]
    fit = fsopt.fit("svm", KERNEL_DATA, kernel=kernel, c=c, **ours)
    machine = SVC(C=c, tol=1e-10, **theirs).fit(Z, KERNEL_DATA.y)
    assert fit.status == "optimal"
    wanted = machine.decision_function(Z)
    assert fit.decision_function(KERNEL_DATA.X) == pytest.approx(wanted, rel=1e-4, abs=1e-4 * np.abs(wanted).max())
    # Some samples may be exactly on the margin without a multiplier.
    assert set(fit.support) <= set(machine.support_.tolist())


def test_parts_are_shares_of_each_class():
    data = fsopt.Dataset(np.arange(50.0)[:, None], [1.0] * 20 + [-1.0] * 30)
    parts = parts_of(data, 6, 0.5, seed=3)
    for part in parts:
        assert len(set(part.tolist())) == 25
        assert np.sum(data.y[part] > 0) == 10
    assert len({tuple(part.tolist()) for part in parts}) == 6
    again, other = parts_of(data, 6, 0.5, seed=3), parts_of(data, 6, 0.5, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(parts, other, strict=True))
    assert [len(part) for part in parts_of(data, 2, 1.0, seed=0)] == [50, 50]
    assert [len(part) for part in parts_of(data, 1, 1e-3, seed=0)] == [2]


@pytest.mark.parametrize("solver", [None, "clarabel"])
def test_each_sparse_svm_is_the_one_norm_svm_of_its_samples(solver):
    data = blobs(60, 8, seed=1)
    parts = parts_of(data, 3, 0.6, seed=2)
    found = partitions(data, parts, c=0.7, run=Run(solver=solver))
    assert found.certificate.ok
    values = []
    for k, part in enumerate(parts):
        alone = fsopt.fit("onsvm", data.rows(part), c=0.7, scale="none")
        values.append(alone.objective)
        np.testing.assert_allclose(found.point["w"][k], alone.coef, atol=1e-6)
        assert tuple(np.flatnonzero(found.point["selected"][k])) == alone.support
    assert found.objective == pytest.approx(sum(values), rel=1e-6)
    assert len(set(map(tuple, found.point["selected"].tolist()))) > 1


def test_the_last_svm_is_trained_on_the_union():
    data = blobs(80, 10, seed=1)
    fit = fsopt.fit("vs-ssvm", data, c=0.08, n_partitions=8, scale="standard")
    assert fit.details["counts"].tolist() == nonzero(fit.details["sparse_w"]).sum(axis=0).tolist()
    union = np.flatnonzero(fit.details["counts"])
    assert fit.support == tuple(union)
    assert {0, 1} <= set(union.tolist())
    assert 2 < len(union) < 10
    assert fit.details["counts"][:2].tolist() == [8, 8]
    work = data.with_X((data.X - data.X.mean(axis=0)) / data.X.std(axis=0))
    alone = fsopt.fit("rsvm", work.columns(union), scale="none", w_cap=fit.details["w_cap"])
    assert fit.objective == pytest.approx(alone.objective, rel=1e-6)
    assert (fit.status, fit.bound, fit.stop, fit.iterations) == ("feasible", None, "complete", 8)
