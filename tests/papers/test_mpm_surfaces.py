"""The grids and comparisons of Yang & Ju: their means, and what the printed numbers say about each other."""

import math
import random

import numpy as np
import pytest
from scipy.stats import norm
from support import blobs

import fsopt
from fsopt.data import mpm_synthetic
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import InfeasibleError, ParameterError, UnknownNameError
from fsopt.methods.mpm.space import FeatureSpace
from fsopt.papers import reproduction
from fsopt.papers.mpm.figures import compare_methods, plot_repetitions
from fsopt.papers.mpm.readings import synthetic_pairs
from fsopt.papers.mpm.spam import mpm_surface

DATA = blobs(60, 5, seed=3)


def pairs_of(data, folds, seed=0):
    return [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]


def limit(data):
    return FeatureSpace.of(data).limit.alpha


def test_a_surface_is_the_mean_of_fits_at_a_share_of_each_fold_s_own_limit():
    surface = mpm_surface(DATA, (0.9, 0.4), (5.0, 0.5), folds=2, seed=2)
    pairs = pairs_of(DATA, 2, seed=2)
    np.testing.assert_allclose(surface.limits, [limit(train) for train, _ in pairs], rtol=1e-12)
    assert len(set(surface.limits)) == 2
    assert surface.feasible.tolist() == [1.0, 1.0]
    assert surface.deltas.tolist() == [0.4, 0.9]
    assert surface.alphas.tolist() == [0.5, 5.0]
    for i, j in ((0, 1), (1, 0)):
        share, alpha = surface.deltas[i], float(surface.alphas[j])
        fits = [fsopt.fit("l0-mpm", train, delta=share * limit(train), alpha=alpha) for train, _ in pairs]
        scores = [f.scores(test) for f, (_, test) in zip(fits, pairs, strict=True)]
        assert surface.n_features[i, j] == pytest.approx(np.mean([len(f.support) for f in fits]))
        assert surface.n_features_sd[i, j] == pytest.approx(np.std([len(f.support) for f in fits], ddof=1))
        assert surface.psf[i, j] == pytest.approx(20 * surface.n_features[i, j])
        assert surface.accuracy[i, j] == pytest.approx(np.mean([s["accuracy"] for s in scores]))
        assert surface.mcc[i, j] == pytest.approx(np.mean([s["mcc"] for s in scores]))
        assert surface.iterations[i, j] == pytest.approx(np.mean([f.iterations for f in fits]))


def test_an_accuracy_that_is_infeasible_for_a_training_fold_leaves_nan():
    limits = np.sort([limit(train) for train, _ in pairs_of(DATA, 2)])
    surface = mpm_surface(DATA, (0.01, limits.mean(), 0.99), (0.5, 50.0), shares=False, folds=2)
    assert surface.feasible == pytest.approx([1, 1 / 2, 0])
    for name in ("n_features", "n_features_sd", "psf", "accuracy", "mcc", "iterations"):
        assert np.isnan(getattr(surface, name))[:, 0].tolist() == [False, True, True]
    # A small delta selects one feature, and the hyperplane halfway between its means.
    assert surface.n_features[0].tolist() == [1.0, 1.0]
    right = []
    for train, test in pairs_of(DATA, 2):
        plus, minus = train.X[train.positive].mean(axis=0), train.X[train.negative].mean(axis=0)
        j = np.argmax(np.abs(plus - minus) / train.X.std(axis=0))
        scores = (test.X[:, j] - (plus + minus)[j] / 2) * (plus - minus)[j]
        right.append(np.mean((scores > 0) == (test.y > 0)))
    np.testing.assert_allclose(surface.accuracy[0], np.mean(right))
    figure = surface.plot()  # a line for each delta that is feasible and for each alpha
    assert [len(axes.lines) for axes in figure.axes] == [1, 1, 2]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), surface.psf[0])
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), 100 * surface.accuracy[:, 0])


