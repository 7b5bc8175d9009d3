"""Two-class data sets: the validated container, readers of files, and the synthetic data of the papers.

The names below are loaded at their first use: importing this package loads nothing, a name loads numpy and nothing
heavier. Functions that need scikit-learn load it themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsopt.data.dataset import Dataset as Dataset
    from fsopt.data.synthetic.gbd import gbd_set_one as gbd_set_one
    from fsopt.data.synthetic.gbd import gbd_set_two as gbd_set_two
    from fsopt.data.synthetic.gmeb import gmeb_type1 as gmeb_type1
    from fsopt.data.synthetic.gmeb import gmeb_type2 as gmeb_type2
    from fsopt.data.synthetic.mpm import mpm_synthetic as mpm_synthetic
    from fsopt.data.tables.fetch import fetch_dataset as fetch_dataset
    from fsopt.data.tables.readers import load_dataset as load_dataset
    from fsopt.data.tables.readers import load_samples as load_samples

_HOME = {
    "Dataset": "dataset",
    "fetch_dataset": "tables.fetch",
    "gbd_set_one": "synthetic.gbd",
    "gbd_set_two": "synthetic.gbd",
    "gmeb_type1": "synthetic.gmeb",
    "gmeb_type2": "synthetic.gmeb",
    "load_dataset": "tables.readers",
    "load_samples": "tables.readers",
    "mpm_synthetic": "synthetic.mpm",
}
"""Name -> module that defines it: the imports above, at run time."""
__all__ = [
    "Dataset",
    "fetch_dataset",
    "gbd_set_one",
    "gbd_set_two",
    "gmeb_type1",
    "gmeb_type2",
    "load_dataset",
    "load_samples",
    "mpm_synthetic",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'fsopt.data' has no attribute '{name}'")
    value = getattr(import_module(f"fsopt.data.{_HOME[name]}"), name)
    globals()[name] = value
    return value
