"""The search behind gmeb-penalised: its proof leaf by leaf; RFE against libsvm, ties and steps."""

import numpy as np
import pytest
from gmeb_cases import skewed, values
from sklearn.svm import SVC
from support import blobs, sampled

import fsopt
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.scale_search import ShareInterval
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty


@pytest.mark.parametrize("kind", ["random", "noisy", "optimal"])
@pytest.mark.parametrize("seed", sampled(range(3), 1))
def test_whatever_a_leaf_holds_its_bound_is_one(kind, seed):
    rng = np.random.default_rng(seed)
    data = skewed(seed)[0]
    data = data.with_X(data.X - data.X.mean(axis=0))
    penalty = GmebPenalty.of(data, 0.2, 0.1)
    positive = 0
    for _ in range(8):
        left, right = np.sort(rng.uniform(0, 1, 2))
        at = rng.uniform(left, right) if rng.random() < 0.7 else rng.uniform(0, 1)
        mu = np.tile(column_generation(data, np.full(data.n, 1 / data.n), penalty.weights(at)).point["alpha"], (2, 1))
        mu += {"random": 3.0, "noisy": 1.0, "optimal": 0.0}[kind] * rng.standard_normal(mu.shape) / data.n
        bound = ShareInterval(left, right, at, mu).bound(data, penalty)
        inside = np.linspace(max(left, 1e-3), min(right, 1 - 1e-3), 4)
        assert bound <= values(data, 0.2, 0.1, inside).min() + 1e-9
        positive += bound > 0
    assert positive >= 3


def machine(X, y, c):
    """Return value and weights of the support vector machine, the intercept chosen among all breakpoints."""
    w = SVC(kernel="linear", C=c, tol=1e-10, shrinking=False).fit(X, y).coef_[0]
    return 0.5 * w @ w + c * min(hinge(X @ w + b, y) for b in y - X @ w), w


def eliminate(data, m, c, step=1):
    """Return the values of the SVMs, the features removed after each, and those left."""
    left, values, gone = list(range(data.p)), [], []
    while True:
        value, w = machine(data.X[:, left], data.y, c)
        values.append(value)
        worst = np.argsort(w**2, kind="stable")[: min(step, len(left) - m)]
        gone.append([left[k] for k in worst])
        if not len(worst):
            return values, gone, left
        left = [j for k, j in enumerate(left) if k not in worst]


SIX, NINE, FIVE = blobs(40, 6, seed=1), blobs(60, 9, seed=2), blobs(50, 5, seed=3, gap=0.4)
WIDE = fsopt.Dataset(np.random.default_rng(2).standard_normal((20, 30)), np.where(np.arange(20) % 2, 1.0, -1.0))
CASES = [
    (SIX, 2, 1.0, 1, "clarabel"),
    (SIX, 3, 1.0, 100, None),
    (NINE, 1, 0.2, 2, "piqp"),
    (FIVE, 3, 20.0, 2, None),
    (WIDE, 4, 0.1, 1, None),
]


@pytest.mark.parametrize(("data", "m", "c", "step", "solver"), CASES)
def test_rfe_removes_what_an_independent_implementation_removes(data, m, c, step, solver):
    values, gone, left = eliminate(data, m, c, step)
    fit = fsopt.fit("rfe", data, m=m, c=c, step=step, scale="none", solver=solver)
    assert [h["removed"] for h in fit.history] == gone
    np.testing.assert_allclose([h["objective"] for h in fit.history], values, rtol=1e-6)
    assert [h["n_features"] for h in fit.history] == [data.p - sum(map(len, gone[:k])) for k in range(len(gone))]
    assert fit.support == tuple(left)
    assert fit.objective == pytest.approx(values[-1], rel=1e-6)
    assert not any(h["rebuilt"] for h in fit.history)


@pytest.mark.parametrize("solver", sampled([None, "clarabel", "piqp"], 1))
def test_equal_weights_the_first_by_name_goes_first(solver):
    data = blobs(40, 3, seed=4, gap=1.0)
    twins = fsopt.Dataset(data.X[:, [0, 1, 0, 1]], data.y)
    fit = fsopt.fit("rfe", twins, m=2, scale="none", solver=solver)
    assert sorted(j for h in fit.history for j in h["removed"]) == [0, 1]
    turned = fsopt.Dataset(twins.X, twins.y, features=["d", "c", "b", "a"])
    other = fsopt.fit("rfe", turned, m=2, scale="none", solver=solver)
    removed = [turned.features[j] for h in other.history for j in h["removed"]]
    assert sorted(removed) == ["a", "b"]
    both = fsopt.fit("rfe", twins, m=1, step=3, scale="none", solver=solver)
    first = both.history[0]["removed"]
    assert first[0] + 2 == first[1]
    flat = fsopt.Dataset(np.column_stack([np.ones(40), data.X, np.ones(40)]), data.y)
    assert [h["removed"] for h in fsopt.fit("rfe", flat, m=3, solver=solver).history] == [[0], [4], []]
