"""The bundled data set: scikit-learn's copy of the Wisconsin diagnostic breast cancer data."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from fsopt.data.dataset import Dataset
from fsopt.data.tables.table import map_labels
from fsopt.errors import DataError

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


def wdbc(positive: Sequence[str]) -> Dataset:
    """Return the data of scikit-learn's file, without the second that the import of scikit-learn takes."""
    found = find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise DataError("scikit-learn, which has the data set 'wdbc', is not installed", "pip install scikit-learn")
    path = Path(found.submodule_search_locations[0]) / "datasets" / "data" / "breast_cancer.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    features = [f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in QUANTITIES]
    names = ["malignant" if target == 0 else "benign" for target in table[:, -1]]
    y, labels = map_labels(names, positive)
    return Dataset(table[:, :-1], y, features, name="wdbc", labels=labels)
