"""Method ``gmeb-penalised`` (Peleg & Meir, (10)): penalty weights instead of radii, solved to global optimality."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, gap_allowed, make, merged
from fsopt.answers.fits import Fit
from fsopt.answers.results import Status
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.scale_search import ShareInterval, certify_scale_search, scale_search
from fsopt.errors import reading
from fsopt.methods.gmeb.gmeb import unit_rms
from fsopt.methods.large_programs import generation_order
from fsopt.methods.preprocessing import Hyperplane, SelectionRule, make_fit
from fsopt.methods.spec import MethodSpec, SavedFit, Value, selected_by
from fsopt.methods.verdict import finite_vector
from fsopt.models.blocks import number
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty, build_gmeb_weighted_l1
from fsopt.typing import Vector

EPSILON = 1e-9
"""The linear programs end at vertices, whose zeros are exact up to rounding."""
RULE = SelectionRule(units="scaled", epsilon=EPSILON)
TOLERANCE = 1e-6
"""The search stops at ``upper - lower <= TOLERANCE * max(1, upper)``."""


def fit_gmeb_penalised(
    data: Dataset,
    run: Run,
    *,
    c_plus: float = 4.0,
    c_minus: float = 4.0,
    scale: str = "center",
) -> Steps[Fit]:
    r"""Fit the classifier of smallest generalization error bound with penalty weights on its two norm terms.

    .. math::

        \min\ \tfrac1n 1'\xi + \tfrac{C_+\sqrt{n_+}}{n}\sqrt{v^{+\prime}\sigma^2}
        + \tfrac{C_-\sqrt{n_-}}{n}\sqrt{v^{-\prime}\sigma^2}
        \quad\text{s.t.}\quad w'w \le 1,\quad y_i\Big(\sum_j w_j\sigma_j x_{ij} + b\Big) \ge 1 - \xi_i,
        \quad \xi, \sigma \ge 0

    It is not convex, and (15) is another problem: every optimum of this one solves (15) at the radii
    :math:`v^{\pm\prime}\sigma^2` (Lemma 13), but there are radii that no penalty weights lead to. Features are centred
    as for ``gmeb``; the problem is invariant to their units. Large data are solved without a model of them, by column
    generation, with the same evidence.

    Parameters
    ----------
    c_plus : float, default 4.0
        C+ > 0, penalty weight of the norm term of class +1; the paper's bound has 4.
    c_minus : float, default 4.0
        C- > 0, penalty weight of the norm term of class -1; the paper's bound has 4.
    scale : str, default 'center'
        Preprocessing of the features: ``center`` (default), ``standard`` or ``none``.

    Returns
    -------
    Fit
        ``coef`` is w_j sigma_j. ``objective`` is (10), ``bound`` the lower bound that was proved; ``optimal`` where
        they meet. ``details`` has ``sigma`` (p,) of (10), not squared, in preprocessed units (its w is the weight over
        sigma); ``penalties``, the two norm terms; and the evidence, ``leaves`` of the search.

    Raises
    ------
    ParameterError : a penalty weight that is not positive.

    Notes
    -----
    Peleg & Meir, problems (7) and (10), with :math:`\sigma_j = 0` wherever :math:`w_j = 0` (Remark 12).
    """
    started = time.perf_counter()
    name = "gmeb-penalised"
    c_plus = number(name, "c_plus", c_plus)
    c_minus = number(name, "c_minus", c_minus)
    prepared = unit_rms(data, scale)
    work = prepared.work
    penalty = GmebPenalty.of(work, c_plus, c_minus)
    generate = generation_order(work, run)[0]
    model = None if generate else build_gmeb_weighted_l1(work, c_plus=c_plus, c_minus=c_minus)
    result = yield from scale_search.steps(work, model, penalty, tolerance=TOLERANCE, run=run)
    found = result.point["w"]
    scales, w = penalty.scales(found), prepared.full(found)
    zero: tuple[str, ...] = ()
    if result.status is Status.OPTIMAL and not found.any():
        zero = ("w = 0: the penalties outweigh every feature, lower c_plus and c_minus",)
    return make_fit(
        data,
        prepared.map_,
        Hyperplane(w, result.point["b"], RULE.select(w / prepared.map_.scale, data.X.std(axis=0))),
        result,
        started=started,
        warnings=prepared.warnings + zero,
        details={
            "sigma": prepared.full(scales),
            "penalties": [float(np.sqrt(part @ scales**2)) for part in (penalty.alpha, penalty.beta)],
            "leaves": [asdict(leaf) for leaf in result.point["leaves"]],
        },
    )


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again from the leaves of its search.

    Raises
    ------
    FileError : the saved leaves are damaged, or there are no saved bounds.
    """
    fit, data = saved.fit, saved.raw
    with reading("proof"):
        prepared = unit_rms(data, fit.params["scale"])
        penalty = GmebPenalty.of(prepared.work, fit.params["c_plus"], fit.params["c_minus"])
        if fit.objective is None or fit.bound is None:
            raise ValueError("it has no objective or no bound")
        leaves = [_leaf(record, data.n) for record in fit.details["leaves"]]
        found = certify_scale_search(prepared.work, penalty, leaves, fit.objective, fit.bound, TOLERANCE)
        stated = finite_vector(fit.details["sigma"], data.p)[prepared.kept] * prepared.units
        weights = (fit.coef * fit.preprocessing.scale)[prepared.kept] * prepared.units
        difference = np.abs(stated - penalty.scales(weights))
    scales = {"scales": float(difference.max() / max(1.0, stated.max()))}
    checks = merged(found.residuals, scales)
    # The gap alone may be as large as the parameter tolerance.
    gap = checks.pop("gap")
    if fit.status is Status.OPTIMAL:
        checks["gap"] = max(gap - gap_allowed(TOLERANCE), 0.0)
    return make(
        Kind.GLOBAL,
        checks,
        objective=fit.objective,
        bound=fit.bound,
        bound_source=found.bound_source,
    )


def exact_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a fit, which is not shown: the weights of its leaves are square roots, in doubles."""
    return [not_shown("the optimum of (10)", "the weights of its leaves are square roots, verified numerically alone")]


def _leaf(record: Mapping[str, Any], n: int) -> ShareInterval:
    """Return a leaf from plain data; raises KeyError, TypeError or ValueError where these are damaged."""
    lam, mu = finite_vector(record["lam"], 2), np.array(record["mu"], dtype=float)
    if mu.shape != (2, n) or not np.isfinite(mu).all():
        raise ValueError(f"multipliers of the shape {mu.shape}")
    return ShareInterval(float(record["left"]), float(record["right"]), float(record["share"]), lam, mu)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (10) with its 1/n at a hyperplane; it has no constraints in this form."""
    penalty, _ = GmebPenalty.of(data, at["c_plus"], at["c_minus"]).at(w)
    return hinge(data.X @ w + b, data.y) / data.n + penalty, 0.0


SPEC = MethodSpec(
    "gmeb-penalised",
    fit_gmeb_penalised,
    ("gmeb-weighted-l1",),
    objective=objective,
    check=check,
    paper="gmeb",
    equation="(7)/(10)",
    estimator="GMEBPenalised",
    driver="scale-search",
    support=partial(selected_by, RULE),
    exact=exact_claims,
    threshold=EPSILON,
)
