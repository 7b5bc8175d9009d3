"""The four formulations of GMEB (15), each solved to a hyperplane and its multipliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import DriverResult, SolveResult
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps, usable
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.models.gmeb.gmeb import (
    build_gmeb_cuts,
    build_gmeb_dual,
    build_gmeb_hard_margin,
    build_gmeb_primal,
    build_gmeb_sdp,
)
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.solvers.base import Session
from fsopt.typing import Vector


@dataclass(frozen=True)
class RouteSolution:
    """The weights w (p,) of a hyperplane, the multipliers that came with them, and the outcome of the solve.

    The multipliers are mu (n,) of the margins and the share theta of those of the radii. ``separable`` says that w is a
    separating hyperplane of smallest norm.
    """

    w: Vector
    mu: Vector
    theta: float
    outcome: SolveResult | DriverResult
    separable: bool = False


def by_dual(data: Dataset, norm: GmebNorm, run: Run) -> RouteSolution:
    """Solve (16); w is the multiplier of s = X'Y mu (Theorem 19)."""
    return dual_answer(run.open(build_gmeb_dual(data, **_radii(norm))))


def dual_answer(session: Session) -> RouteSolution:
    """Solve the model of (16) that is loaded in a session and return the classifier of its multipliers."""
    result = usable(session.solve(evidence=False), "the dual (16)")  # the certificate of a classifier is its own
    m = session.model
    w = np.array([m.dual[constraint] for constraint in m.moment.values()])
    radii = GmebNorm(np.zeros(0), np.zeros(0), m.r_plus.value, m.r_minus.value)
    return RouteSolution(w, values_of(m.mu), radii.theta_of(m.mu_plus.value, m.mu_minus.value), result)


def by_primal(data: Dataset, norm: GmebNorm, run: Run) -> RouteSolution:
    """Solve (15) with rotated cones."""
    return _by_primal(build_gmeb_primal(data, **_radii(norm)), norm, run)


def by_sdp(data: Dataset, norm: GmebNorm, run: Run) -> RouteSolution:
    """Solve (15) with its linear matrix inequality."""
    return _by_primal(build_gmeb_sdp(data, **_radii(norm)), norm, run)


def _by_primal(m: pyo.ConcreteModel, norm: GmebNorm, run: Run) -> RouteSolution:
    """Solve a primal form."""
    _, result = run.solve(m, f"'{m.name}'")
    plus, minus = _multiplier(m, "moment_plus"), _multiplier(m, "moment_minus")
    mu = np.array([m.dual[constraint] for constraint in m.margin.values()])
    return RouteSolution(values_of(m.w), mu, norm.theta_of(plus, minus), result)


def by_cuts(data: Dataset, norm: GmebNorm, run: Run, *, hard: bool = False) -> Steps[RouteSolution]:
    """Solve (15) by linear programs with cuts in theta, or for the separating hyperplane; zeros are exact."""
    model = build_gmeb_cuts(data, r_plus=norm.r_plus, r_minus=norm.r_minus, hard=hard)
    result = yield from theta_cuts.steps(data, model, norm, run=run)
    at = result.point
    return RouteSolution(at["w"], at["mu"], at["theta"], result, separable=hard)


def smallest_norm(data: Dataset, norm: GmebNorm, run: Run, *, cuts: bool) -> Steps[RouteSolution]:
    """Return the separating hyperplane of smallest N, by cuts or by cones; raises SolverError where there is none."""
    if cuts:
        return (yield from by_cuts(data, norm, run, hard=True))
    answer = _by_primal(build_gmeb_hard_margin(data, **_radii(norm)), norm, run)
    return replace(answer, separable=True)


ROUTES: Mapping[str, Callable[[Dataset, GmebNorm, Run], RouteSolution | Steps[RouteSolution]]] = MappingProxyType(
    {"dual": by_dual, "primal": by_primal, "sdp": by_sdp, "theta-cuts": by_cuts}
)
"""Word of the parameter ``route`` -> formulation; all end at the same value of (15)."""


def _radii(norm: GmebNorm) -> dict[str, float]:
    return {"r_plus": norm.r_plus, "r_minus": norm.r_minus}


def _multiplier(m: pyo.ConcreteModel, name: str) -> float:
    """Return the multiplier >= 0 of an upper bound; 0 where the model has no such constraint."""
    return 0.0 if m.component(name) is None else -float(m.dual[m.component(name)])
