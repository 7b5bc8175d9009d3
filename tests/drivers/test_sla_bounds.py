"""SLA: terms that are not the step model's are refused, and the value 0 of nonnegative terms is a global minimum."""

import numpy as np
import pyomo.environ as pyo
import pytest
from saved_records import as_read
from support import blobs

import fsopt
from fsopt.answers.certificate import Kind
from fsopt.answers.results import Status
from fsopt.drivers.minimum_principle import NONNEGATIVE
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.errors import ParameterError
from fsopt.verification.checking import check_record

ALPHA = 5.0
DATA = blobs(40, 3, seed=2)


CHANGES = {
    "component": (lambda m: m.del_component(m.cost_v), "has no component 'cost_v'"),
    "sense": (lambda m: setattr(m.objective, "sense", pyo.maximize), "not a linear program that is minimised"),
    "square": (lambda m: m.objective.set_value(m.objective.expr + m.gamma**2), "not a linear program"),
    "sign": (lambda m: setattr(m.v[0], "domain", pyo.Reals), "can be negative"),
    "weight": (lambda m: None, "does not have the concave terms with the weight 0.0501"),
    "twice": (lambda m: m.objective.set_value(m.objective.expr + m.cost_v[0] * m.w[0]), "does not have the concave"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_model_that_the_terms_do_not_belong_to_is_refused(change):
    alter, words = CHANGES[change]
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


@pytest.mark.parametrize(("alpha", "weight"), [(0.0, 1.0), (5.0, -1.0), ("steep", 1.0)])
def test_terms_that_are_not_concave_are_refused(alpha, weight):
    with pytest.raises(ParameterError, match=r"alpha|weight"):
        ConcaveTerms((("v", "cost_v"),), alpha, weight)


SEPARABLE = blobs(30, 4, gap=6.0)


@pytest.mark.parametrize("generate", [False, True])
@pytest.mark.parametrize(("method", "params"), [("misclass", {}), ("fsv", {"lam": 1.0}), ("fsv", {"lam": 0.0})])
def test_the_value_zero_of_nonnegative_terms_is_optimal_and_its_saved_fit_checks(method, params, generate):
    fit = fsopt.fit(method, SEPARABLE, generate=generate, **params)
    assert (fit.status, fit.stop, fit.bound) == (Status.OPTIMAL, "optimal", 0.0)
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert (fit.certificate.kind, fit.certificate.bound_source) == (Kind.GLOBAL, NONNEGATIVE)
    record = as_read(fit, SEPARABLE)
    checked = check_record(record, SEPARABLE, "file")
    assert checked.verified
    assert checked.certificate.kind is Kind.GLOBAL
    for part in ({"bound": 0.1}, {"bound": None}, {"objective": 1e-3}, {"coef": [-v - 1.0 for v in record["coef"]]}):
        assert not check_record({**record, **part}, SEPARABLE, "file").verified
    overlapping = fsopt.fit(method, DATA, generate=generate, **({"lam": 0.05} if params else {}))
    assert (overlapping.status, overlapping.bound) == (Status.STATIONARY, None)
    false = as_read(overlapping, DATA)
    assert check_record(false, DATA, "file").verified
    assert not check_record({**false, "status": "optimal", "bound": 0.0}, DATA, "file").verified
