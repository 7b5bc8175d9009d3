"""Driver ``theta_cuts``: GMEB (15) by linear programs alone, one cut of its norm after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.data.weights import loss_weights
from fsopt.drivers.agreement import EQUAL, check_margins, minimises
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
    norm: GmebNorm,
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
    model : from :func:`fsopt.models.gmeb.gmeb.build_gmeb_cuts` with its default cuts; cuts are added to it.
    norm : the norm N of the same data and radii.
    run : solver (any for LP), options, time limit, progress. After a limit the answer is feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the bounds meet; a repeated theta stops too, ``stalled``.
        The point holds ``w b``, and of the last program ``mu`` (n,), the multipliers of the margins, which with those
        of the cuts are feasible for (16), because u is concave in theta.

    Raises
    ------
    ParameterError : a model of other data, radii or cuts, or with another objective.
    SolverError : a linear program that was not solved.
    """
    session = run.open(model)
    hard = bool(model.xi[0].fixed)
    _check_model(session, data, norm, hard=hard)
    recorder = Recorder([session], run)
    at, stop = yield from run_loop(_add_cuts(data, session, recorder, norm, hard=hard), recorder)
    value, bound = at.objective, at.bound
    certificate = make(Kind.GLOBAL, {"gap": relative_gap(value, bound)}, objective=value, bound=bound)
    return recorder.end_certified(certificate, stop, at.point)


def _add_cuts(data: Dataset, session: Session, recorder: Recorder, norm: GmebNorm, *, hard: bool) -> Loop:
    """Yield the best hyperplanes, with bounds, of the linear programs with more and more cuts."""
    # Step 1: the cuts at the ends of theta are in the model.
    model, thetas = session.model, [float(t) for t in norm.ends]
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
        session.add(add_theta(model, norm, theta))


def _check_model(session: Session, data: Dataset, norm: GmebNorm, *, hard: bool) -> None:
    """Raise ParameterError unless the model bounds (15) of the data and the norm: its margins, cuts and objective."""
    check_margins("theta_cuts", session, data)
    m, program = session.model, session.program
    size = session.columns(m.norm)[0]
    expected = np.zeros((len(norm.ends), program.n))
    for cut, theta in zip(expected, norm.ends, strict=True):
        cut[session.columns(m.w_plus)] = cut[session.columns(m.w_minus)] = norm.weights(theta)
        cut[size] = -1.0
    cuts = program.A[session.rows(m.cuts)].toarray() if len(m.cuts) else np.zeros((0, program.n))
    same = cuts.shape == expected.shape and np.allclose(cuts, expected, rtol=EQUAL, atol=0.0)
    if not same or program.lb[size] != 0.0 or program.ub[size] != (np.inf if hard else 1.0):
        raise ParameterError(
            f"the cuts of '{m.name}' given to 'theta_cuts' are not those of the norm at the ends of theta",
            "build it from the same data and radii, without 'thetas'",
        )
    if not minimises(session, {"norm": 1.0} if hard else {"xi": loss_weights(1.0, data.weights)}):
        raise ParameterError(f"the objective of '{m.name}' is not that of (15)", "leave its objective")
