"""The protocols of the papers: candidates, measures and means by hand or by another way, and what their words allow."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from support import blobs, needs_data

import fsopt
from fsopt.answers.results import Status
from fsopt.data import gbd_set_one
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.errors import InfeasibleError, ParameterError, UnknownNameError
from fsopt.methods.mpm.space import FeatureSpace
from fsopt.papers import averages, compare_methods, plot_surface, printed
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.mpm.figures import plot_repetitions
from fsopt.papers.reproduction import RULES, numbers_of, over
from fsopt.papers.sla.experiments import load_table_data, with_noise
from fsopt.studies.tuning import tune

DATA = blobs(60, 5, seed=3)


def test_the_measures_of_a_fit_are_those_of_its_test_samples_and_the_four_rules_of_counting():
    train, test = DATA.rows(np.arange(40)), DATA.rows(np.arange(40, 60))
    fit = fsopt.fit("svm", train, c=0.3, scale="center")
    [found] = over([(train, test)], lambda data: fsopt.fit("svm", data, c=0.3, scale="center"))
    wrong = np.mean(np.sign(test.X @ fit.coef + fit.intercept) != test.y)
    assert (found["error"], found["TSA"]) == pytest.approx((100 * wrong, 100 * (1 - wrong)))
    assert (found["status"], found["PSF"], found["n_features"]) == ("optimal", 100.0, 5)
    assert 0.0 <= found["gap"] <= 1e-6
    units = {"raw": np.abs(fit.coef), "scaled": np.abs(fit.coef) * train.X.std(axis=0)}
    for name in RULES:
        rule, unit = name.split(", ")
        least = 0.01 * (units[unit].max() if rule == "relative" else 1.0)
        assert found["counts"][name] == np.sum(units[unit] >= least)


# Peleg & Meir


def test_the_grids_of_peleg_and_meir():
    for method in ("svm", "l1-svm"):
        weights = [g["c"] for g in gmeb.candidates(method, 9)]
        np.testing.assert_allclose(weights, [k / (50 - k) for k in range(1, 50)], rtol=1e-12)
    assert {g["scale"] for g in gmeb.candidates("svm", 9)} == {"center"}
    assert {g["scale"] for g in gmeb.candidates("rfe", 9, scale="standard")} == {"standard"}
    assert sorted({g["m"] for g in gmeb.candidates("rfe", 30)}) == [1, 6, 11, 16, 20, 25, 30]
    assert {len(gmeb.candidates(m, 30)) for m in gmeb.METHODS} == {49}
    shares = [g["c"] for g in gmeb.candidates("svm", 30, odds=False)]
    np.testing.assert_allclose(shares, np.arange(1, 50) / 50)
    assert len(gmeb.candidates("rfe", 3)) == 21
    for wrong in (("l0-mpm", 30, 7), ("gmeb", 30, 1)):
        with pytest.raises(ParameterError):
            gmeb.candidates(*wrong[:2], points=wrong[2])


@needs_data
@pytest.mark.usefixtures("papers_data")
def test_the_samples_of_colon_are_logarithms_of_mean_0_and_deviation_1():
    raw, data = fsopt.load_dataset("colon"), gmeb.load_set("colon")
    log = np.log(raw.X[7])
    np.testing.assert_allclose(data.X[7], (log - log.mean()) / log.std(), rtol=1e-12)


# Yang & Ju


def test_methods_are_measured_on_the_same_folds_at_a_share_of_each_fold_s_own_limit():
    methods = {"svm": {"c": 2.0}, "l0-mpm": {"alpha": 2.0}, "l1-mpm": {"delta": 0.01}}
    found = compare_methods(DATA, methods, delta=0.4, folds=2, seed=2).set_index(["method", "pair"])
    for k, fold in enumerate(stratified_folds(DATA, 2, 2)):
        train, test = train_and_test(DATA, fold)
        own = {**methods, "l0-mpm": {"alpha": 2.0, "delta": 0.4 * FeatureSpace.of(train).limit.alpha}}
        for method, params in own.items():
            fit, row = fsopt.fit(method, train, **params), found.loc[method, k]
            scores = fit.scores(test)
            assert (row["n_features"], row["PSF"]) == (len(fit.support), 20 * len(fit.support))
            assert (row["TSA"], row["MCC"]) == pytest.approx((100 * scores["accuracy"], 100 * scores["mcc"]))
    assert np.isnan(found.loc[("svm", 0), "iterations"])
    assert set(found.loc["l1-mpm", "n_features"]) == {1.0}  # a small delta selects one feature
    asked = [(d, a) for d in (0.3, 0.8) for a in (0.5, 50.0, 5.0)]
    found_at = [compare_methods(DATA, {"l0-mpm": {"alpha": a}}, delta=d, folds=2) for d, a in asked]
    surface = pd.concat([one.assign(asked=d, alpha=a) for one, (d, a) in zip(found_at, asked, strict=True)])
    figure = plot_surface(surface)  # a line for each share, in the order of alpha, and for each alpha
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 3]
    means = surface.groupby(["asked", "alpha"])["PSF"].mean()
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), means[0.3])
    lines = plot_repetitions(found.reset_index()).axes[1].lines
    assert {tuple(line.get_ydata()) for line in lines} == {tuple(found.loc[method, "PSF"]) for method in methods}


def test_wrong_comparisons_are_refused():
    for given in ((DATA, 0.0), (DATA, 1.0), (DATA, "a"), ([], 0.5)):
        with pytest.raises(ParameterError):
            compare_methods(given[0], {"l1-mpm": {}}, delta=given[1])
    with pytest.raises(UnknownNameError):
        compare_methods(DATA, {"l2-mpm": {}})
    with pytest.raises(InfeasibleError, match=r"alpha\* = .*l1-mpm"):
        compare_methods(DATA, {"l1-mpm": {"delta": 0.99}}, folds=2)


SIZES = {"sonar": (208, 111), "ionosphere": (351, 225), "spambase": (200, 79), "wbcd": (683, 239), "wpbc": (198, 47)}
SIZES["wdbc"] = (569, 212)
"""Samples, and positive ones, of the data sets whose printed MCC no single classifier has; 200 of Spam."""
SHARES = {name: positive / n for name, (n, positive) in SIZES.items()} | {
    "pima": 268 / 768,
    "spambase": 1813 / 4601,
    "wbcd": 241 / 699,
    "madelon.train": 1 / 2,
}
"""Of the positive samples in the data sets of Tables 1, 3 and 5."""


def attainable(tsa, positive):
    """Return the smallest and the largest MCC (60), in percent, of any classifier with this accuracy (percent)."""
    wrong = 1 - tsa / 100
    fn = np.linspace(max(0, wrong - (1 - positive)), min(wrong, positive), 4001)
    tp, fp, tn = positive - fn, wrong - fn, 1 - positive - wrong + fn
    below = np.sqrt(np.maximum((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), 0))
    values = np.where(below > 1e-9, (tp * tn - fp * fn) / np.maximum(below, 1e-9), 0.0)
    return 100 * values.min(), 100 * values.max()


def test_eleven_printed_mcc_are_above_what_their_accuracy_allows_and_one_is_below():
    table, above, below = printed("l0mpm-table3"), set(), set()
    for name, method in itertools.product(table["rows"], ("mpm", "l1-mpm", "l0-mpm")):
        numbers = numbers_of(table, name)
        low, high = attainable(float(numbers[f"{method} TSA"]), SHARES[name])
        value = float(numbers[f"{method} MCC"])
        above |= {(name, f"{method} MCC")} if value > high + 0.01 else set()
        below |= {(name, f"{method} MCC")} if value < low - 0.01 else set()
    assert (len(above), below) == (11, {("wbcd", "mpm MCC")})
    assert above | below == {(name, column) for name, columns in table["odd"].items() for column in columns}
    table = printed("l0mpm-table5")
    found = {
        f"{method} {name}"
        for method, rows in table["rows"].items()
        for name, (tsa, value) in rows.items()
        if float(value) > attainable(float(tsa), SHARES[name])[1] + 0.01
    }
    assert found == set(table["odd"])


def annealed(n, positive, tsa, mcc, seed, steps=60_000):
    """Return whether annealing finds ten folds of this mean MCC, with this accuracy to half a sample, in percent."""
    rng, sizes = np.random.default_rng(seed), np.array([len(part) for part in np.array_split(np.arange(n), 10)])

    def cost(at):
        p, a, b = at  # positive samples of each fold, those of them that are missed, and false alarms
        tp, tn = p - a, sizes - p - b
        if min(at.min(), tp.min(), tn.min()) < 0:
            return math.inf
        square = (tp + b) * p * (tn + a) * (sizes - p)
        values = (tp * tn - a * b) / np.sqrt(np.maximum(square, 1))  # 0 where the square is
        accuracy = 10 * ((tp + tn) / sizes).sum()
        return 20 * max(abs(accuracy - tsa) - 50 / n, 0) + max(abs(10 * values.sum() - mcc) - 0.005, 0)

    p, wrong = (np.diff(np.arange(11) * count // 10) for count in (positive, round((1 - tsa / 100) * n)))
    missed = np.minimum(p, np.maximum(wrong // 2, wrong - (sizes - p)))
    at = np.array([p, missed, wrong - missed])
    now = cost(at)
    for step in range(steps):
        new, kind, (i, j) = at.copy(), rng.random(), rng.integers(10, size=2)
        if kind < 0.7:  # a sample, or an error, goes elsewhere
            up, down = (0, 0) if kind < 0.3 else rng.integers(1, 3, 2)
            new[[up, down], [i, j]] += (1, -1) if (up, i) != (down, j) else 0
        else:
            new[rng.integers(1, 3), i] += rng.choice((-1, 1))
        value, heat = cost(new), 5 * (1 - step / steps) ** 2 + 1e-3
        if value <= now or rng.random() < math.exp((now - value) / heat):
            at, now = new, value
        if not now:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("table", ["l0mpm-table3", "l0mpm-table5"])
def test_every_printed_mcc_that_no_classifier_has_is_a_mean_over_ten_folds(table):
    """Counterexamples: ten classifiers on ten random folds, of the printed accuracy to half a sample, that have it."""
    content = printed(table)
    for at, columns in content["odd"].items():
        for column in columns:
            numbers = numbers_of(content, *([at] if table == "l0mpm-table3" else at.split()))
            tsa, value = float(numbers[column.replace("MCC", "TSA")]), float(numbers[column])
            sizes = SIZES[at.split()[-1]]
            assert any(annealed(*sizes, tsa, value, seed) for seed in range(5)), (at, column)


# Mangasarian


@needs_data
@pytest.mark.usefixtures("papers_data")
@pytest.mark.parametrize("seed", range(2))
def test_the_papers_feature_selection_is_reproduced_whatever_the_noise(seed):
    data = load_table_data("wbcd")
    fit = fsopt.fit("fsv", with_noise(data, seed), lam=0.05, scale="none")
    assert (data.n, fit.iterations, fit.support, fit.status) == (683, 6, (0, 1, 5, 7), Status.STATIONARY)
    assert fit.objective == pytest.approx(0.2716835173, abs=1e-9)
    assert np.sum(data.y * (data.X @ fit.coef[:9] + fit.intercept) > 0) == 664


# Aytug


def row(instance, method, test_error, found=5, aligned=1.0, status="feasible"):
    known = {"instance": instance, "method": method, "p": 5, "status": status, "gap": None, "test_error": test_error}
    return known | {"n_features": 2, "seconds": 1.0, "overlap": found, "alignment": aligned}


def test_measures_of_aytug_by_hand():
    assert [gbd.overlap(support, (0, 1), 5) for support in ((0, 1), (0, 2), ())] == [5, 3, 3]
    assert gbd.alignment(np.array([0.0, 3.0]), np.array([0.0, 2.0])) == pytest.approx(1.0)
    assert gbd.alignment(np.array([1.0, 1.0]), np.array([0.0, -2.0])) == pytest.approx(-np.sqrt(0.5))
    assert gbd.alignment(np.zeros(2), np.array([0.0, 2.0])) == 0.0


def test_candidates_are_parts_of_the_grids_of_aytug_and_with_many_features_the_largest_c_alone():
    for method in gbd.COMPARED:
        options = gbd.candidates(method, 4)
        key = "lam" if method == "fsv" else "c"
        assert [o[key] for o in options] == sorted(o[key] for o in options)
        assert (len(options), {o["scale"] for o in options}) == (4 if method == "fsv" else 2, {"none"})
        assert {o.get("m") for o in options} == {4 if method in gbd.COUNTED else None}
    for p, cuts in ((100, {0.5: 25, 16.0: 100}), (101, {16.0: 20})):
        loops = gbd.candidates("gbd", 4, p=p)
        assert ({o["c"]: o["max_cuts"] for o in loops}, {o["preset"] for o in loops}) == (cuts, {"printed"})
        assert [o["c"] for o in gbd.candidates("rfe", 4, p=p)] == [*cuts]
    priced = [(o["c"], o["lam"]) for o in gbd.candidates("gbd-lambda", 4)]
    assert priced == sorted(itertools.product((0.5, 16.0), (1 / 64, 1 / 16, 1 / 4, 1.0)))
    with pytest.raises(ParameterError, match="'mpm' has no penalty weight C"):
        gbd.candidates("mpm", 4)
    with pytest.raises(UnknownNameError):
        gbd.measure("svn", gbd_set_one(6, 20, 0))


def test_the_paper_s_lambda_of_one_selects_nothing():
    train = gbd_set_one(6, 60, 2)[0]
    assert fsopt.fit("fsv", train, lam=1.0, scale="none").support == ()
    assert all(o["lam"] < 1 for o in gbd.candidates("fsv", 4))


def test_the_first_candidate_of_smallest_validation_error_is_measured():
    train, validation, test, truth, w = instance = gbd_set_one(10, 60, 3)
    tuned = tune("rfe", train, gbd.candidates("rfe", len(truth)), validation=validation)
    best, found = tuned.fit, gbd.measure("rfe", instance)
    assert (found["params"], found["validation_error"]) == (best.params, tuned.error)
    assert found["test_error"] == pytest.approx(np.mean(np.sign(test.X @ best.coef + best.intercept) != test.y))
    assert found["overlap"] == 10 - np.sum((np.abs(best.coef) > 0) != (w != 0))
    assert found["alignment"] == pytest.approx(best.coef @ w / np.linalg.norm(best.coef) / np.linalg.norm(w))
    assert (found["m"], found["p"], found["n_features"]) == (len(truth), 10, len(best.support))


def test_averages_by_hand():
    rows = [
        row("a", "gbd", 0.1, status="optimal"),
        row("a", "rfe", 0.2, found=3, aligned=0.5),
        row("b", "gbd", 0.0),
        row("b", "rfe", 0.0),
        row("c", "gbd", 0.4),
        row("c", "rfe", 0.3, found=4, aligned=0.9),
    ]
    found = averages(pd.DataFrame(rows)).set_index("method")
    gbd_, rfe = found.loc["gbd"], found.loc["rfe"]
    assert list(found.index) == ["gbd", "rfe"]
    assert (gbd_.n, gbd_.exact, gbd_.proved, gbd_.difference, gbd_.better, gbd_.worse) == (3, 3, 1, 0, 0, 0)
    assert (rfe.test_error, rfe.difference, rfe.percent) == pytest.approx((0.5 / 3, 0.0, (-100 + 25) / 2))
    assert (rfe.better, rfe.worse, rfe.exact) == (1, 1, 1)
    assert (rfe.overlap, rfe.alignment) == pytest.approx((4.0, 0.8))
    free = averages(pd.DataFrame([row("a", "gbd", 0.0, None, None), row("a", "rfe", 0.5, None, None)]))
    assert free[["percent", "overlap", "alignment", "exact"]].isna().all(axis=None)
    beside = averages(pd.DataFrame(rows), "rfe").set_index("method")
    assert (beside.loc["gbd"].better, beside.loc["gbd"].worse, beside.loc["rfe"].better) == (1, 1, 0)
    for wrong in ([row("a", "gbd", 0.1), row("b", "rfe", 0.1)], rows[1::2] + rows[:1]):
        with pytest.raises(ParameterError, match="other instances"):
            averages(pd.DataFrame(wrong))
