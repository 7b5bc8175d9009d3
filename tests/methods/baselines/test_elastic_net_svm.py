"""The elastic net SVM: its ends, the optimum by the dual program, forgeries."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize
from support import blobs

import fsopt

DATA = blobs(24, 4, seed=3, gap=0.5)


def dual_optimum(data, c, rho):
    """Return the maximum of e'a - |soft(X'Ya, rho)|^2 / (2 (1 - rho)) over 0 <= a <= C, y'a = 0, by SciPy."""
    signed = data.y[:, None] * data.X

    def value(a):
        q = a @ signed
        w = np.sign(q) * np.maximum(np.abs(q) - rho, 0) / (1 - rho)
        return (1 - rho) / 2 * w @ w - a.sum(), signed @ w - 1

    balance = {"type": "eq", "fun": lambda a: a @ data.y, "jac": lambda a: data.y}
    start = np.where(data.y > 0, np.sum(data.y < 0), np.sum(data.y > 0)) * c / data.n
    bounds = [(0, c)] * data.n
    options = {"maxiter": 1000, "ftol": 1e-14}
    return -minimize(value, start, jac=True, bounds=bounds, constraints=[balance], method="SLSQP", options=options).fun


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
@pytest.mark.parametrize(("c", "rho"), [(1.0, 0.5), (0.3, 0.2), (5.0, 0.9)])
def test_the_optimum_is_that_of_the_dual_program(c, rho):
    fit = fsopt.fit("elastic-net-svm", DATA, c=c, l1_ratio=rho, scale="none")
    assert fit.status == "optimal"
    assert fit.objective == pytest.approx(dual_optimum(DATA, c, rho), rel=1e-6)
    model = fsopt.build("elastic-net-svm", DATA, c=c, l1_ratio=rho)
    assert fsopt.solve(model).objective == pytest.approx(fit.objective, rel=1e-7)
    assert fsopt.verify(fit, DATA).verified
    for false in ({"intercept": fit.intercept + 0.01}, {"params": {**fit.params, "l1_ratio": rho + 0.05}}):
        assert not fsopt.verify(dataclasses.replace(fit, **false), DATA).verified


@pytest.mark.parametrize(("rho", "other"), [(0.0, "svm"), (1.0, "onsvm")])
def test_the_ends_are_the_svm_and_the_one_norm_svm(rho, other):
    ours, known = (fsopt.fit(name, DATA, **p) for name, p in (("elastic-net-svm", {"l1_ratio": rho}), (other, {})))
    assert ours.objective == pytest.approx(known.objective, rel=1e-6)
    assert ours.support == known.support
