"""The subproblem of generalized Benders: the support vector machine on a selection, in its solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import DriverResult
from fsopt.common.clock import uninterrupted
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, loss_weights, midpoint_intercept, project_multipliers
from fsopt.drivers.agreement import check_svm
from fsopt.drivers.gbd.master import TriedSelection
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.solvers.base import Session
from fsopt.typing import Vector

Training: TypeAlias = Callable[..., DriverResult]
"""A support vector machine of a data set, with ``c=`` and ``run=``; its point has ``w`` and multipliers ``alpha``."""


class Subproblem:
    r"""The support vector machine on a selection.

    At a fractional sigma it is :math:`\max_\alpha e'\alpha - \frac12\sum_j \sigma_j q_j(\alpha)^2`, the convex
    extension of F: ``fsp-sub`` has :math:`w_j = \sigma_j u_j` and is given the roots of sigma. In its place a function
    may train the machine of large data, on the selected features, each times its root.
    """

    def __init__(
        self,
        data: Dataset,
        model: pyo.ConcreteModel | Training,
        c: float,
        run: Run,
        rules: SelectionConstraints,
    ) -> None:
        self.data = data
        self.rules = rules
        self.model = model
        self.c, self.caps = c, loss_weights(c, data.weights)
        self.sessions: list[Session] = []
        if isinstance(model, pyo.ConcreteModel):
            self.sessions = [run.open(model)]
            check_svm(self.sessions[0], data, c, self.rules.bounds)
        elif self.rules.bounds:
            raise ParameterError("the master of 'gbd' bounds weights, a function trains without", "give it 'fsp-sub'")

    def solve(self, sigma: Vector, recorder: Recorder) -> tuple[Vector, Vector]:
        """Return the multipliers (n,) at sigma, made exactly dual feasible, and the weights (p,)."""
        sigma = self.rules.of_features(sigma)
        alpha, w = self._by_model(sigma, recorder) if self.sessions else self._by_training(sigma, recorder)
        # A cut holds for every dual feasible alpha, and for no other: the solver's tolerance is projected away.
        return project_multipliers(alpha, self.data.y, self.caps), w

    def _by_model(self, sigma: Vector, recorder: Recorder) -> tuple[Vector, Vector]:
        session, m = self.sessions[0], self.sessions[0].model
        store(m.sigma, np.sqrt(sigma))
        session.update(*(m.component(rows) for rows in ("selection", "above", "below") if m.component(rows)))
        # Read from the point: the values and dual variables of all constraints are not loaded for each of the cuts.
        point, y = recorder.multipliers(session, "the subproblem", certify=False)
        return y[session.rows(m.margin)], point.x[session.columns(m.w)]

    def _by_training(self, sigma: Vector, recorder: Recorder) -> tuple[Vector, Vector]:
        used, w = np.flatnonzero(sigma), np.zeros(self.data.p)
        if not len(used):
            # Without features the loss depends on the intercept alone: all multipliers of the smaller class are caps.
            return np.full(self.data.n, self.caps), w
        root = np.sqrt(sigma[used])
        part = self.data.columns(used)
        result = self.model(part.with_X(part.X * root), c=self.c, run=recorder.inner_run())
        recorder.include(result)
        w[used] = root * uninterrupted(result).point["w"]
        return result.point["alpha"], w

    def evaluate(self, sigma: Vector, w: Vector, penalties: Vector) -> TriedSelection:
        """Return a selection with its weights; the value is the primal one, with the best intercept."""
        w = self.rules.bounds.clipped(np.where(self.rules.of_features(sigma) > 0.5, w, 0.0))
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y, self.data.weights)
        loss = self.c * hinge(scores + b, self.data.y, self.data.weights)
        return TriedSelection(sigma, w, b, 0.5 * float(w @ w) + loss + float(penalties @ sigma))


def cut_residuals(data: Dataset, alphas: list[Vector], c: float) -> dict[str, float]:
    """Return how far multipliers are from dual feasible ones: the cut of such an alpha holds for every selection."""
    A = np.array(alphas).reshape(-1, data.n)
    outside = max(float(np.maximum(-A, A - loss_weights(c, data.weights)).max(initial=0.0)), 0.0) / max(1.0, c)
    return {"alpha bounds": outside, "alpha balance": float(np.abs(A @ data.y).max(initial=0.0)) / max(1.0, c)}
