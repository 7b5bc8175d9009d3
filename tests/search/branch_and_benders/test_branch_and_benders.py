"""Branch and Benders: all selections by brute force for every loss and for sparse samples, stops, histories."""

import itertools
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from selection_cases import KINDS, NOISE, allowed_values, drawn, exact_value, problem_of, solved, solved_as
from support import blobs, reference, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.methods.gbd.problems import selection_problem
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import replayed, unpacked
from fsopt.search.branch_and_benders.problem import BranchSettings
from fsopt.search.branch_and_benders.tree import FORGOTTEN, marks_of

FORMS = ("hinge", "squared-hinge", "logistic", "sparse")
CASES = sorted(
    itertools.product(range(8), range(len(FORMS)), range(len(KINDS))),
    key=lambda case: (case[0], (case[1] + case[2]) % len(FORMS)),
)
"""Seed, form and kind: first each kind of constraints with one form after the other."""


def thinned(data, seed):
    """Return a data set with two thirds of its numbers 0, a feature twice and a feature of zeros; sparse and dense."""
    X = data.X * (np.random.default_rng(seed).uniform(size=data.X.shape) < 1 / 3)
    X = np.column_stack([X, X[:, 0], np.zeros(data.n)])
    return (fsopt.Dataset(kind(X), data.y) for kind in (sp.csr_array, np.asarray))


