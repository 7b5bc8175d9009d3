"""The drivers: descent, criticality, bounds, stops, interruption, and that nothing is rebuilt on the way."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC
from support import blobs, reference

import fsopt
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.mop.driver import mop
from fsopt.drivers.penalties.exponential import Exponential
from fsopt.drivers.recorder import PHASES
from fsopt.drivers.run import Run
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.errors import SolverError
from fsopt.solvers.base import Session

ALPHA, DELTA, LAM, C = 5.0, 0.7, 0.05, 4.0


def run_dca(data=None, **options):
    model = fsopt.build("l0-mpm-step", data or reference("wdbc_std"), delta=DELTA, alpha=ALPHA)
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
def test_the_value_is_that_of_the_point_and_the_history_is_complete(name):
    result = RUNS[name]()
    check_value(name, result)
    assert result.certificate.ok
    assert [h["iteration"] for h in result.history] == list(range(1, result.iterations + 1))
    for record in result.history:
        assert all(record[f"seconds_{k}"] >= 0 for k in PHASES)
        assert record["seconds_solve"] > 0
    for k in PHASES:
        assert sum(h[f"seconds_{k}"] for h in result.history) <= result.seconds[k] * (1 + 1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_translated_again_after_the_first_iteration(name):
    history = RUNS[name]().history
    assert len(history) >= 3
    assert [h["rebuilt"] for h in history] == [""] * len(history)
    assert [h["seconds_translate"] for h in history[1:]] == [0.0] * (len(history) - 1)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("limit", "stop"), [({"max_iterations": 2}, "iteration-limit"), ({"run": Run(time_limit=1e-9)}, "time-limit")]
)
def test_a_limit_is_named_and_claims_no_more_than_feasible(name, limit, stop):
    result = RUNS[name](**limit)
    assert (result.stop, result.status) == (stop, Status.FEASIBLE)
    assert result.iterations <= 2
    check_value(name, result)


@pytest.mark.parametrize("name", RUNS)
def test_a_solver_that_runs_out_of_time_ends_the_loop_and_not_the_answer(name, monkeypatch):
    solve, calls, last = Session.solve, [], {"gbd": 6, "mop": 6}.get(name, 3)

    def out_of_time(self, **keywords):
        calls.append(self)
        if len(calls) < last:
            return solve(self, **keywords)
        return SolveResult(Status.NONE, "time-limit", None, None, self.spec.name, {}, 0)

    monkeypatch.setattr(Session, "solve", out_of_time)
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
            return solve(self, **{**keywords, "load": True})
        x = np.array([v.value for v in self.program.variables])
        value = self.program.objective_at(x)
        return SolveResult(Status.FEASIBLE, "time-limit", value, None, self.spec.name, {}, 0, point=Point(x))

    monkeypatch.setattr(Session, "solve", stay)
    result = RUNS[name](max_iterations=3)
    assert result.status is Status.FEASIBLE
    assert result.stop != "stationary"


@pytest.mark.parametrize("name", RUNS)
def test_an_interruption_returns_the_best_point_so_far(name):
    seen = []

    def interrupt(record):
        seen.append(record)
        if len(seen) == 3:
            raise KeyboardInterrupt

    result = RUNS[name](run=Run(progress=interrupt))
    assert (result.stop, result.status) == ("interrupted", Status.FEASIBLE)
    assert result.iterations == len(result.history) == 3
    check_value(name, result)
    values = [r["E" if name == "mop" else "objective"] for r in seen[:2]]
    assert result.objective <= min(values) + 1e-9


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("failure", [None, "infeasible"])
def test_a_failure_before_the_first_point_is_passed_on(name, failure, monkeypatch):
    def fail(self, **keywords):
        if failure is None:
            raise KeyboardInterrupt
        return SolveResult(Status.INFEASIBLE, failure, None, None, self.spec.name, {}, 0)

    monkeypatch.setattr(Session, "solve", fail)
    with pytest.raises(SolverError if failure else KeyboardInterrupt, match=failure):
        RUNS[name]()


# ---------------------------------------------------------------- DCA and SLA


@pytest.mark.parametrize("data", [reference("wdbc_std"), blobs(80, 6, seed=1, gap=1.2)], ids=str)
def test_dca_descends_to_a_point_that_solves_its_own_step(data):
    result = run_dca(data)
    values = [h["objective"] for h in result.history]
    assert np.all(np.diff(values) <= 1e-6 * np.abs(values[:-1]))
    assert result.status is Status.STATIONARY
    assert result.bound is None
    w = result.point["w"]
    v = np.sign(w) * ALPHA * (1 - np.exp(-ALPHA * np.abs(w)))
    step = fsopt.solve(fsopt.build("l0-mpm-step", data, delta=DELTA, alpha=ALPHA, v=v))
    here = ALPHA * np.abs(w).sum() - v @ w
    assert step.status == "optimal"
    assert abs(here - step.objective) <= 1e-5 * max(1.0, abs(here))
    assert result.objective < values[0] - 1e-2


def least_slope(data, at, lam=None):
    """Return min grad'z over the polyhedron (by scipy) and grad'x, for misclass or, with lam, for fsv."""
    A, B = data.X[data.y > 0], data.X[data.y < 0]
    (m, p), k = A.shape, len(B)
    x = np.r_[at["w"], at["gamma"], at["y"], at["z"]]
    rows = [
        np.column_stack([-A, np.ones(m), -np.eye(m), np.zeros((m, k))]),
        np.column_stack([B, -np.ones(k), np.zeros((k, m)), -np.eye(k)]),
    ]
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (m + k)
    rows, sides = np.vstack(rows), -np.ones(m + k)
    if lam is None:
        cost = np.r_[np.zeros(p + 1), ALPHA * np.exp(-ALPHA * x[p + 1 :])]
    else:
        split = np.column_stack([np.vstack([np.eye(p), -np.eye(p)]), np.zeros((2 * p, 1 + m + k))])
        rows = np.block([[rows, np.zeros((m + k, p))], [split, -np.vstack([np.eye(p), np.eye(p)])]])
        sides, bounds = np.r_[sides, np.zeros(2 * p)], bounds + [(0, None)] * p
        x = np.r_[x, at["v"]]
        errors = np.r_[np.full(m, 1 / m), np.full(k, 1 / k)]
        cost = np.r_[np.zeros(p + 1), (1 - lam) * errors, lam * ALPHA * np.exp(-ALPHA * at["v"])]
    assert np.all(rows @ x <= sides + 1e-7)
    return linprog(cost, rows, sides, bounds=bounds).fun, cost @ x


@pytest.mark.parametrize(
    ("run", "data", "lam"),
    [
        (run_fsv, reference("sla_fs8"), LAM),
        (run_fsv, reference("sgm_wdbc_std"), LAM),
        (run_misclass, reference("sla_g2"), None),
        (run_misclass, blobs(40, 3, seed=2), None),
        (run_misclass, blobs(60, 4, seed=7), None),
    ],
    ids=["fsv-fs8", "fsv-wdbc", "misclass-g2", "misclass-a", "misclass-b"],
)
def test_sla_is_finite_descends_strictly_and_satisfies_the_minimum_principle(run, data, lam):
    result = run(data)
    assert (result.stop, result.status) == ("stationary", Status.STATIONARY)
    assert result.iterations < 100
    values = [h["objective"] for h in result.history]
    assert np.all(np.diff(values[:-1]) < 0)
    assert values[-1] <= values[-2] + 1e-9
    assert result.objective == pytest.approx(min(values), rel=1e-9, abs=1e-9)
    least, here = least_slope(data, result.point, lam)
    assert least >= here - 1e-7 * (1 + abs(here))


def test_sla_refuses_a_solver_without_vertices():
    with pytest.raises(SolverError, match="clarabel") as caught:
        run_fsv(run=Run(solver="clarabel"))
    assert "highs" in caught.value.hint


# ---------------------------------------------------------------- MOP


@pytest.mark.parametrize("data", [reference("mop_a"), blobs(40, 6, seed=3), blobs(30, 8, seed=4)], ids=str)
@pytest.mark.parametrize(("w_cap", "c"), [(0.5, 0.0), (5.0, 0.0), (5.0, 0.05)])
def test_mop_never_raises_the_loss_nor_without_a_penalty_weight_the_product(data, w_cap, c):
    result = run_mop(data, w_cap=w_cap, c=c)
    E, H = np.array(result.point["E"]), np.array(result.point["H"])
    assert np.all(np.diff(E) <= 1e-6 * np.maximum(1.0, E[:-1]))
    if c == 0:
        assert np.all(np.diff(H) <= 1e-6 * np.maximum(1.0, H[:-1]))
    assert result.objective == E[-1]
    assert hinge(data.X @ result.point["w"] + result.point["b"], data.y) == pytest.approx(E[-1], abs=1e-7)
    assert result.status is Status.FEASIBLE
    assert np.all(result.point["scales"] >= 0)


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


def test_an_inactive_capacity_gives_the_hard_margin_hyperplane():
    data = reference("mop_sep")
    result = run_mop(data, w_cap=1e6, run=Run(time_limit=1e-9))
    assert result.point["inactive"]
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    svm = SVC(kernel="linear", C=1e8, tol=1e-9).fit(data.X, data.y).coef_[0]
    np.testing.assert_allclose(result.point["w"], svm, rtol=1e-4, atol=1e-4 * np.abs(svm).max())


def test_an_inactive_capacity_on_overlapping_data_gives_the_smallest_loss():
    data = blobs(40, 3, seed=2)
    rows = np.column_stack([-data.X * data.y[:, None], -data.y, -np.eye(data.n)])
    bounds = [(None, None)] * (data.p + 1) + [(0, None)] * data.n
    least = linprog(np.r_[np.zeros(data.p + 1), np.ones(data.n)], rows, -np.ones(data.n), bounds=bounds).fun
    result = run_mop(data, w_cap=1e5)
    assert result.point["E"][0] == pytest.approx(least, rel=1e-6)
    assert result.objective == pytest.approx(least, rel=1e-6)
    assert result.certificate.ok
