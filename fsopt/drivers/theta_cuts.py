"""Cuts in theta: GMEB (15) by linear programs alone, one cut of its norm after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.drivers.recorder import Recorder, proved_bound, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.gmeb.gmeb_cuts import add_theta
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session

REPEATED = 1e-9
"""Distance of two theta below which their cuts are one to a solver: the programs cannot get any closer."""


def theta_cuts(
    data: Dataset,
    model: pyo.ConcreteModel,
    norm: GmebNorm,
    *,
    tolerance: float = 1e-9,
    max_cuts: int = 500,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise the hinge loss over :math:`N(w) \le 1`, or N(w) over the separating planes, by cuts in theta.

    .. math::

        \theta^{k+1} \in \arg\max_{\theta \in [0,1]} \sum_j |w_j^k| u_j(\theta), \qquad
        \text{row}\ \sum_j u_j(\theta^{k+1}) |w_j| \le \tau

    where w^k solves the linear program with the first k rows. Its value is a lower bound; w^k scaled into the
    ball, with its best intercept, gives an upper one.

    Parameters
    ----------
    data : the data set that the model was built from.
    model : from :func:`fsopt.models.gmeb.gmeb_cuts.build_gmeb_cuts`; cuts are added to it.
    norm : the norm N of the same data and radii.
    tolerance : relative gap at which to stop; a repeated theta stops too, ``stalled``.
    max_cuts, run.time_limit : further reasons to stop; the answer is then feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the bounds meet. The point holds ``w b``, and of the last program ``mu`` (n,), the
        multipliers of the margins, and ``theta`` and ``price``, the mean theta of the cuts by their multipliers and
        their sum: with :math:`\mu_1 = \text{price}/2`, :math:`\mu_+ = \mu_1\theta/R_+` and
        :math:`\mu_- = \mu_1(1-\theta)/R_-` they are feasible for (16), because u is concave in theta.

    Raises
    ------
    SolverError : a linear program that was not solved.
    """
    session = run.open(model)
    recorder = Recorder([session], run)
    hard = bool(model.xi[0].fixed)
    thetas = [float(t) for t in norm.ends]
    value, bound, stop = np.inf, -np.inf, "iteration-limit"
    point: dict[str, Any] = {}
    try:
        while len(thetas) <= max_cuts:
            step = recorder.solve(session, f"a linear program of '{model.name}'", load=False)
            assert step.point is not None
            w = step.point.x[session.columns(model.w)]
            size, theta = norm.at(w)
            bound = max(bound, proved_bound(step))
            plane = w / max(1.0, size) if not hard else w
            b = midpoint_intercept(data.X @ plane, data.y)
            here = size if hard else hinge(data.X @ plane + b, data.y)
            if here < value or not point:
                value, point = here, {"w": plane, "b": b}
            point |= _multipliers(session, step.point.y, thetas)
            recorder.record(objective=value, bound=bound, norm=size, theta=theta, cuts=len(thetas))
            if relative_gap(value, bound) <= tolerance:
                stop = "optimal"
                break
            if min(abs(theta - t) for t in thetas) <= REPEATED:
                stop = "stalled"
                break
            if recorder.expired:
                stop = "time-limit"
                break
            thetas.append(theta)
            session.add(add_theta(model, norm, theta))
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not point:
            raise
        stop = stop_word(reason)
    certificate = make(Kind.GLOBAL, {"gap": relative_gap(value, bound)}, objective=value, bound=bound)
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop, objective=value, bound=bound, point=point, certificate=certificate)


def _multipliers(session: Session, y: Any, thetas: list[float]) -> dict[str, Any]:
    """Return mu, the sum of the multipliers of the cuts and the mean theta that they give."""
    if y is None:
        return {}
    prices = np.maximum(-y[session.rows(session.model.cuts)], 0.0)
    total = float(prices.sum())
    theta = float(prices @ np.array(thetas)) / total if total > 0 else thetas[0]
    return {"mu": y[session.rows(session.model.margin)], "price": total, "theta": theta}
