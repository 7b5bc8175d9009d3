r"""The inner program of S-MPM for each beta, of all features or, by a working set, of those with nonzero weights.

.. math:: g(\beta) = \max_{\|F_1w\| \le 1} w'd - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1
    = \min\big\{\|u_1\| : \|u_2\| \le \kappa(\beta),\ \|d - F_1'u_1 - F_2'u_2\|_\infty \le \lambda\big\},
    \qquad d = \mu_1 - \mu_2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.certificate import TOLERANCE, Kind, make
from fsopt.answers.results import SolveResult
from fsopt.common import clock
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.drivers.working_set import COLUMNS, largest, working_set
from fsopt.drivers.worst_case import SLACK, Multipliers, multipliers_of
from fsopt.methods.mpm.space import FeatureSpace, multiplier_details
from fsopt.methods.verdict import evidence, extend
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import build_s_mpm, penalised_ratio
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Mask, Vector


@dataclass
class InnerProgram:
    """The inner program of some features in one session, solved again for each beta; features are added as needed.

    Attributes
    ----------
    space : all features.
    lam : penalty weight of the one-norm.
    kept : (p,) features of the model; all of them where none is priced.
    recorder : history and time limit.
    details : evidence for the last solve.
    """

    space: FeatureSpace
    lam: float
    kept: Mask
    recorder: Recorder
    session: Session | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, space: FeatureSpace, lam: float, run: Run, *, priced: bool) -> InnerProgram:
        """Return the program of all features, or, where they are priced, at first of those whose means differ most."""
        difference = np.abs(space.moments.mean1 - space.moments.mean2)
        return cls(space, lam, largest(difference, COLUMNS if priced else len(difference)), Recorder([], run))

    def solve(self, beta: float, *, final: bool) -> tuple[SolveResult, Vector | None]:
        """Return the result at beta and the weights (p,), None where the solver has no point.

        Evidence for their optimality is looked for where they are ``final``: the search over beta needs none.
        At the time limit they are those of the features so far: a hyperplane, without evidence for its optimality.
        """
        self.details = {}
        last: tuple[SolveResult, Vector] | None = None
        solve = partial(self._solve, beta=beta, final=final)
        for _, (solved, w), ended in working_set(np.zeros(len(self.kept)), solve, self._excess, kept=self.kept):
            if w is None:
                return (solved, w) if last is None or not clock.expired() else last
            if ended:
                return (self._evident(solved, w, beta) if final or not self.kept.all() else solved), w
            inside = {"primal": max(float(np.linalg.norm(self.space.moments.factor1 @ w)) - 1.0, 0.0)}
            last = replace(solved, certificate=make(Kind.FEASIBLE, inside)), w
            if clock.expired():
                return last
        raise AssertionError

    def _evident(self, solved: SolveResult, w: Vector, beta: float) -> SolveResult:
        """Return the result with evidence for all features in the details: its program, or multipliers without one."""
        if self.kept.all():
            params = {"beta": beta, "lam": self.lam, **self.space.moment_options}
            self.details = evidence("s-mpm", params, solved.supported)
            return solved
        at = self._multipliers(solved)
        self.details = multiplier_details(at)
        found = inner_residuals(self.space.moments, w, beta, self.lam, at)
        return replace(solved, certificate=None if solved.certificate is None else extend(solved.certificate, found))

    def _solve(self, places: Indices, beta: float, *, final: bool) -> tuple[SolveResult, Vector | None]:
        """Return the result of some features and their weights (p,), None where the solver has no point."""
        self.kept = np.isin(np.arange(len(self.kept)), places)
        if self.session is None or len(self.session.model.w) < len(places):
            model = build_s_mpm(self.space.work.columns(places), lam=self.lam, **self.space.moment_options)
            self.session = self.recorder.run.open(model)
            self.recorder.renew(self.session)
        session = self.session
        self.recorder.check_clock()
        session.model.kappa.set_value(kappa(beta))
        session.update(session.model.objective)
        solved = session.solve(load=False, evidence=final)
        if not final and solved.point is not None and not solved.status.solved:
            solved = session.completed(solved, solved.point.x)
        if not solved.status.solved or solved.point is None:
            return solved, None
        w = np.zeros(len(self.kept))
        w[places] = solved.point.x[session.columns(session.model.w)]
        return solved, w

    def _excess(self, answer: tuple[SolveResult, Vector | None]) -> Vector:
        """Return the excess (p,) of the multipliers of an answer over the penalty weight."""
        if answer[1] is None or self.kept.all():
            return np.zeros(len(self.kept))
        q, rounding = self._multipliers(answer[0]).prices(self.space.moments)
        return np.abs(q) - self.lam - rounding

    def _multipliers(self, solved: SolveResult) -> Multipliers:
        """Return the multipliers of the last solve."""
        session, places = self.session, np.flatnonzero(self.kept)
        assert session is not None
        assert solved.point is not None
        return multipliers_of(session.model, session.program, solved.point, self.space.moments, places)


def inner_residuals(moments: Moments, w: Vector, beta: float, lam: float, at: Multipliers) -> dict[str, float]:
    """Return the residuals of the optimality of w (p,) by multipliers, for all features.

    ``dual`` is the largest relative excess over the penalty weight, ``first order`` the gap between the bound
    ``||u_1||``, plus what the excess costs at w, and the ratio of w.
    """
    at = Multipliers(1.0, at.u1, at.u2 * min(1.0, kappa(beta) / max(float(np.linalg.norm(at.u2)), 1e-300)))
    q, rounding = at.prices(moments)
    excess = np.maximum(np.abs(q) - lam, 0.0)
    bound, spread = float(np.linalg.norm(at.u1)), float(np.linalg.norm(moments.factor1 @ w))
    dual = float((excess / (lam + rounding / SLACK)).max())
    if spread <= TOLERANCE:  # w = 0: the optimum is 0
        return {"dual": dual, "first order": bound}
    here = penalised_ratio(moments, w, beta, lam)
    return {"dual": dual, "first order": abs(bound + float(excess @ np.abs(w)) / spread - here) / (1.0 + abs(here))}
