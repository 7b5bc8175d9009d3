"""Method ``mpm`` (Yang & Ju): the hyperplane of largest worst-case accuracy."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, usable
from fsopt.methods.verification import check_program, evidence
from fsopt.methods.assembly import extend, make_fit
from fsopt.methods.mpm.feature_space import Space, accuracy_limit, moments_of, warn_if_infinite, with_worst_case, worst_case
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import select
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.mpm.mpm import build_mpm
from fsopt.results import Fit
from fsopt.solvers.base import solve
from fsopt.typing import Vector

THRESHOLD = 1e-4
"""Relative size of a weight that counts as selected."""


def fit_mpm(
    data: Dataset,
    run: Run,
    *,
    scale: str = "standard",
    unbiased: bool = False,
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    degree: int = 2,
) -> Fit:
    r"""Fit the plane with the largest worst-case accuracy alpha* on both classes (MPM).

    .. math:: \kappa^* = 1/\min\{\|F_1w\| + \|F_2w\| : w'(\mu_1 - \mu_2) = 1\}, \qquad
        b = w'\mu_1 - \kappa^*\|F_1w\|, \qquad \alpha^* = \kappa^{*2}/(1 + \kappa^{*2})

    kappa* is computed twice, by :func:`fsopt.methods.mpm.feature_space.accuracy_limit` and by the cone program, and the
    certificate holds only where the two agree. Nothing is sparse: every weight above 1e-4 of the largest is selected.

    Parameters
    ----------
    scale : ``standard`` (default), ``center`` or ``none``; without ridge and kernel alpha* does not depend on it.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances of the preprocessed columns, or of the kernel values;
        None is 0 for columns and 1e-2 of the mean variance within a class for kernel values, which need one.
    kernel : ``gaussian``, ``polynomial`` or ``linear``: a machine on the kernel values of the preprocessed rows, which
        selects training rows (paper 2, (48)-(52)); None for a plane in the space of the columns.
    width, degree : of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None
        is sqrt(p / 2) for standardised columns.

    Returns
    -------
    Fit
        ``objective`` is 1/kappa*, 0 where kappa* is infinite: the plane is then halfway between the means. ``details``
        has ``kappa_limit``, ``alpha_limit`` and ``worst_case``, the accuracy on class +1 and -1.

    Raises
    ------
    ParameterError : ridge < 0, unbiased with a class of one row, a kernel that is unknown, has a parameter outside its
        range or a ridge of 0, or kernel values that are nearly the same for all rows.

    Notes
    -----
    Paper 2, section 2.1, (3)-(5).
    """
    started = time.perf_counter()
    space = Space.of(data, scale, unbiased=unbiased, ridge=ridge, kernel=kernel, width=width, degree=degree)
    warnings = list(space.warnings)
    warn_if_infinite(space.limit, warnings)
    model = build_mpm(space.work, **space.moment_options)
    result = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), "MPM")
    w, moments = values_of(model.w), space.moments
    spreads = np.array([np.linalg.norm(factor @ w) for factor in (moments.factor1, moments.factor2)])
    share = 0.5 if np.isinf(space.limit.kappa) else spreads[0] / spreads.sum()
    b = -float(moments.mean1 @ w - share * (moments.mean1 - moments.mean2) @ w)
    assert result.certificate is not None
    difference = abs(spreads.sum() - 1.0 / space.limit.kappa) / max(1.0, spreads.sum())
    return make_fit(
        space.work, space.map_, Hyperplane(w, b, select(w, THRESHOLD)), kernel=space.kernel, objective=float(spreads.sum()),
        outcome=result, started=started, certificate=extend(result.certificate, {"kappa limit": difference}),
        warnings=tuple(warnings),
        details=evidence("mpm", space.moment_options, result.point, **space.limits, worst_case=worst_case(w, b, moments)),
    )  # fmt: skip


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return 1/kappa of a hyperplane, and its distance from the normalisation and from the accuracy limit."""
    moments = moments_of(data, at)
    value = float(np.linalg.norm(moments.factor1 @ w) + np.linalg.norm(moments.factor2 @ w))
    short = accuracy_limit(moments).alpha - min(worst_case(w, b, moments))
    return value, max(short, abs(float((moments.mean1 - moments.mean2) @ w) - 1.0))


def check(saved: SavedFit) -> Certificate:
    """Certify the cone program of a saved fit again, and the worst-case accuracies that it states."""
    return check_program(with_worst_case(saved))


SPEC = MethodSpec("mpm", fit_mpm, objective, check, ("mpm",), paper="mpm", equation="(3)-(5)")
