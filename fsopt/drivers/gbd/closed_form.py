r"""The master of GBD-lambda by the closed form of Aytug: the last cut alone decides the selection, without a solver.

.. math:: \min_{\sigma \in \{0,1\}^p}\ e'\alpha - \sum_j (\tfrac12 q_j(\alpha)^2 - \lambda_j)\,\sigma_j
          \qquad\Longrightarrow\qquad \sigma_j = 1 \iff \tfrac12 q_j(\alpha)^2 > \lambda_j

The minimum is a lower bound on :math:`F(\sigma) + \lambda'\sigma`, as the cut is. A master of several cuts is an
integer program, which this rule does not solve: the loop ends where a selection comes back, with a gap as a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.drivers.gbd.master import Master
from fsopt.drivers.gbd.state import State
from fsopt.drivers.recorder import Recorder
from fsopt.errors import ParameterError
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.typing import Vector


class ClosedForm(Master):
    """A master problem without constraints on the selection, of which the last cut is looked at.

    Raises
    ------
    ParameterError : a master with constraints on the selection or without penalty weights, or one that no closed form
        solves.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None, **keywords: Any) -> None:
        super().__init__(data, model, solver, **keywords)
        program = self.program
        free = bool(np.all(program.lb[self.columns] == 0.0) and np.all(program.ub[self.columns] == 1.0))
        if program.A.shape[0] or program.n != data.p + 1 or not free:
            raise ParameterError(
                "the closed form for sigma is of penalty weights alone: this master has constraints on the selection",
                "use 'gbd-lambda' without them, or master='milp'",
            )
        self.bound, self.gains = -np.inf, np.zeros(data.p)

    def add(self, alphas: list[Vector]) -> None:
        """Take the last cut, and the largest lower bound of all."""
        for alpha in alphas:
            constant, slopes = cut_coefficients(self.data, alpha)
            self.gains = slopes - self.penalties
            self.bound = max(self.bound, constant - float(np.maximum(self.gains, 0.0).sum()))
        self.cuts += len(alphas)

    def first(self, recorder: Recorder) -> Vector:
        """Return a feasible selection, that of the last cut."""
        return (self.gains > 0.0).astype(float)

    def step(self, state: State, tolerance: float, recorder: Recorder) -> bool:
        """Raise the lower bound and take the selection of the last cut, which needs no time."""
        state.lower = max(state.lower, self.bound)
        state.sigma, state.feasible = self.first(recorder), True
        return True

    def resume(self, state: State, held: Mapping[str, Any], recorder: Recorder) -> None:
        """Add the cuts of a state, and set its lower bound and selection by them."""
        self.add(state.alphas)
        self.step(state, 0.0, recorder)
