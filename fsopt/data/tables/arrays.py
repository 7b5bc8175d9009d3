"""Readers of the array formats .npz and .libsvm, in which the label has one fixed place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from fsopt.common.memory import check_size
from fsopt.data.matrices import stays_sparse
from fsopt.data.tables.columns import label_text
from fsopt.data.tables.spelling import NUMBER
from fsopt.data.tables.table import Table
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError, foreign

_NPZ_HINT = "save it with numpy.savez_compressed(path, X=X, y=y, features=names)"
_SPARSE_HINT = "save X.data, X.indices, X.indptr, X.shape and format='csr' of a csr matrix, with y, by these names"
SPARSE_PARTS = ("data", "indices", "indptr", "shape", "format")
"""The arrays of a sparse matrix in an archive, as scipy.sparse.save_npz calls them."""
SPARSE_NUMBER = 16
"""Bytes of a nonzero with its place."""
NAME = 100
"""Bytes of the name of a feature, and of what is held for each."""
_LIBSVM_HINT = "write one line 'label index:value ...' per sample, with increasing indices"
_LIBSVM_LINE = re.compile(rb"\s*[^\s,:#]+(\s+(qid|\d+):[^\s:]+)*\s*(#.*)?\s*|\s*#.*\s*|\s*")


def read_npz(path: Path) -> Table:
    """Read arrays ``X`` (n, p), ``y`` (n,) and optionally ``features`` (p,) of texts; nothing is unpickled.

    A sparse X is there by ``data``, ``indices``, ``indptr``, ``shape`` and ``format``, as scipy.sparse.save_npz has it.
    """
    with path.open("rb") as stream:
        if stream.read(6) == b"\x93NUMPY":
            raise DataError("the file is a single array, not an .npz archive", _NPZ_HINT)
        with foreign("zipfile", "the file is not an .npz archive", _NPZ_HINT, DataError):
            archive = ZipFile(stream)
        found = [name.removesuffix(".npy") for name in archive.namelist()]
        parts = [key for key in SPARSE_PARTS if "X" not in found and "indptr" in found]
        absent = [key for key in (*(parts or ["X"]), "y") if key not in found]
        if absent:
            held = ", ".join(found[:10]) or "nothing"
            raise DataError(f"the archive has no array {' and '.join(absent)}, it has {held}", _NPZ_HINT)
        X = _sparse_member(archive) if parts else _member(archive, "X")
        y = _member(archive, "y")
        features = _member(archive, "features") if "features" in found else None
    if y.ndim != 1 or y.dtype.kind not in "biufU":
        raise DataError(f"y is an array of type {y.dtype} and shape {y.shape}, not n labels", _NPZ_HINT)
    matrix = as_matrix(X)
    if features is None:
        return Table(matrix, [*map(label_text, y.tolist())], None)
    if features.dtype.kind != "U" or features.shape != matrix.shape[1:]:
        kind = f"type {features.dtype} and shape {features.shape}"
        raise DataError(f"features is an array of {kind}, not {matrix.shape[1]} texts", _NPZ_HINT)
    return Table(matrix, [*map(label_text, y.tolist())], features.tolist())


def _sparse_member(archive: ZipFile) -> Any:
    """Return the sparse matrix of an archive."""
    from scipy.sparse import csc_array, csr_array

    kinds: dict[str, Callable[..., Any]] = {"csr": csr_array, "csc": csc_array}
    data, indices, indptr, shape, kind = (_member(archive, name) for name in SPARSE_PARTS)
    word = str(kind.item().decode() if kind.dtype.kind == "S" and kind.size == 1 else kind)
    whole = all(part.dtype.kind in "iu" for part in (indices, indptr, shape))
    if word not in kinds or shape.shape != (2,) or not whole:
        raise DataError(f"the sparse matrix has the format '{word}' and the shape {shape.tolist()}", _SPARSE_HINT)
    n, p = (int(size) for size in shape)
    check_size(SPARSE_NUMBER * data.size + NAME * p, f"the sparse matrix of {n} samples and {p} features")
    with foreign("scipy", "the arrays are no sparse matrix", _SPARSE_HINT, DataError):
        return kinds[word]((data, indices, indptr), shape=(n, p))


def _member(archive: ZipFile, name: str) -> np.ndarray[Any, Any]:
    """Return an array of an archive, whose header is compared with the size of the member before anything is read."""
    with foreign("numpy", "an array cannot be read", _NPZ_HINT, DataError):
        file = name if name in archive.namelist() else f"{name}.npy"
        size = archive.getinfo(file).file_size
        with archive.open(file) as stream:
            shape, kind = _header(stream)
            if kind.hasobject:
                raise DataError("an array cannot be read (it holds Python objects, whose loading runs code)", _NPZ_HINT)
            held = size - stream.tell()
            if math.prod(shape) * kind.itemsize != held or min(shape, default=0) < 0:
                raise DataError(f"{name} has the shape {shape} of {kind}, which its {held} bytes are not", _NPZ_HINT)
            check_size(max(held, NUMBER * math.prod(shape)), f"the array {name} of shape {shape}")
            stream.seek(0)
            array: np.ndarray[Any, Any] = np.lib.format.read_array(stream, allow_pickle=False)
            stream.read(1)  # the end of the member, where its checksum is compared
    if kind.kind == "U" and kind.itemsize and not _valid_texts(array):
        raise DataError(f"{name} has texts with characters that there are not", _NPZ_HINT)
    return array


def _valid_texts(array: np.ndarray[Any, Any]) -> bool:
    """Return whether the texts of an array are Unicode; numpy makes Python texts of any numbers, which then fail."""
    codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return not np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF)))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type in the header of a .npy file."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(stream)
    return tuple(shape), kind


def read_libsvm(path: Path) -> Table:
    """Read lines ``label index:value ...``: a sparse matrix where it is large and has few nonzeros, else a dense one.

    There are no names; p is the largest index in the file.
    """
    from sklearn.datasets import load_svmlight_file

    fault = f"the file is not in libsvm format{_first_bad_line(path)}"
    with foreign("scikit-learn", fault, _LIBSVM_HINT, DataError):
        X, y = load_svmlight_file(str(path))
    n, p = X.shape
    if X.nnz and X.indices.min() < 0:
        raise DataError("the file has an index beyond 2147483647", _LIBSVM_HINT)
    if stays_sparse(n, p, X.nnz):
        check_size(SPARSE_NUMBER * X.nnz + NAME * p, f"the sparse matrix of {n} samples and {p} features")
        return Table(as_matrix(X), [*map(label_text, y.tolist())], None)
    check_size(NUMBER * n * p, f"the dense matrix of {n} samples and {p} features (the largest index)")
    return Table(as_matrix(X.toarray()), [*map(label_text, y.tolist())], None)


def _first_bad_line(path: Path) -> str:
    """Return the place of the first line that has not the form of the format, empty where all have it."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not _LIBSVM_LINE.fullmatch(line):
                return f", see line {number}"
    return ""
