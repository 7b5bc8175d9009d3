"""Linear machines that are one convex program, as a table, and their training on all or on selected features.

A machine is a penalty of the weights and the hinge loss. Its model is solved, or the algorithm for its penalty in
:mod:`fsopt.linear` and :mod:`fsopt.drivers.column_generation`; the multipliers of its margins prove either answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, Point, SolveResult, Status
from fsopt.common.registry import changes_in_force
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, loss_weights, midpoint_intercept, project_multipliers
from fsopt.data.matrices import SMALL, Preprocessing
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.drivers.working_set import spread
from fsopt.errors import ParameterError
from fsopt.linear import first_order, interior_point
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import Ball, Euclid, Penalty, machine_of
from fsopt.methods.large_programs import first_certified, generation_order, interior_order
from fsopt.methods.preprocessing import centred_factor, kernel_values, make_fit, preprocess, with_certificate
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import saved_alpha
from fsopt.models.registry import build
from fsopt.typing import Indices, Vector

Outcome: TypeAlias = SolveResult | DriverResult
Order: TypeAlias = Callable[[Dataset, Run], tuple[bool, ...]]
"""Function of data and run that returns the routes in their order, false for the model."""
SHARE = 0.1
"""Default (RW + 1) / n, the paper's estimate of the VC dimension over the number of samples in its best runs."""
INACTIVE = 1e-7
"""gamma, relative to the number of samples, up to which the capacity constraint may be inactive: solvers leave that."""
LARGE = (1e3, 1e6, 1e9)
"""C of which one is large enough for the hyperplane of smallest norm among those of smallest loss."""
ROUNDED = 1e-9
"""Difference of losses, relative to them, that is a rounding error of 0."""
NOTE = "the support vector machine is optimal on the selected features; their selection is a heuristic"


def _by_interior_point(data: Dataset, penalty: Penalty, c: float, run: Run) -> Steps[DriverResult]:
    """Solve a machine by the interior point, the C-SVM of large sparse data by first-order steps."""
    if data.sparse and data.n * data.p > SMALL:
        return first_order.minimise.steps(data, c=c, run=run)
    dense = data.with_X(data.X.toarray()) if data.sparse else data  # type: ignore[attr-defined]
    return interior_point.minimise.steps(dense, penalty, c=c, run=run)


def _by_generation(data: Dataset, penalty: Penalty, c: float, run: Run) -> Steps[DriverResult]:
    """Solve the one-norm machine by restricted programs of some samples and features."""
    return column_generation.steps(data, np.ones(data.n) * loss_weights(c, data.weights), np.ones(data.p), run=run)


without_model = partial(interior_order, least=0)
"""The routes with the interior point first, whatever the size of the data, unless a model is changed."""
MACHINES: Mapping[str, tuple[str, Callable[..., Steps[DriverResult]], Order]] = MappingProxyType(
    {
        "svm": ("c", _by_interior_point, interior_order),
        "onsvm": ("c", _by_generation, generation_order),
        "svm-norm": ("c", _by_interior_point, interior_order),
        "rsvm": ("w_cap", _by_interior_point, without_model),
    }
)
"""Slug of a model -> the parameter of its machine, the route without the model, and the order of the routes."""


@dataclass(frozen=True)
class Trained:
    """A machine on the samples it was given, its parameter and outcome.

    The multipliers ``alpha`` (n,) of the margins are within their bounds, with y'alpha = 0. Of ``svm`` and ``rsvm``
    w = X'beta with ``beta`` (n,), 0 where not known: its nonzeros are the support vectors. A ``point`` is
    the evidence in the place of alpha where the user changed the model.
    """

    at: Mapping[str, Any]
    w: Vector
    b: float
    alpha: Vector
    beta: Vector
    outcome: Outcome
    warnings: tuple[str, ...] = ()
    point: Point | None = None


