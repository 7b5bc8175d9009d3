"""Errata of Aytug: the printed loop against all selections, and the printed formulas in numbers."""

import itertools
from functools import cache

import numpy as np
import pyomo.environ as pyo
import pytest
from sklearn.svm import SVC
from support import all_values, blobs, reference

import fsopt
from fsopt.data.hyperplanes import hinge, project_multipliers
from fsopt.models.gbd.fsp_master import cut_coefficients

C = 1.0
SEEDS = range(20)


@cache
def values_of_seed(seed):
    """Return the values of all selections for the data set of a seed."""
    return all_values(blobs(30, 5, seed=seed), C)


def multipliers(data, sigma, c=C):
    """Return alpha (n,) of the SVM on a selection, from libsvm; without features the smaller class decides."""
    chosen, alpha = np.flatnonzero(sigma), np.zeros(data.n)
    if len(chosen):
        svm = SVC(kernel="linear", C=c, tol=1e-9).fit(data.X[:, chosen], data.y)
        alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    else:
        fewer = min((data.y > 0).sum(), (data.y < 0).sum())
        for side in (1, -1):
            alpha[np.flatnonzero(data.y == side)[:fewer]] = c
    return project_multipliers(alpha, data.y, c)


def benders(data, values, first, gain, allowed, own=lambda slopes, sigma: slopes):
    """Run Table 1 with masters by enumeration; return the best value that was met and the last lower bound.

    The masters minimise theta - gain'sigma over the allowed selections; ``own`` changes the slopes of a cut.
    """
    selections = np.array([s for s in values if allowed(s)], dtype=float)
    sigma, upper = np.array(first, dtype=float), np.inf
    bounds = np.full(len(selections), -np.inf)
    for _ in range(len(selections) + 1):
        constant, slopes = cut_coefficients(data, multipliers(data, sigma))
        upper = min(upper, values[tuple(sigma.astype(int))] - gain * sigma.sum())
        bounds = np.maximum(bounds, constant - selections @ own(slopes, sigma))
        lower = float(np.min(bounds - gain * selections.sum(axis=1)))
        if upper - lower <= 1e-7 * upper:
            break
        sigma = selections[np.argmin(bounds - gain * selections.sum(axis=1))]
    return upper, lower


def few(selection):
    return sum(selection) <= 2


def wrong(found, truth):
    """Return whether a value is above the minimum, by more than rounding."""
    return found > truth * (1 + 1e-6)


def test_the_printed_bounds_have_opposite_signs_and_never_meet():
    """SUB-M gives LB = F >= 0, (10) gives UB = -theta <= 0: the end is where LB = -UB."""
    data = reference("gbd_n6")
    fit = fsopt.fit("gbd", data, m=2, c=C, scale="none")
    alphas, minimum = fit.details["alphas"], min(v for s, v in all_values(data, C).items() if sum(s) <= 2)
    assert len(alphas) >= 4
    for k in range(1, len(alphas) + 1):
        printed = pyo.ConcreteModel()
        printed.sigma0 = pyo.Var(bounds=(-1e6, 1e6))
        printed.sigma = pyo.Var(range(data.p), within=pyo.Binary)
        printed.few = pyo.Constraint(expr=sum(printed.sigma.values()) <= 2)
        printed.cuts = pyo.ConstraintList()
        for constant, slopes in (cut_coefficients(data, a) for a in alphas[:k]):
            printed.cuts.add(printed.sigma0 <= sum(slopes[j] * printed.sigma[j] for j in range(data.p)) - constant)
        printed.objective = pyo.Objective(expr=printed.sigma0, sense=pyo.maximize)
        upper = fsopt.solve(printed, "highs").objective
        theta = fsopt.solve(fsopt.build("fsp-master", data, m=2, cuts=alphas[:k])).objective
        assert upper == pytest.approx(-theta, rel=1e-6)
        assert fit.history[k - 1]["objective"] - upper >= minimum
    assert fit.objective - upper == pytest.approx(2 * minimum, rel=1e-5)
    assert fit.objective + upper == pytest.approx(0.0, abs=1e-4)


def test_the_cut_needs_the_weights_that_unselected_features_would_have():
    """With the subproblem's w_j, which is 0 where sigma_j = 0, the loop ends with a bound that is false."""
    from_two = from_none = 0
    for seed in SEEDS:
        data = blobs(30, 5, seed=seed)
        values = values_of_seed(seed)
        minimum = min(v for s, v in values.items() if few(s))
        upper, lower = benders(data, values, [1, 1, 0, 0, 0], 0.0, few)
        assert (upper, lower) == (pytest.approx(minimum, rel=1e-6), pytest.approx(minimum, rel=1e-6))
        upper, lower = benders(data, values, [1, 1, 0, 0, 0], 0.0, few, np.multiply)
        assert wrong(upper, minimum) == wrong(lower, minimum)
        from_two += wrong(upper, minimum)
        upper, lower = benders(data, values, np.zeros(5), 0.0, few, np.multiply)
        assert upper == pytest.approx(lower) == pytest.approx(values[(0,) * 5])  # it says that no features are best
        from_none += wrong(lower, minimum)
    assert (from_two, from_none) == (4, 20)


