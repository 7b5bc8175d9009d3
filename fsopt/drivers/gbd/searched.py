r"""The master problem of generalized Benders without a solver: a search for a selection below a level.

.. math:: \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big) < \text{level}, \qquad
          \text{lower} < \text{level} < \text{upper}, \qquad R\sigma \le r, \quad \sigma \in \{0,1\}^p

A selection that is found is the next one to try; where there is none, the level is a lower bound. Generalized Benders
converges with any such selection below the incumbent (Geoffrion's feasible master): the least one is not needed, and
the relaxation over which an MILP solver proves that it is the least is weak where M is small or C is large.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.gbd.cut_search import CutSearch
from fsopt.drivers.gbd.master import Master
from fsopt.drivers.gbd.state import State
from fsopt.drivers.recorder import Recorder
from fsopt.errors import ParameterError
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.models.gbd.selection_constraints import unit_rows
from fsopt.typing import Indices, Matrix, Vector

SEARCHES = ((0.5, 5_000), (0.9, 20_000), (0.99, 80_000), (1.0, 320_000))
"""Place of the level between the bounds, and the nodes after which a search gives way to one at a higher level."""


class SearchedMaster(Master):
    """A master problem with linear constraints on the selection alone, which is searched.

    Raises
    ------
    ParameterError : a master with variables of its own, or with constraints that are not linear.

    Attributes
    ----------
    constants, gains : (s,) and (s, p) of the cuts, the first one that of alpha = 0.
    allowed : R and r of the constraints.
    place : of the search in ``SEARCHES`` with which a step begins, where the last one ended or one before.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None, **keywords: Any) -> None:
        super().__init__(data, model, solver, **keywords)
        rows, columns = self.program.A, self.columns
        alone = self.program.n == len(columns) + 1 and rows.nnz == rows[:, columns].nnz
        if self.session.problem_class != "MILP" or not alone:
            raise ParameterError(
                "the search of the master needs linear constraints on the selection alone: this master has others",
                "use master='milp'",
            )
        self.allowed = inequalities(self.program, columns)
        self.constants, self.gains = np.zeros(1), -self.penalties[None]
        self.place = 0

    def add(self, alphas: list[Vector]) -> None:
        """Add the cuts of multipliers."""
        super().add(alphas)
        for alpha in alphas:
            constant, slopes = cut_coefficients(self.data, alpha, self.rules)
            self.constants = np.append(self.constants, constant)
            self.gains = np.vstack([self.gains, slopes - self.penalties])

    def step(self, state: State, tolerance: float, recorder: Recorder) -> bool:
        """Raise the lower bound, take the selection to try next, and return whether the searches sufficed."""
        if state.best is None:
            return super().step(state, tolerance, recorder)
        least = 0.5 * tolerance * max(1.0, abs(state.upper))
        search = CutSearch(self.constants, self.gains, *self.allowed)
        for place in range(self.place, len(SEARCHES)):
            share, nodes = SEARCHES[place]
            while not state.closed(tolerance):
                level = min(state.lower + share * (state.upper - state.lower), state.upper - least)
                found = search.below(level, max_nodes=nodes)
                self.proved = max(self.proved, found.bound)  # by this search: a checkpoint's bound only leads the way
                state.lower = max(state.lower, self.proved)
                if found.selection is not None:
                    state.sigma = found.selection
                    self.place = place - int(place > 0 and found.nodes < SEARCHES[place - 1][1])
                    return True
                if not found.complete:
                    break
        state.exhausted = not state.closed(tolerance)
        return not state.exhausted


def inequalities(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return R and r of ``R sigma <= r``: the rows of a master in sigma alone, and the features that are fixed.

    Rows with other variables are left out: without them more selections are allowed.
    """
    p = len(columns)
    others = np.setdiff1d(np.arange(program.n), columns)
    alone = np.diff(sp.csr_matrix(program.A[:, others]).indptr) == 0
    A = program.A[:, columns].toarray()
    upper, lower = alone & np.isfinite(program.hi), alone & np.isfinite(program.lo)
    lb, ub = program.lb[columns], program.ub[columns]
    never, always = np.flatnonzero(ub < 1.0), np.flatnonzero(lb > 0.0)
    left = np.vstack([A[upper], -A[lower], unit_rows(never, p), -unit_rows(always, p)])
    right = np.concatenate([program.hi[upper], -program.lo[lower], ub[ub < 1.0], -lb[lb > 0.0]])
    return left, right
