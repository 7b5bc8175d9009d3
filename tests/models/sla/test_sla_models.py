"""The models of Mangasarian: brute force, the same linear programs by scipy, other formulations, too small an M."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, optimum, reference, solved
from truths import fewest_errors, one_norm

import fsopt
from fsopt.compiler.values import values_of
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.models.sla.hyperplane import without_complementarities

FEW = settings(max_examples=4, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def best(model: pyo.ConcreteModel, solver: str | None = None) -> float:
    result = fsopt.solve(model, solver, time_limit=60)
    assert result.status == "optimal", (result.stop, result.certificate)
    return result.objective


def errors_of(model: pyo.ConcreteModel, data: fsopt.Dataset) -> int:
    return hyperplane_errors(data, values_of(model.w), -model.gamma.value)


@settings(FEW, max_examples=5)
@given(seed=SEEDS, alpha=st.floats(0.5, 6), lam=st.floats(0.0, 0.9), c=st.floats(0.05, 5))
def test_linear_programs_against_scipy(seed, alpha, lam, c):
    data = blobs(17, 3, seed=seed, gap=0.4)
    plus, minus = data.y > 0, data.y < 0
    rng = np.random.default_rng(seed)
    y, z, v = (rng.exponential(0.5, size) for size in (plus.sum(), minus.sum(), 3))
    average, step = np.empty(17), np.empty(17)
    for members, short in ((plus, y), (minus, z)):
        average[members], step[members] = 1 / len(short), alpha * np.exp(-alpha * short)

    def truth(loss, weights):
        return pytest.approx(one_norm(data.X, data.y, weights=weights, loss=loss)[0], rel=1e-6, abs=1e-7)

    assert solved("rlp", data)[1].objective == truth(average, np.zeros(3))
    assert solved("misclass-step", data, alpha=alpha, y=y, z=z)[1].objective == truth(step, np.zeros(3))
    m, fsv = solved("fsv-step", data, lam=lam, alpha=alpha, v=v)
    assert fsv.objective == truth((1 - lam) * average, lam * alpha * np.exp(-alpha * v))
    assert np.all(values_of(m.v) >= np.abs(values_of(m.w)) - 1e-8)
    assert solved("onsvm", data, c=c)[1].objective == truth(np.full(17, c), np.ones(3))


def test_too_small_an_m_is_silently_worse() -> None:
    data = blobs(20, 2, seed=11, gap=0.4)
    models = [fsopt.build("misclass-milp", data, big_m=big_m) for big_m in (1.0, 2.0, 1e4)]
    counts = [best(m) for m in models]
    assert all(errors_of(m, data) <= count for m, count in zip(models, counts, strict=True))
    assert counts[0] >= counts[1] > counts[2] == fewest_errors(data.X, data.y)
    data = reference("sla_fs8")
    found = [best(fsopt.build("fsv-exact", data, lam=0.05, big_m=m)) for m in (0.1, 1.0, 1e4)]
    assert found[0] > found[1] > found[2] + 0.01


def test_successive_linearisation_is_not_global() -> None:
    """(21) is at most (17) at every hyperplane, so the optimum of (17) is an upper bound on that of (21)."""
    data = reference("sla_fs8")
    assert best(fsopt.build("fsv-exact", data, lam=0.05)) == pytest.approx(0.25)
    assert fsopt.fit("fsv", data, lam=0.05, scale="none").objective == pytest.approx(0.35069434312, rel=1e-6)


@pytest.mark.parametrize("slug", ["misclass", "fsv"])
def test_concave_models_are_no_larger_than_local_answers_and_exact_models(slug: str) -> None:
    data = blobs(10, 2, seed=1, gap=0.3)
    m, minimum = optimum(slug, data, "scip", alpha=2.0)
    assert pyo.value(m.objective) == pytest.approx(minimum, abs=1e-6)
    exact = fewest_errors(data.X, data.y) if slug == "misclass" else best(fsopt.build("fsv-exact", data))
    ipopt = fsopt.solve(fsopt.build(slug, data, alpha=2.0), "ipopt")
    assert ipopt.status == "stationary"
    assert minimum <= min(exact, ipopt.objective, fsopt.fit(slug, data, scale="none", alpha=2.0).objective) + 1e-6


def smallest_without(data: fsopt.Dataset, k: int) -> float:
    """Return the minimum of the hinge errors of all samples but k, over the hyperplanes and the samples, by scipy."""
    left = (np.isin(np.arange(data.n), out) for out in itertools.combinations(range(data.n), k))
    return min(one_norm(data.X, data.y, weights=np.zeros(data.p), loss=1.0 - out)[0] for out in left)


@FEW
@given(seed=SEEDS, k=st.integers(0, 2))
def test_the_sum_without_the_largest_errors_is_that_of_enumeration(seed: int, k: int) -> None:
    data = blobs(7, 2, seed=seed, gap=0.2)
    truth = smallest_without(data, k)
    m = fsopt.build("misclass-pmm", data, delta=float(k))
    assert best(m, "scip") == pytest.approx(truth, rel=1e-6, abs=1e-6)
    assert (truth < 1e-9) == (fewest_errors(data.X, data.y) <= k)


def test_no_tolerance_times_a_free_error_cancels_the_errors_of_other_samples() -> None:
    """With one bilinear sum instead of n constraints, SCIP returns 2.4012 as the certified optimum here."""
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    X = np.random.Generator(np.random.PCG64(1)).standard_normal((12, 2)) + 0.25 * y[:, None]
    data = fsopt.Dataset(np.round(64 * X) / 64, y)
    truth = smallest_without(data, 1)
    assert truth == pytest.approx(2.8414408867)
    assert best(fsopt.build("misclass-pmm", data), "scip") == pytest.approx(truth, rel=1e-6)


@pytest.mark.slow
@FEW
@given(seed=SEEDS, gap=st.floats(0.1, 0.8))
def test_the_count_is_that_of_enumeration_and_of_its_own_hyperplane(seed: int, gap: float) -> None:
    data = blobs(10, 2, seed=seed, gap=gap)
    minimum = fewest_errors(data.X, data.y)
    m = fsopt.build("misclass-milp", data)
    assert best(m) == minimum == errors_of(m, data)
    far = fsopt.Dataset(data.X @ np.array([[2.0, 1.0], [-1.0, 0.5]]) + 3.0, data.y)
    assert best(fsopt.build("misclass-milp", far)) == minimum
    lpec = fsopt.build("misclass-lpec", data)
    milp = without_complementarities(lpec)
    assert best(milp) == minimum == errors_of(milp, data)
    for y, r in ((milp.y, milp.r), (milp.z, milp.s)):  # the step function
        assert [v.value > 1e-6 for v in y.values()] == [v.value > 0.5 for v in r.values()]
    assert (fsopt.classify(lpec), fsopt.classify(milp)) == ("MPEC", "MILP")


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
def test_the_mpec_of_few_features_is_the_integer_program_at_each_lambda(lam: float) -> None:
    data = blobs(14, 3, seed=5, gap=0.6)
    lpec = fsopt.build("fsv-lpec", data, lam=lam)
    milp = without_complementarities(lpec)
    assert best(milp) == pytest.approx(best(fsopt.build("fsv-exact", data, lam=lam)), abs=1e-7)
    if lam > 0.0:  # the step function of the sizes, which lam = 0 leaves free
        assert [v.value > 1e-6 for v in milp.v.values()] == [v.value > 0.5 for v in milp.r.values()]
    assert (fsopt.classify(lpec), fsopt.classify(milp)) == ("MPEC", "MILP")
