"""Groups of features, signs and bounds in the models of Aytug: enumeration, another formulation, duality in numpy."""

import itertools

import numpy as np
import pytest
from support import blobs, exact_value, keeps, sampled, solved

import fsopt
from fsopt.compiler.values import values_of
from fsopt.data.hyperplanes import project_multipliers
from fsopt.models.gbd.fsp_master import cut_coefficients

C = 2.0
SAMPLE = blobs(20, 5, seed=4, gap=0.3)
DATA = fsopt.Dataset(SAMPLE.X, SAMPLE.y, features=["age", "size", "mass", "tone", "rate"])
GROUPS = {"body": ["size", "mass"], "sound": ["tone", "rate"]}
OF = np.array([0, 1, 1, 2, 2])
SIGNS = {"positive": ["age", "mass"], "negative": ["size"]}
BOUNDS = {"lower": {"mass": -0.2, "rate": -0.4}, "upper": {"mass": 0.1, "tone": 0.3}}
BOTH = {**SIGNS, "positive": ["age"], **BOUNDS}
INF = np.inf
ENDS = {
    "signs": (SIGNS, [0, -INF, 0, -INF, -INF], [INF, 0, INF, INF, INF]),
    "bounds": (BOUNDS, [-INF, -INF, -0.2, -INF, -0.4], [INF, INF, 0.1, 0.3, INF]),
    "both": (BOTH, [0, -INF, -0.2, -INF, -0.4], [INF, 0, 0.1, 0.3, INF]),
    "none": ({}, [-INF] * 5, [INF] * 5),
}
"""Name -> the parameters, and the bounds by hand."""


def least(kind, *, groups=False, loss="hinge", lam=0.0, **rules):
    """Return the smallest value over the allowed selections of features or groups."""
    of = OF if groups else np.arange(5)
    _, lower, upper = ENDS[kind]
    every = (np.array(s) for s in itertools.product((0, 1), repeat=int(of.max()) + 1))
    allowed = (s for s in every if keeps(s, **rules))
    return min(exact_value(DATA, s[of], C, loss, lower, upper) + float(np.sum(lam * s)) for s in allowed)


def conjugate(q, lower, upper):
    """Return the largest q w - w^2 / 2 within the bounds."""
    low, high = np.clip(lower, -1e3, 0.0), np.clip(upper, 0.0, 1e3)
    at_ends = np.where(q > high, high * q - 0.5 * high**2, low * q - 0.5 * low**2)
    return np.where((low <= q) & (q <= high), 0.5 * q**2, at_ends)


@pytest.mark.parametrize("kind", ["signs", "bounds", "both"])
def test_the_machine_with_bounds_is_proved_by_its_multipliers_in_numpy(kind) -> None:
    params, lower, upper = ENDS[kind]
    expected = exact_value(DATA, np.ones(5), C, "hinge", lower, upper)
    model, result = solved("svm", DATA, c=C, **params)
    w = values_of(model.w)
    assert np.all((lower - w <= 1e-7) & (w - upper <= 1e-7))
    alpha = project_multipliers(np.array(list(result.duals(model.margin).values())), DATA.y, C)
    q = DATA.X.T @ (alpha * DATA.y)
    bound = alpha.sum() - conjugate(q, np.array(lower), np.array(upper)).sum()
    assert [bound, result.objective] == pytest.approx([expected, expected], rel=1e-6)
    np.testing.assert_allclose(w, np.clip(q, lower, upper), atol=1e-4)
    assert expected > 1.05 * exact_value(DATA, np.ones(5), C)
    dual, answer = solved("svm-dual", DATA, c=C, **params)
    assert answer.objective == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(list(answer.duals(dual.expansion).values()), w, atol=1e-4)


@pytest.mark.parametrize("sigma", [(1, 0, 1, 1, 0), (0, 0, 0, 0, 0), (0.25, 0, 1, 0.5, 1)])
def test_the_subproblem_and_its_dual_have_one_value_also_between_0_and_1(sigma) -> None:
    params, lower, upper = ENDS["both"]
    model, result = solved("fsp-sub", DATA, c=C, sigma=np.sqrt(sigma), **params)
    _, answer = solved("fsp-sub-dual", DATA, c=C, sigma=sigma, **params)
    assert answer.objective == pytest.approx(result.objective, rel=1e-6)
    w, sigma = values_of(model.w), np.array(sigma)
    assert np.all((sigma * np.clip(lower, -9, 0) - w <= 1e-7) & (w - sigma * np.clip(upper, 0, 9) <= 1e-7))
    if set(sigma) <= {0, 1}:
        assert result.objective == pytest.approx(exact_value(DATA, sigma, C, "hinge", lower, upper), rel=1e-6)