def test_the_closed_form_iterated_is_wrong_and_the_master_over_all_cuts_is_right():
    """sigma_j = 1 iff q_j^2 / 2 > lambda, for the last cut, until a selection comes back; best of those that it met."""
    lam, misses = 1.0, 0
    for seed in SEEDS:
        data = blobs(30, 5, seed=seed)
        values = values_of_seed(seed)
        minimum = min(v + lam * sum(s) for s, v in values.items())
        upper, lower = benders(data, values, np.ones(5), -lam, lambda s: True)
        assert (upper, lower) == (pytest.approx(minimum, rel=1e-6), pytest.approx(minimum, rel=1e-6))
        sigma, met = np.ones(5), {}
        while (key := tuple(sigma.astype(int))) not in met:
            met[key] = values[key] + lam * sum(key)
            sigma = (cut_coefficients(data, multipliers(data, sigma))[1] > lam).astype(float)
        misses += wrong(min(met.values()), minimum)
    assert misses == 17


def test_the_threshold_is_on_half_the_square():
    """One cut: sigma_j = 1 iff q_j^2 > 2 lambda is best, the "squared weights less than lambda" are not."""
    lam, worse = 1.0, 0
    for seed in SEEDS:
        data = blobs(30, 5, seed=seed)
        constant, slopes = cut_coefficients(data, multipliers(data, np.ones(5)))
        values = {s: constant - (slopes - lam) @ s for s in itertools.product((0, 1), repeat=5)}
        half, whole = (values[tuple((size > lam).astype(int))] for size in (slopes, 2 * slopes))
        assert half == pytest.approx(min(values.values()), rel=1e-12)
        worse += wrong(whole, half)
    assert worse == 12


def test_no_penalty_weight_leads_to_some_numbers_of_features():
    """F(k) = minimum of F over k features: at a k above the convex hull no lambda has k features as its answer."""
    hidden = 0
    for seed in SEEDS:
        values = values_of_seed(seed)
        best = np.array([min(v for s, v in values.items() if sum(s) == k) for k in range(6)])
        above = [k for k in range(1, 5) if best[k - 1] + best[k + 1] < 2 * best[k] * (1 - 1e-6)]
        hidden += bool(above)
        for k in above:
            for lam in [*np.linspace(0.0, 20.0, 401), best[k] - best[k + 1], best[k - 1] - best[k]]:
                assert best[k] + lam * k > np.min(best + lam * np.arange(6))
    assert hidden == 9


def test_fsp_lambda_is_a_relaxation_only_less_lambda_m():
    data, lam = reference("gbd_n6"), 1.0
    values = all_values(data, C)
    priced = fsopt.fit("gbd-lambda", data, lam=lam, c=C, scale="none").objective
    for m in range(1, 7):
        minimum = min(v for s, v in values.items() if sum(s) <= m)
        assert priced - lam * m <= minimum * (1 + 1e-6)
    assert priced > min(v for s, v in values.items() if few(s))
    assert priced == pytest.approx(20.973, abs=1e-3)


def test_the_regrouped_lambda_master_has_a_wrong_factor_and_a_wrong_sign():
    data, lam = blobs(30, 5, seed=3), 0.5
    rng = np.random.default_rng(0)
    sigma, b = np.array([1, 0, 1, 1, 0]), 0.7
    w, xi = rng.standard_normal(5), rng.uniform(0, 1, 30)

    def groups(alpha, u, factor, sign):
        q = data.X.T @ (alpha * data.y)
        return sigma @ (w * q - 0.5 * w**2 - lam) + b * alpha @ factor + sign * (u + alpha - C) @ xi - alpha.sum()

    def lagrangian(alpha, u):
        rows = data.y * (data.X @ (sigma * w) + b) + xi - 1
        return -0.5 * sigma @ w**2 - C * xi.sum() - lam * sigma.sum() + alpha @ rows + u @ xi

    alpha, u = rng.uniform(0, C, 30), rng.uniform(0, C, 30)
    assert groups(alpha, u, data.y, 1) == pytest.approx(lagrangian(alpha, u))
    for factor, sign in ((u, 1), (data.y, -1), (u, -1)):
        assert abs(groups(alpha, u, factor, sign) - lagrangian(alpha, u)) > 1.0
    best = multipliers(data, sigma)
    assert best @ (C - best) > 0.1  # u = C - alpha: as printed the maximum over b is infinite
    assert abs(best @ data.y) < 1e-12


def test_the_minimum_printed_in_3_is_a_maximum():
    x = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, 0.5], [0.0, -2.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])

    def value(alpha):
        return alpha.sum() - 0.5 * np.sum((x.T @ (alpha * y)) ** 2)

    pair = np.array([1.0, 0.0, 1.0, 0.0])
    assert [value(t * pair) < -(t**2) for t in (10.0, 1e3, 1e6)] == [True] * 3
    model = fsopt.build("svm", fsopt.Dataset(x, y), c=1e6)
    best = fsopt.solve(model)
    alpha = np.array(list(best.duals(model.margin).values()))
    assert value(alpha) == pytest.approx(best.objective, rel=1e-6)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert value(project_multipliers(alpha + rng.standard_normal(4), y, 1e6)) <= best.objective * (1 + 1e-6)


def test_the_penalty_of_fsv_needs_the_minus_sign():
    """e - e^(a v) decreases without bound in v, and -v <= w <= v has no upper bound on v: (21) would be unbounded."""
    data = blobs(30, 5, seed=0)
    lam, a = 0.05, 5.0
    average = hinge(np.zeros(30), data.y) / 15  # of both classes, at w = 0

    def value(v, sign):
        return (1 - lam) * average + lam * np.sum(1 - np.exp(sign * a * v))

    points = [np.full(5, t) for t in (0.0, 1.0, 3.0, 5.0)]
    printed, meant = ([value(v, sign) for v in points] for sign in (1, -1))
    assert np.all(np.diff(printed) < 0)
    assert printed[-1] < -1e9
    assert np.all(np.diff(meant) > 0)
    assert meant[-1] == pytest.approx((1 - lam) * average + lam * 5, abs=1e-9)
