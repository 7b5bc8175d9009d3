"""SLA: stop test, restarts, the trap at w = 0, the minimum principle, invariances, saved answers."""

import dataclasses
import json

import numpy as np
import pytest
from dichotomies import least_errors
from scipy.optimize import linprog
from support import blobs, reference

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import Status
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.run import Run
from fsopt.drivers.sla import RESTARTS, ConcaveTerms, sla
from fsopt.errors import ParameterError, SolverError
from fsopt.verification.checking import check_record

ALPHA = 5.0
DATA = blobs(40, 3, seed=2)


def run_misclass(data, **options):
    model = fsopt.build("misclass-step", data)
    return sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), ALPHA), **options)


def run_fsv(data, lam=0.05, **options):
    model = fsopt.build("fsv-step", data, lam=lam)
    return sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, weight=lam), **options)


def value(data, at, lam=None):
    """Return (20), or with lam (21), at a hyperplane."""
    errors = np.maximum(1 - data.y * (data.X @ at["w"] - at["gamma"]), 0)
    if lam is None:
        return -np.expm1(-ALPHA * errors).sum()
    average = errors[data.y > 0].mean() + errors[data.y < 0].mean()
    return (1 - lam) * average - lam * np.expm1(-ALPHA * np.abs(at["w"])).sum()


def slope(data, at, lam=None):
    """Return the smallest grad'(z - x) over the polyhedron by scipy, where y and z are eliminated into t >= 0."""
    n, p = data.X.shape
    errors = np.maximum(1 - data.y * (data.X @ at["w"] - at["gamma"]), 0)
    rows = np.column_stack([-data.X * data.y[:, None], data.y, -np.eye(n), np.zeros((n, p))])
    split = np.column_stack([np.zeros((p, 1 + n)), -np.eye(p)])
    rows = np.vstack([rows, np.column_stack([np.eye(p), split]), np.column_stack([-np.eye(p), split])])
    if lam is None:
        costs, prices = ALPHA * np.exp(-ALPHA * errors), np.zeros(p)
    else:
        costs = (1 - lam) / np.where(data.y > 0, np.sum(data.y > 0), np.sum(data.y < 0))
        prices = lam * ALPHA * np.exp(-ALPHA * np.abs(at["w"]))
    cost = np.r_[np.zeros(p + 1), costs, prices]
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (n + p)
    least = linprog(cost, rows, np.r_[-np.ones(n), np.zeros(2 * p)], bounds=bounds).fun
    return least - costs @ errors - prices @ np.abs(at["w"])


@pytest.mark.parametrize(
    ("data", "lam"), [(DATA, None), (DATA, 0.05), (reference("sla_g2"), 0.2)], ids=["misclass", "fsv", "fsv, golden"]
)
def test_every_run_falls_strictly_and_the_best_one_satisfies_the_minimum_principle(data, lam):
    result = run_misclass(data, n_starts=3) if lam is None else run_fsv(data, lam, n_starts=3)
    assert (result.status, result.stop) == (Status.STATIONARY, "stationary")
    ends = []
    for start in sorted({h["start"] for h in result.history}):
        values = [h["objective"] for h in result.history if h["start"] == start]
        assert 2 <= len(values) < 100
        assert np.all(np.diff(values[:-1]) < 0)
        assert values[-1] <= values[-2] + 1e-9
        ends.append(values[-2])
    assert ends == [run["objective"] for run in result.point["starts"]]
    assert result.objective == min(ends)
    for run in result.point["starts"]:
        assert value(data, run, lam) == pytest.approx(run["objective"], rel=1e-7, abs=1e-7)
        assert slope(data, run, lam) >= -1e-6
    assert value(data, result.point, lam) == pytest.approx(result.objective, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("run", [run_misclass, run_fsv])
def test_restarts_are_reproducible_begin_with_zero_and_do_not_translate_again(run):
    one, two, again, other = (run(DATA, n_starts=k, seed=s) for k, s in ((1, 0), (2, 3), (2, 3), (2, 4)))
    values = [[h["objective"] for h in r.history] for r in (one, two, again, other)]
    assert values[1] == values[2] != values[3]
    assert values[1][: len(values[0])] == values[0]
    assert two.objective <= one.objective
    assert len(two.point["starts"]) == 2
    assert [h["rebuilt"] for h in two.history] == [""] * two.iterations
    assert not any(h["seconds_translate"] for h in two.history[1:])


def test_the_first_program_of_the_first_run_has_the_costs_of_zero_errors():
    model = fsopt.build("misclass-step", DATA, y=np.full(20, 2.0), z=np.full(20, 3.0))
    result = sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), ALPHA))
    assert result.objective == run_misclass(DATA).objective


def test_a_bad_number_of_starts_or_seed_is_refused():
    for n_starts, seed in ((0, 0), (1.5, 0), (2, -1), (True, 0)):
        for method in ("misclass", "fsv"):
            with pytest.raises(ParameterError, match=r"n_starts|seed"):
                fsopt.fit(method, blobs(), n_starts=n_starts, seed=seed)


def test_a_time_limit_between_two_runs_keeps_the_proof_of_the_first():
    data = blobs(60, 4, seed=7)
    full = run_misclass(data).iterations

    def interrupt(record):
        if record["start"] == 1:
            raise KeyboardInterrupt

    result = run_misclass(data, n_starts=3, run=Run(progress=interrupt))
    assert result.stop == "interrupted"
    assert result.iterations == full + 1
    assert result.objective <= result.point["starts"][0]["objective"]
    assert value(data, result.point) == pytest.approx(result.objective, rel=1e-7)
    if result.objective == result.point["starts"][0]["objective"]:
        assert result.status is Status.STATIONARY


