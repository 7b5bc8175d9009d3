"""Method ``gmeb-penalised``: paper 1's problem (10), prices instead of radii, to proved global optimality."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.run import Run
from fsopt.drivers.scale_search import Leaf, certify_scale_search, scale_search
from fsopt.errors import FileError, reading
from fsopt.methods.assembly import make_fit
from fsopt.methods.gmeb.unit_rms import unit_columns
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import check_rule, select_by_size
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.blocks import number
from fsopt.models.gmeb.gmeb_weighted_l1 import build_gmeb_weighted_l1
from fsopt.models.gmeb.moments import second_moments
from fsopt.models.gmeb.penalty import GmebPenalty
from fsopt.results import Fit, Status
from fsopt.typing import Vector


def fit_gmeb_penalised(
    data: Dataset,
    run: Run,
    *,
    c_plus: float = 4.0,
    c_minus: float = 4.0,
    tolerance: float = 1e-6,
    scale: str = "center",
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = 1e-9,
) -> Fit:
    r"""Fit the classifier of least generalization error bound with prices on its two norm terms.

    .. math::

        \min\ \tfrac1n 1'\xi + \tfrac{C_+\sqrt{n_+}}{n}\sqrt{v^{+\prime}\sigma^2}
        + \tfrac{C_-\sqrt{n_-}}{n}\sqrt{v^{-\prime}\sigma^2}
        \quad\text{s.t.}\quad w'w \le 1,\quad y_i\Big(\sum_j w_j\sigma_j x_{ij} + b\Big) \ge 1 - \xi_i,
        \quad \xi, \sigma \ge 0

    It is not convex, and (15) is another problem: every optimum of this one solves (15) at the radii that
    :func:`radii_of` returns (Lemma 13), but there are radii that no prices lead to. Columns are centred as for
    ``gmeb``; their units are irrelevant.

    Parameters
    ----------
    c_plus, c_minus : C+ and C- > 0; the paper's bound has 4.
    tolerance : as in :func:`fsopt.drivers.scale_search.scale_search`.
    scale : ``center`` (default), ``standard`` or ``none``.
    rule, units, epsilon : which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`.

    Returns
    -------
    Fit
        ``coef`` is w_j sigma_j. ``objective`` is (10), ``bound`` the lower bound that was proved; ``optimal`` where
        they meet. ``details`` has ``sigma`` (p,) of (10), not squared, in preprocessed units (its w is the weight over
        sigma); ``penalties``, the two norm terms; and the proof, ``leaves`` of the search.

    Raises
    ------
    ParameterError : a price that is not positive, a negative tolerance.

    Notes
    -----
    Paper 1, problems (7) and (10), with :math:`\sigma_j = 0` wherever :math:`w_j = 0` (Remark 12).
    """
    started = time.perf_counter()
    name = "gmeb-penalised"
    c_plus = number(name, "c_plus", c_plus, low=0.0, strict=True)
    c_minus = number(name, "c_minus", c_minus, low=0.0, strict=True)
    tolerance = number(name, "tolerance", tolerance, low=0.0)
    check_rule(rule, units, epsilon)
    columns = unit_columns(data, scale)
    work, warnings = columns.work, columns.warnings
    penalty = GmebPenalty.of(work, c_plus, c_minus)
    result = scale_search(work, build_gmeb_weighted_l1(work, c_plus=c_plus, c_minus=c_minus), penalty, tolerance=tolerance, run=run)  # fmt: skip
    assert result.objective is not None
    found = result.point["w"]
    if not found.any():
        warnings.append("w = 0: the prices outweigh every feature, lower c_plus and c_minus")
    scales, w = penalty.scales(found), columns.full(found)
    support = select_by_size(w / columns.map_.scale, data.X.std(axis=0), rule=rule, units=units, epsilon=epsilon)
    details = {
        "sigma": columns.full(scales),
        "penalties": [float(np.sqrt(part @ scales**2)) for part in (penalty.alpha, penalty.beta)],
        "leaves": [asdict(leaf) for leaf in result.point["leaves"]],
    }
    return make_fit(
        data, columns.map_, Hyperplane(w, result.point["b"], support), objective=result.objective, outcome=result,
        started=started, warnings=tuple(warnings), details=details,
    )  # fmt: skip


def check(claim: SavedFit) -> Certificate:
    """Recompute the proof of a saved fit from the data.

    Raises
    ------
    FileError : the saved proof is damaged.
    """
    fit, data = claim.fit, claim.raw
    if fit.objective is None or fit.bound is None:
        raise FileError("the saved fit has no objective or no bound", "fit again and save with -o")
    work, _, alive, units, _ = unit_columns(data, fit.params["scale"])
    penalty = GmebPenalty.of(work, fit.params["c_plus"], fit.params["c_minus"])
    with reading("proof"):
        leaves = [_leaf(record, data.n) for record in fit.details["leaves"]]
        found = certify_scale_search(work, penalty, leaves, fit.objective, fit.bound, fit.params["tolerance"])
        scales = np.array(fit.details["sigma"], dtype=float)[alive] * units
        drift = np.abs(scales - penalty.scales(fit.coef[alive] * fit.preprocessing.scale[alive] * units))
    checks = {**claim.residuals, **found.residuals, "scales": float(drift.max() / max(1.0, scales.max()))}
    if fit.status is not Status.OPTIMAL:
        checks.pop("gap")
    return make(Kind.GLOBAL, checks, tolerance=found.tolerance, objective=fit.objective, bound=fit.bound,
                bound_source=found.bound_source)  # fmt: skip


def _leaf(record: Mapping[str, Any], n: int) -> Leaf:
    lam, mu = np.array(record["lam"], dtype=float), np.array(record["mu"], dtype=float)
    if lam.shape != (2,) or mu.shape != (2, n):
        raise ValueError(f"multipliers of the shapes {lam.shape} and {mu.shape}")
    return Leaf(float(record["left"]), float(record["right"]), float(record["share"]), lam, mu)


def radii_of(fit: Fit, data: Dataset) -> tuple[float, float]:
    r"""Return the radii :math:`R_+ = v^{+\prime}\sigma^2` and :math:`R_- = v^{-\prime}\sigma^2` of a penalised fit.

    At these radii a globally optimal fit solves (11) and (15), too. Not conversely: prices reach only the radii at
    which the optimum of (15) has a supporting plane in :math:`(\sqrt{R_+}, \sqrt{R_-})`.

    Parameters
    ----------
    fit : of the method ``gmeb-penalised``; both radii are 0 where its w is 0.
    data : the data set that it was fitted to.

    Notes
    -----
    Paper 1, Lemma 13.
    """
    v_plus, v_minus = second_moments(data.with_X(fit.preprocessing.apply(data.X)))
    squared = np.asarray(fit.details["sigma"]) ** 2
    return float(v_plus @ squared), float(v_minus @ squared)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (10) with its 1/n at a hyperplane; it has no constraints in this form."""
    penalty, _ = GmebPenalty.of(data, at["c_plus"], at["c_minus"]).at(w)
    return hinge(data.X @ w + b, data.y) / data.n + penalty, 0.0


SPEC = MethodSpec(
    "gmeb-penalised",
    fit_gmeb_penalised,
    objective,
    check,
    ("gmeb-weighted-l1",),
    paper="gmeb",
    equation="(7)/(10)",
    driver="scale-search",
)
