"""What chance explains: uniform p-values on noise, tests on halves, and features that tell too much."""

import numpy as np
import pytest

import fsopt
from fsopt.analysis.chance import SHARES, _explained, aggregated, leak_of, noise_p_value, selected_and_tested


def noise(seed, n=40, p=6):
    rng = np.random.default_rng(seed)
    return fsopt.Dataset(rng.standard_normal((n, p)), np.where(rng.permutation(n) < n // 3, 1.0, -1.0))


def test_p_values_of_noise_are_uniform_and_those_of_a_signal_are_not():
    found = np.array([noise_p_value(noise(seed), seed) for seed in range(120)])
    # Binomial limits of 1 in 1,000 for 120 draws.
    for level, low, high in ((0.05, 0, 15), (0.2, 11, 39), (0.5, 43, 77)):
        assert low <= (found <= level + 1e-9).sum() <= high
    constant = fsopt.Dataset(np.tile([1.0, 2.0], (120, 1)), np.where(np.arange(120) < 50, 1.0, -1.0))
    assert noise_p_value(constant, 0) == 1.0
    data = noise(0)
    told = fsopt.Dataset(np.column_stack([data.X, data.y + np.random.default_rng(1).standard_normal(40)]), data.y)
    assert noise_p_value(told, 0) == pytest.approx(0.01)


def test_explained_squares_are_those_of_greedy_least_squares():
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((30, 5))
    Z[:, 4] = Z[:, 0]  # a column twice: it explains nothing more
    labels = rng.standard_normal((30, 3))
    labels -= labels.mean(axis=0)
    found, centred = _explained(Z, labels), Z - Z.mean(axis=0)
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
    selected, tested = selected_and_tested(data, 1, 0.3, 0)
    assert selected.tolist() == [[True, False, False, False]] * 2
    assert (tested[:, 0] < 1e-3).all()
    assert (tested[:, 1:] == 1.0).all()
    # With another selected feature the p-value counts both.
    _, both = selected_and_tested(data, 2, 0.3, 0)
    assert (both[:, 1:].max(axis=1) <= 1.0).all()
    assert (both[:, 0] > tested[:, 0]).all()


def test_aggregated_p_values_are_those_of_the_quantiles():
    p_values = np.random.default_rng(0).uniform(size=(50, 2)) ** 3
    wanted = [
        min(1.0, (1 - np.log(0.05)) * min(np.sort(column)[int(np.ceil(50 * u - 1e-9)) - 1] / u for u in SHARES))
        for column in p_values.T
    ]
    assert aggregated(p_values) == pytest.approx(wanted)
    assert aggregated(np.ones((50, 1))) == pytest.approx([1.0])
    assert aggregated(np.full((50, 1), 0.01)) == pytest.approx([0.01 * (1 - np.log(0.05))])


def test_a_copy_of_the_label_is_a_question_and_separable_data_are_none():
    data = noise(1, 60, 4)
    copy = fsopt.Dataset(np.column_stack([data.X, -2.0 * data.y]), data.y, ["a", "b", "c", "d", "paid"])
    found = leak_of(copy)
    assert (found.features, found.area) == (("paid",), 1.0)
    assert 0.5 <= found.following < 0.8
    two = fsopt.Dataset(np.column_stack([copy.X, data.y + 1.0]), data.y)
    assert leak_of(two).features == ("x5", "x6")
    assert leak_of(data) is None
    assert leak_of(fsopt.load_dataset("wdbc")) is None
