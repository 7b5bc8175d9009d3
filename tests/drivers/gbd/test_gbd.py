"""GBD: all selections by brute force, swapped parts of the loop, valid cuts, bounds, stops."""

import numpy as np
import pytest
from support import all_values, blobs, keeps, reference, sampled, there

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd import subproblem
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.gbd.subproblem import certify_gbd
from fsopt.drivers.run import Run
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.svm.interior_point import svm_interior_point
from fsopt.verification.checking import check_fit

C = 4.0


def run(data, limits, c=C, *, solver=None, **settings):
    """Run the driver on the models of the limits."""
    how = {"settings": GbdSettings(**settings), "run": Run(solver)}
    return gbd(data, fsopt.build("fsp-master", data, **limits), fsopt.build("fsp-sub", data, c=c), c=c, **how)


def least(values, limits):
    """Return the smallest value over the selections that keep the limits, with the penalty weights of the features."""
    rules = {k: v for k, v in limits.items() if k != "lam"}
    lam = limits.get("lam", 0.0)
    return min(v + np.sum(lam * np.array(s)) for s, v in values.items() if keeps(np.array(s), **rules))


CASES = {
    "cardinality": ({"m": 2}, {}),
    "budget": ({"costs": [1.0, 4.0, 3.0, 2.0], "budget": 5.0}, {}),
    "logic": ({"m": 3, "implies": [[0, 1]], "conflicts": [[1, 2]], "exclude": [3]}, {}),
    "include": ({"m": 2, "include": [1], "conflicts": [[1, 0]]}, {"start": "zero", "master_solver": "highs"}),
    "high penalty weight": ({"lam": 1e3}, {}),
    "penalty weights": ({"lam": [0.1, 6.0, 0.5, 2.0]}, {"start": [0.0, 0.3, 1.0, 0.5]}),
    "all as printed": ({"m": 2}, {"start": "zero", "solver": "piqp"}),
    "penalty weight, scip": ({"lam": 2.0}, {"master_solver": "scip"}),
    "cardinality, gurobi": ({"m": 2}, {"master_solver": "gurobi"}),
    "include, ipopt": ({"m": 2, "include": [1]}, {"solver": "ipopt"}),
}
"""Name -> limits of a selection, settings of the loop."""


@pytest.mark.parametrize("case", sampled(CASES, 7))
@pytest.mark.parametrize("seed", sampled(range(3), 1))
def test_gbd_finds_the_best_of_all_allowed_selections_whatever_the_parts_of_the_loop(case, seed):
    limits, options = CASES[case]
    for name in (options.get("master_solver"), options.get("solver")):
        if name in fsopt.SOLVERS:
            there(name)
    c = (2.0, 0.5, 8.0)[seed]
    data = blobs(20, 4, seed=seed)
    result = run(data, limits, c, **options)
    best = least(all_values(data, c), limits)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert result.bound == pytest.approx(best, rel=2e-6)
    assert keeps(result.point["sigma"], **{k: v for k, v in limits.items() if k != "lam"})
    assert not np.any(result.point["w"][result.point["sigma"] == 0])


def test_every_cut_is_valid_everywhere_also_that_at_a_fractional_point():
    data = blobs(20, 4, seed=1)
    alphas = run(data, {"m": 2}, start=[0.4] * 4).point["alphas"]
    for sigma, value in all_values(data, C).items():
        for alpha in alphas:
            assert alpha.min() >= 0.0
            assert alpha.max() <= C
            constant, slopes = cut_coefficients(data, alpha)
            assert constant - slopes @ np.array(sigma) <= value + 1e-7 * max(1.0, value)


@pytest.mark.parametrize("limits", [{"m": 2}, {"lam": 3.0}], ids=str)
def test_the_bounds_are_monotone_and_enclose_the_optimum(limits):
    data = blobs(24, 5, seed=4)
    result = run(data, limits, start="zero")
    lower, upper = ([h[k] for h in result.history] for k in ("bound", "objective"))
    best = least(all_values(data, C), limits)
    assert len(lower) >= 3
    assert np.all(np.diff(lower) >= 0)
    assert np.all(np.diff(upper) <= 0)
    assert max(lower) <= best * (1 + 2e-6)
    assert min(upper) >= best * (1 - 2e-6)


