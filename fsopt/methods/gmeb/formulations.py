"""The four ways to an optimum of GMEB (15), each ending in a plane and its multipliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, usable
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.methods.gmeb.optimality import Multipliers
from fsopt.models.gmeb.gmeb_cuts import build_gmeb_cuts
from fsopt.models.gmeb.gmeb_dual import build_gmeb_dual
from fsopt.models.gmeb.gmeb_hard_margin import build_gmeb_hard_margin
from fsopt.models.gmeb.gmeb_primal import build_gmeb_primal
from fsopt.models.gmeb.gmeb_sdp import build_gmeb_sdp
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.results import DriverResult, SolveResult
from fsopt.solvers.base import Session
from fsopt.typing import Vector


@dataclass(frozen=True)
class Answer:
    """A plane's weights w (p,), the multipliers that came with them, and the solve behind them."""

    w: Vector
    dual: Multipliers
    outcome: SolveResult | DriverResult
    separable: bool = False


def by_dual(data: Dataset, norm: GmebNorm, run: Run) -> Answer:
    """Solve (16); w is the multiplier of s = X'Y mu (Theorem 19)."""
    return dual_answer(Session(build_gmeb_dual(data, **_radii(norm)), run.solver, options=run.options), run)


def dual_answer(session: Session, run: Run) -> Answer:
    """Solve the model of (16) that is loaded in a session and read the classifier off its multipliers."""
    result = usable(session.solve(time_limit=run.time_limit), "the dual (16)")
    m = session.model
    w = np.array([m.dual[row] for row in m.moment.values()])
    dual = Multipliers(values_of(m.mu), m.mu1.value, m.mu_plus.value, m.mu_minus.value)
    return Answer(w, dual, result)


def by_primal(data: Dataset, norm: GmebNorm, run: Run) -> Answer:
    """Solve (15) with rotated cones."""
    return _by_primal(build_gmeb_primal(data, **_radii(norm)), norm, run)


def by_sdp(data: Dataset, norm: GmebNorm, run: Run) -> Answer:
    """Solve (15) with its linear matrix inequality."""
    return _by_primal(build_gmeb_sdp(data, **_radii(norm)), norm, run)


def _by_primal(m: pyo.ConcreteModel, norm: GmebNorm, run: Run) -> Answer:
    """Solve a primal form; mu_1 is the price of its unit norm, or what that must be where no row states it."""
    session = Session(m, run.solver, options=run.options)
    result = usable(session.solve(time_limit=run.time_limit), f"'{m.name}'")
    plus, minus = _price(m, "moment_plus"), _price(m, "moment_minus")
    unit = sum(price * r for price, r in ((plus, norm.r_plus), (minus, norm.r_minus)) if np.isfinite(r))
    if m.component("unit_norm") is not None:
        unit = _price(m, "unit_norm")
    mu = np.array([m.dual[row] for row in m.margin.values()])
    return Answer(values_of(m.w), Multipliers(mu, unit, plus, minus), result)


def by_cuts(data: Dataset, norm: GmebNorm, run: Run) -> Answer:
    """Solve (15) by linear programs with cuts in theta; w is a vertex, its zeros are exact."""
    return _by_cuts(data, norm, run, hard=False)


def _by_cuts(data: Dataset, norm: GmebNorm, run: Run, *, hard: bool) -> Answer:
    result = theta_cuts(data, build_gmeb_cuts(data, r_plus=norm.r_plus, r_minus=norm.r_minus, hard=hard), norm, run=run)  # fmt: skip
    mu, theta, unit = result.point["mu"], result.point["theta"], result.point["price"] / 2.0
    dual = Multipliers(mu, unit, unit * theta / norm.r_plus, unit * (1.0 - theta) / norm.r_minus)
    return Answer(result.point["w"], dual, result, separable=hard)


def least_norm(data: Dataset, norm: GmebNorm, run: Run, *, cuts: bool) -> Answer:
    """Find the separating plane of least N, by cuts or by cones; raises SolverError where there is none."""
    if cuts:
        return _by_cuts(data, norm, run, hard=True)
    answer = _by_primal(build_gmeb_hard_margin(data, **_radii(norm)), norm, run)
    return replace(answer, separable=True)


ROUTES: Mapping[str, Callable[[Dataset, GmebNorm, Run], Answer]] = MappingProxyType(
    {"dual": by_dual, "primal": by_primal, "sdp": by_sdp, "theta-cuts": by_cuts}
)
"""Name -> route; all end at the same value of (15)."""


def _radii(norm: GmebNorm) -> dict[str, float]:
    return {"r_plus": norm.r_plus, "r_minus": norm.r_minus}


def _price(m: pyo.ConcreteModel, row: str) -> float:
    return 0.0 if m.component(row) is None else -float(m.dual[m.component(row)])