def train(
    slug: str,
    data: Dataset,
    run: Run,
    value: float | None,
    *,
    order: Order | None = None,
) -> Steps[Trained]:
    """Train a machine at a value of its parameter, None for the default capacity."""
    name, driver, own_order = MACHINES[slug]
    value = default_capacity(data.total, squared_radius(data)) if value is None else value
    at = {name: float(value)}
    penalty, c = machine_of(slug, at)
    caps, ball = loss_weights(c, data.weights), isinstance(penalty, Ball)

    def by_model() -> Trained:
        session, result = run.solve(build(slug, data, **at), f"'{slug}'")
        w, changed = values_of(session.model.w), changes_in_force()
        if ball and changed:
            raise ParameterError(f"nothing proves an answer of a changed '{slug}'", "solve its model by fsopt.solve")
        if changed or not (ball or result.status is Status.OPTIMAL):
            none = np.zeros(data.n)
            return Trained(at, w, session.model.b.value, none, none, result, point=result.supported)
        alpha = project_multipliers(multipliers(session, result, session.model.margin), data.y, caps)
        w = penalty.nearest(w) if isinstance(penalty, Ball) else w
        b = midpoint_intercept(data.X @ w, data.y, data.weights)
        proof = certify(data, penalty, c, w, b, alpha)
        return Trained(at, w, b, alpha, alpha * data.y, with_certificate(result, proof))

    def by_driver() -> Steps[Trained]:
        result = yield from driver(data, penalty, c, run)
        alpha = project_multipliers(result.point["alpha"], data.y, caps)
        return Trained(at, result.point["w"], result.point["b"], alpha, alpha * data.y, result)

    routes = [by_driver if direct else by_model for direct in (order or own_order)(data, run)]
    found, warnings = yield from first_certified(routes, lambda found: found.outcome)
    found = replace(found, warnings=warnings)
    return _at_capacity(data, run, penalty, found) if isinstance(penalty, Ball) else found


def _at_capacity(data: Dataset, run: Run, ball: Ball, found: Trained) -> Trained:
    """Return (13) with its expansion: the C-SVM at C = 1/gamma, or the shortest of smallest loss at a large C."""
    gamma = gamma_of(data, found.alpha, found.at["w_cap"])
    if gamma > 0.0:
        return replace(found, beta=found.beta / gamma)
    for c in LARGE:
        short = interior_point.minimise(data, c=c, run=run).point
        w, b = short["w"], short["b"]
        proof = certify(data, ball, 1.0, w, b, found.alpha)
        if proof.ok and proof.residuals["gap"] <= ROUNDED:
            break
    else:
        return replace(found, beta=np.zeros(data.n))
    warning = (
        f"the capacity constraint is inactive at W = {found.at['w_cap']:g}: the hyperplane of smallest norm "
        f"among those of smallest loss, with w'w = {float(w @ w):.6g}, is the answer"
    )
    outcome, beta = with_certificate(found.outcome, proof), short["alpha"] * data.y
    return replace(found, w=w, b=b, beta=beta, outcome=outcome, warnings=(*found.warnings, warning))


def gamma_of(data: Dataset, alpha: Vector, w_cap: float, *, gram: bool = False) -> float:
    r"""Return :math:`\gamma = \|X'Y\alpha\|/\sqrt W` of multipliers of (13), 0 where the capacity is inactive."""
    size = Euclid(data.X).of(alpha * data.y) if gram else Euclid().of(combination(data, alpha))
    gamma = size / float(np.sqrt(w_cap))
    return gamma if gamma > INACTIVE * data.n else 0.0


def default_capacity(n: float, radius: float) -> float:
    """Return the W with (RW + 1) / n = 0.1, for the squared radius R of samples of total weight n; RW >= 1."""
    return max(1.0, SHARE * n - 1.0) / (radius or 1.0)


def squared_radius(data: Dataset) -> float:
    """Return R, the largest squared norm of a sample."""
    return float((data.X**2).sum(axis=1).max())


