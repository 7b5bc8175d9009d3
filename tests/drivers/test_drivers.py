"""What all drivers owe: values, records, stops, interruption, nothing rebuilt on the way; and the local MOP.

The public names of the drivers: functions, also where a module has the name, each with a page.
"""

import inspect
import subprocess
import sys

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC
from support import ROOT, blobs, reference

import fsopt
from fsopt import drivers
from fsopt.answers.certificate import FEASIBLE
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.certificates.points import infeasibility
from fsopt.compiler import compile_model
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.mop import mop
from fsopt.drivers.penalties import Exponential
from fsopt.drivers.recorder import PHASES
from fsopt.drivers.run import Run
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.errors import SolverError
from fsopt.solvers.base import Session

ALPHA, DELTA, LAM, C = 5.0, 0.7, 0.05, 4.0


def run_dca(data=None, **options):
    model = fsopt.build("l0-mpm-step", data or blobs(40, 6, seed=2, gap=1.0), delta=DELTA, alpha=ALPHA)
    return dca(model, Exponential(ALPHA), **options)


def run_fsv(data=None, **options):
    model = fsopt.build("fsv-step", data or reference("sla_fs8"), lam=LAM, alpha=ALPHA)
    return sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, weight=LAM), **options)


def run_misclass(data=None, **options):
    model = fsopt.build("misclass-step", data or blobs(40, 3, seed=2), alpha=ALPHA)
    return sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), ALPHA), **options)


def run_gbd(max_iterations=250, **options):
    data = reference("gbd_n6")
    master, sub = fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=C)
    return gbd(data, master, sub, c=C, **options, settings=GbdSettings(max_cuts=max_iterations))


def run_mop(data=None, w_cap=3.0, **options):
    return mop(data or reference("mop_a"), w_cap=w_cap, **options)


RUNS = {"dca": run_dca, "fsv": run_fsv, "misclass": run_misclass, "gbd": run_gbd, "mop": run_mop}


