"""SLA and PMM: stops, the minimum principle by other software, column generation, brute force, saved answers."""

import functools
import importlib
from dataclasses import replace

import numpy as np
import pytest
from support import blobs, without_model
from truths import fewest_errors, one_norm

import fsopt
from fsopt.answers.certificate import Kind
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.pmm import COUNT, pmm
from fsopt.drivers.recorder import LATE
from fsopt.drivers.run import Run
from fsopt.drivers.sla import NONNEGATIVE, RESTARTS, ConcaveTerms, sla, sla_by_column_generation
from fsopt.methods.sla.sla import concave_hinge

ALPHA = 5.0
DATA = blobs(40, 3, seed=2)


def run_misclass(data, **options):
    model = fsopt.build("misclass-step", data)
    return sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), ALPHA), **options)


def value(data, at):
    """Return (20) at a hyperplane."""
    errors = np.maximum(1 - data.y * (data.X @ at["w"] - at["gamma"]), 0)
    return -np.expm1(-ALPHA * errors).sum()


def slope(data, at):
    """Return the smallest grad'(z - x) over the polyhedron, by scipy."""
    errors = np.maximum(1 - data.y * (data.X @ at["w"] - at["gamma"]), 0)
    costs = ALPHA * np.exp(-ALPHA * errors)
    return one_norm(data.X, data.y, weights=np.zeros(data.p), loss=costs)[0] - costs @ errors


def test_every_run_falls_strictly_and_the_best_one_satisfies_the_minimum_principle():
    """Of fsv, with each penalty, see methods/gbd/test_best_subset.py."""
    result = run_misclass(DATA, n_starts=3)
    assert (result.status, result.stop) == (Status.STATIONARY, "stationary")
    ends = []
    for start in sorted({h["start"] for h in result.history}):
        values = [h["objective"] for h in result.history if h["start"] == start]
        assert 2 <= len(values) < 100
        assert np.all(np.diff(values[:-1]) < 0)
        assert values[-1] <= values[-2] + 1e-9
        ends.append(values[-2])
    assert ends == pytest.approx([run["objective"] for run in result.point["starts"]], rel=1e-12)
    assert result.objective == pytest.approx(min(ends), rel=1e-12)
    for run in result.point["starts"]:
        assert value(DATA, run) == pytest.approx(run["objective"], rel=1e-7, abs=1e-7)
        assert slope(DATA, run) >= -1e-6
    assert value(DATA, result.point) == pytest.approx(result.objective, rel=1e-7, abs=1e-7)


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


def test_a_sample_on_the_hyperplane_is_an_error():
    data = fsopt.Dataset([[0.1 + 0.2], [0.3], [1.0], [-1.0]], [1, -1, 1, -1])
    assert hyperplane_errors(data, np.array([1.0]), -0.3) == 2
    assert hyperplane_errors(data, np.array([1e9]), -0.3e9) == 2
    assert hyperplane_errors(data, np.array([0.0]), 1.0) == 2
    assert hyperplane_errors(data, np.array([0.0]), 0.0) == 4


def test_the_answer_by_column_generation_satisfies_the_minimum_principle():
    ours, whole = (fit("misclass", DATA, scale="none") for fit in (without_model, fsopt.fit))
    at = {"w": ours.coef, "gamma": -ours.intercept}
    assert ours.status is Status.STATIONARY
    assert [ours.objective, value(DATA, at)] == pytest.approx([whole.objective] * 2, rel=1e-7)
    assert slope(DATA, at) >= -1e-6 * (1 + ours.objective)
    assert (ours.details["alpha"] >= 0).all()
    assert np.all(np.diff([h["objective"] for h in ours.history][:-1]) < 0)


SEPARABLE = blobs(30, 4, gap=6.0)


@pytest.mark.parametrize("fit_of", [fsopt.fit, without_model])
@pytest.mark.parametrize(
    ("method", "params"), [("misclass", {}), ("fsv", {"lam": 1.0}), ("fsv", {"lam": 0.0}), ("pmm", {})]
)
def test_the_value_zero_of_nonnegative_terms_is_optimal_and_verified(method, params, fit_of):
    fit = fit_of(method, SEPARABLE, **params)
    assert (fit.status, fit.stop, fit.bound) == (Status.OPTIMAL, "optimal", 0.0)
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    source = COUNT if method == "pmm" else NONNEGATIVE
    assert (fit.certificate.kind, fit.certificate.bound_source) == (Kind.GLOBAL, source)
    assert fsopt.verify(fit, SEPARABLE).verified
    for part in ({"bound": 0.1}, {"objective": 1e-3}, {"coef": -fit.coef - 1.0}):
        assert not fsopt.verify(replace(fit, **part), SEPARABLE).verified
    overlapping = fit_of(method, DATA, **({"lam": 0.05} if params else {}))
    assert (overlapping.status, overlapping.bound) == (Status.STATIONARY, None)
    assert not fsopt.verify(replace(overlapping, status=Status.OPTIMAL, bound=0.0), DATA).verified


