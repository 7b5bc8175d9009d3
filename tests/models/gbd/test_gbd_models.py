"""(FSP-M) and (FSP-lambda) of Aytug as one model, and the duals: all selections, golden values, duality."""

import numpy as np
import pytest
from selection_cases import allowed_values
from support import all_values, blobs, keeps, sampled, solved

import fsopt
from fsopt.answers.results import Status
from fsopt.compiler.values import values_of
from fsopt.data.hyperplanes import hinge, project_multipliers
from fsopt.data.losses import LOSSES
from fsopt.models.gbd.fsp_m import largest_weight
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.solvers.base import Session

CARDINAL = ("fsp-m", "fsp-m-perspective", "fsp-m-bigm")
CONVEX = CARDINAL[1:]


def selected(model) -> tuple[int, ...]:
    return tuple(np.round(values_of(model.sigma)).astype(int).tolist())


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
ALL = all_values(DATA, C)
SOME = ((1, 0, 0, 1, 0), (0, 0, 0, 0, 0), (0, 1, 1, 0, 0), (1, 1, 1, 1, 1))
RULES = {"include": [3], "exclude": [0], "implies": [[1, 2]], "conflicts": [[2, 4]]}
CASES = {
    "m": {"m": 3},
    "no budget": {"costs": [2.0, 1.0, 3.0, 0.5, 1.0], "budget": 0.0},
    "all": {"costs": np.ones(5), "budget": 3.0, **RULES},
    "weights": {"lam": [0.3, 2.0, 0.0, 0.1, 5.0], "include": [3], "implies": [[0, 2]], "conflicts": [[1, 4]]},
    "weight": {"lam": 0.6},
}
"""Which selections the constraints allow is in test_selection_constraints.py."""


@pytest.mark.parametrize(
    ("slug", "case"),
    sampled(
        [*zip((*CARDINAL, "fsp-lambda"), ("all", "m", "no budget", "weights"), strict=True), ("fsp-lambda", "weight")]
        + [(slug, "all") for slug in CONVEX],
        4,
    ),
)
def test_the_best_of_all_selections_is_found(slug, case) -> None:
    params = CASES[case]
    rules, weights = dict(params), np.broadcast_to(params.get("lam", 0.0), 5)
    rules.pop("lam", None)
    total = {s: value + weights @ s for s, value in ALL.items() if keeps(np.array(s), **rules)}
    model, result = classified(slug, DATA, "scip", c=C, **params)
    assert result.certificate.kind == "mixed-integer"
    assert result.objective == pytest.approx(min(total.values()), rel=1e-6)
    assert total[selected(model)] == pytest.approx(min(total.values()), rel=1e-6)
    assert svm_value(model, DATA, C) == pytest.approx(ALL[selected(model)], rel=1e-6)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize(
    ("slug", "limits"), sampled([("fsp-m-bigm", {"m": 2}), ("fsp-m", {"m": 1}), ("fsp-lambda", {"lam": 0.6})], 1)
)
def test_the_models_of_other_losses_have_the_best_of_all_selections(slug, limits, loss) -> None:
    data = fsopt.Dataset(DATA.X[:, :3], DATA.y, weights=np.random.default_rng(0).uniform(0.5, 2.0, DATA.n))
    values = allowed_values(data, C, limits, loss)
    minimum = min(values.values())
    model, result = solved(slug, data, "scip", c=C, loss=loss, **limits)
    assert fsopt.classify(model) == ("MINLP" if loss == "logistic" else fsopt.MODELS[slug].problem_class)
    assert result.objective == pytest.approx(minimum, rel=1e-5)
    assert values[selected(model)] == pytest.approx(minimum, rel=1e-6)


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


def test_an_upper_bound_keeps_the_optimum_and_too_small_a_one_is_silently_worse() -> None:
    minimum = min(value for s, value in ALL.items() if sum(s) <= 2)
    tight, small = (classified("fsp-m-bigm", DATA, m=2, c=C, value=at * minimum)[1].objective for at in (1.0, 1e-3))
    assert tight == pytest.approx(minimum, rel=1e-6)
    assert small > 1.05 * minimum


def test_the_multipliers_of_the_dual_are_the_classifier() -> None:
    for s in SOME:
        primal, result = classified("fsp-sub", DATA, sigma=s, c=C)
        dual, answer = classified("fsp-sub-dual", DATA, sigma=s, c=C)
        assert [result.objective, answer.objective] == pytest.approx([ALL[s]] * 2, rel=1e-6), s
        w, b = np.array(list(answer.duals(dual.expansion).values())), dual.dual[dual.balance]
        np.testing.assert_allclose(w, values_of(primal.w), atol=1e-5)
        np.testing.assert_allclose(w, np.array(s) * values_of(dual.q), atol=1e-6)
        assert 0.5 * w @ w + C * hinge(DATA.X @ w + b, DATA.y) == pytest.approx(ALL[s], rel=1e-5)


def test_the_dual_of_part_of_a_feature_is_the_printed_subproblem() -> None:
    sigma = np.array([0.25, 0.0, 1.0, 0.7, 0.04])
    dual, answer = classified("fsp-sub-dual", DATA, sigma=sigma, c=C)
    w = np.array(list(answer.duals(dual.expansion).values()))
    inside = sigma > 0
    norm = np.sum(w[inside] ** 2 / sigma[inside])  # sigma_j u_j^2 at w_j = sigma_j u_j
    printed = 0.5 * norm + C * hinge(DATA.X @ w + dual.dual[dual.balance], DATA.y)
    assert printed == pytest.approx(answer.objective, rel=1e-5)
    alpha = values_of(dual.alpha)
    value = alpha.sum() - 0.5 * sigma @ (DATA.X.T @ (alpha * DATA.y)) ** 2
    assert value == pytest.approx(answer.objective, rel=1e-6)
    _, primal = classified("fsp-sub", DATA, sigma=np.sqrt(sigma), c=C)
    assert primal.objective == pytest.approx(answer.objective, rel=1e-6)


def test_a_session_follows_sigma_in_place() -> None:
    model = fsopt.build("fsp-sub-dual", DATA, c=C)
    session = Session(model, "clarabel")
    for s in SOME:
        model.sigma.store_values(dict(enumerate(map(float, s))))
        session.update(model.selection)
        result = session.solve()
        assert (result.status, session.rebuilt) == (Status.OPTIMAL, "")
        assert result.objective == pytest.approx(ALL[s], rel=1e-6)
