"""``load_dataset``: the bundled WDBC data, a file of a known format, or a name in the folder FSOPT_DATA."""

from __future__ import annotations

import os
import shlex
import stat
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np

from fsopt.common.arguments import PATH, TEXT, Argument, checked
from fsopt.common.files import brief, expanded, status
from fsopt.common.memory import check_size
from fsopt.common.texts import one_line
from fsopt.data.dataset import Dataset
from fsopt.data.tables.columns import is_frame
from fsopt.data.tables.frames import table_of_frame
from fsopt.data.tables.layout import DEFAULT_TARGET, Layout
from fsopt.data.tables.questions import error_of
from fsopt.data.tables.registry import READERS, suffix_of
from fsopt.data.tables.table import Table, Tell, map_labels, parts_of
from fsopt.errors import DataError, ParameterError, foreign
from fsopt.typing import Frame

FOLDER_VARIABLE = "FSOPT_DATA"
BUNDLED = "wdbc"
SOURCE = Argument("a path", lambda value: PATH.holds(value) or is_frame(value), "give a text, a path, or a DataFrame")


def no_word(text: str) -> None:
    """Say nothing."""


@checked(source=SOURCE)
def load_dataset(
    source: str | os.PathLike[str] | Frame,
    *,
    label: str = DEFAULT_TARGET,
    target: str | None = None,
    positive: str | int | Sequence[str | int] | None = None,
    drop: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    id: str | None = None,
    onehot: bool = False,
    sep: str | None = None,
    missing: str | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
    unlabelled: str = "drop",
    numbers: str | Sequence[str] = (),
    order: str | Sequence[str] = (),
) -> Dataset:
    """Load a two-class data set.

    Parameters
    ----------
    source : str, path or DataFrame of pandas or polars
        ``"wdbc"``, scikit-learn's copy of the Wisconsin diagnostic breast cancer data (569 x 30, +1 is
        malignant); or a path with a suffix of :data:`fsopt.data.tables.registry.READERS`; or a NAME, looked up with
        these suffixes, in their order, in the folder that the environment variable FSOPT_DATA names; or a DataFrame.
    label, target : str
        Name of the label's column, in formats with names of columns; two words for the same. An .arff file without an
        attribute ``label`` uses its last nominal attribute called ``class``.
    positive : str or list, optional
        The label that is +1, or several; all other labels are -1, however many there are.
    drop, columns : str or list, optional
        Columns that are left out, and the only columns that are features.
    id : str, optional
        Column that names the samples, which is no feature.
    onehot : bool
        Whether columns of texts and categories become 0/1 features ``COLUMN=VALUE``, one for each value, or one alone
        for two values. By default such a column is an error.
    sep : str, optional
        Separator of a text file, such as ``";"`` or ``"tab"``; by default it is found, as the following are.
    missing : {"drop", "mean", "median", "indicator"}, optional
        ``"drop"`` omits the samples with a missing value. ``"mean"`` and ``"median"`` replace a missing number by that
        of its feature, and a missing category by the most frequent one. ``"indicator"`` replaces a number by the mean,
        leaves all features of a category at 0, and adds a feature ``COLUMN missing``. By default a missing value is
        an error.
    weights : str, optional
        Column of positive sample weights, which is no feature.
    encoding : str, optional
        Encoding of a text file, such as ``"cp1252"``.
    decimal, thousands : str, optional
        Decimal mark of the numbers in texts, point or comma, and the separator of thousands, ``""`` for none.
    sheet : str, optional
        Sheet of a workbook; by default the first one with the label, or the widest.
    unlabelled : {"drop", "refuse"}
        Whether samples without a label are left out, which a warning says, or an error.
    numbers : str or list, optional
        Columns of texts of which the numbers count: 0.5 of ``<0.5``, 5 of ``5 %`` and 3 of ``3 mg``; a text without a
        number is a missing value.
    order : str or list, optional
        Ordered words, ``"low<middle<high"``: a column of texts with these words alone is the feature of their places
        0, 1, 2. ``"COLUMN=low<middle<high"`` names it. An ordered category of pandas has an order of its own.

    Returns
    -------
    Dataset
        Its ``labels`` hold the original texts of -1 and +1. Of two numbers the larger is +1, of two other
        texts the alphabetically last. Texts that differ in case alone are one label where so two are left.

    Raises
    ------
    TableError
        If the table leaves something open that keywords answer; its ``answers`` are the likeliest ones, all together.
    DataError
        If there is no such data set, the file cannot be read, or it is not a valid two-class data set.
    ParameterError
        If a keyword is of another kind, or names columns in a format without names of columns.

    Notes
    -----
    .csv : a header and fields with separators; an empty field, ``?``, ``nan``, ``NA``, ``n/a`` or ``null`` is a missing
    value. A column of ``true`` and ``false`` is 1 and 0, one of dates (2026-03-31, 31.03.2026, 31/03/2026, 03/31/2026,
    also with a time) is the days since 1970-01-01. Encoding (UTF-8, UTF-16, cp1252), separator, decimal mark and
    thousands are found; a warning says which, where they are not UTF-8, comma, point and none.
    .tsv, .txt : the same with tabs.
    .parquet, .feather : a column for each feature; null is a missing value. Needs pyarrow, the extra ``parquet``.
    .xlsx : a sheet with names in its first row. Needs openpyxl, the extra ``excel``.
    .zip : one file of another kind.
    .npz : arrays ``X`` (n, p), ``y`` (n,) and optionally ``features`` (p,) of texts; others are ignored. A sparse X is
    there by ``data indices indptr shape format``, the names of scipy.sparse.save_npz.
    .arff : dense.
    .libsvm : sparse lines ``label index:value ...``; features are called ``x1 .. xp``. The data are sparse where they
    have more than 5 million entries and fewer than a tenth of them are nonzeros.

    A warning says also what is left out: titles above the names of the columns, a remark below the table, a first
    column without a name, and columns with so many different texts that they are identifiers or free text.

    Columns of a DataFrame that are all sparse make sparse data; so do categories whose 0/1 features would be larger
    than the limit below.

    Substitutes and categories are statistics of the samples. They are learned from all samples here, and from the
    training samples again in cross-validation (:func:`fsopt.data.splits.train_and_test`). A fit keeps them for its
    predictions.

    Compressed and sparse files that would expand to more than 0.5 GB are refused before they are expanded; the
    environment variable FSOPT_DATA_LIMIT, in gigabytes, raises the limit.
    """
    layout = Layout.of(**{name: value for name, value in locals().items() if name != "source"})
    said: list[str] = []
    data = load_table(source, layout, said.append)
    for text in said:
        warnings.warn(one_line(text), stacklevel=3)
    return data


