"""Answers that were once wrong, by name: each of them must never be claimed again.

The exact search with every pair of groups, signs, bounds, cardinality, costs and rules is enumeration, in any loss.
"""

import os

import numpy as np
import pyomo.environ as pyo
import pytest
from grouped_cases import PAIRS, drawn, enumerated
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Point


def forged(model, values):
    """Return a result that claims values of components as the optimum of a model, with their objective as its bound."""
    session = fsopt.Session(model)
    x = {}
    for component in model.component_objects(pyo.Var, active=True):
        claimed = values.get(component.name, [v.value for v in component.values()])  # fixed variables keep their values
        for place, variable, value in zip(
            session.columns(component).tolist(), component.values(), np.atleast_1d(claimed), strict=True
        ):
            x[place] = float(value)
            variable.set_value(x[place], skip_validation=True)
    value = pyo.value(model.objective)
    point = Point(np.array([x[place] for place in sorted(x)]))
    return fsopt.SolveResult(fsopt.Status.OPTIMAL, "optimal", value, value, session.spec.name, {}, 0, point=point)


@pytest.mark.parametrize("scale", [1e3, 1e5])
@pytest.mark.parametrize("count", [0.0, 1e-9, 9e-7])
def test_weights_that_leak_through_a_big_m_constraint_do_not_certify(scale, count):
    """The weights of the linear program without feature costs, with binary variables that are nearly 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=20) > 0, 1.0, -1.0)
    data = fsopt.Dataset(X * scale, y)
    relaxed = fsopt.build("rlp", data)
    assert fsopt.solve(relaxed, "highs").status == "optimal"
    values = {name: [v.value for v in relaxed.component(name).values()] for name in ("w", "gamma", "y", "z")}
    model = fsopt.build("fsv-exact", data, lam=0.3)
    false = forged(model, {**values, "t": [count] * data.p})
    assert false.objective < 1.19909071 - 0.1  # the optimum in every unit: M = 1e4 bounds no weight
    assert not fsopt.certify(model, false).ok


@pytest.mark.parametrize(("units", "shrink"), [(1.0, 1e-5), ([2.8, 291.0, 1.0], 1e-5), (1.0, 1e-3)])
def test_a_radius_below_the_largest_sum_of_squares_does_not_certify(units, shrink):
    """The objective of kernel scaling is R W + c e's: a smaller R looks better."""
    data = blobs(30, 3)
    data = data.with_X(data.X * units)
    fit = fsopt.fit("rsvm", data, w_cap=2.0 / data.X.std() ** 2, scale="none")
    params = {"w": fit.coef, "b": fit.intercept, "e_cap": fit.objective * (1 + 1e-9), "c": 0.01}
    model = fsopt.build("kernel-scaling", data, **params)
    truth = fsopt.solve(model)
    values = {c.name: np.array([v.value for v in c.values()]) for c in model.component_objects(pyo.Var)}
    false = forged(model, {**values, "R": values["R"] * (1 - shrink)})
    assert truth.certificate.ok
    assert false.objective < truth.objective * (1 - 1e-6)
    assert not fsopt.certify(model, false).ok


@pytest.mark.parametrize("seed", [1386, 3326, 3771, 3876, 8971])
def test_a_bound_of_clarabel_excludes_no_attained_value(seed):
    """Few samples in other units, each up to three times and some with both labels, and a large capacity."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 10)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-6, 6)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    copies = np.repeat(np.arange(n), rng.integers(1, 4, size=n))
    y = labels[copies] * np.where(rng.random(len(copies)) < 0.2, -1, 1)
    if abs(y.sum()) == len(y):
        y[0] = -y[0]
    data, w_cap = fsopt.Dataset(X[copies], y), float(10.0 ** rng.uniform(0, 12))
    loss, dual = (fsopt.solve(fsopt.build(slug, data, w_cap=w_cap), "clarabel") for slug in ("rsvm", "rsvm-dual"))
    attained = [-loss.objective] if loss.status == "optimal" else []
    attained += [dual.objective] if dual.status in ("optimal", "feasible") else []
    if dual.bound is not None and attained:
        assert dual.bound <= min(attained) + 1e-6 * max(1.0, abs(min(attained)))


LOSSES = ("hinge", "squared-hinge", "logistic")
COUNT = 400 if os.environ.get("FSOPT_TRUTH") else 30


@pytest.mark.parametrize("k", sampled(range(COUNT), 12))
def test_the_optimum_is_that_of_enumeration(k):
    data, params = drawn(k)
    loss, c = LOSSES[(k + k // len(PAIRS)) % 3], float(np.random.default_rng(k).choice([0.1, 1.0, 10.0]))
    fit = fsopt.fit("best-subset-penalised" if "lam" in params else "best-subset", data, c=c, loss=loss, **params)
    assert fit.status == "optimal", fit.warnings
    assert fit.objective == pytest.approx(enumerated(data, params, c, loss), rel=3e-6, abs=1e-9)
    assert fsopt.verify(fit, data).verified
