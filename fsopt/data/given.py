"""The data set of whatever a caller gives: a data set, samples with labels, a frame, a file, or a name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from fsopt.common.arguments import LIST, Argument
from fsopt.data.dataset import Dataset
from fsopt.data.frames import in_pandas, is_frame, sparse_of_frame
from fsopt.data.intake import load_dataset
from fsopt.data.layout import DEFAULT_TARGET
from fsopt.errors import ParameterError
from fsopt.typing import Frame, Samples

Given: TypeAlias = Dataset | Frame | str | os.PathLike[str] | tuple[Samples | str, ArrayLike]
"""A data set; a pair of samples and labels; a frame or file with labels in its column ``label``, or as a pair with the
name of this column."""
DATA = Argument(
    "a Dataset, a pair (X, y), a DataFrame or a file",
    lambda value: isinstance(value, Dataset | str | os.PathLike | tuple) or is_frame(value),
    "make one with fsopt.Dataset(X, y) or fsopt.load_dataset(path)",
)


def dataset_of(data: Given | Samples, y: ArrayLike | None = None) -> Dataset:
    """Return the data set that is given: the one function by which all questions and methods take their data.

    Parameters
    ----------
    data : a data set; samples X (n, p); a pair of samples and y; a DataFrame; a path or name as for
        :func:`fsopt.load_dataset`.
    y : labels (n,) of samples, or of a DataFrame or file the name of the column of the labels, ``label`` by default.

    Raises
    ------
    ParameterError : samples without labels, or a data set and labels.
    DataError : no valid two-class data set.
    """
    if isinstance(data, Dataset):
        if y is not None:
            raise ParameterError("a Dataset has its labels already", "give it alone, anything else by its keyword")
        return data
    if y is None and isinstance(data, tuple) and len(data) == 2:
        return dataset_of(*data)
    if isinstance(data, str | os.PathLike):
        if y is not None and not isinstance(y, str):
            raise ParameterError("a file has its labels in a column", "give the name of the column as y")
        return load_dataset(data, target=y)
    if is_frame(data):
        return _of_frame(in_pandas(data), y)
    if y is not None:
        return Dataset(data, y)  # type: ignore[arg-type]
    if LIST.holds(data):
        raise ParameterError("there are samples without labels", "give (X, y), or a Dataset, which has both")
    raise DATA.error("data", data)


def datasets_of(data: Any, y: ArrayLike | None = None) -> list[Dataset]:
    """Return the data sets of one, see :func:`dataset_of`, or of a list of several; raises its errors."""
    several = y is None and isinstance(data, list | tuple) and all(_is_one(one) for one in data)
    if several and not (isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], str)):
        return [dataset_of(one) for one in data]
    return [dataset_of(data, y)]


def _is_one(value: Any) -> bool:
    return isinstance(value, Dataset | str | Path | tuple) or is_frame(value)


def _of_frame(frame: Any, y: Any) -> Dataset:
    """Return the data set of a frame, whose labels are one of its columns or come beside it."""
    if isinstance(y, str) or (y is None and DEFAULT_TARGET in frame.columns):
        return load_dataset(frame, target=y)
    if y is None:
        raise ParameterError(
            f"there are samples without labels: the DataFrame has no column '{DEFAULT_TARGET}'",
            "give (frame, y) with the labels, or with the name of their column",
        )
    sparse = sparse_of_frame(frame)
    return Dataset(frame if sparse is None else sparse, y, [str(name) for name in frame.columns])