def test_a_solver_without_vertices_is_refused_whether_by_nature_or_by_its_options():
    for options in ({"run_crossover": "off"}, {"solver": "ipm", "run_crossover": "off"}, {"solver": "pdlp"}):
        with pytest.raises(SolverError, match="vertices") as caught:
            run_fsv(blobs(), run=Run(options=options))
        assert caught.value.hint
    with pytest.raises(SolverError, match="clarabel") as caught:
        run_fsv(blobs(), run=Run(solver="clarabel"))
    assert "highs" in caught.value.hint


def test_interior_point_with_crossover_reaches_what_simplex_reaches():
    data = blobs(60, 4, seed=7)
    ours = [run_fsv(data, run=Run(options=options)) for options in (None, {"solver": "ipm", "run_crossover": "on"})]
    assert ours[0].objective == pytest.approx(ours[1].objective, rel=1e-7)


def test_the_trap_at_no_weights_is_told_and_left_by_restarts():
    data = blobs(30, 4, seed=0, gap=1.0)
    fit = fsopt.fit("fsv", data, lam=0.5, scale="none")
    starts = fit.details["starts"]
    assert len(starts) == 1 + RESTARTS
    assert starts[0] == pytest.approx(0.5 * 2)
    assert fit.objective == min(starts) < starts[0] - 0.1
    assert fit.support
    assert any("w = 0" in warning and str(RESTARTS) in warning for warning in fit.warnings)
    assert fsopt.fit("fsv", data, lam=0.5, scale="none").details["starts"] == starts
    many = fsopt.fit("fsv", data, lam=0.5, scale="none", n_starts=6)
    assert len(many.details["starts"]) == 6
    assert not many.warnings


def test_an_answer_without_weights_says_so():
    fit = fsopt.fit("fsv", blobs(), lam=1.0)
    assert fit.support == ()
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert any("lower lam" in warning for warning in fit.warnings)


def test_weights_that_are_rounding_are_zero():
    trapped, flat = (fsopt.fit("fsv", reference("sla_g2"), lam=lam, scale="none") for lam in (0.3, 0.9))
    assert any("w = 0" in warning and str(RESTARTS) in warning for warning in trapped.warnings)
    assert not np.any(flat.coef)


def test_misclassification_is_affine_invariant_and_feature_selection_is_not():
    data = DATA
    rng = np.random.default_rng(5)
    M, shift = rng.standard_normal((data.p, data.p)) + 3 * np.eye(data.p), rng.standard_normal(data.p)
    turned = data.with_X(data.X @ M + shift)
    one, two = (run_misclass(d) for d in (data, turned))
    paths = [[h["objective"] for h in r.history] for r in (one, two)]
    assert paths[1] == pytest.approx(paths[0], rel=1e-6)
    # The hyperplane of one problem, mapped, has the value of the other: the functions are the same.
    w = np.linalg.solve(M, one.point["w"])
    mapped = {"w": w, "gamma": one.point["gamma"] + shift @ w}
    assert value(turned, mapped) == pytest.approx(one.objective, rel=1e-7)
    assert slope(turned, mapped) >= -1e-6
    short, long = ({"w": np.full(data.p, size), "gamma": 0.0} for size in (0.1, 1.0))
    assert value(data.with_X(0.1 * data.X), long, 0.2) > value(data, short, 0.2) + 0.01


@pytest.mark.parametrize("seed", range(2))
def test_no_hyperplane_has_fewer_errors_than_all_dichotomies_allow(seed):
    data = blobs(10, 2, seed=seed, gap=0.3)
    fit = fsopt.fit("misclass", data, n_starts=5)
    assert least_errors(data) <= fit.details["plane_errors"] <= least_errors(data) + 1
    assert fit.details["plane_errors"] == np.sum(data.y * fit.decision_function(data.X) <= 0)


def test_a_sample_on_the_hyperplane_is_an_error():
    data = fsopt.Dataset([[0.1 + 0.2], [0.3], [1.0], [-1.0]], [1, -1, 1, -1])
    assert hyperplane_errors(data, np.array([1.0]), -0.3) == 2
    assert hyperplane_errors(data, np.array([1e9]), -0.3e9) == 2
    assert hyperplane_errors(data, np.array([0.0]), 1.0) == 2
    assert hyperplane_errors(data, np.array([0.0]), 0.0) == 4


def changed(fit, change):
    """Return the saved record of a fit with one part of it changed."""
    fit = dataclasses.replace(
        fit,
        objective=fit.objective * (0.999 if change == "objective" else 1.0),
        coef=fit.coef * np.array([1.0, 1.001 if change == "coef" else 1.0, 1.0]),
    )
    record = json.loads(json.dumps(fit_record(fit, data=DATA, source="blobs")))
    params, point = record["details"]["program_params"], record["details"]["point"]
    names = ("y", "z") if fit.method == "misclass" else ("v",)
    if change == "proof":
        point["y"][0] += 0.1
    elif change == "other costs":
        params[names[0]] = (np.array(params[names[0]]) * 0.5 + 0.1).tolist()
    elif change == "all free":
        params |= {k: [1e3] * len(params[k]) for k in names}
        point["y"] = [0.0] * len(point["y"])
    elif change == "alpha":
        params["alpha"] = 6.0
    elif change == "multipliers":
        point["y"] = [v + 0.01 for v in point["y"]]
    return record


@pytest.mark.parametrize("method", ["misclass", "fsv"])
def test_a_corrupted_saved_answer_is_not_verified(method):
    fit = fsopt.fit(method, DATA)
    assert check_record(changed(fit, "nothing"), DATA, "file").verified
    for change in ("objective", "coef", "proof", "other costs", "all free", "alpha", "multipliers"):
        assert not check_record(changed(fit, change), DATA, "file").verified, change
