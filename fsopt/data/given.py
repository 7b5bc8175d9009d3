"""The data set of whatever a caller gives: a data set, samples with labels, a frame, a file, or a name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.arguments import PATH, Argument, checked, with_keywords_of
from fsopt.common.texts import counted, one_line
from fsopt.data.dataset import Dataset
from fsopt.data.encoding import (
    Encoded,
    Encoding,
    is_frame,
    numbers_of_frame,
    refuse_texts,
    texts_of,
    typed_columns,
    with_names,
)
from fsopt.data.files import SPARSE, bundled, read_frame, read_lines, resolve, suffix_of
from fsopt.data.layout import DEFAULT_TARGET, WHOLE, Layout, few, is_missing, label_key, label_text
from fsopt.data.matrices import is_sparse, stays_sparse
from fsopt.data.validation import map_labels
from fsopt.errors import DataError, ParameterError
from fsopt.typing import Frame, Mask, Samples, Vector

Given: TypeAlias = Dataset | Frame | str | os.PathLike[str] | tuple[Samples | str, ArrayLike]
"""A data set; samples and labels; a frame or file with the labels in ``label``, or as a pair with their column."""
SOURCE = Argument("a path", lambda value: PATH.holds(value) or is_frame(value), "give a text, a path, or a DataFrame")


@dataclass(frozen=True)
class Table:
    """The raw content of a data file: the columns ``held`` of the features, numbers with NaN for a missing one, or
    texts, of sparse lines a matrix; ``about``, the columns ``target``, ``id``, ``group``, ``weights`` of those that are
    there, all texts but the weights; and ``story``, a sentence for each thing that was left out.
    """

    held: Any
    features: list[str]
    about: Mapping[str, Any]
    story: tuple[str, ...] = ()

    def texts(self, what: str) -> list[str]:
        """Return a column of ``about``, with one of :data:`fsopt.data.layout.NO_VALUE` for a missing text."""
        return list(self.about.get(what, ()))

    def without(self, gone: Mask, what: str, hint: str) -> Table:
        """Return the content without the rows that have ``what``, which the story tells; DataError if all have it."""
        if not gone.any():
            return self
        if gone.all():
            raise DataError(f"every one of the {len(gone)} rows has {what}", hint)
        told = f"{gone.sum()} of {len(gone)} rows have {what} and are left out: {few(np.flatnonzero(gone) + 1)}"
        about, story = {what: column[~gone] for what, column in self.about.items()}, (*self.story, told)
        return replace(self, held=self.held[~gone], about=about, story=story)


@checked(source=SOURCE)
@with_keywords_of(Layout, without=("class_weight",))
def load_dataset(source: str | os.PathLike[str] | Frame, **layout: Any) -> Dataset:
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
    training samples again in cross-validation (:func:`fsopt.data.dataset.train_and_test`). A fit keeps them for its
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
        gone = np.array([is_missing(text) for text in table.texts("target")], dtype=bool)
        table = table.without(gone, "no label", "choose another column with target=")
        data = to_dataset(table, name, layout)
    if weight := layout.class_weight:
        data = data.weighted(dict(weight) if isinstance(weight, tuple) else weight, data.weights)
    return data, table.story


def _target_of(y: Vector, labels: tuple[str, str], layout: Layout) -> str:
    """Return what is predicted, and why which class is +1, in words."""
    numbers = all(isinstance(label_key(text), float) for text in labels)
    why = "as asked for" if layout.positive else "the larger number" if numbers else "a usual word for it"
    sizes = [counted(int((y == sign).sum()), "sample") for sign in (1.0, -1.0)]
    sides = f"+1 is '{labels[1]}' ({why}, {sizes[0]}), -1 is '{labels[0]}' ({sizes[1]})"
    return f"target '{layout.target}': {sides}" + (f"; without {', '.join(layout.drop)}" if layout.drop else "")


def load_samples(source: Any, layout: Layout = WHOLE) -> Table:
    """Return the content of a source of :func:`load_dataset` whose columns by the layout, as labels, may be absent."""
    with _read(source, layout, required=False) as (table, _):
        return table


def dataset_of(data: Given | Samples, y: ArrayLike | None = None) -> Dataset:
    """Return the data set of :data:`Given`, or of samples and labels; raises ParameterError, DataError."""
    if y is None and isinstance(data, tuple) and len(data) == 2:
        data, y = data  # type: ignore[assignment]
    if isinstance(data, Dataset) and y is None:
        return data
    target, file = DEFAULT_TARGET if y is None else y, isinstance(data, str | os.PathLike)
    if isinstance(target, str) and (file or (is_frame(data) and (y is not None or target in data.columns))):
        return load_dataset(data, target=target)  # type: ignore[arg-type]
    if y is None or file or isinstance(data, Dataset):
        hint = f"all else by its keyword; y names the column of labels of a table, by default '{DEFAULT_TARGET}'"
        raise ParameterError("these are neither a Dataset nor samples with labels", f"give (X, y) or a Dataset, {hint}")
    return Dataset(data, y)  # type: ignore[arg-type]


@contextmanager
def _read(source: Any, layout: Layout, *, required: bool) -> Iterator[tuple[Table, str]]:
    """Yield the content and the name of a source; the path stands before the messages of errors meanwhile."""
    if is_frame(source):
        yield table_of_frame(source, layout, required=required), "data"
        return
    path = resolve(Path(source))
    suffix = suffix_of(path)
    try:
        if suffix in SPARSE or (required and not suffix and layout.stated.keys() <= {"positive", "class_weight"}):
            table = _table_of_lines(path, layout, required=required)
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
    stated = {what: name for what in ("target", "id", "group") if (name := getattr(layout, what)) in names}
    about: dict[str, Any] = {what: _texts(frame[name]) for what, name in stated.items()}
    if layout.weights in names:
        about["weights"] = numbers_of_frame(frame[[layout.weights]])[:, 0]
    return Table(typed_columns(frame[features]), features, about, story)


def _texts(column: Any) -> Any:
    """Return a column as texts (n,), an empty one for a missing value."""
    return column.map(label_text, na_action="ignore").astype(object).where(column.notna(), "").to_numpy()


def _table_of_lines(path: Path, layout: Layout, *, required: bool) -> Table:
    """Return the content of sparse lines or of the bundled data, whose columns are all features, without pandas."""
    X, y, features = read_lines(path) if path.suffix else bundled()
    if layout.features([*features, DEFAULT_TARGET], required=required) != features:
        raise ParameterError("columns of sparse lines have one meaning", "leave out drop=, id=, group= and weights=")
    return Table(X, features, {"target": np.array([label_text(label) for label in y.tolist()], dtype=object)})


def to_dataset(table: Table, name: str, layout: Layout) -> Dataset:
    """Return the data set of a table with labels: missing values and texts are treated by the layout."""
    if is_sparse(table.held) and not stays_sparse(table.held):
        import pandas as pd

        table = replace(table, held=pd.DataFrame(table.held.toarray(), columns=table.features))
    matrix = not is_frame(table.held)
    if not matrix:
        refuse_texts(table.held, layout.onehot)
    y, labels = map_labels(table.texts("target"), layout.positive)
    if layout.missing == "drop":
        gone = np.asarray((table.held != table.held).sum(axis=1) if matrix else table.held.isna().sum(axis=1)) > 0
        table, y = table.without(gone, "a missing value", "use missing='mean'"), y[~gone]
    held, group = table.held, [text or None for text in table.texts("group")]
    parts: dict[str, Any] = {"features": table.features, "group": group or None, "weights": table.about.get("weights")}
    if matrix or (layout.missing in (None, "drop") and not texts_of(held)):
        parts["X"] = held if matrix else held.to_numpy()
    else:
        encoding = Encoding.learned(held, layout.missing)
        parts |= {"X": encoding.matrix(held), "features": encoding.features, "encoded": Encoded(encoding, held)}
    story = (_target_of(y, labels, layout), *table.story)
    return Dataset(y=y, name=name, labels=labels, story=story, **parts)
