"""Answers that were once wrong, by name: each of them must never be claimed again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support import sampled
from truth.forging import forge
from truth.instances import gaussian, realistic
from truth.oracle import Answer, claimants, relative, solve

import fsopt
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.errors import FsoptError

SECONDS = 5.0


def answer_of(model: Any, solver: str) -> Answer:
    """Solve a model; a solver that refuses it has claimed nothing."""
    return solve(model, solver, SECONDS) or Answer(solver, "none", "refused", None, None)


def assert_true(answer: Answer, truth: float, sign: float = 1.0, *, exists: bool = True) -> None:
    """Fail where an answer contradicts a known optimal value of a minimisation (sign 1) or maximisation (-1)."""
    if exists:
        assert answer.status not in ("infeasible", "unbounded"), f"{answer}, the optimum is {truth:.10g}"
    if answer.status == "optimal":
        assert relative(answer.objective, truth) <= 1e-6, f"{answer}, the optimum is {truth:.10g}"
    if answer.bound is not None:
        beyond = sign * (answer.bound - truth)
        assert beyond <= 1e-6 * max(1.0, abs(truth)), f"{answer}, the bound excludes the optimum {truth:.10g}"


# ---------------------------------------------------------------- a: weights leak through a big-M constraint


def leaking_data() -> tuple[np.ndarray, np.ndarray]:
    r = np.random.default_rng(0)
    X = r.normal(size=(20, 4))
    return X, np.where(X[:, 0] - 0.5 * X[:, 1] + r.normal(size=20) > 0, 1.0, -1.0)


LEAK_TRUTH = 1.19909071
"""Optimum of fsv-exact at lam = 0.3, in every unit of the features: M = 1e4 bounds no weight."""


@pytest.mark.parametrize("scale", [1e3, 1e5])
@pytest.mark.parametrize("count", [0.0, 1e-9, 9e-7])
def test_a_forged_point_that_leaks_does_not_certify(scale: float, count: float) -> None:
    """The weights of the linear program without feature costs, with binary variables that are nearly 0."""
    X, y = leaking_data()
    data = fsopt.Dataset(X * scale, y)
    relaxed = fsopt.build("rlp", data)
    assert fsopt.solve(relaxed, "highs").status == "optimal"
    values = {name: [v.value for v in relaxed.component(name).values()] for name in ("w", "gamma", "y", "z")}
    model = fsopt.build("fsv-exact", data, lam=0.3)
    forged = forge(model, {**values, "t": [count] * data.p})
    assert forged.objective < LEAK_TRUTH - 0.1
    assert not fsopt.certify(model, forged).ok, f"certified at {forged.objective:.8g}, the optimum is {LEAK_TRUTH}"


# ---------------------------------------------------------------- d: bounds of Clarabel


def repeated_samples(seed: int) -> tuple[fsopt.Dataset, float]:
    """Return few samples in other units, each up to three times and some with both labels, and a large capacity."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 10)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-6, 6)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    copies = np.repeat(np.arange(n), rng.integers(1, 4, size=n))
    y = labels[copies] * np.where(rng.random(len(copies)) < 0.2, -1, 1)
    if abs(y.sum()) == len(y):
        y[0] = -y[0]
    return fsopt.Dataset(X[copies], y), float(10.0 ** rng.uniform(0, 12))


@pytest.mark.parametrize("seed", [1386, 3326, 3771, 3876, 8971])
def test_a_bound_of_clarabel_excludes_no_attained_value(seed: int) -> None:
    data, w_cap = repeated_samples(seed)
    loss = answer_of(fsopt.build("rsvm", data, w_cap=w_cap), "clarabel")
    found = answer_of(fsopt.build("rsvm-dual", data, w_cap=w_cap), "clarabel")
    attained = [-loss.objective] if loss.status == "optimal" else []
    attained += [found.objective] if found.status in ("optimal", "feasible") else []
    if found.bound is not None and attained:
        assert found.bound <= min(attained) + 1e-6 * max(1.0, abs(min(attained))), f"{found}, rsvm {loss}"


# ---------------------------------------------------------------- f: no minimiser


@pytest.mark.parametrize("solver", sampled(claimants("svm-margin"), 1))
def test_an_infimum_that_is_not_attained_is_not_optimal(solver: str) -> None:
    """Below C = 1 / (2 min ||X'Y mu||) the quotient decreases as the margin grows without bound."""
    model = fsopt.build("svm-margin", realistic("wdbc"), c=0.0001)
    found = answer_of(model, solver)
    assert found.status != "optimal", f"{found}: (18) has no minimiser, its margin is at the bound of the model"


# ---------------------------------------------------------------- g: zero cannot be improved


@pytest.mark.parametrize("method", ["misclass", "pmm"])
def test_no_error_is_optimal(method: str) -> None:
    X, y = gaussian(30, 4, seed=5, gap=3.0)
    fit = fsopt.fit(method, fsopt.Dataset(X, y))
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert fit.status == "optimal"
    assert fit.bound == pytest.approx(0.0, abs=1e-9)


# ---------------------------------------------------------------- h: terms of another problem


def test_concave_terms_of_another_weight_are_refused() -> None:
    """The costs of fsv-step are lam alpha exp(-alpha v); weight 1 in the concave part would be lam = 1."""
    X, y = gaussian(24, 4, seed=1)
    model = fsopt.build("fsv-step", fsopt.Dataset(X, y), lam=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(FsoptError, match=r"weight|lam"):
            sla(model, ConcaveTerms((("v", "cost_v"),), 5.0))
