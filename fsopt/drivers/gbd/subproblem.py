"""The subproblem of generalized Benders: the support vector machine on a selection, in its solver."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.agreement import check_svm
from fsopt.drivers.gbd.state import Iterate
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector


class Subproblem:
    r"""The support vector machine on a selection.

    At a fractional sigma it is :math:`\max_\alpha e'\alpha - \frac12\sum_j \sigma_j q_j(\alpha)^2`, the convex
    extension of F. The model has :math:`w_j = \sigma_j u_j`, so that it is given the roots of sigma.

    Attributes
    ----------
    late : whether the time limit ended a solve before its tolerance.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, c: float, run: Run) -> None:
        self.data = data
        self.model = model
        self.c, self.caps = c, loss_weights(c, data.weights)
        self.late = False
        self.session = run.open(model)
        check_svm("gbd", self.session, data, c)
        self.margins, self.weights = self.session.rows(model.margin), self.session.columns(model.w)

    def solve(self, sigma: Vector, recorder: Recorder) -> tuple[Vector, Vector]:
        """Return the multipliers (n,) at sigma, made exactly dual feasible, and the weights (p,)."""
        store(self.model.sigma, np.sqrt(sigma))
        self.session.update(self.model.selection)
        # Read from the point: the values and dual variables of all constraints are not loaded for each of the cuts.
        result = recorder.solve(self.session, "the subproblem", load=False)
        self.late |= result.stop == "time-limit"
        point = result.point
        if point is None or point.y is None:
            raise no_multipliers(self.session.spec.name, self.session.problem_class)
        # A cut holds for every dual feasible alpha, and for no other: the solver's tolerance is projected away.
        return project_multipliers(point.y[self.margins], self.data.y, self.caps), point.x[self.weights]

    def iterate(self, sigma: Vector, w: Vector, penalties: Vector, validation: Dataset | None) -> Iterate:
        """Return the iterate of a selection and its weights; the value is the primal one, with the best intercept."""
        w = np.where(sigma > 0.5, w, 0.0)
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y, self.data.weights)
        value = (
            0.5 * float(w @ w) + self.c * hinge(scores + b, self.data.y, self.data.weights) + float(penalties @ sigma)
        )
        error = 0.0 if validation is None else float(np.mean(validation.y * (validation.X @ w + b) <= 0))
        return Iterate(sigma, w, b, value, error)

    def fractional_value(self, sigma: Vector, w: Vector) -> float:
        """Return the primal value at a fractional sigma, an upper bound on the convex extension of F there."""
        used = sigma > 0
        scores = self.data.X[:, used] @ w[used]
        b = midpoint_intercept(scores, self.data.y, self.data.weights)
        return 0.5 * float(np.sum(w[used] ** 2 / sigma[used])) + self.c * hinge(
            scores + b, self.data.y, self.data.weights
        )
