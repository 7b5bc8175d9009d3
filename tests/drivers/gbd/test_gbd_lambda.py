"""Method gbd-lambda: the closed form of one cut against brute force, and its limits."""

import pytest
from support import all_values, blobs, reference

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import ParameterError


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


@pytest.mark.parametrize("rules", [{"m": 2}, {"include": [0], "lam": 1.0}, {"implies": [[0, 1]], "lam": 1.0}], ids=str)
def test_the_closed_form_is_refused_with_constraints_on_the_selection(rules):
    with pytest.raises(ParameterError, match=r"penalty weights alone.*gbd-lambda"):
        fsopt.fit("gbd-lambda" if "lam" in rules else "gbd", reference("gbd_n6"), preset="closed-form", **rules)


@pytest.mark.parametrize(("lam", "word"), [(-1.0, "lam"), ([1.0], "lam"), ("much", "lam")])
def test_a_wrong_penalty_weight_is_refused(lam, word):
    with pytest.raises(ParameterError, match=word):
        fsopt.fit("gbd-lambda", reference("gbd_n6"), lam=lam)
