r"""The inner program of S-MPM for each beta, of all features or, by column generation, of those with nonzero weights.

.. math:: g(\beta) = \max_{\|F_1w\| \le 1} w'd - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1
    = \min\big\{\|u_1\| : \|u_2\| \le \kappa(\beta),\ \|d - F_1'u_1 - F_2'u_2\|_\infty \le \lambda\big\},
    \qquad d = \mu_1 - \mu_2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import TOLERANCE, Kind, make
from fsopt.answers.results import SolveResult
from fsopt.common import clock
from fsopt.drivers.column_generation.worst_case import SLACK, add_violated, first_columns, spread_multipliers
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.methods.verdict import evidence, extend
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import build_s_mpm, penalised_ratio
from fsopt.solvers.base import Session
from fsopt.typing import Mask, Vector


@dataclass
class InnerProgram:
    """The inner program of some features in one session, solved again for each beta; features are added as needed.

    Attributes
    ----------
    space : all features.
    lam : penalty weight of the one-norm.
    columns : (p,) features of the model; all of them where none is priced.
    recorder : history and time limit.
    details : evidence for the last solve.
    """

    space: FeatureSpace
    lam: float
    columns: Mask
    recorder: Recorder
    session: Session = field(init=False)
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, space: FeatureSpace, lam: float, run: Run, *, priced: bool) -> InnerProgram:
        """Return the program of all features, or, where they are priced, at first of those whose means differ most."""
        difference = np.abs(space.moments.mean1 - space.moments.mean2)
        columns = first_columns(difference) if priced else np.ones(len(difference), dtype=bool)
        inner = cls(space, lam, columns, Recorder([], run))
        inner._open()
        return inner

    def _open(self) -> None:
        """Open a session of the model of the present features."""
        part = self.space.work if self.columns.all() else self.space.work.columns(np.flatnonzero(self.columns))
        self.session = self.recorder.run.open(build_s_mpm(part, lam=self.lam, **self.space.moment_options))
        self.recorder.renew(self.session)

    def solve(self, beta: float, *, final: bool) -> tuple[SolveResult, Vector | None]:
        """Return the result at beta and the weights (p,), None where the solver has no point.

        Evidence for their optimality is looked for where they are ``final``: the search over beta needs none.
        At the time limit they are those of the features so far: a hyperplane, without evidence for its optimality.
        """
        whole = bool(self.columns.all())
        last: tuple[SolveResult, Vector] | None = None
        # Each pass adds a feature, of which there are p, or returns.
        while True:
            if last is not None and clock.expired():
                self.details = {}
                return last
            self.recorder.check_clock()
            model = self.session.model
            model.kappa.set_value(kappa(beta))
            self.session.update(model.objective)
            solved = self.session.solve(load=False, evidence=final)
            if not final and solved.point is not None and not solved.status.solved:
                solved = self.session.completed(solved, solved.point.x)
            if not solved.status.solved or solved.point is None:
                if last is not None and clock.expired():
                    continue
                return solved, None
            kept, w = np.flatnonzero(self.columns), np.zeros(self.space.work.p)
            w[kept] = solved.point.x[self.session.columns(model.w)]
            if whole:
                params = {"beta": beta, "lam": self.lam, **self.space.moment_options}
                self.details = evidence("s-mpm", params, solved.supported) if final else {}
                return solved, w
            moments = self.space.moments
            factors = (moments.factor1[:, kept], moments.factor2[:, kept])
            u1, u2 = spread_multipliers(model, self.session.program, solved.point, factors)
            excess, terms = reduced_costs(moments, self.lam, u1, u2)
            if not add_violated(self.columns, excess - SLACK * terms):
                self.details = {"u1": u1, "u2": u2}
                found = inner_residuals(moments, w, beta, self.lam, (u1, u2))
                certificate = None if solved.certificate is None else extend(solved.certificate, found)
                return replace(solved, certificate=certificate), w
            inside = {"primal": max(float(np.linalg.norm(moments.factor1 @ w)) - 1.0, 0.0)}
            last = replace(solved, certificate=make(Kind.FEASIBLE, inside)), w
            self._open()


def reduced_costs(moments: Moments, lam: float, u1: Vector, u2: Vector) -> tuple[Vector, Vector]:
    """Return the excess (p,) of the multipliers over the penalty weight, and the largest terms (p,) behind it."""
    d = moments.mean1 - moments.mean2
    parts = [u1 @ moments.factor1, u2 @ moments.factor2]
    terms = lam + np.abs(d) + np.abs(parts[0]) + np.abs(parts[1])
    return np.abs(d - parts[0] - parts[1]) - lam, terms


def inner_residuals(
    moments: Moments, w: Vector, beta: float, lam: float, multipliers: tuple[Vector, Vector]
) -> dict[str, float]:
    """Return the residuals of the optimality of w (p,) by multipliers, for all features.

    ``dual`` is the largest relative excess over the penalty weight, ``first order`` the gap between the bound
    ``||u_1||``, plus what the excess costs at w, and the ratio of w.
    """
    u1, u2 = multipliers
    u2 = u2 * min(1.0, kappa(beta) / max(float(np.linalg.norm(u2)), 1e-300))
    excess, terms = reduced_costs(moments, lam, u1, u2)
    spread = float(np.linalg.norm(moments.factor1 @ w))
    if spread <= TOLERANCE:  # w = 0: the optimum is 0
        return {"dual": float(np.maximum(excess / terms, 0.0).max()), "first order": float(np.linalg.norm(u1))}
    owed = float(np.maximum(excess, 0.0) @ np.abs(w)) / spread
    here = penalised_ratio(moments, w, beta, lam)
    gap = abs(float(np.linalg.norm(u1)) + owed - here) / (1.0 + abs(here))
    return {"dual": float(np.maximum(excess / terms, 0.0).max()), "first order": gap}
