"""The data set of whatever a caller gives: a data set, samples with labels, a frame, a file, or a name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.arguments import LIST, PATH, Argument, checked, with_keywords_of
from fsopt.common.texts import counted, one_line
from fsopt.data.dataset import Dataset
from fsopt.data.encoding import (
    Encoded,
    Encoding,
    is_frame,
    numbers_of_frame,
    refuse_texts,
    typed_columns,
    with_names,
)
from fsopt.data.files import BUNDLED, WITHOUT_NAMES, read_arrays, read_frame, resolve, suffix_of
from fsopt.data.layout import DEFAULT_TARGET, WHOLE, Layout, is_missing, label_key, label_text
from fsopt.data.matrices import first_rows, is_sparse
from fsopt.data.validation import map_labels
from fsopt.errors import DataError, ParameterError
from fsopt.typing import Mask, Matrix, Samples, Vector

if TYPE_CHECKING:
    from pandas import DataFrame

Given: TypeAlias = "Dataset | DataFrame | str | os.PathLike[str] | tuple[Samples | str, ArrayLike]"
"""A data set; samples and labels; a frame or file with the labels in ``label``, or as a pair with their column."""
DATA = Argument(
    "a Dataset, a pair (X, y), a DataFrame or a file",
    lambda value: isinstance(value, Dataset | str | os.PathLike | tuple) or is_frame(value),
    "make one with fsopt.Dataset(X, y) or fsopt.load_dataset(path)",
)
SOURCE = Argument("a path", lambda value: PATH.holds(value) or is_frame(value), "give a text, a path, or a DataFrame")


@dataclass(frozen=True)
class Table:
    """The raw content of a data file.

    Attributes
    ----------
    X : (n, p) numbers, NaN for a missing value; sparse, or without a column where there is a ``source``.
    labels : n texts, one of :data:`fsopt.data.layout.NO_VALUE` for a missing label; empty where there are none.
    features : p names; None if the format has none.
    source : the columns of the features, where not all of them are numbers.
    ids, group : the names of the samples, and of their groups, from columns of their own.
    weights : (n,) from a column of their own.
    zeros : whether features that are not there are 0, as in sparse lines.
    story : what was left out, a sentence each.
    """

    X: Matrix
    labels: list[str]
    features: list[str] | None
    source: DataFrame | None = None
    ids: list[str] | None = None
    weights: Vector | None = None
    zeros: bool = False
    group: list[str] | None = None
    story: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def without(self, gone: Mask, what: str, hint: str) -> Table:
        """Return the content without the rows that have ``what``, which the story tells; DataError if all have it."""
        if not gone.any():
            return self
        if gone.all():
            raise DataError(f"every one of the {self.n} rows has {what}", hint)
        told = f"{gone.sum()} of {self.n} rows have {what} and are left out: {first_rows(gone)}"
        lists = {name: getattr(self, name) for name in ("labels", "ids", "group")}
        kept: dict[str, Any] = {name: one and list(compress(one, ~gone)) for name, one in lists.items()}
        arrays = {name: getattr(self, name) for name in ("X", "source", "weights")}
        kept |= {name: one if one is None else one[~gone] for name, one in arrays.items()}
        return replace(self, story=(*self.story, told), **kept)

    @property
    def columns(self) -> DataFrame:
        """The columns of the features, dense ones; where they have no names, they are called ``x1 .. xp``."""
        import pandas as pd

        if self.source is not None:
            return self.source
        return pd.DataFrame(self.X, columns=self.features or [f"x{j}" for j in range(1, self.X.shape[1] + 1)])


@checked(source=SOURCE)
@with_keywords_of(Layout, without=("class_weight",))
def load_dataset(source: str | os.PathLike[str] | DataFrame, **layout: Any) -> Dataset:
    """Load a two-class data set.

    Parameters
    ----------
    source : str, path or DataFrame
        ``"wdbc"``, scikit-learn's copy of the Wisconsin diagnostic breast cancer data (569 x 30, +1 is
        malignant); or a path with a suffix of :data:`fsopt.data.layout.SUFFIXES`; or a NAME, looked up with
        these suffixes, in their order, in the folder that the environment variable FSOPT_DATA names; or a DataFrame of
        pandas.

    Returns
    -------
    Dataset
        Its ``labels`` hold the original texts of -1 and +1. Of two numbers the larger is +1; of two words the one that
        is among :data:`fsopt.data.validation.USUAL_POSITIVES`, or that which ``positive`` names.

    Raises
    ------
    DataError : if there is no such data set, the file cannot be read, or it is not a valid two-class data set.
    ParameterError : if a keyword is of another kind, or names columns in a format without names of columns.

    Notes
    -----
    .csv, .tsv : as ``pandas.read_csv`` reads them, also with .gz; ``?`` and ``.`` are missing values too.
    .parquet : a column for each feature; null is a missing value. Needs pyarrow, the extra ``parquet``.
    .xlsx : a sheet with names in its first row. Needs openpyxl, the extra ``excel``.
    .npz : arrays ``X`` (n, p), ``y`` (n,) and optionally ``features`` (p,) of texts; others are ignored.
    .arff : dense, of numeric and nominal attributes, by scipy.io.arff; nominal ones are categories.
    .libsvm, .svm : sparse lines ``label index:value ...``; features are called ``x1 .. xp`` by their index, from ``x0``
    where the index 0 is used. The data are sparse where they have more than 5 million entries and fewer than a tenth of
    them are nonzeros.

    A warning says which samples without a label and columns without a name are left out. A column of texts that would
    be numbers with another decimal mark or separator of thousands is an error that names the keyword; so is a number
    whose separators are not before groups of three digits, such as a date, and a column of texts that are nearly all
    different, which is no category.

    Substitutes and categories are statistics of the samples. They are learned from all samples here, and from the
    training samples again in cross-validation (:func:`fsopt.data.splits.train_and_test`). A fit keeps them for its
    predictions.

    Compressed and sparse files that would expand to more than 0.5 GB are refused before they are expanded; the
    environment variable FSOPT_DATA_LIMIT, in gigabytes, raises the limit.
    """
    data, unasked = load_table(source, Layout(**layout))
    for text in unasked:
        warnings.warn(one_line(text), stacklevel=3)
    return data


def load_table(source: Any, layout: Layout) -> tuple[Dataset, tuple[str, ...]]:
    """Load a data set by a layout, see :func:`load_dataset`, and tell what is left out though nobody asked for it."""
    with _read(source, layout, required=True) as (table, name):
        if len(table.labels) != table.n:
            raise DataError(f"there are {len(table.labels)} labels for {table.n} rows", "give one label per row")
        gone = np.array([is_missing(text) for text in table.labels], dtype=bool)
        table = table.without(gone, "no label", "choose another column with target=")
        data = to_dataset(table, name, layout)
    weight = layout.class_weight
    if weight:
        data = data.weighted(dict(weight) if isinstance(weight, tuple) else weight, data.weights)
    return data, table.story


def _target_of(y: Vector, labels: tuple[str, str], layout: Layout) -> str:
    """Return what is predicted, and why which class is +1, in words."""
    numbers = all(isinstance(label_key(text), float) for text in labels)
    why = "as asked for" if layout.positive else "the larger number" if numbers else "a usual word for it"
    sizes = [counted(int((y == sign).sum()), "sample") for sign in (1.0, -1.0)]
    sides = f"+1 is '{labels[1]}' ({why}, {sizes[0]}), -1 is '{labels[0]}' ({sizes[1]})"
    return f"target '{layout.target}': {sides}" + (f"; without {', '.join(layout.drop)}" if layout.drop else "")


@checked(source=SOURCE)
def load_samples(source: str | os.PathLike[str] | DataFrame, layout: Layout = WHOLE) -> Table:
    """Read samples to be classified: as :func:`load_dataset`, but a file with names of columns may have no label.

    Parameters
    ----------
    source : str, path or DataFrame
        As in :func:`load_dataset`.
    layout : Layout, optional
        Columns that it names need not be there.

    Returns
    -------
    Table
        Raw content: ``labels`` is empty in a file without labels, features are None in a format without names, and
        missing values are NaN.

    Raises
    ------
    DataError : if there is no such data set, or the file cannot be read.
    """
    with _read(source, layout, required=False) as (table, _):
        return table


def dataset_of(data: Given | Samples, y: ArrayLike | None = None) -> Dataset:
    """Return the data set of :data:`Given`, or of samples and labels; raises ParameterError, DataError."""
    if isinstance(data, Dataset):
        if y is not None:
            raise ParameterError("a Dataset has its labels already", "give it alone, anything else by its keyword")
        return data
    if y is None and isinstance(data, tuple) and len(data) == 2:
        return dataset_of(*data)
    target = DEFAULT_TARGET if y is None else y
    if isinstance(data, str | os.PathLike):
        if not isinstance(target, str):
            raise ParameterError("a file has its labels in a column", "give the name of the column as y")
        return load_dataset(data, target=target)
    if is_frame(data) and isinstance(target, str) and (y is not None or target in data.columns):
        return load_dataset(data, target=target)
    if y is not None:
        return Dataset(data, y)  # type: ignore[arg-type]
    if is_frame(data) or LIST.holds(data):
        hint = f"give (X, y), of a DataFrame the name of the column of y too, which is '{DEFAULT_TARGET}' by default"
        raise ParameterError("there are samples without labels", hint)
    raise DATA.error("data", data)


def datasets_of(data: Any, y: ArrayLike | None = None) -> list[Dataset]:
    """Return the data sets of one, see :func:`dataset_of`, or of a list of several; raises its errors."""
    several = y is None and isinstance(data, list | tuple) and all(map(DATA.holds, data))
    if several and not (isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str)):
        return [dataset_of(one) for one in data]
    return [dataset_of(data, y)]


@contextmanager
def _read(source: Any, layout: Layout, *, required: bool) -> Iterator[tuple[Table, str]]:
    """Yield the content and the name of a source; the path stands before the messages of errors meanwhile."""
    if is_frame(source):
        yield table_of_frame(source, layout, required=required), "data"
        return
    path = resolve(Path(source))
    suffix = suffix_of(path)
    bundled = path == Path(BUNDLED)
    try:
        if bundled or suffix in WITHOUT_NAMES:
            if required:
                _refuse_names(layout, BUNDLED if bundled else f"a {suffix} file")
            table = Table(*read_arrays(path), zeros=suffix in (".libsvm", ".svm"))
        else:
            table = table_of_frame(read_frame(path, layout), layout, required=required)
        yield table, path.name[: len(path.name) - len(suffix)]
    except DataError as error:
        error.message = f"{path}: {error.message}"
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}", "check the path") from error


def table_of_frame(frame: Any, layout: Layout, *, required: bool) -> Table:
    """Return the content of a DataFrame; the target need not be there unless it is ``required``."""
    frame, story = with_names(frame), tuple[str, ...]()
    unnamed = [name for name in frame.columns if not name.strip() or name.startswith("Unnamed: ")]
    if unnamed:
        story = (f"{counted(len(unnamed), 'column')} without a name left out",)
        frame = frame.drop(columns=unnamed)
    names = list(frame.columns)
    features = layout.features(names, required=required)
    if not len(frame):
        raise DataError("there is no row", "give one row per sample")
    texts = {}
    for name in {layout.target, layout.id, layout.group}.intersection(names):
        cells = zip(frame[name].astype(object), frame[name].isna(), strict=True)
        texts[name] = ["" if gone else label_text(value) for value, gone in cells]
    held = typed_columns(frame[features])
    X, source = (
        (np.empty((len(frame), 0)), held) if "O" in {one.kind for one in held.dtypes} else (held.to_numpy(), None)
    )
    weights = numbers_of_frame(frame[[layout.weights]])[:, 0] if layout.weights in names else None
    ids, group = (texts.get(name or "") for name in (layout.id, layout.group))
    return Table(X, texts.get(layout.target, []), features, source, ids, weights, False, group, story)


def to_dataset(table: Table, name: str, layout: Layout) -> Dataset:
    """Return the data set of a table with labels: missing values and texts are treated by the layout."""
    if table.source is not None:
        refuse_texts(table.source, layout.onehot)
    y, labels = map_labels(table.labels, layout.positive)
    if layout.missing == "drop":
        missing = table.X != table.X if table.source is None else table.source.isna().to_numpy()
        gone = np.asarray(missing.sum(axis=1)) > 0
        table, y = table.without(gone, "a missing value", "use missing='mean'"), y[~gone]
    group = None if table.group is None else [text or None for text in table.group]
    parts: dict[str, Any] = {"X": table.X, "features": table.features, "weights": table.weights, "group": group}
    if table.source is not None or (layout.missing not in (None, "drop") and not is_sparse(table.X)):
        source = table.columns
        empty = source.columns[source.count() == 0]
        if len(empty):
            raise DataError(f"column '{empty[0]}' has no value at all", f"leave it out: drop='{empty[0]}'")
        encoding = Encoding.learned(source, layout.missing)
        parts |= {"X": encoding.matrix(source), "features": encoding.features, "encoded": Encoded(encoding, source)}
    story = (_target_of(y, labels, layout), *table.story)
    return Dataset(y=y, name=name, labels=labels, story=story, **parts)


def _refuse_names(layout: Layout, what: str) -> None:
    """Raise ParameterError for a layout that names columns of a data set whose label has one fixed place."""
    for name, value in replace(layout, positive=(), missing=None, class_weight=None).stated.items():
        fault = f"{name}={value!r} cannot be used for {what}, which has one fixed label"
        raise ParameterError(fault, f"leave out {name}=")
