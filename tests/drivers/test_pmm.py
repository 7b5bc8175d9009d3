"""PMM: brute force over all dichotomies, the bilinear problem at the end, its certificate, stops, saved answers."""

import functools
import importlib
from dataclasses import replace

import numpy as np
import pytest
from saved_records import as_read
from scipy.optimize import linprog
from support import blobs, least_errors

import fsopt
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.column_generation import GenerationSettings
from fsopt.drivers.pmm import COUNT, pmm
from fsopt.drivers.recorder import LATE
from fsopt.drivers.run import Run
from fsopt.verification.verify import verify_record

module = importlib.import_module("fsopt.drivers.pmm")
TINY = [blobs(10, 2, seed=s, gap=0.3) for s in range(3)]
OVERLAP = blobs(40, 3, seed=7, gap=0.4)


def smallest(data, d, w, b):
    """Return the sum of all but the d largest errors of a hyperplane."""
    return np.sort(np.maximum(1 - data.y * (data.X @ w + b), 0))[: data.n - d].sum()


@pytest.fixture
def few_rows(monkeypatch):
    """Let restricted programs begin with six samples, so that those of small data are generated too."""
    by_parts = functools.partial(module.column_generation, settings=GenerationSettings(rows=6))
    monkeypatch.setattr(module, "column_generation", by_parts)


def test_no_dichotomy_is_missed_by_more_than_one_sample_and_most_by_none():
    exact = 0
    for data in TINY:
        fit, least = fsopt.fit("pmm", data), least_errors(data)
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
    rest = np.argsort(-np.maximum(1 - data.y * (data.X @ below.w + below.b), 0), kind="stable")[below.d :]
    rows = -data.y[rest, None] * np.column_stack([data.X[rest], np.ones(len(rest))])
    bounds = [(None, None)] * (data.p + 1) + [(0, None)] * len(rest)
    cost = np.r_[np.zeros(data.p + 1), np.ones(len(rest))]
    least = linprog(cost, np.hstack([rows, -np.eye(len(rest))]), -np.ones(len(rest)), bounds=bounds).fun
    assert least == pytest.approx(below.value, rel=1e-7)


def test_no_errors_are_optimal_and_the_saved_fit_checks():
    data = blobs(30, 4, gap=6.0)
    result = pmm(data)
    assert (result.objective, result.bound, result.status, result.stop) == (0.0, 0.0, Status.OPTIMAL, "optimal")
    assert (result.certificate.kind, result.certificate.bound_source) == ("global", COUNT)
    assert result.point["below"] is None
    fit = fsopt.fit("pmm", data)
    record = as_read(fit, data)
    checked = verify_record(record, data, "file")
    assert checked.verified
    assert (checked.certificate.kind, checked.claimed) == ("global", Status.OPTIMAL)
    for part in ({"bound": 1.0}, {"bound": None}, {"objective": 1.0}, {"coef": [-v for v in record["coef"]]}):
        assert not verify_record({**record, **part}, data, "file").verified
    assert verify_record({**record, "status": "stationary", "bound": None}, data, "file").verified
    other = as_read(fsopt.fit("pmm", OVERLAP), OVERLAP)
    assert not verify_record({**other, "status": "optimal", "bound": 0.0}, OVERLAP, "file").verified


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
