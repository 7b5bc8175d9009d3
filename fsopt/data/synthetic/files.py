"""Synthetic data by the name of their law, and files of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fsopt.common.files import whole_file
from fsopt.data.dataset import Dataset
from fsopt.data.matrices import is_sparse, refuse_sparse
from fsopt.data.synthetic.gbd import SyntheticInstance, gbd_set_one, gbd_set_two
from fsopt.data.synthetic.gmeb import gmeb_type1, gmeb_type2
from fsopt.data.synthetic.mpm import mpm_synthetic
from fsopt.errors import FileError, ParameterError, unknown

LAWS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = MappingProxyType(
    {
        "gmeb-type1": (gmeb_type1, {"n": 100, "seed": 0}),
        "gmeb-type2": (gmeb_type2, {"n": 100, "seed": 0}),
        "mpm": (mpm_synthetic, {}),
        "gbd-one": (gbd_set_one, {"p": 20, "n": 500, "k": 0}),
        "gbd-two": (gbd_set_two, {"m": 100, "k": 0}),
    }
)
"""Name -> function that draws, and the values of its arguments without a default."""


def draw(name: str, params: Mapping[str, Any]) -> dict[str, Dataset]:
    """Return the data sets of a law: part -> data set, with the part "" where there is one only.

    Raises
    ------
    UnknownNameError, ParameterError, DataError : another name, unknown parameters or wrong values.
    """
    if name not in LAWS:
        raise unknown("law", name, LAWS, "fsopt data --help")
    function, given = LAWS[name]
    known = list(inspect.signature(function).parameters)
    for parameter in params:
        if parameter not in known:
            raise ParameterError(f"'{name}' has no parameter '{parameter}'", f"its parameters: {', '.join(known)}")
    found = function(**{**given, **params})
    if isinstance(found, SyntheticInstance):
        return {"train": found.train, "valid": found.validation, "test": found.test}
    return {"": found}


def write(data: Dataset, path: Path) -> None:
    """Write a data set as ``.csv`` with the column ``label``, or as ``.npz``; whole or not at all.

    Raises
    ------
    DataError : sparse data as ``.csv``.
    FileError : another suffix, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".npz"):
        raise FileError(f"the type of '{path}' is not known", "one of .csv, .npz")
    with whole_file(path) as temporary:
        if suffix == ".npz":
            with open(temporary, "wb") as stream:
                np.savez_compressed(stream, **archived(data.X), y=data.y, features=np.array(data.features))
            return
        refuse_sparse("a .csv file", data.X, "take .npz, or ")
        import pandas as pd

        frame = pd.DataFrame(data.X, columns=list(data.features)).assign(label=data.y.astype(int))
        frame.to_csv(temporary, index=False)


def archived(X: Any) -> dict[str, Any]:
    """Return name -> array of a matrix in an archive, as :func:`fsopt.data.tables.arrays.read_npz` reads it."""
    if not is_sparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": "csr"}
