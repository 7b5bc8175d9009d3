"""Minimax probability machines on kernel values (paper 2, section 3.2): the training rows take the features' place."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import ParameterError
from fsopt.models.mpm.moments import Moments

RIDGE = 1e-2
"""Default ridge, as a share of the mean variance of the kernel's columns within a class."""


FLAT = 1e-4
"""Kernel values that differ by less, relative to the largest one, are too alike for the solvers' precision."""


def kernel_space(data: Dataset, name: str, width: float | None, degree: int) -> tuple[Kernel, Dataset, tuple[str, ...]]:
    """Return the kernel of the (preprocessed) rows of the data, its values as a data set, and remarks on them.

    Parameters
    ----------
    name, width, degree : as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p v / 2) with v the variance
        of all entries: sqrt(p / 2) for standardised columns, scikit-learn's ``gamma="scale"``.

    Raises
    ------
    ParameterError : the rows' kernel values are too alike to be told apart.
    """
    if width is None:
        width = float(np.sqrt(data.p * data.X.var() / 2)) or 1.0
    kernel = Kernel(name, data.X, width, degree)
    work = kernel.dataset(data)
    size = FLAT * np.abs(work.X).max()
    if np.ptp(work.X, axis=0).max() <= size:
        raise ParameterError(
            f"the {kernel.name} kernel has nearly the same values for all rows",
            "choose a smaller width, or centre the columns",
        )
    nearest = (work.X - np.diag(np.diag(work.X))).max(axis=1)
    if name != "gaussian" or np.median(nearest) > size:
        return kernel, work, ()
    remark = "most rows are unlike every other: the classifier says little about new rows; choose a larger width"
    return kernel, work, (f"at width {width:g} {remark}",)


def kernel_ridge(work: Dataset, ridge: float | None, unbiased: bool) -> float:
    """Return the ridge for kernel values, which needs one: their covariances are always singular.

    Raises
    ------
    ParameterError : ridge = 0.
    """
    if ridge is None:
        bare = Moments.of(work, unbiased=unbiased)
        total = sum(float((factor**2).sum()) for factor in (bare.factor1, bare.factor2))
        return RIDGE * total / (2 * work.p)
    if ridge == 0:
        raise ParameterError("the ridge is 0 and covariances of kernel values are singular", "give a ridge > 0")
    return ridge