def test_with_a_kernel_or_a_ridge_the_limit_is_that_of_its_covariances_and_patterns_are_counted():
    params = {"kernel": "gaussian", "width": 2.0, "scale": "center"}
    data = DATA.rows(np.arange(30))
    surface = mpm_surface(data, (0.9,), (5.0,), folds=2, params=params)
    fits = [fsopt.fit("mpm", train, **params) for train, _ in pairs_of(data, 2)]
    np.testing.assert_allclose(surface.limits, [fit.details["alpha_limit"] for fit in fits], rtol=1e-9)
    ridged = mpm_surface(data, (0.9,), (5.0,), folds=2, params={"ridge": 1.0})
    assert (ridged.limits < [limit(train) - 0.05 for train, _ in pairs_of(data, 2)]).all()
    assert ridged.feasible == 1
    np.testing.assert_allclose(surface.psf, 100 * surface.n_features / 15)


def test_the_grid_is_checked():
    wrong = [(DATA, deltas, (5.0,)) for deltas in ((0.0,), (1.0,), (), ("a",))]
    wrong += [(DATA, (0.5,), (0.0,)), (DATA, (0.5,), ()), ([], (0.5,), (5.0,))]
    for given in wrong:
        with pytest.raises(ParameterError):
            mpm_surface(*given)
    with pytest.raises(ParameterError, match="folds"):
        mpm_surface(DATA, (0.5,), (5.0,), folds=100)


def test_methods_are_measured_on_the_same_pairs():
    pairs = synthetic_pairs(1, p=12, n_test=40, seed=5)
    methods = {"svm": {"c": 2.0}, "l1-mpm": {}, "l0-mpm": {"alpha": 2.0}}
    svm, one, zero = compare_methods(pairs, methods, delta=0.8)
    for k, (train, test) in enumerate(pairs):
        assert one.delta[k] == zero.delta[k] == pytest.approx(0.8 * limit(train))
        fits = fsopt.fit("svm", train, c=2.0), fsopt.fit("l0-mpm", train, delta=zero.delta[k], alpha=2.0)
        for scores, fit in zip((svm, zero), fits, strict=True):
            assert scores.n_features[k] == len(fit.support)
            assert scores.accuracy[k] == pytest.approx(fit.scores(test)["accuracy"])
            assert scores.mcc[k] == pytest.approx(fit.scores(test)["mcc"])
    assert np.isnan(svm.delta).all()
    assert np.isnan(one.iterations).all()
    assert (zero.iterations >= 1).all()
    figure = plot_repetitions((svm, one, zero))
    np.testing.assert_array_equal(figure.axes[1].lines[2].get_ydata(), 100 * zero.n_features / 12)


def test_synthetic_pairs_share_their_law_and_no_sample():
    (train, test), other = synthetic_pairs(2, p=15, seed=7)[0], synthetic_pairs(1, p=15, seed=8)[0]
    assert train.X.shape == (50, 15)
    assert test.X.shape == (1000, 15)
    assert not np.isin(train.X, test.X).any()
    np.testing.assert_array_equal(other[0].X, synthetic_pairs(2, p=15, seed=7)[1][0].X)


def test_wrong_comparisons_are_refused():
    with pytest.raises(UnknownNameError):
        compare_methods(DATA, {"l2-mpm": {}})
    with pytest.raises(ParameterError, match="delta"):
        compare_methods(DATA, {"l1-mpm": {}}, delta=1.0)
    with pytest.raises(InfeasibleError, match=r"alpha\* = .*l1-mpm"):
        compare_methods(DATA, {"l1-mpm": {}}, delta=0.99, shares=False, folds=2)


@pytest.mark.shared
@pytest.mark.slow
def test_madelon_on_200_samples_is_feasible_at_any_delta_and_on_all_samples_is_not(shared):
    data = fsopt.load_dataset(shared / "data" / "madelon.train.csv.gz")
    assert limit(data) == pytest.approx(0.2970, abs=5e-5)
    assert limit(data.rows(np.arange(200))) == 1.0


TABLE_3 = reproduction.printed("l0mpm-table3")
SHARES = {
    "sonar": 111 / 208,
    "pima": 268 / 768,
    "ionosphere": 225 / 351,
    "spambase": 1813 / 4601,
    "wbcd": 241 / 699,
    "wpbc": 47 / 198,
    "wdbc": 212 / 569,
    "madelon.train": 1 / 2,
}
"""Of the positive samples in the data sets of Tables 1, 3 and 5."""
MODELS = ("mpm", "l1-mpm", "l0-mpm")


