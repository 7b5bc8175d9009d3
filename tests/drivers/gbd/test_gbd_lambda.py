"""Method gbd-lambda: brute force, the closed form of one cut and its limits, extremes, a weight for each feature."""

import pytest
from support import all_values, blobs, reference

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import ParameterError
from fsopt.models.gbd.fsp_master import cut_coefficients


def test_no_penalty_weight_is_the_svm_on_all_features_and_a_high_one_selects_none():
    data, c = reference("gbd_n6"), 4.0
    free = fsopt.fit("gbd-lambda", data, lam=0.0, c=c, scale="none")
    assert free.objective == pytest.approx(all_values(data, c)[(1,) * data.p], rel=2e-6)
    dear = fsopt.fit("gbd-lambda", data, lam=1e3, c=c, scale="none")
    assert dear.support == ()
    assert dear.objective == pytest.approx(2 * c * min((data.y > 0).sum(), (data.y < 0).sum()), rel=1e-9)


def test_a_penalty_weight_for_each_feature_is_the_one_penalty_weight_where_all_are_equal():
    data = reference("gbd_n6")
    fits = [fsopt.fit("gbd-lambda", data, lam=lam, scale="none") for lam in (0.7, [0.7] * 6)]
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-9)
    assert fits[0].support == fits[1].support


def test_with_a_penalty_weight_every_answer_is_a_best_one_of_its_own_size():
    data, c, lam = blobs(24, 5, seed=2), 2.0, 1.5
    fit = fsopt.fit("gbd-lambda", data, lam=lam, c=c, scale="none")
    fixed = fsopt.fit("gbd", data, m=max(len(fit.support), 1), c=c, scale="none")
    assert fit.objective == pytest.approx(fixed.objective + lam * len(fit.support), rel=2e-6)


def test_the_closed_form_solves_a_master_of_one_cut_and_not_of_several():
    """Printed: sigma_j = 1 iff q_j^2 / 2 > lambda, for the last cut; with several cuts the master is an MILP."""
    data, lam = reference("gbd_n6"), 5.0
    fit = fsopt.fit("gbd-lambda", data, lam=lam, c=10.0, scale="none", stabilisation="none")
    alphas = fit.details["alphas"]
    wrong = 0
    for k in range(1, len(alphas) + 1):
        master = fsopt.build("fsp-master", data, lam=lam, cuts=alphas[:k])
        value = fsopt.solve(master).objective
        cuts = [cut_coefficients(data, a) for a in alphas[:k]]
        sigma = (cuts[-1][1] > lam).astype(float)
        printed = max(0.0, *(g - s @ sigma for g, s in cuts)) + lam * sigma.sum()
        assert printed >= value - 1e-6 * max(1.0, abs(value))
        if k == 1:
            assert printed == pytest.approx(max(value, lam * sigma.sum()), rel=1e-6)
        wrong += printed > value * (1 + 1e-6)
    assert len(alphas) >= 3
    assert wrong >= 1


def closed_form(data, **keywords):
    return fsopt.fit("gbd-lambda", data, c=1.0, scale="none", master="closed-form", **keywords)


def test_the_closed_form_is_the_integer_program_as_long_as_there_is_one_cut():
    data = blobs(30, 5, seed=1)
    milp = fsopt.fit("gbd-lambda", data, c=1.0, scale="none", stabilisation="none", solver="piqp")
    rule = closed_form(data, stabilisation="none", solver="piqp")
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
        fsopt.fit("gbd-lambda" if "lam" in rules else "gbd", reference("gbd_n6"), master="closed-form", **rules)


@pytest.mark.parametrize(("lam", "word"), [(-1.0, "lam"), ([1.0], "lam"), ("much", "lam")])
def test_a_wrong_penalty_weight_is_refused(lam, word):
    with pytest.raises(ParameterError, match=word):
        fsopt.fit("gbd-lambda", reference("gbd_n6"), lam=lam)
