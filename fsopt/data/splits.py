"""Splits of a data set, stratified and reproducible: cross-validation folds and random parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fsopt.common.texts import counted
from fsopt.data.dataset import Dataset
from fsopt.data.encoding import Encoded, Encoding
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Indices, Vector

SEEDS = 1 << 32
"""Number of the seeds of numpy's generators."""


def stratified_folds(data: Dataset, folds: int, seed: int) -> list[Indices]:
    """Return the samples of each fold of a shuffled, stratified cross-validation, groups as wholes; ParameterError."""
    from sklearn.model_selection import StratifiedKFold

    if not 0 <= seed < SEEDS:
        raise ParameterError(f"the seed is {shown(seed)}", f"give a whole number from 0 to {SEEDS - 1}")
    smaller, noun = smaller_class(data), "sample" if data.group is None else "group"
    if folds < 2 or folds > smaller:
        raise ParameterError(
            f"{folds} folds are not possible: the smaller class has {counted(smaller, noun)}",
            f"choose folds= from 2 to {smaller}" if smaller >= 2 else f"give data with 2 {noun}s of each class",
        )
    unit, labels = data.units
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    parts = [test for _, test in splitter.split(labels, labels)]
    return parts if data.group is None else [np.flatnonzero(np.isin(unit, test)) for test in parts]


def smaller_class(data: Dataset) -> int:
    """Return the number of samples, or of groups that have some, of the smaller class."""
    classes = (data.positive, data.negative)
    return min(len(one) if data.group is None else len(np.unique(data.group[one])) for one in classes)


def permuted(data: Dataset, rng: np.random.Generator) -> Vector:
    """Return labels (n,) in random order; a group takes those of another, those of a smaller one repeated."""
    if data.group is None:
        return rng.permutation(data.y)
    order, sizes = np.lexsort((rng.random(data.n), data.group)), np.bincount(data.group)
    first, other = np.cumsum(sizes) - sizes, np.repeat(rng.permutation(len(sizes)), sizes)
    within = np.arange(data.n) - np.repeat(first, sizes)
    found = np.empty(data.n)
    found[order] = data.y[order[first[other] + within % sizes[other]]]
    return found


def train_and_test(data: Dataset, test: Indices) -> tuple[Dataset, Dataset]:
    """Return the data without a fold, and the fold; substitutes and categories are learned on the first alone."""
    train = np.setdiff1d(np.arange(data.n), test)
    if data.encoded is not None:
        source = data.encoded.source
        encoding = Encoding.learned(source.iloc[train], data.encoded.encoding.missing)
        data = replace(data, X=encoding.matrix(source), features=encoding.features, encoded=Encoded(encoding, source))
    return data.rows(train), data.rows(test)


def random_parts(data: Dataset, shares: Sequence[float], seed: int) -> list[Indices]:
    """Return random parts of all samples, groups as wholes, with these shares of each class, at least one of it."""
    unit, labels = data.units
    classes, cuts = [np.flatnonzero(labels == sign) for sign in (1.0, -1.0) if sign in labels], len(shares) - 1
    if smaller_class(data) <= cuts or min(map(len, classes)) <= cuts:
        raise DataError(
            f"classes of {len(data.positive)} and {len(data.negative)} samples cannot be cut into {cuts + 1} parts",
            "give data with a sample of each class for each part",
        )
    rng, inner = np.random.default_rng(seed), np.cumsum(shares)[:-1]
    earlier = np.arange(cuts)
    drawn = []
    for members in classes:
        # The i-th cut less i must not decrease and must lie in [1, size - cuts]: then no part is empty.
        ends = np.maximum.accumulate(np.rint(inner * len(members)).astype(int) - earlier)
        ends = np.clip(ends, 1, len(members) - cuts) + earlier
        drawn.append(np.split(rng.permutation(members), ends))
    found = [np.sort(np.concatenate(part)) for part in zip(*drawn, strict=True)]
    return found if data.group is None else [np.flatnonzero(np.isin(unit, part)) for part in found]
