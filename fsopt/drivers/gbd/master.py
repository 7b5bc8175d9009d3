"""The master problem of generalized Benders, a mixed-integer linear program (MILP) in its solver.

Its rows are those of the state between two iterations: cuts, bounds, and the selections that were tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.points import relative_gap, row_violations
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.models.gbd.fsp_master import add_cut, cut_coefficients
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Vector


@dataclass(frozen=True)
class TriedSelection:
    """A selection sigma (p,) that was tried, its hyperplane (w is 0 elsewhere), and its primal value."""

    sigma: Vector
    w: Vector
    b: float
    value: float


@dataclass
class State:
    """The state of the loop: the place of the next cut, the incumbent, the lower bound, the multipliers of the cuts.

    ``tried`` are the selections whose cut is known, as bytes; the incumbent has an infinite value before the first.
    """

    sigma: Vector
    best: TriedSelection
    lower: float
    alphas: list[Vector] = field(default_factory=list)
    tried: set[bytes] = field(default_factory=set)

    def keep(self, found: TriedSelection) -> None:
        """Take over a selection that was tried."""
        self.tried.add(found.sigma.tobytes())
        if found.value < self.best.value:
            self.best = found

    @property
    def gap(self) -> float:
        """The optimality gap relative to ``max(1, upper)``, infinite before the first incumbent."""
        return relative_gap(self.best.value, self.lower) if math.isfinite(self.best.value) else math.inf

    def stop(self, tolerance: float, max_cuts: int) -> str:
        """Return the stopping criterion that holds; empty where none does."""
        upper = self.best.value
        if self.lower >= upper - tolerance * max(1.0, abs(upper)):
            return "optimal"
        if self.sigma.tobytes() in self.tried:
            return "repeated"
        return "iteration-limit" if len(self.alphas) >= max_cuts and math.isfinite(upper) else ""

    def iterate(self, stop: str = "", *, within: bool = False) -> Iterate:
        """Return the answer so far, with its record at the end of an iteration, and no point without an incumbent."""
        best, found = self.best, math.isfinite(self.best.value)
        record = {"objective": best.value, "bound": self.lower, "gap": self.gap, "cuts": len(self.alphas)}
        point = {"sigma": best.sigma, "w": best.w, "b": best.b, "alphas": self.alphas} if found else {}
        shown = None if within else record
        return Iterate(best.value, point, self.lower, record=shown, stop=stop, within=within or not found)


NONE_FEASIBLE = "no selection of features keeps all limits"


class Master:
    """A master problem in its solver.

    Its rules shape the cuts, its penalties (k,) are lambda of (RMP-lambda), zeros in (RMP-M), and ``lowest`` is the
    lower bound without any cut. ParameterError for a master of other features, or one that minimises anything but theta
    and penalties of sigma.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None) -> None:
        self.data = data
        self.model = model
        self.rules: SelectionConstraints = model.rules
        self.session = Session(model, solver)
        self.program = self.session.program
        self.columns = self.session.columns(model.sigma)
        check_objective(data, model, self.program, self.columns)
        self.penalties: Vector = self.program.c[self.columns].copy()
        self.lowest = float(np.minimum(self.penalties, 0.0).sum())

    def feasible(self, sigma: Vector) -> bool:
        """Return whether a selection satisfies the constraints; False too where they have variables of their own."""
        program, columns = self.program, self.columns
        if program.n != len(columns) + 1 or not np.isin(sigma, (0.0, 1.0)).all():
            return False
        x = np.full(program.n, np.finfo(float).max)  # theta as large as any cut asks for
        x[columns] = sigma
        inside = (program.lb <= x) & (x <= program.ub)
        with np.errstate(over="ignore"):
            return bool(inside[columns].all() and row_violations(program, x)[0].max(initial=0.0) <= 1e-9)

    def add(self, alpha: Vector) -> None:
        """Add the cut of multipliers."""
        self.session.add(add_cut(self.model, self.data, alpha))

    def solve(self, recorder: Recorder, mip_gap: float) -> tuple[float, Vector, bool]:
        """Return the bound that was proved, the selection, and whether the time sufficed; InfeasibleError for none."""
        try:
            result = recorder.solve(self.session, "the master problem", load=False, mip_gap=mip_gap, certify=False)
        except NoPoint as error:
            raise InfeasibleError(NONE_FEASIBLE, "drop one of the limits") from error
        assert result.point is not None
        bound = -np.inf if result.bound is None else result.bound
        sigma = np.round(np.clip(result.point.x[self.columns], 0.0, 1.0))
        return bound, sigma, result.stop != "time-limit"


class ClosedForm(Master):
    r"""A master problem without constraints on the selection, of which the last cut is looked at.

    .. math:: \min_\sigma\ \gamma - \sum_j (g_j - \lambda_j)\,\sigma_j

    takes the features with :math:`g_j > \lambda_j`, the slopes of the cut being :math:`g_j = \tfrac12 q_j^2` (Aytug,
    (15)). Its bound is the largest of those of single cuts.
    """

    def __init__(self, data: Dataset, model: pyo.ConcreteModel, solver: str | None) -> None:
        super().__init__(data, model, solver)
        program = self.program
        free = bool(np.all(program.lb[self.columns] == 0.0) and np.all(program.ub[self.columns] == 1.0))
        if program.A.shape[0] or program.n != self.rules.p + 1 or not free:
            raise ParameterError(
                "the closed form for sigma is of penalty weights alone: this master has constraints on the selection",
                "use 'gbd-lambda' without them, or leave out the preset",
            )
        self.gains, self.bound = np.zeros(self.rules.p), self.lowest

    def add(self, alpha: Vector) -> None:
        """Take the last cut, and the largest lower bound of all."""
        constant, slopes = cut_coefficients(self.data, alpha, self.rules)
        self.gains = slopes - self.penalties
        self.bound = max(self.bound, constant - float(np.maximum(self.gains, 0.0).sum()))

    def solve(self, recorder: Recorder, mip_gap: float) -> tuple[float, Vector, bool]:
        """Return the bound, and the selection of the last cut, which needs no time."""
        return self.bound, (self.gains > 0.0).astype(float), True


def check_objective(data: Dataset, model: pyo.ConcreteModel, program: Program, columns: Indices) -> None:
    """Raise ParameterError for a master of other features, or that minimises more than theta and penalties of sigma."""
    theta, features = program.column.get(id(model.theta)), len(model.rules.groups.of)
    if features != data.p or len(columns) != len(model.rules.groups):
        raise ParameterError(
            f"the master given to 'gbd' has {features} features, the data {data.p}",
            "build both models from the data set that the driver is given",
        )
    others = program.c.copy()
    others[columns] = 0.0
    if theta is not None:
        others[theta] -= 1.0
    linear = program.P.nnz == 0 and program.sign == 1.0 and program.c0 == 0.0
    if theta is None or not linear or others.any():
        raise ParameterError(
            "the master does not minimise 'theta' plus penalty weights of 'sigma'", "give it that objective"
        )
