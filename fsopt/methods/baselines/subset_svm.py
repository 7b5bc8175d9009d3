"""The machine that is trained on features chosen beforehand: by a filter, or by many sparse machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers, svm_value
from fsopt.drivers.run import Run, usable
from fsopt.errors import ParameterError, reading
from fsopt.methods.assembly import extend
from fsopt.methods.mop.rsvm_training import certify_rsvm, default_capacity, solve_rsvm, squared_radius
from fsopt.methods.spec import SavedFit, Value
from fsopt.models.blocks import number
from fsopt.models.gbd.svm import build_svm
from fsopt.results import SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Indices, Vector

MACHINES = ("svm", "rsvm")


THRESHOLD = 1e-6


NOTE = "the machine is proved on the chosen features; nothing is claimed about their choice"


@dataclass(frozen=True)
class FinalSvm:
    """A machine on some features of preprocessed data.

    Attributes
    ----------
    w, b : (p,) and scalar; w is 0 on the features that were not chosen.
    support : the chosen features of nonzero weight.
    certificate : kind ``convex``: its objective is the machine's, its bound that of the multipliers ``alpha``.
    outcome : of the solver; ``feasible`` without a bound, as the choice of the features has no proof.
    details : what a check needs: ``chosen machine alpha``, and ``c`` or what
        :func:`fsopt.methods.mop.rsvm_training.solve_rsvm` gives.
    warnings : remarks that the user should read.
    """

    w: Vector
    b: float
    support: tuple[int, ...]
    certificate: Certificate
    outcome: SolveResult
    details: Mapping[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class LastSvm:
    r"""The support vector machine that is trained on the selected features.

    .. math::

        \text{svm: } \min\ \tfrac12 w'w + C e'\xi, \qquad \text{rsvm: } \min\ e'\xi \ \text{with}\ w'w \le W

    Attributes
    ----------
    machine : ``svm`` or ``rsvm``.
    c : > 0, penalty weight of the hinge loss, of ``svm``.
    w_cap : W > 0, of ``rsvm``; None takes (RW + 1) / n = 0.1, as the method ``rsvm`` does, on the selected features.
    """

    machine: str
    c: float
    w_cap: float | None

    def check(self, method: str) -> None:
        """Raise ParameterError for a parameter out of range, before anything is solved."""
        if self.machine not in MACHINES:
            raise ParameterError(f"machine is {self.machine!r}", f"one of {', '.join(MACHINES)}")
        number(method, "c", self.c, low=0.0, strict=True)
        if self.w_cap is not None:
            number(method, "w_cap", self.w_cap, low=0.0, strict=True)


def train_final(work: Dataset, chosen: Indices, run: Run, last: LastSvm) -> FinalSvm:
    """Train the last support vector machine on the selected features.

    Parameters
    ----------
    work : preprocessed, all features.
    chosen : places of features, perhaps none.

    Raises
    ------
    SolverError : it was not trained, or the solver gives no multipliers.
    """
    part = _part(work, chosen)
    warnings: tuple[str, ...] = ()
    if last.machine == "rsvm":
        radius = squared_radius(part)
        cap = default_capacity(work.n, radius if radius > 0 else 1.0) if last.w_cap is None else last.w_cap
        found = solve_rsvm(part, run, w_cap=cap)
        v, b, outcome, certificate = found.w, found.b, found.outcome, found.certificate
        details: dict[str, Any] = dict(found.details)
        warnings = found.warnings
    else:
        v, b, alpha, outcome = _svm(part, run, last.c)
        certificate = certify_svm(part, last.c, v, b, alpha)
        details = {"c": last.c, "alpha": alpha}
    w = np.zeros(work.p)
    w[chosen] = v[: len(chosen)]
    stop = "complete" if certificate.ok else outcome.stop
    return FinalSvm(
        w,
        b,
        _support(w),
        replace(certificate, notes=(NOTE,)),
        replace(outcome, status=Status.FEASIBLE, stop=stop, bound=None),
        {**details, "chosen": chosen, "machine": last.machine},
        warnings,
    )


def certify_svm(data: Dataset, c: float, w: Vector, b: float, alpha: Vector) -> Certificate:
    r"""Certify a plane as the optimum of the support vector machine (1) of paper 4, in numpy alone.

    Every :math:`\alpha \in [0, C]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \tfrac12\|X'Y\alpha\|^2`.
    """
    turned = project_multipliers(alpha, data.y, c) * data.y
    bound = float(turned @ data.y) - 0.5 * float(((data.X.T @ turned) ** 2).sum())
    value = svm_value(data, w, b, c)
    return make(
        Kind.CONVEX, {"gap": relative_gap(value, bound)}, objective=value, bound=bound, bound_source="dual point"
    )


def check_final_svm(claim: SavedFit, chosen: Indices) -> Certificate:
    """Recompute the proof of the last machine on the features that the saved fit should have chosen."""
    fit, data = claim.fit, claim.data
    with reading("proof"):
        alpha = np.array(fit.details["alpha"], dtype=float)
        at = "w_cap" if fit.params["machine"] == "rsvm" else "c"
        price = float(fit.details[at])
        if alpha.shape != (data.n,) or not np.isfinite(alpha).all() or not price > 0:
            raise ValueError(f"{data.n} multipliers and {at} > 0 are needed")
        claimed = np.array(fit.details["chosen"], dtype=int)
    certify = certify_rsvm if at == "w_cap" else certify_svm
    part = _part(data, chosen)
    found = certify(part, price, np.resize(claim.w[chosen], part.p), claim.b, alpha)
    others = np.setdiff1d(np.arange(data.p), chosen)
    asked = fit.params.get(at)
    wrong = {
        "parameters": 0.0 if asked is None else abs(price / float(asked) - 1.0),
        "chosen": float(not np.array_equal(claimed, chosen)),
        "selection": float(np.abs(claim.w[others]).max(initial=0.0)),
        "support": float(_support(claim.w) != fit.support),
        "status": float(fit.status is not Status.FEASIBLE),
    }
    return replace(extend(found, {**claim.residuals, **wrong}), notes=(NOTE,))


def _part(work: Dataset, chosen: Indices) -> Dataset:
    """Return the chosen columns; one of zeros where there are none."""
    return work.columns(chosen) if len(chosen) else Dataset(np.zeros((work.n, 1)), work.y)


def _support(w: Vector) -> tuple[int, ...]:
    return tuple(np.flatnonzero(np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0)).tolist())


def _svm(part: Dataset, run: Run, c: float) -> tuple[Vector, float, Vector, SolveResult]:
    """Return plane and multipliers of the support vector machine, and the outcome of its solver."""
    model = build_svm(part, c=c)
    session = Session(model, run.solver, options=run.options)
    result = usable(session.solve(time_limit=run.time_limit, load=False), "the last machine")
    if result.point is None or result.point.y is None:
        raise no_multipliers(result.solver, session.problem_class)
    w = result.point.x[session.columns(model.w)]
    return w, midpoint_intercept(part.X @ w, part.y), result.point.y[session.rows(model.margin)], result


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the objective value of the last support vector machine: (1) of Aytug, or the hinge loss of (13) of Bi."""
    if at["machine"] == "svm":
        return svm_value(data, w, b, at["c"]), 0.0
    return hinge(data.X @ w + b, data.y), 0.0
