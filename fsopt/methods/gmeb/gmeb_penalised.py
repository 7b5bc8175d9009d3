"""Methods ``gmeb-penalised`` (Peleg & Meir, (10)) and ``svm-norm`` (section 5): the bound with penalty weights.

The first has them instead of radii, and is solved to global optimality; the second has no feature scaling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.scale_search import ShareInterval, certify_scale_search, scale_search
from fsopt.methods.baselines import machines
from fsopt.methods.preprocessing import UnitRms, make_fit, unit_rms
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import finite_vector
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty
from fsopt.typing import Vector

EPSILON = 1e-9
"""The linear programs end at vertices, whose zeros are exact up to rounding."""
TOLERANCE = 1e-6
"""The search stops at ``upper - lower <= TOLERANCE * max(1, upper)``."""


FLAT = 1e-3
"""Span of the scores up to which w is 0 up to the noise of a solver: that of another w is at least 2."""


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
    as for ``gmeb``; the problem is invariant to their units. The linear programs are solved by column generation.

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
    prepared = unit_rms(data, scale)
    work = prepared.work
    penalty = GmebPenalty.of(work, c_plus, c_minus)
    result = yield from scale_search.steps(work, penalty, tolerance=TOLERANCE, run=run)
    details = {"leaves": [asdict(leaf) for leaf in result.point["leaves"]]}
    return make_fit(prepared.map_, prepared.full(result.point["w"]), result.point["b"], result, details=details)


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return sigma (p,) of (10), and its two norm terms."""
    prepared, penalty = _problem(saved)
    scales = penalty.scales(saved.w[prepared.kept] * prepared.units)
    terms = [float(np.sqrt(part @ scales**2)) for part in (penalty.alpha, penalty.beta)]
    return {"sigma": prepared.full(scales), "penalties": terms}


def _problem(saved: SavedFit) -> tuple[UnitRms, GmebPenalty]:
    """Return the data of a saved fit in units of unit root mean square, and the penalty there."""
    prepared = unit_rms(saved.raw, saved.fit.params["scale"])
    return prepared, GmebPenalty.of(prepared.work, saved.fit.params["c_plus"], saved.fit.params["c_minus"])


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again from the leaves of its search."""
    fit, (prepared, penalty) = saved.fit, _problem(saved)
    if fit.objective is None or fit.bound is None:
        raise ValueError("it has no objective or no bound")
    leaves = [_leaf(record, saved.raw.n) for record in fit.details["leaves"]]
    found = certify_scale_search(prepared.work, penalty, leaves, fit.objective, fit.bound, TOLERANCE)
    optimal = fit.status is Status.OPTIMAL
    residuals = {name: value for name, value in found.residuals.items() if optimal or name != "gap"}
    return replace(found, ok=make(Kind.GLOBAL, residuals).ok, residuals=residuals)


def _leaf(record: Mapping[str, Any], n: int) -> ShareInterval:
    """Return a leaf from plain data; raises KeyError, TypeError or ValueError where these are damaged."""
    mu = finite_vector(np.ravel(record["mu"]), 2 * n).reshape(2, n)
    return ShareInterval(float(record["left"]), float(record["right"]), float(record["share"]), mu)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (10) with its 1/n at a hyperplane; it has no constraints in this form."""
    penalty, _ = GmebPenalty.of(data, at["c_plus"], at["c_minus"]).at(w)
    return hinge(data.X @ w + b, data.y) / data.n + penalty, 0.0


def fit_svm_norm(data: Dataset, run: Run, *, c: float = 1.0, scale: str = "center") -> Steps[Fit]:
    r"""Fit the support vector machine with an unsquared norm: GMEB without feature scaling.

    .. math:: \min\ \tfrac12\|w\| + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Divided by :math:`\|w\|` its hyperplane minimises (9), the bound of Theorem 11. It selects nothing.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss. Up to a threshold, see :func:`fsopt.models.gmeb.svm_norm.build_svm_norm`,
        w is 0, with a warning.
    scale : str, default 'center'
        Preprocessing of the features: ``center`` (default), ``standard`` or ``none``.

    Returns
    -------
    Fit
        ``objective`` is (19), in preprocessed units.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Peleg & Meir, (9), (18), (19) and Theorem 20.
    """
    fit = yield from machines.fit_machine("svm-norm", data, run, c, scale=scale)
    if float(np.ptp((data.X - data.X.mean(axis=0)) @ fit.coef)) > FLAT:
        return fit
    return replace(fit, warnings=("w is 0: C is below its threshold, and (18) has no minimiser", *fit.warnings))


SPECS = (
    MethodSpec(
        "gmeb-penalised",
        fit_gmeb_penalised,
        ("l1-hinge-part",),
        objective=objective,
        check=check,
        equation="(7)/(10)",
        estimator="GMEBPenalised",
        driver="scale-search",
        numbers=numbers,
        threshold=EPSILON,
    ),
    MethodSpec(
        "svm-norm",
        fit_svm_norm,
        ("svm-norm",),
        equation="(9), (19), section 5",
        estimator="NormSVM",
        driver="interior-point",
    ),
)