def test_the_one_norm_machine_keeps_bounds_and_loses_nothing_by_those_that_its_optimum_has() -> None:
    params, lower, upper = ENDS["both"]
    model, result = solved("onsvm", DATA, c=C, **params)
    w = values_of(model.w)
    assert np.all((lower - w <= 1e-9) & (w - upper <= 1e-9))
    free, best = solved("onsvm", DATA, c=C)
    w = dict(zip(DATA.features, values_of(free.w).tolist(), strict=True))
    signs = {name: [j for j, v in w.items() if sign * v > 0] for name, sign in (("positive", 1), ("negative", -1))}
    ends = {name: {j: sign * abs(v) for j, v in w.items()} for name, sign in (("lower", -1), ("upper", 1))}
    assert solved("onsvm", DATA, c=C, **signs)[1].objective == pytest.approx(best.objective, rel=1e-6)
    assert best.objective * 1.01 < result.objective
    half = {name: {j: 0.5 * v for j, v in values.items() if v} for name, values in ends.items()}
    assert solved("onsvm", DATA, c=C, **half)[1].objective > best.objective * 1.01


CASES = [
    ("fsp-m-bigm", "both", True, {"m": 2}),
    ("fsp-m-perspective", "both", False, {"m": 3}),
    ("fsp-m-bigm", "bounds", True, {"m": 2}, {"implies": [["age", "rate"]]}, {"implies": [[0, 2]]}),
    ("fsp-m", "bounds", True, {"m": 1}),
    ("fsp-lambda", "signs", True, {"lam": 1.0}),
    ("fsp-m-perspective", "signs", True, {"costs": [1.0, 2.0, 2.0], "budget": 3.0}),
    ("fsp-m-bigm", "none", True, {"m": 2}, {"conflicts": [["body", "sound"]]}, {"conflicts": [[1, 2]]}),
    ("fsp-m", "signs", False, {"m": 3}, {"exclude": ["rate"]}, {"exclude": [4]}),
    ("fsp-lambda", "both", True, {"lam": [0.2, 3.0, 1.0]}, {"include": ["mass"]}, {"include": [1]}),
]
"""Model, bounds, whether there are groups, limits, and rules in the words of a user and by number."""


@pytest.mark.parametrize("case", sampled([(case,) for case in CASES], 3))
def test_the_models_have_the_best_of_all_selections(case) -> None:
    slug, kind, groups, limits, *rules = case
    named, own = rules or ({}, {})
    params = {**limits, **named, **ENDS[kind][0], **({"groups": GROUPS} if groups else {})}
    model, result = solved(slug, DATA, "scip", c=C, **params)
    assert fsopt.classify(model) == fsopt.MODELS[slug].problem_class
    assert len(model.sigma) == (3 if groups else 5)
    assert result.objective == pytest.approx(least(kind, groups=groups, **limits, **own), rel=1e-5)
    w = values_of(model.v if slug in ("fsp-m", "fsp-lambda") else model.w)
    assert np.all((np.array(ENDS[kind][1]) - w <= 1e-6) & (w - ENDS[kind][2] <= 1e-6))


@pytest.mark.parametrize("loss", sampled(["squared-hinge", "logistic"], 1))
def test_the_models_of_other_losses_keep_the_bounds(loss) -> None:
    _, result = solved("fsp-m-bigm", DATA, "scip", c=C, m=1, loss=loss, groups=GROUPS, **BOTH)
    assert result.objective == pytest.approx(least("both", groups=True, loss=loss, m=1), rel=1e-5)


@pytest.mark.parametrize("kind", ENDS)
def test_a_cut_is_below_the_value_of_every_selection_and_meets_it_where_it_was_made(kind) -> None:
    params, lower, upper = ENDS[kind]
    at = np.array([1, 0, 1])
    model, result = solved("fsp-sub", DATA, c=C, sigma=at[OF], **params)
    alpha = project_multipliers(np.array(list(result.duals(model.margin).values())), DATA.y, C)
    master = fsopt.build("fsp-master", DATA, m=3, cuts=[alpha], groups=GROUPS, **params)
    constant, slopes = cut_coefficients(DATA, alpha, master.rules)
    for s in itertools.product((0, 1), repeat=3):
        value = exact_value(DATA, np.array(s)[OF], C, "hinge", lower, upper)
        assert constant - slopes @ s <= value * (1 + 1e-7), s
        assert s != tuple(at) or constant - slopes @ s == pytest.approx(value, rel=1e-6)
    lowest = min(constant - slopes @ s for s in itertools.product((0, 1), repeat=3))
    assert fsopt.solve(master).objective == pytest.approx(max(lowest, 0.0), rel=1e-6)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_the_relaxation_has_the_bound_of_one_cut(groups) -> None:
    model, relaxed = solved("fsp-m-perspective", DATA, "clarabel", c=C, m=1, relax=True, groups=groups, **BOTH)
    alpha = project_multipliers(np.array(list(relaxed.duals(model.margin).values())), DATA.y, C)
    _, master = solved("fsp-master", DATA, m=1, cuts=[alpha], groups=groups, **BOTH)
    assert master.objective == pytest.approx(relaxed.objective, rel=1e-6)
    assert relaxed.objective < least("both", groups=groups is not None, m=1) * (1 - 1e-3)
