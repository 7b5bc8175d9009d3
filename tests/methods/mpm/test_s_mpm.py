"""Biased machines and S-MPM, a reconstruction: all angles, fine grids, consistency with the minimax machine."""

from dataclasses import replace

import numpy as np
import pytest
from support import blobs, optimum

import fsopt
from fsopt.compiler.values import values_of
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import penalised_ratio
from fsopt.verification.verify import check_fit

DATA = [blobs(20, 3, 0), blobs(30, 6, 1, gap=1.5)]


def swapped(data):
    return fsopt.Dataset(data.X, -data.y)


def alpha_of(ratio):
    return max(ratio, 0.0) ** 2 / (1 + max(ratio, 0.0) ** 2)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_bmpm_at_the_minimax_accuracy_has_it_for_the_other_class(data):
    limit = accuracy_limit(Moments.of(data))
    for side in (data, swapped(data)):
        assert optimum("bmpm", side, beta=limit.alpha)[1] == pytest.approx(limit.kappa, rel=1e-7)
    values = [optimum("bmpm", data, beta=beta)[1] for beta in (0.1, 0.3, 0.5, 0.7)]
    assert np.all(np.diff(values) < 0)
    # The front is its own inverse under a swap of the classes.
    assert optimum("bmpm", swapped(data), beta=alpha_of(values[1]))[1] == pytest.approx(kappa(0.3), rel=1e-6)


def test_bmpm_is_zero_for_too_much_and_unbounded_on_singular_covariances():
    data = blobs(40, 3, 0)
    d = Moments.of(data)
    S2 = d.factor2.T @ d.factor2
    largest = np.sqrt((d.mean1 - d.mean2) @ np.linalg.solve(S2, d.mean1 - d.mean2))
    for change, sign in ((0.999, 1), (1.001, 0)):
        value = optimum("bmpm", data, beta=alpha_of(change * largest))[1]
        assert (value > 1e-4) == sign
    assert fsopt.solve(fsopt.build("bmpm", blobs(6, 8))).status == "unbounded"
    assert optimum("bmpm", blobs(6, 8), ridge=0.1)[1] > 0
    for beta in (0.0, 1.0, -0.5, "half"):
        with pytest.raises(ParameterError, match="beta"):
            fsopt.build("bmpm", data, beta=beta)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_inner_problem_is_bmpm_without_a_penalty_and_zero_at_a_large_one(data):
    assert optimum("s-mpm", data, beta=0.4, lam=0)[1] == pytest.approx(optimum("bmpm", data, beta=0.4)[1], rel=1e-7)
    moments = Moments.of(data)
    largest = np.abs(moments.mean1 - moments.mean2).max()
    m, value = optimum("s-mpm", data, beta=0.4, lam=largest)
    assert value == pytest.approx(0, abs=1e-7)
    assert np.abs(values_of(m.w)).max() < 1e-5
    assert optimum("s-mpm", data, beta=1e-6, lam=0.98 * largest)[1] > 1e-3
    with pytest.raises(InfeasibleError, match="leaves no weight"):
        fsopt.fit("s-mpm", data, lam=2 * float(largest), scale="none")


@pytest.mark.parametrize(("lam", "theta"), [(0.0, 0.4), (0.3, 0.6)])
def test_the_outer_search_against_a_fine_grid(lam, theta):
    data = blobs(40, 2, 2, gap=1.0)
    fit = fsopt.fit("s-mpm", data, lam=lam, theta=theta, scale="none")
    moments, angles = Moments.of(data), np.linspace(0, 2 * np.pi, 1441)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    spread1, spread2 = (np.linalg.norm(W @ factor.T, axis=1) for factor in (moments.factor1, moments.factor2))
    gain = W @ (moments.mean1 - moments.mean2) - lam * np.abs(W).sum(axis=1)
    betas = np.r_[1e-9, 1e-6, np.linspace(0.001, 0.999, 999)]
    ratios = np.array([max(((gain - kappa(beta) * spread2) / spread1).max(), 0.0) for beta in betas])
    J = theta * ratios**2 / (1 + ratios**2) + (1 - theta) * betas
    inner = np.flatnonzero((J[1:-1] > J[:-2]) & (J[1:-1] > J[2:])) + 1
    assert len(inner) == 1
    assert J[0] > J[1]
    assert J[-1] > J[-2]  # not unimodal: both ends, where a class is given up, are local maxima
    assert fit.status == "stationary"
    assert fit.certificate.ok
    assert fit.objective == pytest.approx(J[inner[0]], abs=2e-5)
    assert fit.details["beta"] == pytest.approx(betas[inner[0]], abs=2e-3)
    assert fit.details["worst_case"][1] == pytest.approx(fit.details["beta"], rel=1e-9)
    # The accuracy of class +1 without the penalty is larger than with it.
    left = alpha_of(penalised_ratio(moments, fit.coef, fit.details["beta"], lam))
    assert fit.details["worst_case"][0] >= left - 1e-9
    assert (fit.details["worst_case"][0] - left > 1e-3) == (lam > 0)


def test_s_mpm_weighs_the_accuracies_by_the_classes_and_a_penalty_removes_features():
    data = blobs(40, 4, 0, gap=1.0).rows(slice(0, 37))
    free, sparse = (fsopt.fit("s-mpm", data, lam=lam) for lam in (0.0, 0.6))
    share = float(np.mean(data.y > 0))
    assert np.dot([share, 1 - share], free.details["worst_case"]) == pytest.approx(free.objective, rel=1e-6)
    assert len(sparse.support) < len(free.support)
    assert sparse.objective < free.objective
    assert any("reconstruction" in w for w in sparse.warnings)
    assert {h["rebuilt"] for h in sparse.history} == {""}


def test_s_mpm_says_so_where_it_has_no_inner_maximum():
    data = blobs(80, 3, 1, gap=0.25)
    fit = fsopt.fit("s-mpm", data, lam=0.05)
    assert fit.status == "feasible"
    assert fit.stop == "no-maximum"
    assert fit.certificate.ok
    assert any("no inner maximum" in w for w in fit.warnings)
    assert any("one class" in w for w in fit.warnings)
    assert check_fit(fit, data).ok


def test_s_mpm_on_singular_covariances_asks_for_a_ridge():
    with pytest.raises(InfeasibleError, match="ridge"):
        fsopt.fit("s-mpm", blobs(6, 8), lam=0.001)
    assert fsopt.fit("s-mpm", blobs(6, 8), lam=0.001, ridge=0.1).certificate.ok


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("intercept", [0.0, 0.5])
def test_a_fit_without_weights_is_not_verified(intercept, exact):
    data = blobs(30, 3, seed=3, gap=0.4)
    empty = replace(fsopt.fit("s-mpm", data), coef=np.zeros(3), support=(), features=(), intercept=intercept)
    found = fsopt.verify(empty, data, exact=exact)
    assert not found.verified
    assert found.residuals["constraints"] == np.inf
