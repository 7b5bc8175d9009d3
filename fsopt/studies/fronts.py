"""Fronts of two objectives; that of risk and capacity of support vector machines (paper 5, problem (12))."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept
from fsopt.drivers.run import Run, usable
from fsopt.errors import ParameterError
from fsopt.methods.mop.routes import certify_rsvm, exact, multipliers, recover, squared_radius, support_vectors
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number, squares
from fsopt.models.gbd.svm import build_svm
from fsopt.models.mop.rsvm_dual import build_rsvm_dual
from fsopt.solvers.base import Session
from fsopt.studies.figures import new_figure
from fsopt.typing import Indices, Mask, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHARES = tuple(np.geomspace(0.05, 0.5, 10).tolist())
"""Values of h / l over the paper's range."""


TARGET = 0.1
"""The h / l of the paper's best runs, by which a point is chosen where there are no validation data."""


@dataclass(frozen=True)
class ParetoFront:
    """Points of two objectives that are both minimised.

    Attributes
    ----------
    x, y : (k,) values of the objectives, ascending in x.
    x_name, y_name : what they are.
    chosen : place of the point that is singled out; None for no choice.
    columns : name -> (k,) further numbers of the points.
    seconds : it took to find them.
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
        """Whether (k,) no other point is as good in both objectives and better in one."""
        better = (self.x[:, None] <= self.x) & (self.y[:, None] <= self.y)
        strictly = (self.x[:, None] < self.x) | (self.y[:, None] < self.y)
        return np.logical_not((better & strictly).any(axis=0))

    @property
    def hull(self) -> Indices:
        """Places of the vertices of the lower left convex hull, which weighted sums can reach, ascending in x."""
        kept: list[int] = []
        for k in np.flatnonzero(self.nondominated).tolist():
            while len(kept) > 1 and self._turn(kept[-2], kept[-1], k) <= 0:
                kept.pop()
            if not kept or self.x[k] > self.x[kept[-1]]:
                kept.append(k)
        return np.array(kept, dtype=np.intp)

    def _turn(self, i: int, j: int, k: int) -> float:
        """Return twice the signed area of three points: positive where the way through them turns left."""
        x, y = self.x, self.y
        return float((x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i]))

    def plot(self) -> Figure:
        """Return the points with their lower convex hull, the chosen one starred, h / l on top where it is known."""
        figure = new_figure(1)
        axes, hull = figure.axes[0], self.hull
        axes.plot(self.x[hull], self.y[hull], color="tab:blue", label="lower convex hull")
        for kept, marker, label in ((self.nondominated, "o", "nondominated"), (~self.nondominated, "x", "dominated")):
            if kept.any():
                axes.plot(self.x[kept], self.y[kept], marker, color="tab:gray", label=label)
        if self.chosen is not None:
            at = self.chosen
            axes.plot(self.x[at], self.y[at], "*", markersize=16, color="tab:orange", label="chosen")
        axes.set(xlabel=self.x_name, ylabel=self.y_name)
        axes.legend()
        if "h_over_l" in self.columns and np.ptp(self.x) > 0:
            slope, shift = np.polyfit(self.x, self.columns["h_over_l"], 1)
            top = axes.secondary_xaxis("top", functions=(lambda x: slope * x + shift, lambda h: (h - shift) / slope))
            top.set_xlabel("$h/l$")
        return figure


def pareto_front(
    data: Dataset,
    caps: Sequence[float] | None = None,
    *,
    prices: Sequence[float] = (),
    validation: Dataset | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
) -> ParetoFront:
    r"""Trace the front of hinge loss and capacity of linear support vector machines.

    .. math:: \min\ (e'\xi,\ w'w) \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    The constraint method solves (13) for each W, the weighted-sum method the C-SVM
    :math:`\min \tfrac12w'w + C e'\xi` for each C; each on one model that is changed in place. Both objectives are
    convex, so both methods reach the same curve E(W). It is decreasing and convex in W, and even in :math:`\sqrt W`,
    which bounds a norm; its slope is :math:`dE/dW = -\gamma/2` with :math:`\gamma = 1/C`, and it is flat from the
    squared norm of the shortest plane of least loss on.

    Parameters
    ----------
    data : the training data, in raw units.
    caps : values of W > 0; None takes 10 with (RW + 1) / n from 0.05 to 0.5, the paper's range, where that is
        positive.
    prices : values of C > 0; none by default.
    validation : data by whose error the point is chosen; without, the h / l nearest to 0.1 is.
    scale : ``unit-rows`` (default), ``standard``, ``center`` or ``none``.
    solver : of cones and quadratic programs, with multipliers; None for the preferred ones.

    Returns
    -------
    ParetoFront
        x is the capacity w'w, y the hinge loss E. Columns ``gamma`` (0 where the capacity constraint is inactive),
        ``h_over_l`` = (R w'w + 1) / n, ``n_support_vectors``, ``train_error`` and ``validation_error`` (shares of
        rows, nan without data), ``bound`` (no plane of this capacity has a lower loss), ``certified`` (the loss is
        that bound: the point is on the front), ``weighted`` (found by a weighted sum), ``coef`` (k, p) and
        ``intercept`` for preprocessed rows.

    Raises
    ------
    ParameterError : no values, or one that is not a positive number.
    SolverError : a program was not solved, or the solver gives no multipliers.

    Notes
    -----
    Paper 5, (12) and sections 4.1, 4.2 and 7.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    held_out = None if validation is None else validation.with_X(map_.apply(validation.X))
    radius, run = squared_radius(work), exact(Run(solver))
    if caps is None:
        caps = [(share * data.n - 1.0) / radius for share in SHARES if share * data.n > 1.0]
    caps = sorted(number("pareto_front", "caps", cap, low=0.0, strict=True) for cap in caps)
    prices = sorted(number("pareto_front", "prices", price, low=0.0, strict=True) for price in prices)
    if not caps and not prices:
        raise ParameterError("there is no value of W or C", "give caps or prices, for example caps=(1.0, 10.0)")
    points = [*_constrained(work, caps, run), *_weighted(work, prices, run)]
    for point in points:
        point["h_over_l"] = (radius * point["x"] + 1.0) / data.n
        point["train_error"] = _error(work, point)
        point["validation_error"] = np.nan if held_out is None else _error(held_out, point)
    points.sort(key=lambda point: (point["x"], point["y"]))
    columns = {name: np.array([point[name] for point in points]) for name in points[0]}
    x, y = columns.pop("x"), columns.pop("y")
    score = np.abs(columns["h_over_l"] - TARGET) if held_out is None else np.round(columns["validation_error"], 12)
    return ParetoFront(
        x, y, "capacity w'w", "hinge loss E", int(np.argmin(score)), columns, time.perf_counter() - started
    )


