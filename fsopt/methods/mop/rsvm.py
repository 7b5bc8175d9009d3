"""Method ``rsvm`` (Bi): the rigorous support vector machine, on features or on kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts
from fsopt.data.matrices import constant_columns
from fsopt.drivers.run import Run, Steps
from fsopt.errors import ParameterError
from fsopt.linear.penalties import Euclid
from fsopt.methods.baselines.machines import (
    fit_machine,
    gamma_of,
    squared_radius,
)
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import saved_alpha


def fit_rsvm(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    kernel: str | None = None,
    width: float | None = None,
) -> Steps[Fit]:
    r"""Fit the rigorous support vector machine (RSVM), which selects nothing.

    .. math:: \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'z_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Where no solver is named, fsopt's own interior point (:func:`fsopt.linear.interior_point.minimise`) solves it and
    its dual (14), else the solver the model (13).

    With a kernel, :math:`z_i` are the images of the preprocessed samples, centred to mean 0 as in section 3 of the
    paper: the rows of the factor F of their Gram matrix :math:`FF'`, of full rank, take the samples' place in (13).
    Centring moves the intercept, and the radius R of the ball, but neither w nor the loss.

    Parameters
    ----------
    w_cap : float, optional
        W > 0, capacity; None takes (RW + 1) / n = 0.1, with RW at least 1.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``,
        ``center`` or ``none``.
    kernel : str, optional
        ``gaussian``, ``polynomial`` of degree 2, or ``linear``: a classifier on the kernel values of the preprocessed
        samples; None for a hyperplane in the space of the features, which are not centred again.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is the hinge loss E. Selected are the features of nonzero weight, with a kernel the training
        samples that are support vectors. ``params`` has ``w_cap``, ``details`` has ``radius`` R, the largest squared
        norm of a sample or centred image; ``h_over_l`` = (RW + 1) / n, the paper's estimate of the VC dimension over
        the number of samples; ``gamma``, 1/C of the C-SVM with the same hyperplane, 0 where the capacity constraint is
        not active: the answer is then the shortest hyperplane of smallest loss; ``capacity`` w'w; ``b_interval``, whose
        middle is b; and the evidence ``alpha``, the multipliers in [0, 1] of the margins.

    Raises
    ------
    ParameterError : w_cap <= 0, an unknown kernel, or kernel values that are too alike.

    Notes
    -----
    Bi, (13), (14) and sections 3 and 7.
    """
    if constant_columns(data.X).all():
        raise ParameterError("all samples are the same", "give data that vary")
    return fit_machine("rsvm", data, run, w_cap, scale=scale, kernel=kernel, width=width)


def numbers(saved: SavedFit) -> dict[str, Any]:
    """Return radius, capacity and multiplier of the capacity of the samples or their Gram matrix, and intercepts."""
    data, gram = saved.data, saved.fit.kernel is not None
    w_cap = float(saved.fit.params["w_cap"])
    K = data.X  # where it is the Gram matrix, the radius is that of the images less their mean
    radius = float((np.diag(K) - 2.0 * K.mean(axis=1) + K.mean()).max()) if gram else squared_radius(data)
    return {
        "radius": radius,
        "h_over_l": (radius * w_cap + 1.0) / data.total,
        "gamma": gamma_of(data, saved_alpha(saved), w_cap, gram=gram),
        "capacity": Euclid(data.X if gram else None).of(saved.w) ** 2,
        "b_interval": best_intercepts(data.X @ saved.w, data.y, data.weights),
    }


SPEC = MethodSpec(
    "rsvm",
    fit_rsvm,
    ("rsvm",),
    numbers=numbers,
    equation="(13), (14)",
    estimator="RSVM",
    driver="interior-point",
    weights="samples",
)
