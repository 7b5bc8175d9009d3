"""The last step of the filters and of VS-SSVM: a support vector machine on features that were selected before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, svm_value
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.errors import reading
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import minimise
from fsopt.linear.penalties import SQUARES, capped
from fsopt.methods.large_programs import first_certified, interior_order
from fsopt.methods.mop.rsvm import stated_residuals
from fsopt.methods.mop.rsvm_training import default_capacity, solve_rsvm, squared_radius
from fsopt.methods.spec import SavedFit, Value
from fsopt.methods.verdict import extend, finite_vector
from fsopt.models.gbd.svm import build_svm
from fsopt.typing import Indices, Vector

RIGOROUS = ("pearson", "fisher", "ks", "vs-ssvm")
"""The methods whose last support vector machine is a rigorous one."""
TOLERANCE = 1e-12
"""Relative gap of the interior point: hyperplanes of equal data in another form agree to 1e-7."""

_Trained: TypeAlias = tuple[Vector, float, Vector, SolveResult | DriverResult]
"""Hyperplane w, b, multipliers, and the outcome of the solver or driver."""

NOTE = "the support vector machine is optimal on the selected features; their selection is a heuristic"


@dataclass(frozen=True)
class SubsetSvm:
    """A support vector machine on some features of preprocessed data.

    Attributes
    ----------
    w, b : (p,) weights, 0 on the features that were not selected before, and the intercept.
    certificate : kind ``convex``: the support vector machine is optimal on these features.
    outcome : of the solver or the driver, with this certificate and its objective value; ``feasible`` and without a
        bound, because the selection of the features is not proved.
    details : evidence: ``chosen machine alpha``, and ``c`` or the details of
        :func:`fsopt.methods.mop.rsvm_training.solve_rsvm`.
    warnings : remarks that the user should read.
    """

    w: Vector
    b: float
    certificate: Certificate
    outcome: SolveResult | DriverResult
    details: Mapping[str, Any]
    warnings: tuple[str, ...]


def train_on_subset(
    work: Dataset, subset: Indices, run: Run, *, c: float | None = None, w_cap: float | None = None, own: bool = False
) -> Steps[SubsetSvm]:
    r"""Train a support vector machine on some features.

    .. math::

        \text{svm: } \min\ \tfrac12 w'w + C e'\xi, \qquad \text{rsvm: } \min\ e'\xi \ \text{with}\ w'w \le W

    Parameters
    ----------
    work : preprocessed, all features.
    subset : places of the features, perhaps none.
    c : > 0, penalty weight of the hinge loss, of ``svm``; None trains ``rsvm``.
    w_cap : W > 0, of ``rsvm``; None takes (RW + 1) / n = 0.1, as the method ``rsvm`` does, on the selected features.
    own : whether ``svm`` is solved by the interior point first, as in
        :func:`fsopt.methods.large_programs.interior_order`.

    Raises
    ------
    SolverError : it was not solved, or the solver gives no multipliers.
    """
    part = _part(work, subset)
    warnings: tuple[str, ...] = ()
    outcome: SolveResult | DriverResult
    if c is None:
        found = yield from solve_rsvm(part, run, w_cap=_default_capacity(part) if w_cap is None else w_cap)
        v, b = found.w, found.b
        outcome, certificate = found.outcome, found.certificate
        details: dict[str, Any] = dict(found.details)
        warnings = found.warnings
    else:
        (v, b, alpha, outcome), warnings = yield from _svm(part, run, c, own)
        certificate = certify(part, SQUARES, c, v, b, alpha)
        details = {"c": c, "alpha": alpha}
    w = np.zeros(work.p)
    w[subset] = v[: len(subset)]
    certificate = replace(certificate, notes=(NOTE,))
    outcome = replace(
        outcome,
        status=Status.FEASIBLE,
        stop="complete" if certificate.ok else outcome.stop,
        objective=certificate.objective,
        bound=None,
        certificate=certificate,
    )
    details |= {"chosen": subset, "machine": "rsvm" if c is None else "svm"}
    return SubsetSvm(w, b, certificate, outcome, details, warnings)


def check_subset_svm(saved: SavedFit, subset: Indices) -> Certificate:
    """Certify the last support vector machine of a saved fit again, a heuristic answer without a bound.

    Parameters
    ----------
    subset : places of the features that the method selects before it, computed again.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    fit, data = saved.fit, saved.data
    with reading("proof"):
        alpha = finite_vector(fit.details["alpha"], data.n)
        asked_machine = "rsvm" if fit.method in RIGOROUS else "svm"
        name = "w_cap" if asked_machine == "rsvm" else "c"
        setting = float(fit.details[name])
        if not setting > 0:
            raise ValueError(f"{name} > 0 is needed")
        stated = np.array(fit.details["chosen"], dtype=float)
        chosen_machine = fit.details["machine"]
    part = _part(data, subset)
    w = np.resize(saved.w[subset], part.p)
    asked = fit.params.get(name)
    numbers: dict[str, float] = {}
    if name == "w_cap":
        asked = _default_capacity(part) if asked is None else asked
        with reading("proof"):
            numbers = stated_residuals(part, w, alpha, fit.details)
        found = certify(part, capped(setting), 1.0, w, saved.b, alpha)
    else:
        found = certify(part, SQUARES, setting, w, saved.b, alpha)
    others = np.setdiff1d(np.arange(data.p), subset)
    wrong = {
        **numbers,
        "machine": float(chosen_machine != asked_machine),
        "parameters": 0.0 if asked is None else abs(setting / float(asked) - 1.0),
        "chosen": float(not np.array_equal(stated, subset)),
        "selection": float(np.abs(saved.w[others]).max(initial=0.0)),
        "support": float(saved.selection != fit.support),
        "status": float(fit.status is not Status.FEASIBLE),
    }
    # The bound is one on these features only: the method has none. One that ended early claims no optimum of them.
    notes: tuple[str, ...] = (NOTE,)
    if fit.stop != "complete":
        inside = {name: residual for name, residual in found.residuals.items() if name != "gap"}
        found, notes = make(Kind.FEASIBLE, inside, objective=found.objective), ()
    return replace(extend(found, wrong), bound=None, bound_source="", notes=notes)


