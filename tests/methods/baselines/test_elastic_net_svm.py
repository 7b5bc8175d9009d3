"""The elastic net SVM: its ends, the optimum by cutting planes, forgeries."""

import dataclasses

import numpy as np
import pytest
from support import blobs
from truths import half_square, minimum, sized_margins, slack_cost

import fsopt

DATA = blobs(24, 4, seed=3, gap=0.5)


@pytest.mark.parametrize(("c", "rho"), [(1.0, 0.5), (0.3, 0.2), (5.0, 0.9)])
def test_the_optimum_is_that_by_cutting_planes(c, rho):
    fit = fsopt.fit("elastic-net-svm", DATA, c=c, l1_ratio=rho, scale="none")
    cost = slack_cost(DATA.X, *np.full(4, rho), 1.0 - rho, c=c)
    expected = minimum(cost, *sized_margins(DATA.X, DATA.y, 1), [half_square])[0]
    assert (fit.status, fit.objective) == ("optimal", pytest.approx(expected, rel=1e-6))
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
