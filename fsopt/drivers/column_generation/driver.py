"""Column and constraint generation: exact l1-hinge programs from small restricted ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge, certify_l1_hinge
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number, vector, whole
from fsopt.models.registry import build
from fsopt.results import DriverResult, Status
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Mask, Vector

CROSSED = 1e-9
"""A margin further than this beyond 1 contradicts the piece of the hinge that was assumed."""


ROUNDING = 1e-14
"""Improvements below this, relative, are rounding."""


GOOD = 0.75
"""A step whose descent is this share of what the restricted program foretold: the pieces were right there."""


LEAST = 1e-5
"""Least radius of the box, relative to the plane: below, only keeping more rows helps."""


EDGE = 1e-6
"""A step that is shorter than its box by less than this, relative, goes to its edge."""


@dataclass(frozen=True)
class GenerationSettings:
    """Sizes of the restricted master problem, and when the loop stops.

    Attributes
    ----------
    rows : how many samples are kept, at least 2; None is 1000 and 10 for each kept feature.
    columns : >= 1, how many features with a cost are kept at first, and at most added in a round.
    tolerance : the loop stops at ``f - bound <= tolerance * max(1, f)``.
    max_iterations : further reason to stop.
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
            whole("generate", "rows", self.rows, low=2, high=10**9)
        whole("generate", "columns", self.columns, low=1, high=10**9)
        number("generate", "tolerance", self.tolerance, low=0.0)


DEFAULT_SETTINGS = GenerationSettings()


