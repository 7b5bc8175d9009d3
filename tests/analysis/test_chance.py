"""What chance explains: uniform p-values on noise, tests on halves, and features that tell too much."""

import numpy as np
import pytest

import fsopt
from fsopt.analysis import chance
from fsopt.data.dataset import permuted, random_parts, stratified_folds


def noise(seed, n=40, p=6):
    rng = np.random.default_rng(seed)
    return fsopt.Dataset(rng.standard_normal((n, p)), np.where(rng.permutation(n) < n // 3, 1.0, -1.0))


def test_p_values_of_noise_are_uniform_and_those_of_a_signal_are_not():
    found = np.array([chance.noise_p_value(noise(seed), seed) for seed in range(120)])
    # Binomial limits of 1 in 1,000 for 120 draws.
    for level, low, high in ((0.05, 0, 15), (0.2, 11, 39), (0.5, 43, 77)):
        assert low <= (found <= level + 1e-9).sum() <= high
    constant = fsopt.Dataset(np.tile([1.0, 2.0], (120, 1)), np.where(np.arange(120) < 50, 1.0, -1.0))
    assert chance.noise_p_value(constant, 0) == 1.0
    data = noise(0)
    told = fsopt.Dataset(np.column_stack([data.X, data.y + np.random.default_rng(1).standard_normal(40)]), data.y)
    assert chance.noise_p_value(told, 0) == pytest.approx(0.01)


def test_explained_squares_are_those_of_greedy_least_squares():
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((30, 5))
    Z[:, 4] = Z[:, 0]  # a column twice: it explains nothing more
    labels = rng.standard_normal((30, 3))
    labels -= labels.mean(axis=0)
    found, centred = chance._explained(Z, labels), Z - Z.mean(axis=0)
    for y, row in zip(labels.T, found, strict=True):
        chosen = []
        for size in range(5):
            rest = [j for j in range(5) if j not in chosen]
            fitted = [centred[:, [*chosen, j]] @ np.linalg.pinv(centred[:, [*chosen, j]]) @ y for j in rest]
            squares = [float(one @ one) for one in fitted]
            if size < 4:
                chosen.append(rest[int(np.argmax(np.round(squares, 9)))])
                assert row[size] == pytest.approx(max(squares))
        assert row[4] == pytest.approx(row[3])


def test_halves_select_and_test_the_signal():
    rng = np.random.default_rng(5)
    y = np.where(np.arange(120) % 2 == 0, 1.0, -1.0)
    data = fsopt.Dataset(np.column_stack([y + rng.standard_normal(120), rng.standard_normal((120, 3))]), y)
    selected, tested = chance.selected_and_tested(data, 1, 0.3, 0)
    assert selected.tolist() == [[True, False, False, False]] * 2
    assert (tested[:, 0] < 1e-3).all()
    assert (tested[:, 1:] == 1.0).all()
    # With another selected feature the p-value counts both.
    _, both = chance.selected_and_tested(data, 2, 0.3, 0)
    assert (both[:, 1:].max(axis=1) <= 1.0).all()
    assert (both[:, 0] > tested[:, 0]).all()


def test_aggregated_p_values_are_those_of_the_quantiles():
    p_values = np.random.default_rng(0).uniform(size=(50, 2)) ** 3
    wanted = [
        min(1.0, (1 - np.log(0.05)) * min(np.sort(column)[int(np.ceil(50 * u - 1e-9)) - 1] / u for u in chance.SHARES))
        for column in p_values.T
    ]
    assert chance.aggregated(p_values) == pytest.approx(wanted)
    assert chance.aggregated(np.ones((50, 1))) == pytest.approx([1.0])
    assert chance.aggregated(np.full((50, 1), 0.01)) == pytest.approx([0.01 * (1 - np.log(0.05))])


def test_what_the_others_cannot_reach_is_a_question():
    data = noise(1, 120, 4)
    copy = fsopt.Dataset(np.column_stack([data.X, -2.0 * data.y]), data.y, ["a", "b", "c", "d", "paid"])
    two = fsopt.Dataset(np.column_stack([copy.X, data.y + 1.0]), data.y, [*copy.features, "paid_on"])
    split = stratified_folds(data, 5, 0)
    for told, words in ((copy, "Is 'paid'"), (two, "Are 'paid' and 'paid_on'")):
        (asked,) = chance.questions_of(told, split)
        assert asked.startswith(f"{words} known before the label? Alone AUC 1.000, all others together 0.")
    wdbc = fsopt.load_dataset("wdbc")
    assert chance.questions_of(data, split) == chance.questions_of(wdbc, stratified_folds(wdbc, 5, 0)) == ()


def persons(seed, sizes, noise=0.3):
    """Return persons without any signal: samples of one are nearly copies, with one label."""
    rng, sizes = np.random.default_rng(seed), np.asarray(sizes)
    own, labels = rng.standard_normal((len(sizes), 8)), np.where(rng.permutation(len(sizes)) % 2, 1.0, -1.0)
    X = np.repeat(own, sizes, axis=0) + noise * rng.standard_normal((sizes.sum(), 8))
    return fsopt.Dataset(X, np.repeat(labels, sizes), group=np.repeat(np.arange(len(sizes)), sizes))


def test_p_values_of_persons_are_uniform_and_those_of_their_samples_are_not():
    several = [persons(seed, np.tile([2, 3, 4], 8)) for seed in range(40)]
    by_person = np.array([chance.noise_p_value(data, 1) for data in several])
    for level, low, high in ((0.05, 0, 8), (0.5, 10, 30)):  # binomial limits of 1 in 1,000
        assert low <= (by_person <= level + 1e-9).sum() <= high
    alone = [chance.noise_p_value(fsopt.Dataset(data.X, data.y), 1) for data in several[:20]]
    assert np.median(alone) <= 0.05
    tested = np.concatenate([chance.selected_and_tested(data, 2, 0.3, 0)[1].ravel() for data in several])
    assert (tested <= 0.05).mean() <= 0.05


def test_the_samples_of_a_person_stay_together():
    data = persons(0, np.tile([1, 2, 3, 5], 6))
    parts = [*stratified_folds(data, 4, 0), *random_parts(data, (0.5, 0.5), 0)]
    for part in parts:
        assert not set(data.group[part]) & set(data.group[np.setdiff1d(np.arange(data.n), part)])
        assert len(set(data.y[part])) == 2
    assert sorted(np.concatenate(parts[:4])) == sorted(np.concatenate(parts[4:])) == list(range(data.n))
    rng = np.random.default_rng(0)
    for _ in range(5):
        drawn = permuted(data, rng)
        assert all(len(set(drawn[data.group == k])) == 1 for k in range(24))
        pairs = permuted(fsopt.Dataset(np.ones((40, 1)), np.tile([1.0, -1.0], 20), group=np.arange(40) // 2), rng)
        assert (pairs.reshape(-1, 2).sum(axis=1) == 0).all()


def test_near_copies_with_one_label_are_noticed_and_tables_of_single_samples_are_not():
    for sizes in (np.full(40, 5), np.tile([2, 3, 8], 12), np.full(20, 10)):
        assert chance.copied(persons(0, sizes))
    assert not chance.copied(persons(0, np.ones(150, dtype=int)))
    assert not chance.copied(fsopt.load_dataset("wdbc"))
    data = persons(0, np.full(40, 5))
    split = stratified_folds(data, 2, 0)
    assert chance.questions_of(data, split) == ()  # they are known to be persons
    (asked,) = chance.questions_of(fsopt.Dataset(data.X, data.y), split)
    assert "group=" in asked