def _constrained(work: Dataset, caps: Sequence[float], run: Run) -> list[dict[str, Any]]:
    """Return the points of (13) for some W, ascending, by (14) on one model."""
    if not caps:
        return []
    session = Session(build_rsvm_dual(work, w_cap=caps[0]), run.solver, options=run.options)
    points = []
    for cap in caps:
        session.model.root_cap.set_value(float(np.sqrt(cap)))
        session.update(session.model.objective)
        found = recover(work, run, session, cap)
        points.append(
            {
                "x": found.details["capacity"], "y": found.risk, "gamma": found.details["gamma"],
                "n_support_vectors": found.details["n_support_vectors"], "bound": found.certificate.bound,
                "certified": found.certificate.ok, "weighted": False, "coef": found.w, "intercept": found.b,
            }
        )  # fmt: skip
    return points


def _weighted(work: Dataset, prices: Sequence[float], run: Run) -> list[dict[str, Any]]:
    """Return the points of the C-SVM for some C, ascending, on one model."""
    if not prices:
        return []
    model = build_svm(work, c=prices[0])
    session = Session(model, run.solver, options=run.options)
    half, loss = 0.5 * squares(list(model.w.values())), pyo.quicksum(model.xi.values())
    points = []
    for price in prices:
        model.objective.set_value(half + price * loss)
        session.update(model.objective)
        result = usable(session.solve(), f"the C-SVM at C = {price:g}")
        alpha = multipliers(session, result, model.margin) / price
        w = values_of(model.w)
        b = midpoint_intercept(work.X @ w, work.y)
        capacity = float(w @ w)
        proof = certify_rsvm(work, max(capacity, 1e-300), w, b, alpha)
        points.append(
            {
                "x": capacity, "y": proof.objective, "gamma": 1.0 / price,
                "n_support_vectors": len(support_vectors(alpha)), "bound": proof.bound, "certified": proof.ok,
                "weighted": True, "coef": w, "intercept": b,
            }
        )  # fmt: skip
    return points


def _error(data: Dataset, point: Mapping[str, Any]) -> float:
    """Return the share of rows that the plane of a point misclassifies, a score of 0 counted as -1."""
    labels = np.where(data.X @ point["coef"] + point["intercept"] > 0, 1.0, -1.0)
    return float(np.mean(labels != data.y))