def mcc(tp, tn, positive):
    """Return (60) for shares of all samples that are true positives and negatives; 0 where it is not defined."""
    fn, fp = positive - tp, 1 - positive - tn
    below = np.sqrt(np.maximum((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), 0))
    return np.where(below > 1e-9, (tp * tn - fp * fn) / np.maximum(below, 1e-9), 0.0)


def attainable(tsa, positive):
    """Return the smallest and the largest MCC, in percent, of any classifier with this accuracy (percent)."""
    wrong = 1 - tsa / 100
    missed = np.linspace(max(0, wrong - (1 - positive)), min(wrong, positive), 4001)
    values = 100 * mcc(positive - missed, (1 - positive) - (wrong - missed), positive)
    return values.min(), values.max()


def table_3():
    """Yield data set and model, the share of positive samples, and TSA and MCC in percent."""
    for name, numbers in TABLE_3["rows"].items():
        for k, model in enumerate(MODELS):
            yield (name, model), SHARES[name], float(numbers[k]), float(numbers[3 + k])


def test_eleven_printed_mcc_are_above_what_their_accuracy_allows_and_one_is_below():
    above = {at for at, share, tsa, value in table_3() if value > attainable(tsa, share)[1] + 0.01}
    below = {at for at, share, tsa, value in table_3() if value < attainable(tsa, share)[0] - 0.01}
    assert (len(above), below) == (11, {("wbcd", "mpm")})
    recorded = TABLE_3["odd"].items()
    assert above | below == {(name, cell.removesuffix(" MCC")) for name, cells in recorded for cell in cells}
    # ten of them for every share of the classes: subsamples do not explain them
    shares = np.linspace(0.01, 0.99, 99)
    always = {at for at, _, tsa, value in table_3() if value > max(attainable(tsa, s)[1] for s in shares) + 0.01}
    assert always == above - {("wpbc", "mpm")}
    table = reproduction.printed("l0mpm-table5")
    found = {
        f"{method} {name}"
        for method, rows in table["rows"].items()
        for name, (tsa, value) in rows.items()
        if float(value) > attainable(float(tsa), SHARES[name])[1] + 0.01
    }
    assert found == set(table["odd"])


SIZES = {"sonar": (208, 111), "ionosphere": (351, 225), "spambase": (200, 79), "wbcd": (683, 239), "wpbc": (198, 47)}
SIZES["wdbc"] = (569, 212)
"""Samples, and positive ones, of the data sets whose printed MCC no single classifier has; 200 of Spam."""