@pytest.mark.parametrize(("seed", "form", "kind"), sampled(CASES, 3 * len(KINDS) // 2))
def test_the_best_of_all_allowed_selections_is_found_and_the_bound_is_not_above_it(seed, form, kind):
    form, kind = FORMS[form], KINDS[kind]
    data, c, limits = drawn(kind, seed)
    given, loss = data, form
    if form == "sparse":
        (given, data), loss = thinned(data, seed), "hinge"
        limits = {k: [*v, 0.5, 0.5] if isinstance(v, list) and k in ("costs", "lam") else v for k, v in limits.items()}
    solved_as(allowed_values(data, c, limits, loss), problem_of(given, c, limits, loss))


@pytest.mark.parametrize("loss", FORMS[:3])
def test_order_and_units_change_nothing(loss):
    data = blobs(30, 6, seed=3)
    result = solved(problem_of(data, 2.0, {"m": 3}, loss))
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(data.n), rng.permutation(data.p)
    turned = solved(problem_of(fsopt.Dataset(data.X[rows][:, columns], data.y[rows]), 2.0, {"m": 3}, loss))
    np.testing.assert_array_equal(turned.point["sigma"], result.point["sigma"][columns])
    assert turned.objective == pytest.approx(result.objective, rel=2e-6)
    scaled = solved(problem_of(data.with_X(1e-4 * data.X), 2e8, {"m": 3}, loss))
    np.testing.assert_array_equal(scaled.point["sigma"], result.point["sigma"])
    assert scaled.objective * 1e-8 == pytest.approx(result.objective, rel=2e-6)


@pytest.mark.parametrize("loss", FORMS[1:3])
def test_weights_of_samples_are_copies_of_them(loss):
    data = blobs(24, 5, seed=4, gap=0.2)
    counts = np.random.default_rng(0).integers(1, 4, data.n)
    copies = fsopt.Dataset(np.repeat(data.X, counts, axis=0), np.repeat(data.y, counts))
    weighted = fsopt.Dataset(data.X, data.y, weights=counts.astype(float))
    one, other = (solved(problem_of(d, 1.5, {"m": 2}, loss)) for d in (weighted, copies))
    np.testing.assert_array_equal(one.point["sigma"], other.point["sigma"])
    assert one.objective == pytest.approx(other.objective, rel=2e-6)
    assert one.objective == pytest.approx(exact_value(weighted, one.point["sigma"], 1.5, loss), rel=2e-6)


def test_constraints_that_the_user_adds_to_the_master_count():
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=3)
    master.objective.expr = master.theta + 7.0 * master.sigma[4] - 2.0 * master.sigma[1]
    master.sigma[0].fix(1)
    problem = selection_problem(data, master, 4.0)
    prices = np.array([0, -2.0, 0, 0, 7.0, 0])
    values = {s: v + prices @ s for s, v in allowed_values(data, 4.0, {"m": 3}).items() if s[0] == 1}
    assert solved(problem).objective == pytest.approx(min(values.values()), rel=2e-6)


def test_a_problem_without_selections_is_infeasible():
    data = blobs(20, 4)
    R = np.array([[1.0, 1.0, 0, 0], [-1.0, -1.0, 0, 0], [1.0, -1.0, 0, 0], [-1.0, 1.0, 0, 0]])
    problem = type(problem_of(data, 1.0, {"m": 2})).of(data, 1.0, R, np.array([1.0, -1.0, 0.0, 0.0]), np.zeros(4))
    with pytest.raises(InfeasibleError, match="no selection"):
        solved(problem)


def test_an_initial_selection_is_the_first_incumbent_and_must_be_allowed():
    data = blobs(30, 9, seed=5)
    problem = problem_of(data, 2.0, {"m": 3})
    best = solved(problem)
    started = solved(problem, initial=best.point["sigma"] > 0.5, max_nodes=0)
    assert started.objective == pytest.approx(best.objective, rel=1e-9)
    with pytest.raises(ParameterError, match="initial"):
        solved(problem, initial=np.ones(9, dtype=bool))


HARD = problem_of(NOISE, 1.0, {"m": 5})


@pytest.fixture(scope="module")
def optimum():
    return branch_and_benders(HARD, settings=BranchSettings(tolerance=1e-4))


def test_the_history_encloses_the_optimum_and_its_bounds_are_monotone(optimum):
    assert optimum.stop == "optimal"
    assert len(optimum.history) > 3
    lower, upper = (np.array([h[k] for h in optimum.history]) for k in ("bound", "objective"))
    assert np.all(np.diff(lower) >= -1e-9 * optimum.objective)
    assert np.all(np.diff(upper) <= 0)
    assert np.all(lower <= optimum.objective * (1 + 1e-9))
    assert [h["iteration"] for h in optimum.history] == list(range(1, optimum.iterations + 1))
    assert np.all(np.diff([h["elapsed"] for h in optimum.history]) >= 0)


def test_open_nodes_count_in_the_bound_and_in_the_evidence():
    for nodes in (0, 1, 30):
        result = solved(HARD, max_nodes=nodes)
        assert (result.status, result.stop) == (Status.FEASIBLE, "iteration-limit")
        assert result.bound < result.objective
        assert replayed(HARD, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-12)


def test_a_leaf_whose_cut_was_not_kept_is_solved_again(monkeypatch):
    monkeypatch.setattr("fsopt.search.branch_and_benders.driver.KEPT_BYTES", 1_000)
    result = solved(HARD, tolerance=1e-4)
    assert result.status is Status.OPTIMAL
    assert FORGOTTEN in {name for _, name, _ in marks_of(unpacked(HARD, result.point["evidence"])[0])}
    assert replayed(HARD, result.point["evidence"]).bound >= result.bound * (1 - 1e-9)


def texts(n, p, seed, density=0.02):
    """Return sparse samples with positive numbers, whose classes differ in a few frequent features."""
    rng = np.random.default_rng(seed)
    X, often = (sp.random(n, k, density=share, random_state=rng) for k, share in ((p, density), (12, 0.4)))
    score = often @ np.linspace(2.0, -2.0, 12) + 0.5 * rng.normal(size=n)
    return fsopt.Dataset(sp.hstack([X, often]), np.where(score > np.median(score), 1, -1))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_more_features_than_a_relaxation_holds_have_the_answer_of_the_dense_samples(scale):
    sparse = texts(60, 200, 0)
    dense = fsopt.Dataset(sparse.X.toarray(), sparse.y)
    found, known = (fsopt.fit("best-subset", data, m=2, c=0.1, scale=scale) for data in (sparse, dense))
    assert found.status is known.status is Status.OPTIMAL
    assert found.support == known.support
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    assert fsopt.verify(found, sparse).numerically
    if scale == "none":  # the pairs of frequent features, of which one is the optimum
        pairs = (np.isin(np.arange(212), pair) for pair in combinations(range(200, 212), 2))
        best = min(exact_value(dense, pair, 0.1) for pair in pairs)
        assert found.objective == pytest.approx(best, rel=1e-4)


def test_neither_the_search_nor_the_verification_makes_the_samples_dense(monkeypatch):
    data = texts(150, 3000, 4, density=0.005)
    sizes, whole = [], sp.csr_array.toarray
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", lambda self: sizes.append(np.prod(self.shape)) or whole(self.tocsr()))
    fit = fsopt.fit("best-subset", data, m=2, c=0.1, scale="none", max_nodes=2)
    assert fsopt.verify(fit, data).numerically
    assert 0 < max(sizes) < data.n * data.p


def test_many_groups_are_taken_in_by_turns():
    """Above 150 free features a program has some of them, and takes in those that it lacks."""
    data, groups = blobs(16, 160, seed=3, gap=0.2), [[0, 1], *([j] for j in range(2, 160))]
    fit = fsopt.fit("best-subset", data, m=1, c=1.0, groups=groups[:1], positive=data.features, scale="none")
    best = min(exact_value(data, np.isin(np.arange(160), one), 1.0, "hinge", np.zeros(160)) for one in groups)
    assert fit.objective == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("loss", FORMS[:3])
def test_bounds_that_are_far_away_are_as_none(loss):
    ends = {"lower": {0: -5e5, 1: -1e9}, "upper": {1: 1e7, 2: 3e3}}
    bounded, free = (fsopt.fit("best-subset", blobs(12, 3, 1), m=2, c=17.0, loss=loss, **at) for at in (ends, {}))
    assert bounded.status == "optimal"
    assert bounded.objective == pytest.approx(free.objective, rel=2e-6)
