"""Readers of the array formats .npz and .libsvm, in which the label has one fixed place."""

from __future__ import annotations

import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from fsopt.data.dataset import as_matrix
from fsopt.data.table import Table, label_texts
from fsopt.errors import DataError

_NPZ_HINT = "save it with numpy.savez_compressed(path, X=X, y=y, features=names)"


def read_npz(path: Path) -> Table:
    """Read arrays ``X`` (n, p), ``y`` (n,) and optionally ``features`` (p,) of texts; nothing is unpickled.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file is not an .npz archive, or an array is missing or of another kind.
    """
    with path.open("rb") as stream:
        try:
            archive = np.load(stream, allow_pickle=False)
        except (ValueError, BadZipFile, EOFError) as error:
            raise DataError(f"the file is not an .npz archive ({error})", _NPZ_HINT) from error
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise DataError("the file is a single array, not an .npz archive", _NPZ_HINT)
        absent = [key for key in ("X", "y") if key not in archive]
        if absent:
            found = ", ".join(archive.files) or "nothing"
            raise DataError(f"the archive has no array {' and '.join(absent)}, it has {found}", _NPZ_HINT)
        try:
            X, y = archive["X"], archive["y"]
            features = archive.get("features")
        except (ValueError, BadZipFile, EOFError, zlib.error) as error:
            raise DataError(f"an array cannot be read ({error})", _NPZ_HINT) from error
    if y.ndim != 1 or y.dtype.kind not in "biufU":
        raise DataError(f"y is an array of type {y.dtype} and shape {y.shape}, not n labels", _NPZ_HINT)
    matrix = as_matrix(X)
    if features is None:
        return Table(matrix, label_texts(y), None)
    if features.dtype.kind != "U" or features.shape != matrix.shape[1:]:
        found = f"type {features.dtype} and shape {features.shape}"
        raise DataError(f"features is an array of {found}, not {matrix.shape[1]} texts", _NPZ_HINT)
    return Table(matrix, label_texts(y), features.tolist())


def read_libsvm(path: Path) -> Table:
    """Read lines ``label index:value ...`` and make the matrix dense.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Table
        Without names; p is the largest index in the file.

    Raises
    ------
    DataError
        If a line is not of this form, for example if it has several labels.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as error:
        raise DataError(
            f"the file is not in libsvm format ({error})", "write one line 'label index:value ...' per sample"
        ) from error
    return Table(as_matrix(X.toarray()), label_texts(y), None)
