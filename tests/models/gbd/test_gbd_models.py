"""(FSP-M) and (FSP-lambda) of Aytug and the duals, also with groups, signs and bounds: all selections, duality."""

import itertools

import numpy as np
import pytest
from support import all_values, blobs, exact_value, keeps, sampled, solved

import fsopt
from fsopt.compiler.values import values_of
from fsopt.data.hyperplanes import LOSSES, hinge, project_multipliers
from fsopt.models.gbd.fsp_m import largest_weight
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem


def svm_value(model, data, c) -> float:
    """Return F at the classifier that a model holds, recomputed from its weights and intercept."""
    w = values_of(model.v) if model.name in ("fsp-m", "fsp-lambda") else values_of(model.w)
    return 0.5 * w @ w + c * hinge(data.X @ w + model.b.value, data.y)


def classified(slug, data, solver=None, **params):
    model, result = solved(slug, data, solver, **params)
    assert fsopt.classify(model) == fsopt.MODELS[slug].problem_class or params.get("relax")
    return model, result


SAMPLE, C = blobs(20, 5, seed=4, gap=0.3), 2.0
DATA = fsopt.Dataset(SAMPLE.X, SAMPLE.y, features=["age", "size", "mass", "tone", "rate"])


@pytest.mark.parametrize(("m", "c"), [(1, 0.5), (2, 8.0), (5, 0.5)])
def test_the_relaxation_is_the_closed_form_and_one_cut_of_the_master_has_it(m, c) -> None:
    model, relaxed = classified("fsp-m-perspective", DATA, "clarabel", m=m, c=c, relax=True)
    alpha = project_multipliers(np.array(list(relaxed.duals(model.margin).values())), DATA.y, c)

    def closed(a):
        return a.sum() - 0.5 * np.sort((DATA.X.T @ (a * DATA.y)) ** 2)[-m:].sum()

    assert closed(alpha) == pytest.approx(relaxed.objective, rel=1e-6)
    _, master = classified("fsp-master", DATA, m=m, cuts=[alpha])
    assert master.objective == pytest.approx(relaxed.objective, rel=1e-6)
    minimum = min(value for s, value in all_values(DATA, c).items() if sum(s) <= m)
    weak, loose = classified("fsp-m-bigm", DATA, m=m, c=c, relax=True)
    assert (fsopt.classify(model), fsopt.classify(weak)) == ("SOCP", "QP")
    assert loose.objective <= relaxed.objective * (1 + 1e-6) <= minimum * (1 + 2e-6)
    if m == DATA.p:
        assert relaxed.objective == pytest.approx(minimum, rel=1e-6)


def test_no_weights_are_longer_than_their_bound() -> None:
    unequal = fsopt.Dataset(DATA.X[2:], np.append(DATA.y[2:-3], [1.0, 1.0, 1.0]))
    for c in (1e-3, 30.0, 1e3):
        assert largest_weight(unequal, c) == pytest.approx(np.sqrt(2 * c * np.sum(unequal.y < 0)))
        for s in ((1, 0, 0, 0, 0), (1, 1, 1, 1, 1)):
            model, result = classified("fsp-sub", unequal, sigma=s, c=c)
            bound = min(largest_weight(unequal, c), largest_weight(unequal, c, result.objective))
            assert np.linalg.norm(values_of(model.w)) <= bound * (1 + 1e-6)
            for name, loss in LOSSES.items():
                problem = SelectionProblem.of(DATA, c, np.zeros((0, 5)), np.zeros(0), np.zeros(5), loss)
                mask = np.array(s, dtype=bool)
                found = NodeSolver(problem).solve(Partial(mask, ~mask), None, Goal(1e-9))
                assert np.linalg.norm(found.hyperplane.w) <= largest_weight(DATA, c, loss=loss), (name, c, s)
    y = np.array([1.0, 1.0, -1.0, -1.0])  # the bound is attained
    model, _ = classified("svm", fsopt.Dataset(y[:, None], y), c=0.25)
    assert largest_weight(fsopt.Dataset(y[:, None], y), 0.25) == 1.0
    assert model.w[0].value == pytest.approx(1.0, rel=1e-4)


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


RULES = {"include": [3], "exclude": [0], "implies": [[1, 2]], "conflicts": [[2, 4]]}
WEIGHTED = {"include": [3], "implies": [[0, 2]], "conflicts": [[1, 4]]}
SELECTIONS = [
    ("fsp-m", "none", False, {"costs": np.ones(5), "budget": 3.0}, RULES, RULES),
    ("fsp-m-perspective", "none", False, {"m": 3}),
    ("fsp-m-bigm", "none", False, {"costs": [2.0, 1.0, 3.0, 0.5, 1.0], "budget": 0.0}),
    ("fsp-lambda", "none", False, {"lam": [0.3, 2.0, 0.0, 0.1, 5.0]}, WEIGHTED, WEIGHTED),
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
"""Model, bounds, whether there are groups, limits, and rules in the words of a user and by number.

Which selections the constraints allow is in test_selection_constraints.py.
"""


@pytest.mark.parametrize("case", sampled([(case,) for case in SELECTIONS], 7))
def test_the_best_of_all_selections_is_found(case) -> None:
    slug, kind, groups, limits, *rules = case
    named, own = rules or ({}, {})
    params = {**limits, **named, **ENDS[kind][0], **({"groups": GROUPS} if groups else {})}
    model, result = classified(slug, DATA, "scip", c=C, **params)
    assert result.certificate.kind == "mixed-integer"
    assert result.objective == pytest.approx(least(kind, groups=groups, **limits, **own), rel=1e-5)
    sigma = np.round(values_of(model.sigma))
    assert len(sigma) == (3 if groups else 5)
    assert keeps(sigma, **{k: v for k, v in limits.items() if k != "lam"}, **own)
    svm = result.objective - np.sum(np.multiply(limits.get("lam", 0.0), sigma))
    assert svm_value(model, DATA, C) == pytest.approx(svm, rel=1e-5)
    w = values_of(model.v if slug in ("fsp-m", "fsp-lambda") else model.w)
    assert np.all((np.array(ENDS[kind][1]) - w <= 1e-6) & (w - ENDS[kind][2] <= 1e-6))


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