def _default_capacity(part: Dataset) -> float:
    """Return the capacity of a rigorous support vector machine on these features where none was given."""
    radius = squared_radius(part)
    return default_capacity(part.total, radius if radius > 0 else 1.0)


def _part(work: Dataset, subset: Indices) -> Dataset:
    """Return the data of these features, dense; one feature of zeros where there are none."""
    if not len(subset):
        return Dataset(np.zeros((work.n, 1)), work.y, weights=work.weights)
    part = work.columns(subset)
    return part.with_X(part.X.toarray()) if part.sparse else part  # type: ignore[attr-defined]


def _svm(part: Dataset, run: Run, c: float, own: bool) -> Steps[tuple[_Trained, tuple[str, ...]]]:
    """Return hyperplane, multipliers and outcome of the support vector machine, and warnings."""

    def by_driver() -> Steps[_Trained]:
        found = yield from minimise.steps(part, c=c, tolerance=TOLERANCE, run=run)
        return found.point["w"], found.point["b"], found.point["alpha"], found

    def by_model() -> _Trained:
        model = build_svm(part, c=c)
        session, result = run.solve(model, "the last support vector machine", load=False)
        assert result.point is not None
        w, alpha = result.point.x[session.columns(model.w)], multipliers(session, result, model.margin)
        return w, midpoint_intercept(part.X @ w, part.y, part.weights), alpha, result

    routes = [by_driver if direct else by_model for direct in interior_order(part, run, own=own)]
    return (yield from first_certified(routes, lambda found: found[3]))


def svm_objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (1) of Aytug, the objective value of the last support vector machine."""
    return svm_value(data, w, b, at["c"]), 0.0


def rsvm_objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the hinge loss of (13) of Bi, the objective value of the last rigorous support vector machine."""
    return hinge(data.X @ w + b, data.y, data.weights), 0.0
