"""Methods ``fsv``, ``misclass`` and ``pmm`` (Mangasarian): few features, or few misclassified samples.

``fsv`` and ``misclass`` minimise a concave function of the errors of a hyperplane and the sizes of its weights over a
polyhedron, by successive linearisation (SLA). The last linear program proves the minimum principle at the answer.
``pmm`` is parametric minimisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import Status
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors, weights_of_classes
from fsopt.data.matrices import largest_values
from fsopt.drivers.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.penalties import step_costs
from fsopt.drivers.pmm import StationaryPoint, certify_pmm, pmm
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.sla import NONNEGATIVE, ConcaveHinge, ConcaveTerms, sla, sla_by_column_generation
from fsopt.methods.claims import CONCAVE, of_pmm, of_step
from fsopt.methods.large_programs import uses_generation
from fsopt.methods.preprocessing import make_fit, preprocess, without_rounding
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import check_first_order, finite_vector, saved_alpha
from fsopt.models.registry import build
from fsopt.models.sla.hyperplane import iterate_of_costs


def concave_hinge(data: Dataset, alpha: float, lam: float | None = None, approx: str = "exp") -> ConcaveHinge:
    """Return (21) as a function of errors and weights, or (20), which has no lambda."""
    if lam is None:
        return ConcaveHinge(np.ones(data.n), alpha, 0.0, counted=True)
    shares = np.where(data.y > 0, 1.0 / np.sum(data.y > 0), 1.0 / np.sum(data.y < 0))
    positive, negative = weights_of_classes(data.y, data.weights)
    shares = shares * np.where(data.y > 0, positive, negative)
    return ConcaveHinge((1 - lam) * shares, alpha, lam, counted=False, approx=approx)


def fit_linearised(
    data: Dataset,
    run: Run,
    problem: ConcaveHinge,
    *,
    scale: str,
    n_starts: int = 1,
    seed: int = 0,
) -> Steps[Fit]:
    """Run SLA on (20) or (21), and return the Fit of its last hyperplane, rounded weights 0."""
    work, map_ = preprocess(data, scale)
    if uses_generation(work, run, features=not problem.counted):
        result = yield from sla_by_column_generation.steps(work, problem, n_starts=n_starts, seed=seed, run=run)
        at = result.point
        b, details = at["b"], {} if at["alpha"] is None else {"alpha": at["alpha"]}
    else:
        slug, weight = ("misclass-step", {}) if problem.counted else ("fsv-step", {"lam": problem.omega})
        names = [name for (name,) in CONCAVE[slug]]
        pairs = tuple((k, f"cost_{k}") for k in names)
        terms = ConcaveTerms(pairs, problem.alpha, weight.get("lam", 1.0), problem.approx)
        model = build(slug, work, alpha=problem.penalty.slope, **weight)
        result = yield from sla.steps(model, terms, n_starts=n_starts, seed=seed, run=run)
        at = result.point
        b, details = -at["gamma"], {"point": at["proof"]}  # the primal-dual point of the last LP
    w, values = without_rounding(at["w"], largest_values(work.X)), [one["objective"] for one in at["starts"]]
    more = len(values) - n_starts
    warnings = [f"the start from zero ended at w = 0: {more} random starts were added"] if more > 0 else []
    return make_fit(map_, w, b, result, warnings=tuple(warnings), details={**details, "starts": values})


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return the number of samples on the wrong side of the hyperplane or on it."""
    return {"plane_errors": hyperplane_errors(saved.data, saved.w, saved.b)}


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit: its optimum 0, or the minimum principle, by multipliers (to 1e-6) or the last LP (1e-5)."""
    data, at = saved.data, saved.params
    problem = concave_hinge(data, at["alpha"], at.get("lam"), at.get("approx", "exp"))
    errors, sizes = np.maximum(1.0 - data.y * (data.X @ saved.w + saved.b), 0.0), np.abs(saved.w)
    value = problem.value(errors, sizes)  # the polyhedron holds the errors and sizes of every hyperplane
    if saved.fit.status is Status.OPTIMAL:
        zero = {"gap": relative_gap(value, 0.0)}  # every term of (20) and (21) is nonnegative
        return make(Kind.GLOBAL, zero, objective=value, bound=0.0, bound_source=NONNEGATIVE)
    if "alpha" in saved.fit.details:
        found = certify_l1_hinge(data, *problem.slopes(errors, sizes), saved.w, saved.b, saved_alpha(saved))
        principle = {"minimum principle": found.residuals["gap"], "cost": found.residuals["cost"]}
        return make(Kind.SLA, principle, objective=value, tolerance=found.tolerance)
    # The costs phi'(v) are those of the exponential of the same slope at another iterate.
    slope = problem.penalty.slope
    sizes = iterate_of_costs(slope, step_costs(problem.penalty, sizes))
    step = {**at, "alpha": slope, "y": errors[data.y > 0], "z": errors[data.y < 0], "v": sizes}
    return replace(check_first_order(saved, Kind.SLA, step), objective=value)


def fit_fsv(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    approx: str = "exp",
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit a hyperplane in few features by concave minimisation (FSV).

    .. math:: \min\ (1-\lambda)\Bigl(\tfrac1m \sum_{y_i = 1} e_i + \tfrac1k \sum_{y_i = -1} e_i\Bigr)
        + \lambda \sum_j \varphi(|w_j|), \qquad e_i = \max(0, 1 - y_i(w'x_i + b))

    Of many samples or features each step is solved by restricted programs of some of them,
    :func:`fsopt.drivers.column_generation`.

    Parameters
    ----------
    lam : float, default 0.05
        In [0, 1], weight of feature suppression.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    approx : str, default 'exp'
        The approximation phi of the step function: ``exp`` (default, the paper's 1 - exp(-alpha t)); ``log``, ``lp``
        and ``inverse-power``, with which Rinaldi & Sciandrone minimise (21), too; ``capped-l1`` or ``scad``; or one of
        your own by its name, see :func:`fsopt.extend.register_penalty`.
    n_starts : int, default 1
        >= 1, runs of SLA, of which the best is returned: the first from zero, the others from v drawn from U(0, 1).
        Runs are added where the first one ends at w = 0, with a warning.
    seed : int, default 0
        >= 0, of the random starts.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it. The
        paper's is ``none``.

    Returns
    -------
    Fit
        ``objective`` is (21), in preprocessed units; ``optimal`` where it is 0, else ``stationary`` where the minimum
        principle was certified, without any statement on global optimality. ``details`` as for ``misclass``.

    Raises
    ------
    ParameterError : a number outside its range, or another word for ``approx``.

    Notes
    -----
    Mangasarian, (21), section 4 and Algorithm 4.1. Rinaldi & Sciandrone, *Feature selection combining linear support
    vector machines and concave optimization*, Optimization Methods and Software 25 (2010), with 1 / alpha for epsilon.
    """
    problem = concave_hinge(data, alpha, lam, approx)
    return fit_linearised(data, run, problem, scale=scale, n_starts=n_starts, seed=seed)


