"""Steps of column and constraint generation: restricted master problems in a trust region around the incumbent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.matrices import divided
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge
from fsopt.drivers.loop import Iterate
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.drivers.working_set import add_violated
from fsopt.models.blocks import number, whole
from fsopt.models.registry import build
from fsopt.typing import Mask, Vector


@dataclass(frozen=True)
class GenerationSettings:
    """Sizes of the restricted master problem, and stopping criteria.

    Attributes
    ----------
    rows : number of samples in the restricted master problem, at least 2; None is 1000 and 10 for each of its features.
    columns : >= 1, number of features with a cost in the first restricted master problem, and largest number added in
        an iteration.
    tolerance : the loop stops at ``f - bound <= tolerance * max(1, f)``.
    max_iterations : further stopping criterion.
    seed : of the random sample that gives the first hyperplane.
    """

    rows: int | None = None
    columns: int = 200
    tolerance: float = 1e-9
    max_iterations: int = 500
    seed: int = 0

    def check(self) -> None:
        """Raise ParameterError for a setting out of range."""
        if self.rows is not None:
            whole("column_generation", "rows", self.rows, low=2, high=10**9)
        whole("column_generation", "columns", self.columns, low=1, high=10**9)
        number("column_generation", "tolerance", self.tolerance)


DEFAULT_SETTINGS = GenerationSettings()


CROSSED = 1e-9
"""A margin beyond 1 by more than this contradicts the linear piece of the hinge that was assumed."""
ROUNDING = 1e-14
"""Improvements below this, relative, are rounding."""
GOOD = 0.75
"""Share of the predicted decrease with which a step is a good one: the assumed pieces were right almost everywhere."""
SMALLEST_RADIUS = 1e-5
"""Smallest radius, relative to the incumbent: below it only more samples in the restricted problem help."""
EDGE = 1e-6
"""A step that is shorter than the radius by less than this, relative, ends on the boundary of the region."""


@dataclass
class TrustRegion:
    """The incumbent, the best bound, and the features and samples of the next restricted master problem.

    Samples outside the restricted problem are taken on the linear piece of their hinge at the incumbent, which bounds
    f from below, exactly at the incumbent. All values are in the program's own units: ``unit`` is the weight that is
    1 there.

    Attributes
    ----------
    w, b, margins, value : the incumbent, its margins (n,) and its objective value.
    alpha, bound : (n,) dual feasible multipliers and the largest lower bound.
    columns : (p,) features of the restricted problem.
    crossed : (n,) samples that a step took across the kink of their hinge.
    radius : half the edge of the box around (w, b) in which the next step stays.
    iterations : number of records.
    sizes : number of samples in the last restricted problem, and of those that crossed in it.
    """

    program: L1Hinge
    unit: float
    settings: GenerationSettings
    recorder: Recorder
    run: Run
    w: Vector = field(init=False)
    b: float = 0.0
    margins: Vector = field(init=False)
    value: float = np.inf
    alpha: Vector = field(init=False)
    bound: float = 0.0
    columns: Mask = field(init=False)
    crossed: Mask = field(init=False)
    radius: float = 1.0
    iterations: int = 0
    sizes: tuple[int, int] = (0, 0)

    def begin(self, w: Vector, b: float) -> None:
        """Start from a hyperplane: its features, those without a cost, and those of the steepest descent at w = 0."""
        program = self.program
        self.alpha, self.crossed = np.zeros(len(program.y)), np.zeros(len(program.y), dtype=bool)
        self._move(w, b)
        self.columns = program.free | (w != 0)
        if not add_violated(self.columns, program.bound(program.d)[1], self.settings.columns):
            self.columns[0] = True
        self._reset_radius()
        self.sizes = (len(program.y), 0)

    @property
    def closed(self) -> bool:
        """Whether the optimality gap is within the tolerance."""
        return self.gap <= self.settings.tolerance

    @property
    def gap(self) -> float:
        """Optimality gap, relative in the units of the weights given."""
        return relative_gap(self.unit * self.value, self.unit * self.bound)

    @property
    def sample_size(self) -> int:
        """The number of samples in the restricted problem."""
        rows = self.settings.rows
        return 1000 + 10 * int(self.columns.sum()) if rows is None else rows

    def _reset_radius(self) -> None:
        """Set the radius to half the statistical error of a hyperplane of a sample, sqrt(features / samples) of w."""
        share = float(self.columns.sum()) / self.sample_size
        self.radius = 0.5 * max(float(np.abs(self.w).max()), 0.1) * share**0.5

    def _move(self, w: Vector, b: float) -> bool:
        """Take over weights, with their best intercept, if they improve the incumbent."""
        program = self.program
        margins = program.margins(w, b)
        best = program.best_intercept(margins, b)
        margins += (best - b) * program.y
        value = program.value(w, margins)
        if value >= self.value - ROUNDING * max(1.0 / self.unit, abs(value)):
            return False
        self.w, self.b = w, best
        self.margins, self.value = margins, value
        return True

    def sample(self, random: np.random.Generator) -> bool:
        """Move to the hyperplane of a random sample of each class, whose weights add to those of the whole class.

        Returns whether there is one, with fewer samples than there are.
        """
        program, counted = self.program, self.program.d > 0
        if self.sample_size >= counted.sum():
            return False
        costs = np.zeros_like(program.d)
        for sign in (1.0, -1.0):
            members = np.flatnonzero(counted & (program.y == sign))
            size = max(1, round(self.sample_size * len(members) / counted.sum()))
            drawn = random.choice(members, size, replace=False)
            costs[drawn] = program.d[drawn] * (program.d[members].sum() / program.d[drawn].sum())
        self._move(*self._solve(costs > 0, costs, np.zeros_like(costs), None)[:2])
        self._reset_radius()
        self.sizes = int((costs > 0).sum()), 0
        return True

    def step(self) -> bool:
        """Solve one restricted problem and take over its bound, features and hyperplane; return whether any was new.

        The decrease of f is compared with that of the model, as in every trust-region method.
        """
        program = self.program
        kept = self._samples()
        # A sample that is left out is linear: its multiplier is d_i where its hinge is positive, else 0. Where none is
        # left out the restricted problem is exact, and needs no box.
        left = np.where(kept, 0.0, program.d)
        fixed = np.where(self.margins < 1, left, 0.0)
        radius = self.radius if left.any() else None
        w, b, alpha = self._solve(kept, program.d, fixed, radius)
        margins = program.margins(w, b)
        # The model falls below f by d_i times the distance by which a margin is beyond the kink of its linear piece.
        excess = np.where(left > 0, np.where(fixed > 0, margins - 1, 1 - margins), 0.0)
        crossed = excess > CROSSED
        model = program.value(w, margins) - float(left @ np.maximum(excess, 0.0))
        added = add_violated(self.columns, self._raise_bound(alpha), self.settings.columns)
        before, length = self.value, max(float(np.abs(w - self.w).max()), abs(b - self.b))
        moved = self._move(w, b)
        at_edge = radius is not None and length >= (1 - EDGE) * radius
        good = moved and before - self.value >= GOOD * (before - model)
        if moved:
            # The model held up to the boundary: the next minimum may lie beyond it.
            self.radius *= 2.0 if at_edge and good else 1.0
        elif crossed.any():
            # The model is wrong within the length of the step. Below the smallest radius a smaller box only delays:
            # the samples that crossed enter the restricted problem anyway.
            size = max(1.0, float(np.abs(self.w).max()), abs(self.b))
            self.radius = max(min(self.radius, length) / 3, SMALLEST_RADIUS * size)
        elif at_edge:
            # The model is exact where the step ended, and f did not fall: the box is too small to leave rounding.
            self.radius *= 4.0
        # After a good step the pieces at the new incumbent are trusted. After a bad one every sample that has crossed
        # since the last good step stays in the restricted problem, so that the same step cannot come back.
        self.crossed = self._largest_errors(excess) if good else self.crossed | self._largest_errors(excess)
        self.sizes = int(kept.sum()), int(crossed.sum())
        return moved or added or at_edge or bool(crossed.any())

    def _largest_errors(self, beyond: Vector) -> Mask:
        """Return the samples that crossed, at most as many as the restricted problem has: those of largest error."""
        mask = beyond > CROSSED
        if mask.sum() > self.sample_size:
            error = self.program.d * beyond
            mask = error > np.partition(error, -self.sample_size)[-self.sample_size]
        return mask

    def _samples(self) -> Mask:
        """Return the samples of the next restricted problem: those that crossed, and the nearest to margin 1."""
        program = self.program
        near = np.where(program.d > 0, np.abs(self.margins - 1.0) / program.reach, np.inf)
        near[self.crossed | (near <= CROSSED)] = -1.0
        count = self.sample_size + int(np.sum(near < 0))
        kept = np.ones(len(near), dtype=bool)
        if count < len(near):
            kept[np.argpartition(near, count)[count:]] = False
        for sign in (1.0, -1.0):
            members = np.flatnonzero(program.y == sign)
            kept[members[np.argmin(near[members])]] = True
        return kept

    def take(self, w: Vector, b: float, alpha: Vector) -> None:
        """Take over a hyperplane and the bound of multipliers (n,) where they are better, with the features it has."""
        self._move(w, b)
        self._raise_bound(alpha)
        self.columns = self.program.free | (self.w != 0)
        self._reset_radius()

    def _raise_bound(self, alpha: Vector) -> Vector:
        """Take over the bound of multipliers if it is the largest so far; return the excess (p,) of the features."""
        alpha, excess, bound = self.program.bound(alpha)
        if bound > self.bound:
            self.alpha, self.bound = alpha, bound
        return excess

    def _solve(self, kept: Mask, costs: Vector, fixed: Vector, radius: float | None) -> tuple[Vector, float, Vector]:
        """Return hyperplane and multipliers (n,) of a restricted problem; those of the other samples are fixed."""
        program, columns = self.program, np.flatnonzero(self.columns)
        y = program.y[kept]
        part = Dataset(divided(program.Z[np.ix_(np.flatnonzero(kept), columns)], np.ones(len(columns)), y), y)
        box = {} if radius is None else {"radius": radius, "center": np.append(self.w[columns], self.b)}
        offset = np.append((fixed @ program.Z)[columns], fixed @ program.y)
        weights = {"row_costs": costs[kept], "column_costs": program.c[columns]}
        model = build("l1-hinge-part", part, offset=offset, **weights, **box)
        session = self.run.open(model)
        self.recorder.renew(session)
        point, duals = self.recorder.multipliers(session, "a restricted program", checked=False)
        # The restricted problem is posed as its dual, a maximisation with a constraint for each feature: in the
        # minimisation form its multipliers are minus the weights.
        w, alpha = np.zeros(len(program.c)), fixed.copy()
        w[columns] = -duals[session.rows(model.columns)]
        alpha[kept] = point.x[session.columns(model.alpha)]
        return w, -float(duals[session.rows(model.balance)][0]), alpha

    def iterate(self, stop: str = "", *, record: bool = False, within: bool = False) -> Iterate:
        """Return the incumbent as an iterate, with values in the units of the weights given."""
        value, bound = self.unit * self.value, self.unit * self.bound
        point = {"w": self.w, "b": self.b, "alpha": self.alpha}
        stop = "optimal" if self.closed else stop
        if not record:
            return Iterate(value, point, bound, stop=stop, within=within)
        self.iterations += 1
        rows, crossed = self.sizes
        sizes = {"rows": rows, "columns": int(self.columns.sum()), "crossed": crossed}
        fields = {"objective": value, "bound": bound, **sizes, "radius": self.radius}
        return Iterate(value, point, bound, record=fields, stop=stop)
