"""Driver ``theta_cuts``: GMEB (15) by linear programs alone, one cut of its norm after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, loss_weights, midpoint_intercept
from fsopt.drivers.agreement import check_margins, minimises
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder, proved_bound
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import ParameterError
from fsopt.models.gmeb.gmeb import add_theta
from fsopt.models.gmeb.norm import GmebNorm as GmebNorm
from fsopt.solvers.base import Session

TOLERANCE, MOST_CUTS = 1e-9, 500
"""Relative optimality gap at which the loop stops, and largest number of cuts."""
REPEATED = 1e-9
"""Distance of two theta below which their cuts are the same within a solver's tolerance: no further one improves."""


@loop
def theta_cuts(
    data: Dataset,
    model: pyo.ConcreteModel,
    *,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise the hinge loss over :math:`N(w) \le 1`, or N(w) over the separating hyperplanes, by cuts in theta.

    .. math::

        \theta^{k+1} \in \arg\max_{\theta \in [0,1]} \sum_j |w_j^k| u_j(\theta), \qquad
        \text{cut}\ \sum_j u_j(\theta^{k+1}) |w_j| \le \tau

    where w^k solves the linear program with the first k cuts. Its value is a lower bound; w^k scaled into the
    ball, with its best intercept, gives an upper bound.

    Parameters
    ----------
    data : the data set that the model was built from.
    model : from :func:`fsopt.models.gmeb.gmeb.build_gmeb_cuts`; cuts of its norm N are added to it.
    run : solver (any for LP), options, time limit, progress. After a limit the answer is feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the bounds meet; a repeated theta stops too, ``stalled``.
        The point holds ``w b``, and of the last program ``mu`` (n,), the multipliers of the margins, which with those
        of the cuts are feasible for (16), because u is concave in theta.

    Raises
    ------
    ParameterError : a model of other data, or with another objective or bound on the norm.
    SolverError : a linear program that was not solved.
    """
    session = run.open(model)
    hard = bool(model.xi[0].fixed)
    check_margins("theta_cuts", session, data)
    costs = {"norm": 1.0} if hard else {"xi": loss_weights(1.0, data.weights)}
    if not minimises(session, costs) or model.norm.bounds != (0, None if hard else 1):
        raise ParameterError(f"'{model.name}' given to 'theta_cuts' is not (15) any more", "leave objective and norm")
    recorder = Recorder([session], run)
    at, stop = yield from run_loop(_add_cuts(data, session, recorder, hard=hard), recorder)
    value, bound = at.objective, at.bound
    certificate = make(Kind.GLOBAL, {"gap": relative_gap(value, bound)}, objective=value, bound=bound)
    return recorder.end_certified(certificate, stop, at.point)


def _add_cuts(data: Dataset, session: Session, recorder: Recorder, *, hard: bool) -> Loop:
    """Yield the best hyperplanes, with bounds, of the linear programs with more and more cuts."""
    # Step 1: the cuts at the ends of theta are in the model.
    model, norm = session.model, session.model.of_gmeb
    thetas = list(norm.ends)
    value, bound = np.inf, -np.inf
    best = dict[str, Any]()
    # Each pass adds a cut, of which there are at most MOST_CUTS, or ends the loop.
    while len(thetas) <= MOST_CUTS:
        # Step 2.1: the smallest loss with the cuts so far, a lower bound.
        step = recorder.solve(session, f"a linear program of '{model.name}'", load=False)
        assert step.point is not None
        w, bound = step.point.x[session.columns(model.w)], max(bound, proved_bound(step))
        # Step 2.2: the theta of the norm of w.
        size, theta = norm.at(w)
        # Step 2.3: w scaled into the ball, with its best intercept, gives an upper bound.
        inside = w if hard else w / max(1.0, size)
        b = midpoint_intercept(data.X @ inside, data.y, data.weights)
        here = size if hard else hinge(data.X @ inside + b, data.y, data.weights)
        if here < value or not best:
            value, best = here, {"w": inside, "b": b}
        if step.point.y is not None:
            best = best | {"mu": step.point.y[session.rows(model.margin)]}
        # Step 2.4
        repeated = min(abs(theta - t) for t in thetas) <= REPEATED
        stop = "optimal" if relative_gap(value, bound) <= TOLERANCE else "stalled" if repeated else ""
        record = {"objective": value, "bound": bound, "norm": size, "theta": theta, "cuts": len(thetas)}
        yield Iterate(value, best, bound, record=record, stop=stop)
        if stop:
            return
        # Step 2.5
        thetas.append(theta)
        session.add(add_theta(model, theta))
