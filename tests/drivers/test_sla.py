"""SLA: stop test, restarts, the trap at w = 0, the minimum principle, other terms, column generation, saved answers."""

import numpy as np
import pyomo.environ as pyo
import pytest
from saved_records import as_read
from scipy.optimize import linprog
from support import blobs, reference, without_model

import fsopt
from fsopt.answers.certificate import Kind
from fsopt.answers.results import Status
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.sla import NONNEGATIVE, RESTARTS, ConcaveTerms, sla
from fsopt.errors import ParameterError
from fsopt.methods import large_programs
from fsopt.verification.verify import verify_record

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
    assert ends == pytest.approx([run["objective"] for run in result.point["starts"]], rel=1e-12)
    assert result.objective == pytest.approx(min(ends), rel=1e-12)
    for run in result.point["starts"]:
        assert value(data, run, lam) == pytest.approx(run["objective"], rel=1e-7, abs=1e-7)
        assert slope(data, run, lam) >= -1e-6
    assert value(data, result.point, lam) == pytest.approx(result.objective, rel=1e-7, abs=1e-7)


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


@pytest.mark.parametrize(
    ("data", "lam"), [(DATA, None), (DATA, 0.3), (reference("sla_g2"), 0.05)], ids=["misclass", "fsv", "fsv, golden"]
)
def test_the_answer_by_column_generation_satisfies_the_minimum_principle(data, lam):
    method, params = ("misclass", {}) if lam is None else ("fsv", {"lam": lam})
    ours, whole = (fit(method, data, scale="none", **params) for fit in (without_model, fsopt.fit))
    assert ours.status is Status.STATIONARY
    if lam != 0.3:  # There the first programs have ties, and lead to different answers.
        assert ours.objective == pytest.approx(whole.objective, rel=1e-7)
    at = {"w": ours.coef, "gamma": -ours.intercept}
    assert value(data, at, lam) == pytest.approx(ours.objective, rel=1e-7)
    assert slope(data, at, lam) >= -1e-6 * (1 + ours.objective)
    assert (ours.details["alpha"] >= 0).all()
    if len(ours.details["starts"]) == 1:
        assert np.all(np.diff([h["objective"] for h in ours.history][:-1]) < 0)


def test_it_is_taken_for_large_data_only(monkeypatch):
    assert "alpha" not in fsopt.fit("fsv", DATA).details
    monkeypatch.setattr(large_programs, "LONG", 50)
    monkeypatch.setattr(large_programs, "LARGE", 500)
    wide = blobs(40, 60)
    # Columns without a cost are all kept: nothing is gained where there are many.
    assert "alpha" not in fsopt.fit("misclass", wide).details
    assert "alpha" in fsopt.fit("fsv", wide).details
    assert "alpha" in fsopt.fit("onsvm", wide).details


OTHERS = {
    "component": (lambda m: m.del_component(m.cost_v), "has no component 'cost_v'"),
    "sense": (lambda m: setattr(m.objective, "sense", pyo.maximize), "not a linear program that is minimised"),
    "square": (lambda m: m.objective.set_value(m.objective.expr + m.gamma**2), "not a linear program"),
    "sign": (lambda m: setattr(m.v[0], "domain", pyo.Reals), "can be negative"),
    "weight": (lambda m: None, "does not have the concave terms with the weight 0.0501"),
    "twice": (lambda m: m.objective.set_value(m.objective.expr + m.cost_v[0] * m.w[0]), "does not have the concave"),
}


@pytest.mark.parametrize("change", OTHERS)
def test_a_step_model_that_the_terms_do_not_belong_to_is_refused(change):
    alter, words = OTHERS[change]
    model = fsopt.build("fsv-step", DATA, lam=0.05)
    terms = ConcaveTerms((("v", "cost_v"),), ALPHA, 0.0501 if change == "weight" else 0.05)
    if change == "component":
        model.objective.set_value(model.v[0] + 0.0)
    alter(model)
    with pytest.raises(ParameterError, match=words):
        sla(model, terms)


def test_a_linear_rest_on_the_same_variables_is_the_user_s():
    model = fsopt.build("fsv-step", DATA, lam=0.05)
    model.objective.set_value(model.objective.expr + 0.01 * sum(model.v.values()))
    result = sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, 0.05))
    at = result.point
    errors = 0.95 * (at["y"].mean() + at["z"].mean())
    own = errors - 0.05 * np.expm1(-ALPHA * at["v"]).sum() + 0.01 * at["v"].sum()
    assert result.objective == pytest.approx(own, rel=1e-7)
    assert result.status is Status.STATIONARY


SEPARABLE = blobs(30, 4, gap=6.0)


@pytest.mark.parametrize("fit_of", [fsopt.fit, without_model])
@pytest.mark.parametrize(("method", "params"), [("misclass", {}), ("fsv", {"lam": 1.0}), ("fsv", {"lam": 0.0})])
def test_the_value_zero_of_nonnegative_terms_is_optimal_and_its_saved_fit_checks(method, params, fit_of):
    fit = fit_of(method, SEPARABLE, **params)
    assert (fit.status, fit.stop, fit.bound) == (Status.OPTIMAL, "optimal", 0.0)
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert (fit.certificate.kind, fit.certificate.bound_source) == (Kind.GLOBAL, NONNEGATIVE)
    record = as_read(fit, SEPARABLE)
    checked = verify_record(record, SEPARABLE, "file")
    assert checked.verified
    assert checked.certificate.kind is Kind.GLOBAL
    for part in ({"bound": 0.1}, {"bound": None}, {"objective": 1e-3}, {"coef": [-v - 1.0 for v in record["coef"]]}):
        assert not verify_record({**record, **part}, SEPARABLE, "file").verified
    overlapping = fit_of(method, DATA, **({"lam": 0.05} if params else {}))
    assert (overlapping.status, overlapping.bound) == (Status.STATIONARY, None)
    false = as_read(overlapping, DATA)
    assert verify_record(false, DATA, "file").verified
    assert not verify_record({**false, "status": "optimal", "bound": 0.0}, DATA, "file").verified
