"""``load_dataset``: the bundled WDBC data, a file of a known format, or a name in the folder FSOPT_DATA."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from fsopt.arguments import PATH, TEXT, checked
from fsopt.data.dataset import Dataset
from fsopt.data.registry import READERS, suffix_of
from fsopt.data.table import Table, to_dataset
from fsopt.errors import DataError, ParameterError, shown
from fsopt.files import brief, expanded, status

FOLDER_VARIABLE = "FSOPT_DATA"
DEFAULT_LABEL = "label"
BUNDLED = "wdbc"


@checked(source=PATH, label=TEXT)
def load_dataset(source: str | os.PathLike[str], *, label: str = DEFAULT_LABEL, missing: str | None = None) -> Dataset:
    """Load a two-class data set.

    Parameters
    ----------
    source : str or path
        ``"wdbc"``, scikit-learn's copy of the Wisconsin diagnostic breast cancer data (569 x 30, +1 is
        malignant); or a path with a suffix of :data:`fsopt.data.registry.READERS`; or a NAME, looked up with these
        suffixes, in their order, in the folder that the environment variable FSOPT_DATA names.
    label : str
        Name of the label's column, in formats with names of columns. An .arff file without an attribute ``label``
        uses its last nominal attribute called ``class``.
    missing : {"drop", "mean"}, optional
        ``"drop"`` omits the samples with a missing value, ``"mean"`` replaces a missing value by the mean of its
        feature over all samples of the file. By default a missing value is an error.

    Returns
    -------
    Dataset
        Its ``labels`` hold the original texts of -1 and +1. Of two numbers the larger is +1, of two other
        texts the alphabetically last.

    Raises
    ------
    DataError
        If there is no such data set, the file cannot be read, or it is not a valid two-class data set.
    ParameterError
        If `missing` is another word, or `label` is given for a format without names of columns.

    Notes
    -----
    .csv : a header, comma-separated, UTF-8; an empty field, ``?`` or ``nan`` is a missing value. A row is a line: a
    quoted field does not go on over its end.
    .tsv : the same with tabs.
    .parquet : a column for each feature; null is a missing value. Needs pyarrow, the extra ``parquet``.
    .npz : arrays ``X`` (n, p), ``y`` (n,) and optionally ``features`` (p,) of texts; others are ignored.
    .arff : dense; nominal attributes other than the label must be numbers.
    .libsvm : sparse lines ``label index:value ...``, made dense; features are called ``x1 .. xp``.

    Compressed and sparse files that would expand to more than 0.5 GB are refused before they are expanded; the
    environment variable FSOPT_DATA_LIMIT, in gigabytes, raises the limit.
    """
    if missing is not None and (not isinstance(missing, str) or missing not in ("drop", "mean")):
        raise ParameterError(f"missing is {shown(missing)}", "use 'drop', 'mean' or nothing (an error)")
    if os.fspath(source) == BUNDLED:
        _refuse_label(label, BUNDLED)
        return _wdbc()
    path = _resolve(Path(source))
    suffix = suffix_of(path)
    if not READERS[suffix].named:
        _refuse_label(label, f"a {suffix} file")
    with _naming(path):
        return to_dataset(READERS[suffix].read(path, label), path.name[: -len(suffix)], missing)


@checked(source=PATH, label=TEXT)
def load_samples(source: str | os.PathLike[str], *, label: str = DEFAULT_LABEL) -> Table:
    """Read samples to be classified: as :func:`load_dataset`, but a CSV file may have no label.

    Parameters
    ----------
    source : as in :func:`load_dataset`.
    label : name of the label's column, where the file has one.

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
    if os.fspath(source) == BUNDLED:
        data = _wdbc()
        return Table(data.X, [data.labels[int(v > 0)] for v in data.y], list(data.features))
    path = _resolve(Path(source))
    with _naming(path):
        return READERS[suffix_of(path)].read(path, label, required=False)


def data_folder() -> Path | None:
    """Return the folder that FSOPT_DATA names, None if it is not set."""
    value = os.environ.get(FOLDER_VARIABLE)
    return expanded(value, "read") if value else None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the path before the messages of errors."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error.message}", error.hint) from error
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
    folder = data_folder()
    if folder is None:
        raise DataError(
            f"there is no data set '{brief(source)}': it is not bundled and the folder {FOLDER_VARIABLE} is not set",
            f"set {FOLDER_VARIABLE} and run 'fsopt data fetch {source}', or give a path to a file",
        )
    for suffix in READERS:
        candidate = folder / f"{source}{suffix}"
        if _is_file(candidate):
            return candidate
    raise DataError(
        f"there is no data set '{brief(source)}' in {folder} ({FOLDER_VARIABLE})",
        f"run 'fsopt data fetch {source}', or give a path to a file ({', '.join(READERS)})",
    )


def _is_file(path: Path) -> bool:
    """Return whether there is an ordinary file; a pipe is none, since readers go through a file twice."""
    found = status(path, "read")
    return found is not None and stat.S_ISREG(found.st_mode)


def _refuse_label(label: str, what: str) -> None:
    if label != DEFAULT_LABEL:
        raise ParameterError(
            f"label={label!r} cannot be used for {what}, which has one fixed label", "leave out --label"
        )


QUANTITIES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)


def _wdbc() -> Dataset:
    """Return the data of scikit-learn's file, without the second that the import of scikit-learn takes."""
    found = find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise DataError("scikit-learn, which has the data set 'wdbc', is not installed", "pip install scikit-learn")
    path = Path(found.submodule_search_locations[0]) / "datasets" / "data" / "breast_cancer.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    features = [f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in QUANTITIES]
    y = np.where(table[:, -1] == 0, 1.0, -1.0)
    return Dataset(table[:, :-1], y, features, name="wdbc", labels=("benign", "malignant"))
