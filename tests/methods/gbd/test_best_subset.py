"""Methods of Aytug keep the rules of the user; ``fsv`` with each concave approximation by other software."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, reference, without_model
from truths import one_norm

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.penalties import PENALTIES, approximation
from fsopt.errors import ParameterError


def test_a_master_with_variables_of_its_own_is_for_the_loop():
    def rule(model):
        model.half = pyo.Var(bounds=(0, 1))
        model.rule = pyo.Constraint(expr=model.sigma[0] + model.half <= 1.5)

    with pytest.raises(ParameterError, match="variables or cuts of its own") as caught:
        fsopt.fit("best-subset", reference("gbd_n6"), customise={"fsp-master": rule})
    assert "'gbd'" in caught.value.hint
    assert fsopt.fit("gbd", reference("gbd_n6"), customise={"fsp-master": rule}).status == "optimal"


def test_of_equal_optima_every_run_returns_the_same_and_the_alternatives_list_all():
    base = blobs(40, 3, seed=2)
    data = fsopt.Dataset(np.column_stack([base.X, base.X[:, :2]]), base.y)
    runs = [fsopt.fit("best-subset", data, m=1, c=2.0) for _ in range(2)]
    assert runs[0].support == runs[1].support
    found = fsopt.alternatives(data, 1, within=0.0, c=2.0)
    assert tuple(runs[0].support) in {tuple(one) for one in found.support}
    assert {tuple(one) for one in found.support} in ({(0,), (3,)}, {(1,), (4,)})


NAMES = ("mean radius", "x11", "Größe", "batch", "site", "x1")
X = blobs(24, 6).X.copy()
X[:, 3], X[:, 4], X[:, 5] = 0.1, 7.3, X[:, 0] + X[:, 5]
DATA = fsopt.Dataset(X, blobs(24, 6).y, NAMES, name="patients")
"""Two features are the same in all samples: their weights are 0."""


@pytest.mark.parametrize(("limited", "penalised"), [("best-subset", "best-subset-penalised"), ("gbd", "gbd-lambda")])
def test_a_place_that_is_left_takes_no_feature_that_does_nothing(limited, penalised):
    fit = fsopt.fit(limited, DATA, m=6)
    assert fit.features == ("mean radius", "x11", "Größe", "x1")
    free = fsopt.fit(penalised, DATA, lam=0.0)
    assert free.features == fit.features
    assert fit.objective == pytest.approx(fsopt.fit("svm", DATA).objective, rel=1e-6)
    taken = fsopt.fit(limited, DATA, m=3, include=["batch"], conflicts=[["mean radius", "batch"]])
    assert "batch" in taken.features
    assert taken.coef[0] == taken.coef[3] == 0.0
    assert fsopt.verify(taken, DATA).verified
    path = fsopt.selection_path(DATA, m=[0, 2, 6])
    assert path.support == ((), path.support[1], fit.support)
    assert fsopt.verify(path, DATA).verified
    assert all(claim.holds for claim in path.claims(DATA))


FSV_DATA = blobs(40, 4, seed=3, gap=0.6)
LAM, ALPHA = 0.1, 4.0
every = pytest.mark.parametrize("name", PENALTIES)


def shares(data):
    return (1 - LAM) / np.where(data.y > 0, np.sum(data.y > 0), np.sum(data.y < 0))


def decrease(data, w, b, costs):
    """Return by how much scipy lowers the linearisation at a hyperplane."""
    value = shares(data) @ np.maximum(1 - data.y * (data.X @ w + b), 0) + costs @ np.abs(w)
    return value - one_norm(data.X, data.y, weights=costs, loss=shares(data))[0]


@every
@pytest.mark.parametrize("fit_of", [fsopt.fit, without_model])
def test_every_step_descends_and_the_answer_satisfies_the_minimum_principle(name, fit_of):
    fit = fit_of("fsv", FSV_DATA, lam=LAM, alpha=ALPHA, approx=name, scale="none")
    penalty = approximation(name, ALPHA)
    errors = np.maximum(1 - FSV_DATA.y * (FSV_DATA.X @ fit.coef + fit.intercept), 0)
    assert fit.objective == pytest.approx(shares(FSV_DATA) @ errors + LAM * penalty.value(fit.coef), rel=1e-9)
    assert fit.status is Status.STATIONARY
    values = [record["objective"] for record in fit.history]
    assert np.all(np.diff(values) <= 1e-9)
    step = 1e-7 / ALPHA  # the slope of phi on the right, apart from the code's formula of it
    unit = np.eye(FSV_DATA.p)
    sizes = np.abs(fit.coef)
    costs = LAM * np.array([penalty.value(sizes + step * e) - penalty.value(sizes) for e in unit]) / step
    assert decrease(FSV_DATA, fit.coef, fit.intercept, costs) <= 1e-5
    if fit.coef.any():
        assert decrease(FSV_DATA, fit.coef, fit.intercept, np.full(FSV_DATA.p, 100.0)) > 0.1