def load_table(source: Any, layout: Layout, tell: Tell = no_word) -> Dataset:
    """Load a data set by a layout, see :func:`load_dataset`; ``tell`` is called with what was found and left out."""
    if is_frame(source):
        data = to_dataset(table_of_frame(source, layout), "data", layout, tell)
    elif os.fspath(source) == BUNDLED:
        _refuse_names(layout, BUNDLED)
        data = wdbc(layout.positive)
    else:
        path = _resolve(Path(source))
        suffix = suffix_of(path)
        if not READERS[suffix].named:
            _refuse_names(layout, f"a {suffix} file")
        with _naming(path, tell) as named:
            table = READERS[suffix].read(path, layout)
            data = to_dataset(table, path.name[: -len(suffix)], layout, named)
    weight = layout.class_weight
    if weight is None:
        return data
    return data.weighted(weight if isinstance(weight, str) else dict(weight), data.weights)


def read_zip(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read the one data file in an archive."""
    hint = "unpack it, and give the path of one file"
    with foreign("zipfile", "the file is no .zip archive, or damaged", hint, DataError), ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
        known = [name for name in names if suffix_of(Path(name)) not in ("", ".zip")]
        if len(known) != 1:
            raise DataError(
                f"the archive has {len(known)} data files, it holds {', '.join(names[:5]) or 'nothing'}", hint
            )
        check_size(archive.getinfo(known[0]).file_size, "the unpacked file")
        with TemporaryDirectory() as folder:
            place = Path(folder) / Path(known[0]).name
            place.write_bytes(archive.read(known[0]))
            return READERS[suffix_of(place)].read(place, layout, required=required)


def to_dataset(table: Table, name: str, layout: Layout, tell: Tell = no_word) -> Dataset:
    """Return the data set of a table, see :func:`fsopt.data.tables.table.parts_of`."""
    for sentence in table.said:
        tell(sentence)
    return Dataset(**parts_of(table, name, layout, tell))


@checked(source=SOURCE, label=TEXT)
def load_samples(
    source: str | os.PathLike[str] | Frame,
    *,
    label: str = DEFAULT_TARGET,
    layout: Layout | None = None,
    tell: Tell = no_word,
) -> Table:
    """Read samples to be classified: as :func:`load_dataset`, but a file with names of columns may have no label.

    Parameters
    ----------
    source, label : str, path or DataFrame
        As in :func:`load_dataset`.
    layout : Layout, optional
        In place of ``label``; columns that it names need not be there.
    tell : callable
        Called with a sentence on the spelling of a text file that was found.

    Returns
    -------
    Table
        Raw content: ``labels`` is empty in a file without labels, features are None in a format without names, and
        missing values are NaN.

    Raises
    ------
    DataError
        If there is no such data set, or the file cannot be read.
    """
    known = Layout(target=label) if layout is None else layout
    given: Any = source
    if is_frame(given):
        return table_of_frame(given, known, required=False)
    if os.fspath(given) == BUNDLED:
        data = wdbc(())
        return Table(data.X, [data.labels[int(v > 0)] for v in data.y], list(data.features))
    path = _resolve(Path(given))
    with _naming(path, tell) as named:
        table = READERS[suffix_of(path)].read(path, known, required=False)
        for sentence in table.said:
            named(sentence)
        if table.asked:
            raise error_of(table.asked)
        return table


def data_folder() -> Path | None:
    """Return the folder that FSOPT_DATA names, None if it is not set."""
    value = os.environ.get(FOLDER_VARIABLE)
    return expanded(value, "read") if value else None


@contextmanager
def _naming(path: Path, tell: Tell) -> Iterator[Tell]:
    """Put the path before the messages of errors, and the name of the file before sentences."""
    try:
        yield lambda text: tell(f"{path.name}: {text}")
    except DataError as error:
        error.message = f"{path}: {error.message}"
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}", "check the path") from error


def _resolve(source: Path) -> Path:
    """Return the path of an existing file with a known suffix."""
    path = expanded(source, "read")
    found = _is_file(path)
    if suffix_of(path):
        if not found:
            raise DataError(f"there is no file {brief(path)}", "check the path, or give the bare name of a data set")
        return path
    if path.parent != Path() or found:
        raise DataError(f"the type of {path} is not known from its name", f"use one of {', '.join(READERS)}")
    folder, command = data_folder(), f"fsopt data {shlex.quote(brief(source))} --fetch"
    if folder is None:
        raise DataError(
            f"there is no data set '{brief(source)}': it is not bundled and the folder {FOLDER_VARIABLE} is not set",
            f"give a path to a file, or set {FOLDER_VARIABLE} and run: {command}",
        )
    for suffix in READERS:
        candidate = folder / f"{source}{suffix}"
        if _is_file(candidate):
            return candidate
    raise DataError(
        f"there is no data set '{brief(source)}' in the folder {FOLDER_VARIABLE}",
        f"give a path to a file ({', '.join(READERS)}), put one into {folder}, or run: {command}",
    )


def _is_file(path: Path) -> bool:
    """Return whether there is an ordinary file; a pipe is none, since readers go through a file twice."""
    found = status(path, "read")
    return found is not None and stat.S_ISREG(found.st_mode)


def _refuse_names(layout: Layout, what: str) -> None:
    """Raise ParameterError for a layout that names columns of a data set whose label has one fixed place."""
    stated = replace(layout, positive=(), missing=None, class_weight=None, unlabelled="drop").stated
    if stated:
        name, value = next(iter(stated.items()))
        shown = "label" if name == "target" else name
        raise ParameterError(
            f"{shown}={value!r} cannot be used for {what}, which has one fixed label", f"leave out --{shown}"
        )


QUANTITIES = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"


def wdbc(positive: Sequence[str]) -> Dataset:
    """Return the data of scikit-learn's file, without the second that the import of scikit-learn takes."""
    found = find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise DataError("scikit-learn, which has the data set 'wdbc', is not installed", "pip install scikit-learn")
    path = Path(found.submodule_search_locations[0]) / "datasets" / "data" / "breast_cancer.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    features = [f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in QUANTITIES.split()]
    names = ["malignant" if target == 0 else "benign" for target in table[:, -1]]
    y, labels = map_labels(names, positive)
    return Dataset(table[:, :-1], y, features, name="wdbc", labels=labels)