def check_value(name, result):
    """Assert that the value which the driver claims is that of the point which it returns."""
    at = result.point
    if name == "dca":
        value = -np.expm1(-ALPHA * np.abs(at["w"])).sum()
    elif name == "fsv":
        value = (1 - LAM) * (at["y"].mean() + at["z"].mean()) - LAM * np.expm1(-ALPHA * at["v"]).sum()
    elif name == "misclass":
        value = -np.expm1(-ALPHA * np.r_[at["y"], at["z"]]).sum()
    else:
        data = reference("gbd_n6" if name == "gbd" else "mop_a")
        loss = hinge(data.X @ at["w"] + at["b"], data.y)
        value = loss if name == "mop" else 0.5 * at["w"] @ at["w"] + C * loss
    assert result.objective == pytest.approx(value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", RUNS)
def test_the_value_is_that_of_the_point_and_nothing_is_translated_again_after_the_first_iteration(name):
    result = RUNS[name]()
    check_value(name, result)
    assert result.certificate.ok
    history = result.history
    assert len(history) >= 3
    assert [h["iteration"] for h in history] == list(range(1, result.iterations + 1))
    assert [h["rebuilt"] for h in history] == [""] * len(history)
    assert [h["seconds_translate"] for h in history[1:]] == [0.0] * (len(history) - 1)
    assert all(h["seconds_solve"] > 0 for h in history)
    for k in PHASES:
        assert all(h[f"seconds_{k}"] >= 0 for h in history)
        assert sum(h[f"seconds_{k}"] for h in history) <= result.seconds[k] * (1 + 1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_a_limit_of_the_loop_or_of_a_solver_is_named_and_claims_no_more_than_feasible(name, ends):
    for limit, stop in ({"max_iterations": 2}, "iteration-limit"), ({"run": Run(time_limit=1e-9)}, "time-limit"):
        result = RUNS[name](**limit)
        assert (result.stop, result.status) == (stop, Status.FEASIBLE)
        assert result.iterations <= 2
        check_value(name, result)
    ends({"gbd": 6, "mop": 6}.get(name, 3))
    result = RUNS[name](run=Run(time_limit=1e3))
    assert (result.stop, result.status) == ("time-limit", Status.FEASIBLE)
    check_value(name, result)


@pytest.mark.parametrize("name", ["dca", "fsv", "misclass"])
def test_a_step_that_stopped_early_proves_nothing(name, monkeypatch):
    solve, calls = Session.solve, []

    def stay(self, **keywords):
        """Solve the first step; then stop where the model is, as a warm simplex out of time does."""
        calls.append(self)
        if len(calls) == 1:
            return solve(self, **{**keywords, "load": True, "evidence": True})
        x = np.array([v.value for v in self.program.variables])
        value = self.program.objective_at(x)
        return SolveResult(Status.FEASIBLE, "time-limit", value, None, self.spec.name, {}, 0, point=Point(x))

    monkeypatch.setattr(Session, "solve", stay)
    result = RUNS[name](max_iterations=3)
    assert result.status is Status.FEASIBLE
    assert result.stop != "stationary"


@pytest.mark.parametrize("limit", [2, 100])
@pytest.mark.parametrize("name", ["dca", "fsv", "misclass"])
def test_the_point_at_which_a_loop_ends_meets_every_constraint(name, limit, monkeypatch):
    """Steps take the points of their solver as they come, with violations of 1e-10."""
    build, models = fsopt.build, []
    monkeypatch.setattr(fsopt, "build", lambda *at, **given: models.append(build(*at, **given)) or models[0])
    point, program = RUNS[name](max_iterations=limit).point, compile_model(models[0])
    x = np.zeros(program.n)
    for variable in models[0].component_objects(pyo.Var):
        x[[program.column[id(v)] for v in variable.values()]] = point[variable.name]
    assert infeasibility(program, x) <= FEASIBLE


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("stop", "error", "words"), [("interrupted", KeyboardInterrupt, None), ("infeasible", SolverError, "infeasible")]
)
def test_a_failure_before_the_first_point_is_passed_on(name, stop, error, words, ends):
    ends(1, stop)
    with pytest.raises(error, match=words):
        RUNS[name]()


def test_the_first_hyperplane_of_mop_is_the_svm_with_the_penalty_weight_of_the_capacity():
    data, w_cap = reference("mop_a"), 1.5
    at = run_mop(data, w_cap=w_cap, run=Run(time_limit=1e-9)).point
    assert at["w"] @ at["w"] == pytest.approx(w_cap, rel=1e-6)
    model = fsopt.build("rsvm-dual", data, w_cap=w_cap)
    loss = -fsopt.solve(model).objective
    gamma = np.linalg.norm([x.value for x in model.v.values()]) / np.sqrt(w_cap)
    svm = SVC(kernel="linear", C=1 / gamma, tol=1e-9).fit(data.X, data.y).coef_[0]
    np.testing.assert_allclose(at["w"], svm, atol=1e-4)
    assert at["E"][0] == pytest.approx(loss, rel=1e-6)


@pytest.mark.slow
def test_an_inactive_capacity_gives_the_hard_margin_hyperplane_or_the_smallest_loss():
    data = reference("mop_sep")
    result = run_mop(data, w_cap=1e6, run=Run(time_limit=1e-9))
    assert result.point["inactive"]
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    svm = SVC(kernel="linear", C=1e8, tol=1e-9).fit(data.X, data.y).coef_[0]
    np.testing.assert_allclose(result.point["w"], svm, rtol=1e-4, atol=1e-4 * np.abs(svm).max())
    data = blobs(30, 3, seed=2)
    rows = np.column_stack([-data.X * data.y[:, None], -data.y, -np.eye(data.n)])
    bounds = [(None, None)] * (data.p + 1) + [(0, None)] * data.n
    least = linprog(np.r_[np.zeros(data.p + 1), np.ones(data.n)], rows, -np.ones(data.n), bounds=bounds).fun
    result = run_mop(data, w_cap=1e5)
    assert result.point["E"][0] == pytest.approx(least, rel=1e-6)
    assert result.objective == pytest.approx(least, rel=1e-6)
    assert result.certificate.ok


LOOPS = [name for name in drivers.__all__ if inspect.isfunction(getattr(drivers, name)) and name != "approximation"]
CODE = """
import fsopt.drivers.dca, fsopt.drivers.gbd.driver, fsopt.drivers.sla
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import gbd
import fsopt.drivers
assert fsopt.drivers.dca is dca and fsopt.drivers.gbd is gbd and fsopt.drivers.sla.__name__ == "sla"
"""


@pytest.mark.slow
def test_the_names_are_those_of_the_functions_whatever_is_imported_first():
    done = subprocess.run([sys.executable, "-W", "error", "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", LOOPS)
def test_a_driver_has_its_loop_in_pseudocode_beside_the_code(name):
    page = "mop" if name == "kernel_scaling" else name  # its problem is a step of that loop
    text = (ROOT / "docs" / "drivers" / f"{page}.md").read_text(encoding="utf-8")
    assert ":::{admonition} Algorithm" in text
    assert f"autofunction:: fsopt.drivers.{name}" in text
    assert "{literalinclude} ../../fsopt/drivers/" in text
    assert "## What is certified" in text
