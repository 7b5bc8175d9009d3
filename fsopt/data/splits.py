"""Splits of a data set, stratified and reproducible: cross-validation folds and random parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsopt.common.texts import counted
from fsopt.data.dataset import Dataset
from fsopt.data.encoding import Encoding
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Indices

SEEDS = 1 << 32
"""Number of the seeds of numpy's generators."""


def stratified_folds(data: Dataset, folds: int, seed: int) -> list[Indices]:
    """Return the samples of each fold of a shuffled cross-validation, with the class shares of the data.

    Raises ParameterError for folds that are not from 2 to the size of the smaller class, and for another seed.
    """
    from sklearn.model_selection import StratifiedKFold

    if not 0 <= seed < SEEDS:
        raise ParameterError(f"the seed is {shown(seed)}", f"give a whole number from 0 to {SEEDS - 1}")
    smaller = min(len(data.positive), len(data.negative))
    if folds < 2 or folds > smaller:
        raise ParameterError(
            f"{folds} folds are not possible: the smaller class has {counted(smaller, 'sample')}",
            f"choose folds= from 2 to {smaller}" if smaller >= 2 else "give data with 2 samples of each class",
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return [test for _, test in splitter.split(data.X, data.y)]


def train_and_test(data: Dataset, test: Indices) -> tuple[Dataset, Dataset]:
    """Return the data without the samples of a fold, to train on, and the samples of the fold, to test on.

    Substitutes of missing values and categories are learned on the training samples, and applied to both parts: the
    number of features may differ from that of the data.
    """
    train, held_out = data.rows(np.setdiff1d(np.arange(data.n), test)), data.rows(test)
    if train.encoded is None:
        return train, held_out
    encoding = Encoding.learned(train.encoded.source, train.encoded.encoding.missing)
    return train.encoded_by(encoding), held_out.encoded_by(encoding)


def random_parts(data: Dataset, shares: Sequence[float], seed: int) -> list[Indices]:
    """Return disjoint random parts of the samples, each increasing, with these shares of each class.

    Every sample is in one part, and every part has at least one sample of each class. Raises ParameterError for shares
    that are not positive with sum 1, DataError for a class of fewer samples than there are parts.
    """
    if min(shares) <= 0 or abs(sum(shares) - 1.0) > 1e-9:
        raise ParameterError(f"shares are {tuple(shares)}", "give positive numbers with sum 1")
    classes, cuts = (data.positive, data.negative), len(shares) - 1
    if min(map(len, classes)) <= cuts:
        raise DataError(
            f"classes of {len(data.positive)} and {len(data.negative)} samples cannot be cut into {cuts + 1} parts",
            "give data with a sample of each class for each part",
        )
    rng, inner = np.random.default_rng(seed), np.cumsum(shares)[:-1]
    earlier = np.arange(cuts)
    parts: list[list[Indices]] = [[] for _ in shares]
    for members in classes:
        order = rng.permutation(members)
        # The i-th cut less i must not decrease and must lie in [1, size - cuts]: then no part is empty.
        ends = np.maximum.accumulate(np.rint(inner * len(order)).astype(int) - earlier)
        ends = np.clip(ends, 1, len(order) - cuts) + earlier
        for part, drawn in zip(parts, np.split(order, ends), strict=True):
            part.append(drawn)
    return [np.sort(np.concatenate(part)) for part in parts]


def check_features(data: Dataset, other: Dataset, what: str) -> None:
    """Refuse a second data set, such as that for tests, with another number of features than the first."""
    if data.p != other.p:
        raise DataError(
            f"the {what} data have {counted(other.p, 'feature')}, the training data {data.p}", "give the same features"
        )