FSV = MethodSpec(
    "fsv",
    fit_fsv,
    ("fsv-step",),
    check=check,
    equation="(21)",
    estimator="FSV",
    driver="sla",
    sparse=True,
    weights="classes",
    numbers=numbers,
    exact=of_step,
    grid=(("lam", (0.01, 0.05, 0.2)),),
)


def fit_misclass(
    data: Dataset,
    run: Run,
    *,
    alpha: float = 5.0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit the hyperplane with few misclassified samples by successive linearisation.

    .. math:: \min\ \sum_i (1 - e^{-\alpha e_i}), \qquad e_i = \max(0, 1 - y_i(w'x_i + b))

    Of many samples each step is solved by restricted programs of some of them,
    :func:`fsopt.drivers.column_generation`.

    Parameters
    ----------
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the problem is invariant to it,
        its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is (20); ``optimal`` where it is 0, else ``stationary`` where the minimum principle was certified,
        without any statement on global optimality. ``details``: ``plane_errors``, how many samples are misclassified or
        on the hyperplane; ``starts``, the objective of each run; the evidence, the last step: ``point`` or ``alpha``.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Mangasarian, (20), section 4 and Algorithm 4.1.
    """
    return fit_linearised(data, run, concave_hinge(data, alpha), scale=scale)


MISCLASS = MethodSpec(
    "misclass",
    fit_misclass,
    ("misclass-step",),
    check=check,
    equation="(20)",
    estimator="MisclassificationMinimizer",
    driver="sla",
    sparse=True,
    numbers=numbers,
    exact=of_step,
)


def fit_pmm(data: Dataset, run: Run, *, scale: str = "standard") -> Steps[Fit]:
    r"""Fit the hyperplane with few misclassified samples by parametric minimisation (PMM).

    For a number d of samples that may be misclassified,

    .. math:: f(d) = \min_{w, b, r}\ \sum_i (1 - r_i) \max(0, 1 - y_i(w'x_i + b))
        \quad\text{s.t.}\quad e'r \le d,\ 0 \le r \le e

    is bilinear; the smallest d with f(d) = 0 is searched for, each f(d) minimised locally. Each
    linear program is solved by restricted programs of some samples, :func:`fsopt.drivers.column_generation`.

    Parameters
    ----------
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the problem is invariant to it,
        its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is the number of samples on the wrong side of the hyperplane or on it, an upper bound on the
        smallest one; ``optimal`` where it is 0; ``stationary`` where the search for one error less ended at the minimum
        principle, whose evidence is ``details["below"]``.

    Notes
    -----
    Mangasarian, (16) and Table 1; the algorithm is :func:`fsopt.drivers.pmm`.
    """
    work, map_ = preprocess(data, scale)
    result = yield from pmm.steps(work, run=run)
    at = result.point
    return make_fit(map_, at["w"], -at["gamma"], result, details={"below": at["below"]})


def check_pmm(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a fit from its saved details; raises FileError where they are damaged."""
    value = float(hyperplane_errors(saved.data, saved.w, saved.b))
    return replace(certify_pmm(saved.data, int(saved.fit.objective or 0), _below(saved)), objective=value)


def _below(saved: SavedFit) -> StationaryPoint | None:
    """Return the end of the search for one error less; raises KeyError, TypeError or ValueError where it is damaged."""
    below = saved.fit.details.get("below")
    if below is None or isinstance(below, StationaryPoint):
        return below
    alpha = None if below["alpha"] is None else finite_vector(below["alpha"], saved.data.n)
    w = finite_vector(below["w"], saved.data.p)
    return StationaryPoint(int(below["d"]), float(below["value"]), w, float(below["b"]), alpha)


PMM = MethodSpec(
    "pmm",
    fit_pmm,
    ("misclass-step",),
    check=check_pmm,
    numbers=numbers,
    equation="(16), Table 1",
    estimator="PMM",
    driver="pmm",
    exact=of_pmm,
)
SPECS = (MISCLASS, PMM, FSV)
