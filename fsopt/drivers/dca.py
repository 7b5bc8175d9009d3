r"""DCA: a difference of convex functions, minimised by linearising the concave part (paper 2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from fsopt.certify import make
from fsopt.drivers.recorder import OutOfTime, Progress, Recorder, proved_least, stop_word
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session

Vector = NDArray[np.float64]


class Penalty(Protocol):
    """A concave approximation of the number of nonzeros, as g - h with g = slope * ||w||_1."""

    @property
    def slope(self) -> float:
        """Slope of the approximation at 0."""

    def value(self, w: Vector) -> float:
        """Return g(w) - h(w)."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient (p,) of h at w, with entries strictly inside [-slope, slope]."""


@dataclass(frozen=True)
class Exponential:
    r""":math:`\sum_j (1 - e^{-\alpha|w_j|})` with :math:`h(w) = \alpha\|w\|_1 - \sum_j (1 - e^{-\alpha|w_j|})`.

    The cost :math:`\alpha - |v_j| = \alpha e^{-\alpha|w_j|}` of a large weight is kept at 1e-8 of alpha, which
    a solver can still see.
    """

    alpha: float

    @property
    def slope(self) -> float:
        """Slope at 0."""
        return self.alpha

    def value(self, w: Vector) -> float:
        """Return the penalty of w (p,); paper 2, (31)."""
        return float(-np.expm1(-self.alpha * np.abs(w)).sum())

    def gradient(self, w: Vector) -> Vector:
        """Return v (p,); paper 2, (40)."""
        v: Vector = -np.sign(w) * self.alpha * np.expm1(-self.alpha * np.abs(w))
        return np.clip(v, -self.alpha * (1 - 1e-8), self.alpha * (1 - 1e-8))


def dca(
    model: pyo.ConcreteModel,
    penalty: Penalty,
    *,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> DriverResult:
    r"""Minimise ``penalty(w)`` over the feasible set of a step model, from :math:`v = 0`.

    .. math:: x^{k+1} \in \arg\min_{x \in \Omega}\ g(x) - \langle \nabla h(x^k), x \rangle

    Parameters
    ----------
    model : a step model with variables ``w``, mutable parameter ``v`` and objective ``g(w) - v'w``.
    penalty : the function that is minimised, see :class:`Exponential`.
    tolerance : stop when the objective falls by less than this, relative, or w moves by less.
    max_iterations, time_limit : further reasons to stop; the answer is then feasible only.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` and every other variable of the model by name, and ``gradient`` and ``proof``: the v
        of the last step and its primal-dual point, which prove criticality again. ``stationary`` where the
        certificate holds: the step problem at the answer improves on it by less than the tolerance, judged by
        the step's own dual bound, and no step raised the objective. A local answer; there is no bound.

    Raises
    ------
    SolverError : a step was not solved.
    """
    session = Session(model, solver, options=options)
    recorder = Recorder([session], time_limit, progress)
    w: Vector | None = None
    point: dict[str, Any] = {}
    value, criticality, rise, stop = np.inf, np.inf, 0.0, "iteration-limit"
    try:
        for _ in range(max_iterations):
            v = np.zeros(len(model.w)) if w is None else penalty.gradient(w)
            model.v.store_values(dict(enumerate(v.tolist())))
            session.update(model.objective)
            step = recorder.solve(session, f"a step of '{model.name}'")
            new = np.array([x.value for x in model.w.values()])
            new_value = penalty.value(new)
            if w is not None:
                here = penalty.slope * np.abs(w).sum() - v @ w
                criticality = max(here - proved_least(step), 0.0) / max(1.0, abs(here))
                rise = max(rise, (new_value - value) / max(1.0, abs(value)))
            recorder.record(
                objective=new_value, criticality=float(criticality), n_nonzero=int(np.sum(np.abs(new) > 1e-6))
            )
            if w is not None:
                point |= {"gradient": v, "proof": step.point}
            if w is not None and (
                np.linalg.norm(new - w) < tolerance or new_value >= value - tolerance * max(1.0, abs(value))
            ):
                stop = "stationary" if step.status is Status.OPTIMAL else step.stop
                break
            w, value = new, new_value
            point = values(model) | {"gradient": v, "proof": None}
            if recorder.expired:
                stop = "time-limit"
                break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if w is None:
            raise
        stop = stop_word(reason)
    certificate = make("dca", {"criticality": float(criticality), "ascent": rise}, tolerance=10 * tolerance)
    status = Status.STATIONARY if stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop, objective=value, point=point, certificate=certificate)


def values(model: pyo.ConcreteModel) -> dict[str, Any]:
    """Return name -> value, or array of values, of every variable component of a model."""
    return {
        v.name: np.array([x.value for x in v.values()]) if v.is_indexed() else v.value
        for v in model.component_objects(pyo.Var)
    }