def train_on_subset(slug: str, work: Dataset, subset: Indices, run: Run, value: float | None) -> Steps[Trained]:
    """Train a machine on some features: ``feasible``, without a bound, because their selection is not proved."""
    part = part_of(work, subset)
    found = yield from train(slug, part, run, value, order=without_model)
    stop = "complete" if found.outcome.status is Status.OPTIMAL else found.outcome.stop
    outcome = replace(found.outcome, status=Status.FEASIBLE, stop=stop, bound=None, certificate=None)
    return replace(found, w=spread(found.w[: len(subset)], subset, work.p), outcome=outcome)


def subset_fit(
    map_: Preprocessing,
    found: Trained,
    outcome: Outcome,
    *,
    warnings: tuple[str, ...] = (),
) -> Fit:
    """Return the Fit of a machine on features that a method has chosen, with the outcome of the method."""
    told, details = warnings + found.warnings, {"alpha": found.alpha}
    return make_fit(map_, found.w, found.b, outcome, params=found.at, warnings=told, details=details)


def check_subset(saved: SavedFit, subset: Indices | None = None) -> Certificate:
    """Certify the last machine of a heuristic on the features of the heuristic, or else those with a weight."""
    fit, at = saved.fit, saved.params
    subset = np.flatnonzero(saved.w) if subset is None else subset
    part = part_of(saved.data, subset)
    penalty, c = machine_of(saved.spec.program, at)
    found = certify(part, penalty, c, np.resize(saved.w[subset], part.p), saved.b, saved_alpha(saved))
    wrong = {"selection": float(np.abs(np.delete(saved.w, subset)).max(initial=0.0))}
    # The bound is one on these features only: the method has none. One that ended early claims no optimum of them.
    complete = fit.stop == "complete"
    inside = {name: residual for name, residual in found.residuals.items() if complete or name != "gap"}
    return make(Kind.FEASIBLE, {**inside, **wrong}, objective=found.objective, notes=(NOTE,) * complete)


def part_of(work: Dataset, subset: Indices) -> Dataset:
    """Return the data of these features, dense; one feature of zeros where there are none."""
    if not len(subset):
        return Dataset(np.zeros((work.n, 1)), work.y, weights=work.weights)
    part = work.columns(subset)
    return part.with_X(part.X.toarray()) if part.sparse else part  # type: ignore[attr-defined]


def fit_machine(
    slug: str,
    data: Dataset,
    run: Run,
    value: float | None,
    *,
    scale: str,
    kernel: str | None = None,
    width: float | None = None,
) -> Steps[Fit]:
    """Train a machine on preprocessed data, or on their images by a kernel, and return its Fit.

    Parameters
    ----------
    slug, value : as in :func:`train`.
    scale : preprocessing.
    kernel, width : as in :func:`fsopt.methods.preprocessing.kernel_values`; no kernel for the features themselves.
    """
    work, map_ = preprocess(data, scale)
    samples, function = work, None
    params: dict[str, Any] = {}
    if kernel is not None:
        function, work = kernel_values(work, kernel, width)
        params["width"] = function.width
        # The images less their mean: with y'alpha = 0 neither w nor the loss depends on it.
        samples = centred_factor(work)
    found = yield from train(slug, samples, run, value, order=without_model if kernel else None)
    w, b = found.w, found.b
    outcome = found.outcome
    if function is not None:
        penalty, c = machine_of(slug, found.at, work.X)
        w, b = found.beta, midpoint_intercept(work.X @ found.beta, work.y, work.weights)
        outcome = with_certificate(found.outcome, certify(work, penalty, c, w, b, found.alpha, gram=True))
    return make_fit(
        map_,
        w,
        b,
        outcome,
        params={**params, **found.at},
        warnings=found.warnings,
        details={"alpha": found.alpha} if found.point is None else {"point": found.point},
        kernel=function,
    )