def test_penalty_weights_that_the_user_adds_to_the_objective_count():
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=3)
    master.objective.expr = master.theta + 7.0 * master.sigma[4] - 2.0 * master.sigma[1]
    result = gbd(data, master, fsopt.build("fsp-sub", data, c=C), c=C)
    prices = np.array([0, -2.0, 0, 0, 7.0, 0])
    best = min(v + prices @ s for s, v in all_values(data, C).items() if sum(s) <= 3)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)


def test_a_master_that_repeats_itself_ends_the_loop_without_a_claim(monkeypatch):
    """A subproblem solved badly gives weak cuts: the bounds stay true, the gap open."""
    data, exact = reference("gbd_n6"), subproblem.project_multipliers
    monkeypatch.setattr(subproblem, "project_multipliers", lambda a, y, c: exact(0.8 * a, y, c))
    result = run(data, {"m": 2})
    best = least(all_values(data, C), {"m": 2})
    assert (result.stop, result.status) == ("repeated", Status.FEASIBLE)
    assert result.bound <= best * (1 + 1e-6) <= result.objective * (1 + 2e-6)
    assert result.bound < 0.999 * result.objective


def test_all_selections_of_all_features_need_one_iteration():
    data = reference("gbd_n6")
    result = run(data, {"m": data.p})
    assert (result.iterations, result.status) == (1, Status.OPTIMAL)
    assert result.objective == pytest.approx(all_values(data, C)[(1,) * data.p], rel=2e-6)


# ---------------------------------------------------------------- the certificate


def test_the_certificate_of_gbd_notices_what_is_corrupted():
    data = reference("gbd_n6")
    result = run(data, {"m": 2})
    for change in ("none", "balance", "cap", "sign", "lower", "higher", "upper", "infinite"):
        alphas = [a.copy() for a in result.point["alphas"]]
        i, k = int(np.argmax(alphas[0] * (data.y > 0))), int(np.argmax(alphas[0] * (data.y < 0)))
        if change == "balance":
            alphas[0][i] *= 1 - 1e-3
        elif change in ("cap", "sign"):
            alphas[0][[i, k]] = C * 1.001 if change == "cap" else -1e-3
        lower = result.bound * {"lower": 0.999, "higher": 1.001}.get(change, 1.0)
        upper = result.objective * {"upper": 1.001, "infinite": np.inf}.get(change, 1.0)
        assert certify_gbd(data, alphas, C, upper, lower, 1e-6).ok == (change == "none"), change


# ---------------------------------------------------------------- subproblems without a model


@pytest.mark.parametrize(
    ("unit", "limits", "settings"),
    [
        (1.0, {"m": 2}, {}),
        (1.0, {"costs": [1.0, 2.0, 1.0, 3.0], "budget": 3.0}, {"start": "zero"}),
        (10.0, {"lam": 0.4}, {}),
    ],
    ids=["cardinality", "budget", "penalty weight"],
)
def test_the_optimum_is_that_of_the_model(unit, limits, settings):
    data = blobs(30, 4, seed=3, gap=0.5)
    data = data.with_X(unit * data.X)
    answers = [
        gbd(data, fsopt.build("fsp-master", data, **limits), sub, c=0.7, settings=GbdSettings(**settings))
        for sub in (svm_interior_point, fsopt.build("fsp-sub", data, c=0.7))
    ]
    ours, theirs = answers
    assert ours.status is Status.OPTIMAL
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert np.array_equal(ours.point["sigma"], theirs.point["sigma"])
    assert ours.bound <= theirs.objective * (1 + 1e-7)


@pytest.mark.parametrize(("method", "params"), [("gbd", {"m": 2}), ("gbd-lambda", {"lam": 0.4})])
def test_the_method_builds_no_subproblem_of_large_data(method, params, monkeypatch):
    data = blobs(30, 4, seed=4, gap=0.5)
    whole = fsopt.fit(method, data, **params)
    monkeypatch.setattr("fsopt.methods.large_programs.REPEATED", 100)
    monkeypatch.setattr("fsopt.methods.gbd.gbd.build_fsp_sub", None)
    fit = fsopt.fit(method, data, **params)
    assert fit.status is Status.OPTIMAL
    assert fit.support == whole.support
    assert fit.objective == pytest.approx(whole.objective, rel=1e-6)
    assert check_fit(fit, data).ok
    with pytest.raises(TypeError, match="not callable"):
        fsopt.fit(method, data, solver="clarabel", **params)
