"""The course of a solve: bounds that enclose the optimum, records in the model's sense, Ctrl-C, warm starts."""

import signal

import pyomo.environ as pyo
import pytest
from solver_cases import knapsacks
from support import blobs, there

import fsopt
from fsopt.errors import ParameterError, SolverError

TREES = ("highs", "scip", "gurobi", "xpress")


def watched(model, solver, **more):
    try:
        return fsopt.solve(model, solver, **more)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        pytest.skip(f"{solver} has no licence here")


@pytest.mark.parametrize("solver", TREES)
def test_incumbents_rise_and_bounds_fall_to_the_optimum_of_a_maximum(solver):
    told = []
    result = watched(knapsacks(15), solver, progress=told.append)
    history = result.history
    assert history
    assert list(history) == told
    incumbents = [r["incumbent"] for r in history if r["incumbent"] is not None]
    bounds = [r["bound"] for r in history if r["bound"] is not None]
    assert incumbents
    assert incumbents == sorted(incumbents)
    assert max(incumbents) <= result.objective * (1 + 1e-6)
    assert min(bounds) >= result.objective * (1 - 1e-6)
    seconds = [r["seconds"] for r in history]
    assert seconds == sorted(seconds)
    assert all(r["gap"] is None or r["gap"] >= 0 for r in history)
    assert {line.get_label() for line in result.plot().axes[0].lines} == {"incumbent", "bound"}


@pytest.mark.parametrize("solver", ["clarabel", "ipopt"])
def test_iterations_of_continuous_solvers_end_at_the_optimum(solver):
    result = fsopt.solve(fsopt.build("svm", blobs(30, 4)), solver)
    assert len(result.history) >= 3
    assert result.history[-1]["incumbent"] == pytest.approx(result.objective, rel=1e-4)
    iterations = [r["iteration"] for r in result.history]
    assert iterations == sorted(iterations)


def test_a_solver_that_tells_nothing_has_no_history_and_no_plot():
    result = fsopt.solve(fsopt.build("onsvm", blobs(20, 3)), there("pyomo:glpk"))
    assert result.history == ()
    with pytest.raises(ParameterError, match="told nothing"):
        result.plot()


@pytest.mark.parametrize("solver", ["highs", "scip", "gurobi"])
def test_ctrl_c_keeps_the_incumbent(solver, usual_interruption):
    pressed = []

    def press(record):
        if record["incumbent"] is not None and not pressed:
            pressed.append(record)
            signal.raise_signal(signal.SIGINT)

    result = watched(knapsacks(45), solver, time_limit=60.0, options={"mip_gap": 0.0}, progress=press)
    assert (result.status, result.stop) == ("feasible", "interrupted")
    assert result.objective > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("solver", ["highs", "scip", "gurobi"])
def test_a_warm_start_is_the_first_incumbent(solver):
    model = knapsacks(15)
    best = fsopt.solve(model, "highs").objective
    assert pyo.value(model.o) == pytest.approx(best)
    result = watched(model, solver, warm_start=True)
    first = next(r["incumbent"] for r in result.history if r["incumbent"] is not None)
    assert first == pytest.approx(best, rel=1e-9)
    assert result.objective == pytest.approx(best)


def test_values_that_are_no_point_do_no_harm():
    model = knapsacks(10)
    best = fsopt.solve(model, "highs").objective
    for v in model.x.values():
        v.set_value(1)
    assert watched(model, "highs", warm_start=True).objective == pytest.approx(best)
