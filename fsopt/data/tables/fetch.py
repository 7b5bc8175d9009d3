"""``fetch_dataset``: download a data set from OpenML into the data folder, as a CSV file."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from fsopt.common.files import whole_file
from fsopt.data.tables.columns import label_text
from fsopt.data.tables.layout import DEFAULT_TARGET
from fsopt.data.tables.readers import FOLDER_VARIABLE, data_folder
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError, FileError, ParameterError

if TYPE_CHECKING:
    from pandas import DataFrame


def fetch_dataset(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Download a data set from OpenML and save it as NAME.csv.gz.

    Parameters
    ----------
    name : str
        Its name on openml.org; the file is version 1.
    folder : str or path, optional
        Folder of the file; by default the one that the environment variable FSOPT_DATA names.

    Returns
    -------
    Path
        The file, with a header, the features, and the original labels in the last column ``label``. The same
        data give the same bytes; the file is written completely or not at all.

    Raises
    ------
    DataError
        If OpenML cannot be reached or has no such data set, or the data set is sparse or has not one target.
    ParameterError
        If there is no folder, or `name` is not a plain name.
    FileError
        If the file cannot be written.
    """
    if not name.strip(".") or Path(name).name != name:
        raise ParameterError(f"'{name}' is not a name of a data set", "give a plain name, for example 'sonar'")
    target = data_folder() if folder is None else Path(folder).expanduser()
    if target is None:
        raise ParameterError(
            f"there is no folder to write to, {FOLDER_VARIABLE} is not set", "set it, or give a folder"
        )
    bunch = _download(name)
    features = [str(feature) for feature in bunch.feature_names]
    if DEFAULT_TARGET in features:
        raise DataError(f"'{name}' has a feature called '{DEFAULT_TARGET}'", "save it as a CSV file and use target=")
    if bunch.target is None or np.ndim(bunch.target) != 1:
        raise DataError(f"'{name}' has not one target column on OpenML", "choose another data set")
    labels = [*map(label_text, np.asarray(bunch.target).tolist())]
    return _write(target / f"{name}.csv.gz", _frame(bunch, name).assign(**{DEFAULT_TARGET: labels}))


def _download(name: str) -> Any:
    from sklearn.datasets import fetch_openml  # puts a name into an address as it is

    try:
        return fetch_openml(name=quote(name, safe=""), version=1, as_frame=False, parser="liac-arff")
    except OSError as error:
        raise DataError(
            f"'{name}' cannot be downloaded from OpenML ({error})",
            "check the network and its proxy, or download the file elsewhere and give its path",
        ) from error
    except ValueError as error:
        raise DataError(f"OpenML does not give '{name}' ({error})", "look up its name on openml.org") from error


def _frame(bunch: Any, name: str) -> DataFrame:
    """Return the features; OpenML codes a nominal feature as places in its categories."""
    import pandas as pd

    if hasattr(bunch.data, "toarray"):
        raise DataError(f"'{name}' is sparse on OpenML", "download it in libsvm format and give its path")
    frame = pd.DataFrame(as_matrix(bunch.data), columns=[*map(str, bunch.feature_names)]).convert_dtypes()
    nominal = {feature: found for feature, found in (bunch.categories or {}).items() if feature in frame}
    return frame.assign(**{feature: frame[feature].map(dict(enumerate(found))) for feature, found in nominal.items()})


def _write(path: Path, frame: DataFrame) -> Path:
    """Write a table as CSV, whole numbers without a point; without a time, so that the same data are the same bytes."""
    text = frame.to_csv(index=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error})", "choose a folder that can be written") from error
    with whole_file(path) as temporary:
        temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path
