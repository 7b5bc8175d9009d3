"""The settings of generalized Benders decomposition, checked before anything is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector, whole
from fsopt.models.gbd.feature_lists import Groups
from fsopt.models.sla.fsv import build_fsv_step
from fsopt.typing import Vector

STARTS = ("all", "zero", "concave")
STABILISATIONS = ("in-out", "none")
MASTERS = ("milp", "search", "closed-form")
MASTER_STARTS = ("none", "incumbent")
LAMBDA, ALPHA = 0.05, 5.0
"""Of the concave start, both as in Mangasarian's experiments."""
ROUNDING = 1e-9
"""Share of the largest weight below which one is a rounded 0."""


@dataclass(frozen=True)
class GbdSettings:
    """How the cuts of GBD are made, and when the loop stops.

    Attributes
    ----------
    start : selection of the first cut. ``all`` features, which starts the lower bound at F(e); ``zero``, the paper's
        feasible point, or where the constraints forbid it the first master's; ``concave``,
        :func:`concave_selection`; or sigma (p,) in [0, 1].
    root_cuts : >= 0, cuts spent on the relaxation before the loop, of which one is kept,
        :func:`fsopt.drivers.gbd.driver.root_cut`.
    stabilisation : ``in-out`` makes a second cut in each iteration, a tenth of the way to the selection that takes
        the same share of all features: there unselected features count, which F(sigma) itself leaves free. ``none``.
    master : over all cuts by a solver, ``milp``, or by :class:`fsopt.drivers.gbd.searched.SearchedMaster`,
        ``search``; or ``closed-form``, :class:`fsopt.drivers.gbd.master.ClosedForm`, over the last one.
    master_start : of the branch and bound of each master: ``none``, or the ``incumbent`` of the loop, as the paper's
        outlook suggests ("the previous solution as a starting seed"), where its solver takes a start: highs, scip and
        gurobi.
    master_solver : of the master, an MILP; None for the preferred one.
    tolerance : the loop stops at ``upper - lower <= tolerance * max(1, upper)``.
    max_cuts : at least 2; the paper stops after 250.
    patience : >= 1, iterations without fewer validation errors after which the loop stops; None for no such criterion.
    """

    start: str | ArrayLike = "all"
    root_cuts: int = 0
    stabilisation: str = "in-out"
    master: str = "milp"
    master_start: str = "none"
    master_solver: str | None = None
    tolerance: float = 1e-6
    max_cuts: int = 250
    patience: int | None = None

    def check(self, *, validated: bool) -> None:
        """Raise ParameterError for a setting out of range, or a patience without validation samples."""
        number("gbd", "tolerance", self.tolerance)
        whole("gbd", "max_cuts", self.max_cuts)
        whole("gbd", "root_cuts", self.root_cuts)
        word("'stabilisation' of 'gbd'", self.stabilisation, STABILISATIONS)
        word("'master' of 'gbd'", self.master, MASTERS)
        word("'master_start' of 'gbd'", self.master_start, MASTER_STARTS)
        if self.patience is not None:
            whole("gbd", "patience", self.patience)
            if not validated:
                hint = "give samples to validate on, or neither"
                raise ParameterError("'gbd' has 'patience' but no 'validation'", hint)

    def first(self, data: Dataset, groups: Groups) -> Vector:
        """Return the sigma (p,) of the first cut, for p groups of the features."""
        if not isinstance(self.start, str):
            return vector("gbd", "start", self.start, len(groups), low=0.0, high=1.0)
        if self.start not in STARTS:
            raise ParameterError(f"'start' of 'gbd' is {self.start!r}", f"one of {', '.join(STARTS)}, or sigma")
        if self.start == "concave":
            return np.minimum(groups.sums(concave_selection(data)), 1.0)
        return np.full(len(groups), float(self.start == "all"))


def concave_selection(data: Dataset) -> Vector:
    """Return the features (p,), 1 and 0, that Mangasarian's concave minimisation (21) selects, without weights.

    The paper's outlook: "some of the concave minimization ideas can be used here to select the subspace". It is SLA
    from the start 0, at lambda = .05 and alpha = 5, by the preferred solver of linear programs.
    """
    from fsopt.drivers.sla import ConcaveTerms, sla

    model = build_fsv_step(Dataset(data.X, data.y), lam=LAMBDA, alpha=ALPHA)
    w = sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, weight=LAMBDA)).point["w"]
    return np.where(np.abs(w) > ROUNDING * np.abs(w).max(), 1.0, 0.0)


DEFAULT_SETTINGS = GbdSettings()
PRINTED_SETTINGS = GbdSettings(start="zero", stabilisation="none")
"""The loop of Aytug, Table 1, as printed."""
