"""Two-class data sets: the validated container, readers of files, and the papers' synthetic data.

Importing this package loads numpy and nothing heavier; scikit-learn is loaded by the functions that need it.
"""

from fsopt.data.dataset import Dataset
from fsopt.data.fetch import fetch_dataset
from fsopt.data.readers import load_dataset, load_samples
from fsopt.data.synthetic import gbd_set_one, gbd_set_two, gmeb_type1, gmeb_type2, mpm_synthetic

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
