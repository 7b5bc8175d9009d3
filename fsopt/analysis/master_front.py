"""The front of hinge loss E and capacity H of Bi's master problem, over hyperplanes and feature scales at once."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fsopt.analysis.fronts import ParetoFront
from fsopt.answers.results import Status
from fsopt.common.arguments import LIST
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import error_rate
from fsopt.drivers.run import Run, usable
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.gmeb import SPEC
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number, vector
from fsopt.models.mop.mmop import build_mmop_convex


def master_front(
    data: Dataset,
    caps: Sequence[float],
    *,
    scale: str = "unit-rows",
    unlabelled: Sequence[ArrayLike] = (),
    solver: str | None = None,
) -> ParetoFront:
    r"""Trace the Pareto front E(H) of the master problem by the constraint method, each point a global optimum.

    .. math:: E(H) = \min\ e'\xi \quad\text{s.t. (9)-(11)},\ R\,W \le H

    One model ``mmop-convex``, updated in place. E is convex and decreasing in :math:`\sqrt H`.

    Parameters
    ----------
    data : raw training data.
    caps : values of H > 0.
    scale : ``unit-rows`` (default), ``standard``, ``center`` or ``none``.
    unlabelled : raw samples (p,) without labels, which are preprocessed as the data are and lie in the ball of (11),
        as do the others (transductive inference); empty (default) for none.
    solver : of cone programs; None for the preferred one.

    Returns
    -------
    ParetoFront
        x is H, y the hinge loss E. Columns: ``bound`` (lower bound on E), ``certified``, ``n_features`` (weights
        above 1e-5 of the largest), ``train_error``, ``coef`` (k, p) and ``intercept`` for preprocessed samples.

    Raises
    ------
    ParameterError : no values, or one that is not positive; a sample without label that is no list of p finite
        numbers.
    SolverError : a program was not solved.

    Notes
    -----
    Bi, (7)-(11), in the convex form of :func:`fsopt.models.mop.mmop.build_mmop_convex`.
    """
    started = time.perf_counter()
    values = sorted(number("master_front", "caps", cap, inside="(0, inf)") for cap in caps)
    if not values:
        raise ParameterError("there is no value of H", "give caps, for example (1.0, 10.0)")
    work, map_ = preprocess(data, scale)
    LIST.check("parameter 'unlabelled' of 'master_front'", unlabelled)
    others = [vector("master_front", f"unlabelled[{k}]", one, data.p) for k, one in enumerate(unlabelled)]
    model = build_mmop_convex(work, h_cap=values[0], unlabelled=[map_.apply(one[np.newaxis])[0] for one in others])
    session = Run(solver).open(model)
    results, hyperplanes = [], []
    for cap in values:
        model.h_cap.set_value(cap)
        session.update(model.capacity)
        result = usable(session.solve(), f"the master problem at H = {cap:g}")
        results.append(result)
        hyperplanes.append((values_of(model.w), float(model.b.value)))
    columns = {
        "bound": np.array([one.bound for one in results], dtype=float),
        "certified": np.array([one.status is Status.OPTIMAL for one in results]),
        # An interior point leaves about 1e-6 of the largest weight in place of zeros.
        "n_features": np.array([len(SPEC.select(w)) for w, _ in hyperplanes]),
        "train_error": np.array([error_rate(work.X @ w + b, work.y) for w, b in hyperplanes]),
        "coef": np.array([w for w, _ in hyperplanes]),
        "intercept": np.array([b for _, b in hyperplanes]),
    }
    return ParetoFront(
        x=np.array(values),
        y=np.array([one.objective for one in results], dtype=float),
        x_name="capacity H",
        y_name="hinge loss E",
        columns=columns,
        seconds=time.perf_counter() - started,
    )
