"""Method ``fsv`` with each concave approximation: minimum principle by other software, descent, forgeries."""

import numpy as np
import pytest
from support import blobs, without_model
from truths import one_norm

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.penalties import PENALTIES, approximation

DATA = blobs(40, 4, seed=3, gap=0.6)
LAM, ALPHA = 0.1, 4.0
every = pytest.mark.parametrize("name", PENALTIES)


def fitted(name, data=DATA, fit=fsopt.fit):
    return fit("fsv", data, lam=LAM, alpha=ALPHA, approx=name, scale="none")


def shares(data):
    return (1 - LAM) / np.where(data.y > 0, np.sum(data.y > 0), np.sum(data.y < 0))


def decrease(data, w, b, costs):
    """Return by how much scipy lowers the linearisation at a hyperplane."""
    value = shares(data) @ np.maximum(1 - data.y * (data.X @ w + b), 0) + costs @ np.abs(w)
    return value - one_norm(data.X, data.y, weights=costs, loss=shares(data))[0]


@every
@pytest.mark.parametrize("fit_of", [fsopt.fit, without_model])
def test_every_step_descends_and_the_answer_satisfies_the_minimum_principle(name, fit_of):
    fit = fitted(name, fit=fit_of)
    penalty = approximation(name, ALPHA)
    errors = np.maximum(1 - DATA.y * (DATA.X @ fit.coef + fit.intercept), 0)
    assert fit.objective == pytest.approx(shares(DATA) @ errors + LAM * penalty.value(fit.coef), rel=1e-9)
    assert fit.status is Status.STATIONARY
    values = [record["objective"] for record in fit.history]
    assert np.all(np.diff(values) <= 1e-9)
    step = 1e-7 / ALPHA  # the slope of phi on the right, apart from the code's formula of it
    unit = np.eye(DATA.p)
    sizes = np.abs(fit.coef)
    costs = LAM * np.array([penalty.value(sizes + step * e) - penalty.value(sizes) for e in unit]) / step
    assert decrease(DATA, fit.coef, fit.intercept, costs) <= 1e-5
    if fit.coef.any():
        assert decrease(DATA, fit.coef, fit.intercept, np.full(DATA.p, 100.0)) > 0.1


def test_a_penalty_of_the_users_own_is_the_registered_one_that_it_equals():
    own, named = fitted(PENALTIES["inverse-power"].make(ALPHA)), fitted("inverse-power")
    np.testing.assert_array_equal(own.coef, named.coef)
    assert own.params["approx"] == "inverse-power"