def column_generation(
    data: Dataset,
    row_costs: ArrayLike,
    column_costs: ArrayLike,
    *,
    start: tuple[Vector, float] | None = None,
    settings: GenerationSettings = DEFAULT_SETTINGS,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise an l1-hinge program by small linear programs, with a proof for all rows and columns.

    .. math:: \min_{w, b}\ \sum_j c_j |w_j| + \sum_i d_i \max(0,\ 1 - y_i(w'x_i + b))

    A restricted program keeps some columns, and the rows nearest to their margin at the best plane so far. Every
    other row is taken on the piece of its hinge that it is on there: this bounds f from below, exactly at that
    plane. A box around it holds the next plane where the pieces are right; it grows while they are and shrinks when
    f did not fall. Rows that crossed to their other piece are kept from then on, until a step is good, and columns with
    :math:`|X'Y\alpha|_j > c_j` are added, where alpha is d_i or 0 on the rows that were not kept. The loop ends
    when such an alpha proves the plane optimal. Columns without a cost are all kept.

    Parameters
    ----------
    data : all rows and columns; they are centred and scaled inside.
    row_costs, column_costs : (n,) d >= 0 and (p,) c >= 0.
    start : a plane (w, b) to start from, for example the optimum for other costs; by default that of a random
        sample of the rows.
    settings : sizes and stopping criteria.
    run : its solver is any for LP that gives multipliers; None takes the preferred one.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.drivers.column_generation.l1_hinge_program.certify_l1_hinge` holds; ``stop`` is
        ``stalled`` where rounding leaves nothing to add before the tolerance is met.

    Raises
    ------
    ParameterError : costs that are negative, costs or a start of the wrong length, rows < 2, columns < 1,
        tolerance < 0.
    SolverError : a restricted program was not solved, or without multipliers.
    """
    d = vector("generate", "row_costs", row_costs, data.n, low=0.0)
    c = vector("generate", "column_costs", column_costs, data.p, low=0.0)
    settings.check()
    plane = (np.zeros(data.p), 0.0) if start is None else (vector("generate", "start", start[0], data.p), start[1])
    unit = float(d.max()) or 1.0
    recorder = Recorder([], run)
    program = L1Hinge.of(data, d / unit, c / unit)
    loop = _Loop(program, unit, settings, recorder, run)
    loop.begin(*program.scaled(*plane))
    stop = "iteration-limit"
    try:
        if start is None and loop.gap > settings.tolerance:
            loop.sample(np.random.default_rng(settings.seed))
        while loop.gap > settings.tolerance and len(recorder.history) < settings.max_iterations:
            if recorder.expired:
                stop = "time-limit"
                break
            if not loop.step():
                stop = "stalled"
                break
    except (KeyboardInterrupt, OutOfTime) as reason:
        stop = stop_word(reason)
    w, b = program.raw(loop.w, loop.b)
    alpha = unit * loop.alpha
    certificate = certify_l1_hinge(data, d, c, w, b, alpha)
    assert certificate.objective is not None
    return recorder.end(
        Status.OPTIMAL if certificate.ok else Status.FEASIBLE, "optimal" if loop.gap <= settings.tolerance else stop,
        objective=certificate.objective, bound=certificate.bound, point={"w": w, "b": b, "alpha": alpha},
        certificate=certificate,
    )  # fmt: skip


@dataclass
class _Loop:
    """The best plane, the best bound, and what the next restricted program keeps, in the program's own units.

    ``unit`` is the cost that counts as 1 there.
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

    def begin(self, w: Vector, b: float) -> None:
        """Start from a plane, with its columns, those without a cost, and those with the steepest descent at 0."""
        program = self.program
        self.alpha, self.crossed = np.zeros(len(program.y)), np.zeros(len(program.y), dtype=bool)
        self.move(w, b)
        self.columns = (program.c == 0) | (w != 0)
        if not self.add(program.dual(program.d)[1]):
            self.columns[0] = True
        self.rescale()

    @property
    def gap(self) -> float:
        """Gap between the best plane and the best bound, relative in the units of the costs given."""
        return relative_gap(self.unit * self.value, self.unit * self.bound)

    @property
    def most_rows(self) -> int:
        """The number of samples that are kept."""
        rows = self.settings.rows
        return 1000 + 10 * int(self.columns.sum()) if rows is None else rows

    def rescale(self) -> None:
        """Set the radius to what a sample of as many rows as are kept leaves uncertain."""
        share = float(self.columns.sum()) / self.most_rows
        self.radius = 0.5 * max(float(np.abs(self.w).max()), 0.1) * share**0.5

    def move(self, w: Vector, b: float) -> bool:
        """Take over weights, with their best intercept, if they are better than the best so far."""
        program, margins = self.program, self.program.margins(w, b)
        best = program.best_intercept(margins, b)
        margins += (best - b) * program.y
        value = program.value(w, margins)
        if value >= self.value - ROUNDING * max(1.0 / self.unit, abs(value)):
            return False
        self.w, self.b, self.margins, self.value = w, best, margins, value
        return True

    def add(self, excess: Vector) -> bool:
        """Add the columns whose multipliers exceed their costs most; return whether there are any."""
        excess = np.where(self.columns, 0.0, excess)
        new = np.argsort(-excess)[: self.settings.columns]
        new = new[excess[new] > 0]
        self.columns[new] = True
        return len(new) > 0

    def sample(self, random: np.random.Generator) -> None:
        """Move to the plane of a sample of each class, whose costs are raised to those of the whole class."""
        program, counted = self.program, self.program.d > 0
        if self.most_rows >= counted.sum():
            return
        costs = np.zeros_like(program.d)
        for sign in (1.0, -1.0):
            members = np.flatnonzero(counted & (program.y == sign))
            size = max(1, round(self.most_rows * len(members) / counted.sum()))
            chosen = random.choice(members, size, replace=False)
            costs[chosen] = program.d[chosen] * (program.d[members].sum() / program.d[chosen].sum())
        self.move(*self.solve(costs > 0, costs, np.zeros_like(costs), None)[:2])
        self.rescale()
        self.record(costs > 0)

    def step(self) -> bool:
        """Solve one restricted program, take over what it shows, and return whether that was anything."""
        program = self.program
        keep = self.kept()
        left = np.where(keep, 0.0, program.d)
        fixed = np.where(self.margins < 1, left, 0.0)
        radius = self.radius if left.any() else None
        w, b, alpha = self.solve(keep, program.d, fixed, radius)
        margins = program.margins(w, b)
        lost = np.where(left > 0, np.where(fixed > 0, margins - 1, 1 - margins), 0.0)
        crossed = lost > CROSSED
        model = program.value(w, margins) - float(left @ np.maximum(lost, 0.0))
        added = self.learn(alpha)
        before, length = self.value, max(float(np.abs(w - self.w).max()), abs(b - self.b))
        moved = self.move(w, b)
        edge = radius is not None and length >= (1 - EDGE) * radius
        good = moved and before - self.value >= GOOD * (before - model)
        if moved:
            self.radius *= 2.0 if edge and good else 1.0
        elif crossed.any():
            self.radius = max(min(self.radius, length) / 3, LEAST * max(1.0, float(np.abs(self.w).max()), abs(self.b)))
        elif edge:
            self.radius *= 4.0
        self.crossed = self.largest(lost) if good else self.crossed | self.largest(lost)
        self.record(keep, crossed)
        return moved or added or edge or bool(crossed.any())

    def largest(self, lost: Vector) -> Mask:
        """Return the rows that crossed, at most as many as are kept: where the restricted program erred most."""
        mask = lost > CROSSED
        if mask.sum() > self.most_rows:
            error = self.program.d * lost
            mask = error > np.partition(error, -self.most_rows)[-self.most_rows]
        return mask

    def kept(self) -> Mask:
        """Return the rows to keep: the nearest to margin 1 for a step of any direction, and those that crossed."""
        program = self.program
        near = np.where(program.d > 0, np.abs(self.margins - 1.0) / program.reach, np.inf)
        near[self.crossed | (near <= CROSSED)] = -1.0
        count = self.most_rows + int(np.sum(near < 0))
        keep = np.ones(len(near), dtype=bool)
        if count < len(near):
            keep[np.argpartition(near, count)[count:]] = False
        for sign in (1.0, -1.0):
            members = np.flatnonzero(program.y == sign)
            keep[members[np.argmin(near[members])]] = True
        return keep

    def learn(self, alpha: Vector) -> bool:
        """Take over the bound of multipliers if it is the best so far, and the columns that they price out."""
        alpha, excess, factor = self.program.dual(alpha)
        if factor * alpha.sum() > self.bound:
            self.alpha, self.bound = factor * alpha, factor * float(alpha.sum())
        return self.add(excess)

    def solve(self, keep: Mask, costs: Vector, fixed: Vector, radius: float | None) -> tuple[Vector, float, Vector]:
        """Return plane and multipliers (n,) of the program of some rows; those of the others are fixed."""
        program, columns = self.program, np.flatnonzero(self.columns)
        y = program.y[keep]
        part = Dataset(program.Z[np.ix_(np.flatnonzero(keep), columns)] * y[:, None], y)
        box = {} if radius is None else {"radius": radius, "center": np.append(self.w[columns], self.b)}
        offset = np.append((fixed @ program.Z)[columns], fixed @ program.y)
        prices = {"row_costs": costs[keep], "column_costs": program.c[columns]}
        model = build("l1-hinge-part", part, offset=offset, **prices, **box)
        session = self.run.open(model)
        self.recorder.renew(session)
        point = self.recorder.solve(session, "a restricted program", load=False, checked=False).point
        if point is None or point.y is None:
            raise no_multipliers(session.spec.name, session.problem_class)
        w, alpha = np.zeros(len(program.c)), fixed.copy()
        w[columns] = -point.y[session.rows(model.columns)]
        alpha[keep] = point.x[session.columns(model.alpha)]
        return w, -float(point.y[session.rows(model.balance)][0]), alpha

    def record(self, keep: Mask, crossed: Mask | None = None) -> None:
        """Record a round in the units of the costs given."""
        self.recorder.record(
            objective=self.unit * self.value, bound=self.unit * self.bound, rows=int(keep.sum()),
            columns=int(self.columns.sum()), crossed=0 if crossed is None else int(crossed.sum()), radius=self.radius,
        )  # fmt: skip
