"""Pareto fronts of two objectives, and the front of hinge loss and capacity of support vector machines (Bi, (12))."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.questions import Answer
from fsopt.common.arguments import LIST, TEXT, checked, optional
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.common.interruption import whole_or_interrupted
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate, hinge, midpoint_intercept
from fsopt.data.splits import check_features
from fsopt.drivers.run import Run, multipliers, usable
from fsopt.errors import ParameterError
from fsopt.methods.mop.rsvm_training import certify_rsvm, solve_at_capacity, squared_radius, to_all_digits
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.selection import support_vectors
from fsopt.models.blocks import hinge_cost, number, squares
from fsopt.models.gbd.svm import build_svm
from fsopt.models.mop.rsvm import build_rsvm_dual
from fsopt.typing import Indices, Mask, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHARES = tuple(np.geomspace(0.05, 0.5, 10).tolist())
"""Values of h / l over the range of the paper (section 7)."""


TARGET = 0.1
"""The h / l of the best runs in the paper, by which a point is chosen without validation data."""
COLUMNS = ("gamma", "n_support_vectors", "bound", "certified", "weighted", "coef", "intercept")
"""Fields of a :class:`FrontPoint` that a front keeps as columns."""


@dataclass(frozen=True)
class FrontPoint:
    """A support vector machine as a point of the front of hinge loss and capacity.

    Attributes
    ----------
    capacity, loss : w'w and the hinge loss E.
    gamma : 1 / C of the C-SVM with the same hyperplane; 0 where the capacity constraint is inactive.
    n_support_vectors : number of samples with a multiplier above 0.
    bound : lower bound on the hinge loss of all hyperplanes of this capacity; None where the proof gives none.
    certified : whether the loss is that bound.
    weighted : whether the point was found by a weighted sum.
    coef, intercept : w (p,) and b, for preprocessed samples.
    """

    capacity: float
    loss: float
    gamma: float
    n_support_vectors: int
    bound: float | None
    certified: bool
    weighted: bool
    coef: Vector
    intercept: float

    def error(self, data: Dataset) -> float:
        """Return the error rate on preprocessed data."""
        return error_rate(data.X @ self.coef + self.intercept, data.y)


@checked(
    caps=optional(LIST),
    prices=LIST,
    validation=optional(DATASET),
    scale=TEXT,
    solver=optional(TEXT),
)
@whole_or_interrupted()
def pareto_front(
    data: Given,
    caps: Sequence[float] | None = None,
    *,
    prices: Sequence[float] = (),
    validation: Dataset | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
) -> ParetoFront:
    r"""Trace the Pareto front of hinge loss and capacity of linear support vector machines.

    .. math:: \min\ (e'\xi,\ w'w) \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    The constraint method solves (13) for each W, the weighted-sum method solves the C-SVM
    :math:`\min \tfrac12w'w + C e'\xi` for each C; each method builds one model and updates it in place. Both
    objectives are convex, so both methods reach the same curve E(W). The curve is decreasing and convex in W, and
    also in :math:`\sqrt W`, which bounds a norm. Its slope is :math:`dE/dW = -\gamma/2` with :math:`\gamma = 1/C`.
    The curve is constant for W at or above the smallest squared norm of a hyperplane of minimum hinge loss.

    Parameters
    ----------
    data : Given
        The training data, in raw units: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    caps : Sequence[float], optional
        Values of W > 0; None takes 10 with (RW + 1) / n from 0.05 to 0.5, the range of the paper, where W is positive.
    prices : Sequence[float], default ()
        Values of the penalty weight C > 0; none by default.
    validation : Dataset, optional
        Data by whose error rate the point is chosen; without them the h / l nearest to 0.1 is chosen.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default), ``standard``, ``center`` or ``none``.
    solver : str, optional
        For cone programs and quadratic programs, with multipliers; None for the preferred ones.

    Returns
    -------
    ParetoFront
        x is the capacity w'w, y the hinge loss E. Columns: ``gamma`` (0 where the capacity constraint is inactive),
        ``h_over_l`` = (R w'w + 1) / n, ``n_support_vectors``, ``train_error`` and ``validation_error`` (shares of
        misclassified samples, nan without data), ``bound`` (a lower bound on the loss of all hyperplanes of this
        capacity), ``certified`` (the loss is that bound: the point is on the front), ``weighted`` (found by a
        weighted sum), ``coef`` (k, p) and ``intercept`` for preprocessed samples.

    Raises
    ------
    ParameterError : no values, or one that is not a positive number.
    SolverError : a program was not solved, or the solver gives no multipliers.

    Notes
    -----
    Bi, (12) and sections 4.1, 4.2 and 7.
    """
    started, data = time.perf_counter(), dataset_of(data)
    if validation is not None:
        check_features(data, validation, "validation")
    work, map_ = preprocess(data, scale)
    held_out = None if validation is None else validation.with_X(map_.apply(validation.X))
    radius, run = squared_radius(work), to_all_digits(Run(solver))
    if caps is None:
        caps = [(share * data.total - 1.0) / radius for share in SHARES if share * data.total > 1.0]
    caps = sorted(number("pareto_front", "caps", cap, inside="(0, inf)") for cap in caps)
    weights = sorted(number("pareto_front", "prices", price, inside="(0, inf)") for price in prices)
    if not caps and not weights:
        raise ParameterError("there is no value of W or C", "give caps or prices, for example caps=(1.0, 10.0)")
    points = [*_constrained(work, caps, run), *_weighted(work, weights, run)]
    points.sort(key=lambda point: (point.capacity, point.loss))
    columns = {name: np.array([getattr(point, name) for point in points]) for name in COLUMNS}
    capacity = np.array([point.capacity for point in points])
    columns["h_over_l"] = (radius * capacity + 1.0) / data.total
    columns["train_error"] = np.array([point.error(work) for point in points])
    columns["validation_error"] = np.array([np.nan if held_out is None else point.error(held_out) for point in points])
    score = np.abs(columns["h_over_l"] - TARGET) if held_out is None else np.round(columns["validation_error"], 12)
    return ParetoFront(
        x=capacity,
        y=np.array([point.loss for point in points]),
        x_name="capacity w'w",
        y_name="hinge loss E",
        chosen=int(np.argmin(score)),
        columns=columns,
        seconds=time.perf_counter() - started,
    )


def _constrained(work: Dataset, caps: Sequence[float], run: Run) -> list[FrontPoint]:
    """Return the points of (13) for values of W, ascending, from (14) as one model that is updated in place."""
    if not caps:
        return []
    session = run.open(build_rsvm_dual(work, w_cap=caps[0]))
    points = []
    for cap in caps:
        session.model.root_cap.set_value(float(np.sqrt(cap)))
        session.update(session.model.objective)
        found = solve_at_capacity(work, run, session, cap)
        point = FrontPoint(
            capacity=found.details["capacity"],
            loss=found.risk,
            gamma=found.details["gamma"],
            n_support_vectors=found.details["n_support_vectors"],
            bound=found.certificate.bound,
            certified=found.certificate.ok,
            weighted=False,
            coef=found.w,
            intercept=found.b,
        )
        points.append(point)
    return points


def _weighted(work: Dataset, weights: Sequence[float], run: Run) -> list[FrontPoint]:
    """Return the points of the C-SVM for values of C, ascending, from one model that is updated in place."""
    if not weights:
        return []
    model = build_svm(work, c=weights[0])
    session = run.open(model)
    half, loss = 0.5 * squares(model.w), hinge_cost(model, work)
    points = []
    for c in weights:
        model.objective.set_value(half + c * loss)
        session.update(model.objective)
        result = usable(session.solve(), f"the C-SVM at C = {c:g}")
        alpha = multipliers(session, result, model.margin) / c
        w = values_of(model.w)
        b = midpoint_intercept(work.X @ w, work.y, work.weights)
        capacity = float(w @ w)
        # w = 0 has capacity 0, and the proof divides by W.
        proof = certify_rsvm(work, max(capacity, 1e-300), w, b, alpha)
        point = FrontPoint(
            capacity=capacity,
            loss=hinge(work.X @ w + b, work.y, work.weights),
            gamma=1.0 / c,
            n_support_vectors=len(support_vectors(alpha)),
            bound=proof.bound,
            certified=proof.ok,
            weighted=True,
            coef=w,
            intercept=b,
        )
        points.append(point)
    return points


@dataclass(frozen=True)
class ParetoFront(Answer):
    """Points of a problem with two objectives, both minimised.

    Attributes
    ----------
    x, y : (k,) values of the objectives, ascending in x.
    x_name, y_name : names of the objectives.
    chosen : index of the chosen point; None for no choice.
    columns : name -> (k,) further numbers of the points.
    seconds : of the computation of all points.
    """

    x: Vector
    y: Vector
    x_name: str
    y_name: str
    chosen: int | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def nondominated(self) -> Mask:
        """Mask (k,) of the points to which no other point is equal or better in both objectives and better in one."""
        better = (self.x[:, None] <= self.x) & (self.y[:, None] <= self.y)
        strictly = (self.x[:, None] < self.x) | (self.y[:, None] < self.y)
        return np.logical_not((better & strictly).any(axis=0))

    @property
    def hull(self) -> Indices:
        """Indices of the vertices of the lower left convex hull, which weighted sums can reach, ascending in x."""
        kept: list[int] = []
        for k in np.flatnonzero(self.nondominated).tolist():
            # Each pass removes a vertex, at most one for each point in all.
            while len(kept) > 1 and self._turn(kept[-2], kept[-1], k) <= 0:
                kept.pop()
            if not kept or self.x[k] > self.x[kept[-1]]:
                kept.append(k)
        return np.array(kept, dtype=np.intp)

    def _turn(self, i: int, j: int, k: int) -> float:
        """Return twice the signed area of the triangle of three points: positive where the path i, j, k turns left."""
        x, y = self.x, self.y
        return float((x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i]))

    @property
    def heading(self) -> dict[str, Any]:
        """The names of the objectives, the number of nondominated points, the place of the chosen one, the seconds."""
        return {
            "x": self.x_name,
            "y": self.y_name,
            "nondominated": int(self.nondominated.sum()),
            "chosen": self.chosen,
            "seconds": self.seconds,
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each point: both objectives, whether it is nondominated, and the columns of numbers."""
        columns = {"x": self.x, "y": self.y, "nondominated": self.nondominated}
        columns |= {name: values for name, values in self.columns.items() if values.ndim == 1}
        listed = [values.tolist() for values in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]

    def plot(self) -> Figure:
        """Return the points with their lower convex hull; the chosen point is starred, and h / l is the upper axis."""
        figure = new_figure(1)
        axes, hull = figure.axes[0], self.hull
        axes.plot(self.x[hull], self.y[hull], color=BLUE, label="lower convex hull")
        for kept, marker, label in ((self.nondominated, "o", "nondominated"), (~self.nondominated, "x", "dominated")):
            if kept.any():
                axes.plot(self.x[kept], self.y[kept], marker, color="tab:gray", label=label)
        if self.chosen is not None:
            at = self.chosen
            axes.plot(self.x[at], self.y[at], "*", markersize=16, color=ORANGE, label="chosen")
        axes.set(xlabel=self.x_name, ylabel=self.y_name)
        axes.legend()
        if "h_over_l" in self.columns and np.ptp(self.x) > 0:
            slope, shift = np.polyfit(self.x, self.columns["h_over_l"], 1)
            top = axes.secondary_xaxis("top", functions=(lambda x: slope * x + shift, lambda h: (h - shift) / slope))
            top.set_xlabel("$h/l$")
        return figure
