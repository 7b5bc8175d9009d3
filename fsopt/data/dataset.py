"""The data set for all models, methods and estimators: validated once, then frozen; and its splits, stratified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.arguments import NUMBER, TEXT, checked, word
from fsopt.common.texts import counted
from fsopt.data.encoding import Encoded, Encoding, is_frame
from fsopt.data.layout import few
from fsopt.data.matrices import column_deviations, equal_columns, is_sparse, numbers_rows, parts_of
from fsopt.data.validation import as_matrix, check_index, check_values, classes_of, names_of, positions_of, weights_of
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Indices, Matrix, Vector

SEEDS = 1 << 32
"""Number of the seeds of numpy's generators."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dataset:
    """A two-class data set with named features.

    A constant feature is no error (see :attr:`constant`). Copies and pickles are read-only as well.

    Parameters
    ----------
    X : (n, p) array, DataFrame, or sparse matrix or array of scipy.sparse, of finite numbers
        One sample per row. Copied to float64, C-contiguous or a ``csr_array``, and made read-only.
    y : (n,) array of two labels
        -1 and +1, +1 for the condition one looks for; or two others, the larger number, the text that is a usual one
        of +1 (:data:`fsopt.data.validation.USUAL_POSITIVES`), or the second one of `labels` being +1. Held as float64
        and made read-only.
    features : sequence of p different names, optional
        Their names; if not given, those of the columns of a DataFrame, or ``x1 .. xp``.
    name : str
        Name of the data set in reports.
    labels : (str, str), optional
        Texts of the labels -1 and +1, in this order: ``("benign", "malignant")``.
    weights : (n,) array of positive numbers, optional
        Weights of the samples in the losses of models and in statistics; a whole number counts as so many equal
        samples. Copied and made read-only. None for equal weights, see :meth:`weighted`.
    encoded : Encoded, optional
        The columns of a table that the features were made of, and the map from them, see :func:`fsopt.load_dataset`.
    group : (n,) array, optional
        The person, animal or batch of each sample, by a number or text: samples of one group stay together in folds
        and random parts, and count as one unit. Held as numbers 0, 1, ... and made read-only.
    story : sequence of str
        What became of the table that the data were read from, a sentence each.

    Raises
    ------
    DataError
        If `X` is not a matrix of finite numbers with at least one sample and one feature, `y` does not hold two
        labels, or the names are not p different non-empty texts.
    """

    X: Matrix
    y: Vector
    features: tuple[str, ...]
    name: str
    labels: tuple[str, str]
    weights: Vector | None = None
    encoded: Encoded | None = None
    group: Indices | None = None
    story: tuple[str, ...] = ()

    @checked(name=TEXT)
    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        features: Sequence[str] | None = None,
        *,
        name: str = "data",
        labels: tuple[str, str] | None = None,
        weights: ArrayLike | None = None,
        encoded: Encoded | None = None,
        group: ArrayLike | None = None,
        story: Sequence[str] = (),
    ) -> None:
        check_index(X, y)
        matrix = as_matrix(X)
        n, p = matrix.shape
        if features is None and is_frame(X):
            features = [str(name) for name in X.columns]
        names = tuple(f"x{j}" for j in range(1, p + 1)) if features is None else names_of(features, p)
        check_values(matrix, names)
        classes, texts = classes_of(y, n, labels)
        state = {"X": matrix, "y": classes, "features": names, "name": name, "labels": texts, "encoded": encoded}
        state["weights"] = None if weights is None else weights_of(weights, n)
        state["group"] = None if group is None else groups_of_samples(group, n)
        self.__setstate__({**state, "story": tuple(story)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for own in (*parts_of(self.X), self.y, self.weights, self.group):
            if own is not None:
                own.setflags(write=False)

    def weighted(
        self, class_weight: str | Mapping[str | int, float] | None = None, sample_weight: ArrayLike | None = None
    ) -> Dataset:
        r"""Return the data set with weights of the samples, in place of those that it has.

        Parameters
        ----------
        class_weight : ``"balanced"`` gives each class the same total, :math:`n / (2 n_\pm)`; a mapping has a positive
            weight for each label, by its text or by -1 and +1. It multiplies ``sample_weight``, and counts of
            ``"balanced"`` are sums of these.
        sample_weight : (n,) numbers >= 0; samples of weight 0 are left out.

        Raises
        ------
        DataError : weights of another number or sign, or only one class with a positive weight.
        ParameterError : a class weight of another kind.
        """
        chosen, given = replace(self, weights=None), None
        if sample_weight is not None:
            given = weights_of(sample_weight, self.n, zeros=True)
            chosen, given = chosen.rows(given > 0), given[given > 0]
        return replace(chosen, weights=given if class_weight is None else chosen._by_class(class_weight, given))

    def _by_class(self, class_weight: str | Mapping[str | int, float], given: Vector | None) -> Vector:
        """Return the products (n,) of given weights and those of the classes."""
        weights = np.ones(self.n) if given is None else given
        if not isinstance(class_weight, Mapping):
            word("class weight", class_weight, ("balanced",))
            class_weight = {sign: weights.sum() / (2.0 * weights[self.y == sign].sum()) for sign in (-1, 1)}
        found, signs = weights.copy(), {"-1": -1, "1": 1, "+1": 1, self.labels[0]: -1, self.labels[1]: 1}
        for name, value in class_weight.items():
            word("a class of the class weights", str(name), signs)
            if not NUMBER.holds(value) or value <= 0:
                raise ParameterError(f"the weight of class '{name}' is {shown(value)}", "give a number > 0")
            chosen = self.y == signs[str(name)]
            found[chosen] = float(value) * weights[chosen]
        return found

    def __repr__(self) -> str:
        negative, positive = self.labels
        counts = f"+1 ({positive}): {self.positive.size}, -1 ({negative}): {self.negative.size}"
        stored = f", nonzeros={self.X.nnz}" if self.sparse else ""  # type: ignore[attr-defined]
        return f"Dataset({self.name!r}, n={self.n}, p={self.p}{stored}, {counts})"

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix; methods without sparse arithmetic refuse it."""
        return is_sparse(self.X)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def total(self) -> float:
        """Sum of the weights of the samples; n for equal weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def positive(self) -> Indices:
        """Indices of the samples with y = +1, increasing."""
        return np.flatnonzero(self.y > 0)

    @property
    def negative(self) -> Indices:
        """Indices of the samples with y = -1, increasing."""
        return np.flatnonzero(self.y < 0)

    @cached_property
    def deviations(self) -> Vector:
        """The standard deviations (p,) of the features, by the weights of the samples."""
        return column_deviations(self.X, self.weights)

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the features with the same value in every sample."""
        return tuple(self.features[j] for j in np.flatnonzero(equal_columns(self.X)))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of the features that number 30 samples and more: whole, rising or falling, or each of a range once."""
        looked_at = 0 if self.sparse or self.n < 30 else self.p
        return tuple(self.features[j] for j in range(looked_at) if numbers_rows(self.X[:, j]))

    @property
    def units(self) -> tuple[Indices, Vector]:
        """The unit 0, ..., k - 1 of each sample (n,), its group or itself, and the label (k,) that most of it have."""
        if self.group is None:
            return np.arange(self.n), self.y
        return self.group, np.where(np.bincount(self.group, self.y) >= 0.0, 1.0, -1.0)

    @property
    def facts(self) -> tuple[str, ...]:
        """What the features are, and what became of the columns that they were made of, a sentence each."""
        told: list[tuple[str, Sequence[str]]] = [(counted(len(self.constant), "constant feature"), self.constant)]
        if self.encoded is not None:
            encoding, missing = self.encoded.encoding, self.encoded.source.isna().mean()
            texts = [column.name for column in encoding.columns if column.levels]
            told.append((f"0/1 features of {counted(len(texts), 'column')} of texts", texts))
            gaps = sorted((c for c in encoding.columns if missing[c.name]), key=lambda c: -missing[c.name])
            filled = [f"{column.name} ({missing[column.name]:.0%}{column.substitute})" for column in gaps]
            told.append((f"missing values, treated by '{encoding.missing}'", filled))
        if self.group is not None:
            told.append(("samples that stay together", [counted(len(self.units[1]), "group")]))
        told.append(("numbers of the rows, which 'select' leaves out, and drop= everywhere", self.identifiers))
        return tuple(f"{what}: {few(names)}" for what, names in told if names)

    def rows(self, index: slice | ArrayLike) -> Dataset:
        """Return the data set (m, p) of some samples in the order of an index, for example of one fold.

        The index is a slice, an (m,) array of integers, which count from the end where they are negative, or an (n,)
        array of bools. Raises DataError if there is no sample, or the samples are of one class only, and ParameterError
        if `index` is not a valid index of the n samples.
        """
        positions = positions_of(index, self.n, "samples")
        return replace(
            self,
            X=self.X[positions],
            y=self.y[positions],
            weights=None if self.weights is None else self.weights[positions],
            encoded=self.encoded and replace(self.encoded, source=self.encoded.source.iloc[positions]),
            group=None if self.group is None else self.group[positions],
        )

    def columns(self, index: slice | ArrayLike) -> Dataset:
        """Return the data set (n, m) of some features in the order of an index, for example of the selected ones.

        The index is one of features as that of :meth:`rows` is one of samples. Raises DataError if there is no feature,
        or one occurs twice, and ParameterError if `index` is not a valid index of the p features.
        """
        positions = positions_of(index, self.p, "features")
        return replace(self, X=self.X[:, positions], features=tuple(self.features[j] for j in positions), encoded=None)

    def with_X(self, X: ArrayLike) -> Dataset:
        """Return the data set with other values X (n, p) of the same features, for example scaled ones.

        Raises DataError if `X` is not an (n, p) matrix of finite numbers.
        """
        return replace(self, X=X, encoded=None)  # type: ignore[arg-type]


def groups_of_samples(group: ArrayLike, n: int) -> Indices:
    """Return the groups (n,) of samples as numbers 0, 1, ... in the order of their first samples."""
    from pandas import factorize

    values = np.asarray(group)
    found = np.asarray(factorize(values)[0]) if values.shape == (n,) else np.full(n, -1)
    if found.min() < 0:
        raise DataError(f"{(found < 0).sum()} of {n} samples have no group", "give each a group, of its own if need be")
    return found


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
        units = "samples" if data.group is None else "groups (by most of their labels)"
        raise DataError(
            f"classes of {' and '.join(str(len(one)) for one in classes)} {units} cannot be cut into {cuts + 1} parts",
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
