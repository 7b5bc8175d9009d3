"""Method gbd-lambda: the closed form of one cut against brute force, and its limits."""

import pytest
from support import all_values, blobs

import fsopt
from fsopt.answers.results import Status


def closed_form(data, **keywords):
    return fsopt.fit("gbd-lambda", data, c=1.0, scale="none", preset="closed-form", **keywords)


def test_the_closed_form_is_the_integer_program_as_long_as_there_is_one_cut():
    data = blobs(30, 5, seed=1)
    milp = fsopt.fit("gbd-lambda", data, c=1.0, scale="none", solver="piqp")
    rule = closed_form(data, solver="piqp")
    assert rule.history[0]["bound"] == pytest.approx(milp.history[0]["bound"], rel=1e-6, abs=1e-6)
    assert rule.history[1]["objective"] == pytest.approx(milp.history[1]["objective"], rel=1e-6)
    assert rule.details["alphas"][1] == pytest.approx(milp.details["alphas"][1], abs=1e-5)


def test_the_closed_form_is_optimal_where_one_cut_decides():
    data = blobs(30, 5, seed=0)
    for lam in (0.0, 1e3):
        fit = closed_form(data, lam=lam)
        assert fit.status is Status.OPTIMAL
        assert fit.objective == pytest.approx(all_values(data, 1.0)[(int(lam == 0.0),) * 5], rel=2e-6)


def test_elsewhere_its_bounds_enclose_the_optimum_that_it_misses():
    for seed, ratio in ((1, 1.441), (2, 1.0), (4, 1.258)):
        data = blobs(30, 5, seed=seed)
        best = min(value + sum(s) for s, value in all_values(data, 1.0).items())
        fit = closed_form(data, solver="piqp")
        assert fit.objective == pytest.approx(ratio * best, rel=5e-4)
        assert fit.bound <= best * (1 + 1e-6)
        assert (fit.status, fit.stop) == (Status.FEASIBLE, "repeated")
        assert fsopt.verify(fit, data).verified