class Folds:
    """Ten folds, each with its positive samples, those of them that are missed, and false alarms."""

    def __init__(self, n, positive, tsa):
        self.n, self.sizes = n, [len(part) for part in np.array_split(np.arange(n), 10)]
        ends = np.cumsum([0, *self.sizes]) * positive // n
        errors = np.array_split(np.arange(round((1 - tsa / 100) * n)), 10)
        self.at = []
        for p, s, wrong in zip(np.diff(ends).tolist(), self.sizes, map(len, errors), strict=True):
            missed = min(p, max(wrong // 2, wrong - (s - p)))
            self.at.append([p, missed, wrong - missed])

    def moved(self, rng):
        """Return the folds after one change: a sample, or an error, goes elsewhere, or an error comes or goes."""
        at, (i, j), kind = [list(one) for one in self.at], rng.choices(range(10), k=2), rng.random()
        if kind < 0.7:
            up, down = (0, 0) if kind < 0.3 else rng.choices((1, 2), k=2)
            at[i][up] += 1
            at[j][down] -= 1
        else:
            at[i][rng.choice((1, 2))] += rng.choice((-1, 1))
        inside = all(0 <= a <= p <= s and 0 <= b <= s - p for (p, a, b), s in zip(at, self.sizes, strict=True))
        return at if inside else self.at

    def scores(self, at):
        """Return mean accuracy and mean MCC of the folds, in percent."""
        accuracy = [1 - (a + b) / s for (p, a, b), s in zip(at, self.sizes, strict=True)]
        values = []
        for (p, a, b), s in zip(at, self.sizes, strict=True):
            square = (p - a + b) * p * (s - p - b + a) * (s - p)
            values.append(((p - a) * (s - p - b) - a * b) / math.sqrt(square) if square else 0.0)
        return 10 * math.fsum(accuracy), 10 * math.fsum(values)

    def reaches(self, tsa, mcc, seed, steps=60_000):
        """Return whether simulated annealing finds folds of this MCC whose accuracy is half a sample away at most."""

        def cost(at):
            accuracy, value = self.scores(at)
            return 20 * max(abs(accuracy - tsa) - 50 / self.n, 0) + max(abs(value - mcc) - 0.005, 0)

        rng, now = random.Random(seed), cost(self.at)
        for step in range(steps):
            at, heat = self.moved(rng), 5 * (1 - step / steps) ** 2 + 1e-3
            new = cost(at)
            if new <= now or rng.random() < math.exp((now - new) / heat):
                self.at, now = at, new
            if not now:
                return True
        return False


@pytest.mark.slow
@pytest.mark.parametrize("table", ["l0mpm-table3", "l0mpm-table5"])
def test_every_printed_mcc_that_no_classifier_has_is_a_mean_over_ten_folds(table):
    """Counterexamples: ten classifiers on ten random folds, of the printed accuracy to half a sample, that have it."""
    content = reproduction.printed(table)
    for at, columns in content["odd"].items():
        name = at.split()[-1]
        for column in columns:
            if table == "l0mpm-table3":
                numbers = reproduction.numbers_of(content, at)
                tsa, value = numbers[column.replace("MCC", "TSA")], numbers[column]
            else:
                tsa, value = reproduction.numbers_of(content, *at.split()).values()
            folds = Folds(*SIZES[name], float(tsa))
            assert any(folds.reaches(float(tsa), float(value), seed) for seed in range(5)), (at, column)


def test_the_ranks_of_table_4_do_not_follow_from_table_3_and_do_not_add_up():
    rows = TABLE_3["rows"].items()
    ranks = {name: np.argsort(np.argsort([-float(tsa) for tsa in numbers[:3]])) + 1 for name, numbers in rows}
    printed = reproduction.printed("l0mpm-table4")["rows"]
    assert [name for name in ranks if ranks[name].tolist() != [float(k) for k in printed[name]]] == ["pima"]
    means = (sum(ranks.values()) + np.array([2.5, 1, 2.5])) / 9
    np.testing.assert_allclose(means, [2.167, 2.0, 1.833], atol=1e-3)
    assert means.sum() == pytest.approx(6)  # the print has 1.83 + 2.0 + 1.72 = 5.55


def test_with_the_mean_of_the_print_one_feature_of_section_4_2_is_enough():
    train, test = synthetic_pairs(1, p=60, literal=True)[0]
    fit = fsopt.fit("l1-mpm", train, delta=0.9)
    assert len(fit.support) == 1
    assert fit.scores(test)["accuracy"] == 1.0
    train, _ = synthetic_pairs(1, p=60)[0]
    assert len(fsopt.fit("l1-mpm", train, delta=0.9).support) > 3
    # a single feature is right with probability Phi(1) then, and not Phi(10)
    one = fsopt.fit("l1-mpm", mpm_synthetic(4000, 1, p=10), delta=0.1)
    rate = one.scores(mpm_synthetic(20000, 2, p=10))["accuracy"]
    assert len(one.support) == 1
    assert rate == pytest.approx(norm.cdf(1), abs=0.01)


@pytest.mark.shared
def test_the_objective_still_falls_after_the_paper_s_three_steps(shared):
    data = fsopt.load_dataset(shared / "data" / "sonar.csv.gz")
    fit = fsopt.fit("l0-mpm", data, delta=0.9 * limit(data))
    objectives = [record["objective"] for record in fit.history]
    assert objectives[2] > 1.02 * fit.objective