module = importlib.import_module("fsopt.drivers.pmm")
TINY = [blobs(10, 2, seed=s, gap=0.3) for s in range(3)]
OVERLAP = blobs(40, 3, seed=7, gap=0.4)


def smallest(data, d, w, b):
    """Return the sum of all but the d largest errors of a hyperplane."""
    return np.sort(np.maximum(1 - data.y * (data.X @ w + b), 0))[: data.n - d].sum()


@pytest.fixture
def few_rows(monkeypatch):
    """Let restricted programs begin with six samples, so that those of small data are generated too."""
    by_parts = functools.partial(module.column_generation, rows=6)
    monkeypatch.setattr(module, "column_generation", by_parts)


def test_no_dichotomy_is_missed_by_more_than_one_sample_and_most_by_none():
    exact = 0
    for data in TINY:
        fit, least = fsopt.fit("pmm", data), fewest_errors(data.X, data.y)
        assert least <= fit.objective <= least + 1
        assert fit.objective == fit.details["plane_errors"] == np.sum(data.y * fit.decision_function(data.X) <= 0)
        assert fit.bound is None
        exact += fit.objective == least
    assert exact >= 2


@pytest.mark.parametrize("data", [TINY[0], OVERLAP], ids=["tiny", "overlapping"])
def test_the_search_ends_at_a_vertex_that_is_stationary_for_one_error_less(data, few_rows):
    result = pmm(data)
    assert [h["rebuilt"] for h in result.history] == [""] * result.iterations
    found = [h["errors"] for h in result.history]
    assert found == sorted(found, reverse=True)
    assert found[-1] == result.objective
    assert (result.status, result.stop) == (Status.STATIONARY, "stationary")
    assert result.certificate.kind == "pmm"
    assert any("not proved" in note for note in result.certificate.notes)
    errors, below = int(result.objective), result.point["below"]
    assert hyperplane_errors(data, result.point["w"], -result.point["gamma"]) == errors
    # The hyperplane, made longer, shows f(errors) = 0.
    w, b = result.point["w"], -result.point["gamma"]
    margins = data.y * (data.X @ w + b)
    assert smallest(data, errors, w / margins[margins > 1e-9].min(), b / margins[margins > 1e-9].min()) < 1e-7
    assert below.d == errors - 1
    assert below.value == pytest.approx(smallest(data, below.d, below.w, below.b))
    assert below.value > 1e-6
    # No hyperplane has a smaller loss on the other samples, says another program.
    counted = np.ones(data.n)
    counted[np.argsort(-np.maximum(1 - data.y * (data.X @ below.w + below.b), 0), kind="stable")[: below.d]] = 0.0
    least = one_norm(data.X, data.y, weights=np.zeros(data.p), loss=counted)[0]
    assert least == pytest.approx(below.value, rel=1e-7)


def test_a_descent_ends_where_the_solver_s_value_lies_below_the_recomputed_one_for_ever(answers):
    steps = []

    def count(record):
        steps.append(record["hinge"])
        assert len(steps) < 200, f"the descent alternates at {record['hinge']}"

    answers(lambda result: replace(result, objective=result.objective - 1e-5 * (1.0 + result.objective)))
    assert pmm(OVERLAP, run=Run(progress=count)).status is Status.STATIONARY


def test_the_descent_looks_at_the_clock_itself(monkeypatch):
    """A linear program that is warm at its optimum takes no iterations, and no solver looks at its clock then."""
    monkeypatch.setattr(clock, "left", lambda seconds=None: None)
    result = pmm(OVERLAP, run=Run(time_limit=1e-9))
    assert (result.status, result.stop) == (Status.FEASIBLE, "time-limit")
    assert result.iterations <= 1 + LATE


def test_a_later_start_that_ends_at_zero_is_not_tried_again():
    """There all samples are of the larger class."""
    rng = np.random.default_rng(14)
    y = np.where(np.arange(24) < 9, -1.0, 1.0)
    data = fsopt.Dataset(rng.standard_normal((24, 2)) + 0.5 * y[:, None], y)
    result = sla_by_column_generation(data, concave_hinge(data, ALPHA), n_starts=2, seed=1)
    better, at_zero = (run["objective"] for run in result.point["starts"])
    assert better < at_zero == pytest.approx(9.0 * (1.0 - np.exp(-2.0 * ALPHA)))
