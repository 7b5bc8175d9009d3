"""The training data of a fit: a data set, or samples with their labels."""

from __future__ import annotations

from typing import cast

from numpy.typing import ArrayLike

from fsopt.common.arguments import LIST
from fsopt.data.dataset import DATASET, Dataset
from fsopt.data.tables.frames import in_pandas, is_frame, sparse_of_frame
from fsopt.errors import ParameterError
from fsopt.typing import Samples


def training_data(data: Dataset | Samples, y: ArrayLike | None) -> Dataset:
    """Return the data set that a fit is given: itself, or as samples X with their labels y.

    The features of a data frame have the names of its columns, and are sparse where all of these are.

    Raises
    ------
    ParameterError : samples without labels, or a data set and labels.
    DataError : samples and labels that are no valid two-class data set.
    """
    if isinstance(data, Dataset):
        if y is not None:
            raise ParameterError("a Dataset has its labels already", "give fit(name, data), or fit(name, X, y)")
        return data
    if y is not None:
        if not is_frame(data):
            return Dataset(cast("ArrayLike", data), y)
        frame = in_pandas(data)
        held = sparse_of_frame(frame)
        return Dataset(frame if held is None else held, y, [str(name) for name in frame.columns])
    if is_frame(data) or LIST.holds(data):
        raise ParameterError("there are samples without labels", "give fit(name, X, y), or a Dataset, which has both")
    raise DATASET.error("data", data)
