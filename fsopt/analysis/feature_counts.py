"""The number of features of Aytug's programs: search over M by bisection, choice of lambda, rounded relaxation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsopt.analysis.cardinality import at_most
from fsopt.answers.fits import Fit
from fsopt.common.interruption import whole_or_interrupted
from fsopt.common.texts import counted
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import error_rate
from fsopt.data.splits import check_features
from fsopt.drivers.run import Run, usable
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane
from fsopt.methods.registry import METHODS, fit
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.fsp_m_perspective import build_fsp_m_perspective
from fsopt.models.gbd.svm import build_svm
from fsopt.search.branch_and_benders.local_search import LocalSearch
from fsopt.solvers.base import solve
from fsopt.typing import Vector

LARGEST_STEPS = 60
"""Halvings of an interval of lambda, after which its ends are one number."""


@dataclass(frozen=True)
class FeatureCount:
    """The result of a search.

    Attributes
    ----------
    value : the number of features M, or lambda.
    fit : the classifier there.
    tried : value -> error rate on the validation data, or number of features, in the order of the search.
    """

    value: float
    fit: Fit
    tried: Mapping[float, float] = field(default_factory=dict)


@whole_or_interrupted()
def fewest_features(
    train: Dataset, validation: Dataset, *, method: str = "best-subset", within: float = 0.01, **params: Any
) -> FeatureCount:
    r"""Return the smallest M, by bisection, whose error rate on validation data is near that of all features.

    .. math:: \min\ M \quad\text{s.t.}\quad \text{error}(M) \le \text{error}(p) + \epsilon

    The bisection fits about log2 p values of M. It finds the minimum where the condition, once met, is met by every
    larger M; an error rate need not behave like this, and the answer is then some M that meets it while M - 1 does not.

    Parameters
    ----------
    train, validation : data with the same features.
    method : one with the parameter ``m``.
    within : epsilon >= 0.
    params : further parameters of the method, and ``solver`` and ``time_limit`` of :func:`fsopt.fit`.

    Raises
    ------
    ParameterError : a method without m, a negative epsilon, or data with other features.

    Notes
    -----
    Aytug, section 3: "one can find one such value using a binary search".
    """
    check_features(train, validation, "validation")
    within = number("fewest_features", "within", within)
    if "m" not in METHODS[method].parameters:
        raise ParameterError(f"method '{method}' has no parameter 'm'", "one that has: best-subset, rfe, pearson")
    fits: dict[int, Fit] = {}
    errors: dict[float, float] = {}

    def error(m: int) -> float:
        fits[m] = fit(method, train, m=m, **params)
        errors[m] = error_rate(fits[m].decision_function(validation.X), validation.y)
        return errors[m]

    low, high = 0, train.p
    limit = error(high) + within
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= limit else (middle, high)
    return FeatureCount(high, fits[high], errors)


@whole_or_interrupted()
def choose_lambda(train: Dataset, m: int, *, tolerance: float = 1e-3, **params: Any) -> FeatureCount:
    r"""Return a lambda, by bisection, at which ``best-subset-penalised`` selects m features, or the most below m.

    .. math:: \max_\lambda\ |\sigma(\lambda)| \quad\text{s.t.}\quad |\sigma(\lambda)| \le m

    The number of features of an optimal answer does not increase with lambda. Not every number can be reached: those
    between two vertices of the convex hull of the values F*(M) are skipped, and the answer then has fewer than m.

    Parameters
    ----------
    train : data.
    m : 1..p.
    tolerance : relative length of the last interval of lambda.
    params : further parameters of ``best-subset-penalised``, and ``time_limit`` of :func:`fsopt.fit`.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Aytug, (FSP-lambda). At lambda = F(0) = 2 C min(n+, n-) the selection without features is optimal.
    """
    m = whole("choose_lambda", "m", m, high=train.p)
    tolerance = number("choose_lambda", "tolerance", tolerance, inside="(0, inf)")
    counts: dict[float, float] = {}
    best: tuple[float, Fit] | None = None
    c = float(params.get("c", METHODS["best-subset-penalised"].parameters["c"]))
    low, high = 0.0, 2.0 * c * min(len(train.positive), len(train.negative))
    trial = high
    for _ in range(LARGEST_STEPS):
        found = fit("best-subset-penalised", train, lam=trial, **params)
        counts[trial] = float(len(found.support))
        if counts[trial] <= m:
            best, high = (trial, found), trial
        else:
            low = trial
        if best is not None and (high - low <= tolerance * high or counts[best[0]] == m):
            break
        trial = float(np.sqrt(low * high)) if low > 0 else high / 4.0
        if trial < 1e-9 * (1.0 + c):
            break
    if best is None:
        raise ParameterError(
            f"no lambda up to {high:g} has {counted(m, 'feature')}", "give best-subset-penalised more time"
        )
    return FeatureCount(best[0], best[1], counts)


@dataclass(frozen=True)
class Rounded:
    """A selection from the relaxation of (FSP-M), with bounds on the optimum.

    Attributes
    ----------
    support : the selected features, 0-based.
    sigma : (p,) of the relaxation.
    objective, bound : F of the selection, an upper bound on the optimum, and the relaxation's lower bound; both in
        preprocessed units.
    coef, intercept : the classifier for raw features.
    """

    support: tuple[int, ...]
    sigma: Vector
    objective: float
    bound: float
    coef: Vector
    intercept: float


def round_relaxation(
    data: Dataset, m: int, *, c: float = 1.0, scale: str = "standard", solver: str | None = None, exchange: bool = True
) -> Rounded:
    r"""Return the m features of largest sigma in the relaxation of (FSP-M), after exchanges, with the SVM on them.

    .. math:: \min_{\sigma \in [0,1]^p,\ e'\sigma \le m} F(\sigma) \le F^*(m) \le F(\text{rounded } \sigma)

    The relaxation is the cone program ``fsp-m-perspective``, the limit of the relaxed master problem over all cuts.

    Parameters
    ----------
    data : raw features.
    m : 1..p.
    c : > 0, penalty weight of the hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``.
    solver : of cone programs and quadratic programs; None for the preferred ones.
    exchange : whether one selected feature is exchanged for another, the best first, while that lowers F; of more than
        about a hundred one of small weight.

    Raises
    ------
    ParameterError : a number outside its range.
    SolverError : a program was not solved.

    Notes
    -----
    Aytug, section 5: "solve a relaxation of RMP and find an effective rounding procedure". Our rule: the largest sigma,
    of equal ones the lowest index, from where a local search goes on. The largest sigma alone can be far from the
    optimum, as the relaxation divides its M among features that hold the same information.
    """
    m = whole("round_relaxation", "m", m, high=data.p)
    work, map_ = preprocess(data, scale)
    model = build_fsp_m_perspective(work, m=m, c=c, relax=True)
    relaxed = usable(solve(model, solver), "the relaxation of (FSP-M)")
    sigma = np.clip(values_of(model.sigma), 0.0, 1.0)
    selected = np.sort(np.argsort(-np.round(sigma, 9), kind="stable")[:m])
    if exchange:
        start = np.isin(np.arange(data.p), selected)
        found = LocalSearch(at_most(work, c, m), [], most=data.p * m, go_on=lambda: True).descend(start)
        selected = selected if found is None else found.features
    part = build_svm(work.columns(selected), c=c)
    _, trained = Run(solver).solve(part, "the SVM on the rounded selection")
    w = np.zeros(data.p)
    w[selected] = values_of(part.w)
    coef, intercept = raw_hyperplane(Hyperplane(w, float(part.b.value), ()), map_)
    assert trained.objective is not None
    return Rounded(
        support=tuple(selected.tolist()),
        sigma=sigma,
        objective=trained.objective,
        bound=float("-inf") if relaxed.bound is None else relaxed.bound,
        coef=coef,
        intercept=intercept,
    )
