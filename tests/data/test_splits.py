"""Splits: stratified, complete, disjoint, reproducible, and the same as they were drawn for the printed tables."""

import numpy as np
import pytest

from fsopt.data import Dataset
from fsopt.data.splits import random_parts, stratified_folds, train_and_test

SHARES = (0.6, 0.2, 0.2)


def numbered(positive, negative):
    return Dataset(np.arange(positive + negative)[:, None], [1.0] * positive + [-1.0] * negative)


def test_folds_are_disjoint_complete_and_stratified():
    data = numbered(20, 30)
    folds = stratified_folds(data, 5, 3)
    assert [(np.sum(data.y[f] > 0), np.sum(data.y[f] < 0)) for f in folds] == [(4, 6)] * 5
    assert sorted(np.concatenate(folds)) == list(range(50))
    for fold in folds:
        train, test = train_and_test(data, fold)
        assert test.X[:, 0].tolist() == fold.tolist()
        assert sorted([*train.X[:, 0], *test.X[:, 0]]) == list(range(50))


def test_random_parts_are_stratified_complete_and_of_their_seed():
    data = numbered(20, 30)
    parts = random_parts(data, SHARES, 1)
    assert [(np.sum(part < 20), np.sum(part >= 20)) for part in parts] == [(12, 18), (4, 6), (4, 6)]
    assert sorted(np.concatenate(parts)) == list(range(50))
    assert all((np.diff(part) > 0).all() for part in parts)
    assert not np.array_equal(parts[0], random_parts(data, SHARES, 2)[0])
    validation, test = random_parts(numbered(8, 8), SHARES, 0)[1:]
    assert validation.tolist() == [0, 9]
    assert test.tolist() == [1, 7, 8, 11]


@pytest.mark.parametrize("shares", [(0.05, 0.05, 0.9), (0.9, 0.05, 0.05), SHARES])
@pytest.mark.parametrize("smaller", [3, 4, 7])
def test_every_part_has_both_classes(smaller, shares):
    data = numbered(smaller, 11)
    for part in random_parts(data, shares, 0):
        assert set(data.y[part]) == {-1.0, 1.0}
