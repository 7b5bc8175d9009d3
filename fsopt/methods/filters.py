"""Methods ``pearson``, ``fisher``, ``ks`` (baselines of paper 5) and ``infogain`` (of paper 4): rank, cut, train."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import Certificate
from fsopt.data import Dataset
from fsopt.errors import FileError
from fsopt.methods.chosen import check_chosen, check_machine, train
from fsopt.methods.claim import Claim
from fsopt.methods.common import Plane, Run, extend, make_fit, preprocess
from fsopt.methods.scores import fisher, infogain, ks, pearson, ranking
from fsopt.models.blocks import whole
from fsopt.results import Fit

Vector = NDArray[np.float64]
SCORES: Mapping[str, Callable[[Dataset, Mapping[str, Any]], Vector]] = MappingProxyType(
    {
        "pearson": lambda data, at: pearson(data),
        "fisher": lambda data, at: fisher(data),
        "ks": lambda data, at: ks(data),
        "infogain": lambda data, at: infogain(data, at.get("bins")),
    }
)
"""Method -> function of (preprocessed data, parameters) that scores the features."""


def fit_pearson(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a machine on the features of largest absolute correlation with the label.

    Parameters
    ----------
    m : number of features to keep; 5 (or all, where there are fewer) by default. Of equal scores the first is kept.
    machine, c, w_cap : ``rsvm`` (default) with its capacity, or ``svm`` with its price, as in
        :func:`fsopt.methods.chosen.train`.
    scale : ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the preprocessed
        columns, and only ``unit-rows`` changes them.

    Returns
    -------
    Fit
        ``objective`` is the machine's, in preprocessed units, and the certificate proves it on the features that were
        kept; the choice is a heuristic: ``feasible``, without a bound. ``details`` has ``scores`` (p,) and
        ``ranking``, all features from the best to the worst.

    Raises
    ------
    ParameterError : m outside 1..p, c or w_cap <= 0, an unknown machine.

    Notes
    -----
    Paper 5, section 7; the score is :func:`fsopt.methods.scores.pearson`.
    """
    return _filter("pearson", data, run, m, machine, c, w_cap, scale, {})


def fit_fisher(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a machine on the features of largest Fisher criterion.

    Parameters, result, errors and source are those of :func:`fit_pearson`; the score is
    :func:`fsopt.methods.scores.fisher`.
    """
    return _filter("fisher", data, run, m, machine, c, w_cap, scale, {})


def fit_ks(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a machine on the features whose distributions in the two classes differ most (Kolmogorov-Smirnov).

    Parameters, result, errors and source are those of :func:`fit_pearson`; the score is
    :func:`fsopt.methods.scores.ks`.
    """
    return _filter("ks", data, run, m, machine, c, w_cap, scale, {})


def fit_infogain(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    bins: int | None = None,
    machine: str = "svm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "standard",
) -> Fit:
    """Fit a machine on the features of largest information gain.

    Parameters
    ----------
    m, machine, c, w_cap, scale : as in :func:`fit_pearson`, with other defaults: ``svm`` and ``standard``.
    bins : None (default) bins each column by minimum description length, and a number >= 2 takes so many bins of
        about as many rows, see :func:`fsopt.methods.scores.infogain`. The paper does not print its binning; this is
        our choice.

    Returns
    -------
    Fit
        As in :func:`fit_pearson`; ``warnings`` tells where fewer than m features have a gain at all.

    Raises
    ------
    ParameterError : as in :func:`fit_pearson`, and bins < 2.

    Notes
    -----
    Paper 4, section 4.
    """
    if bins is not None:
        bins = whole("infogain", "bins", bins, low=2, high=100_000)
    return _filter("infogain", data, run, m, machine, c, w_cap, scale, {"bins": bins})


def _filter(
    name: str, data: Dataset, run: Run, m: int | None, machine: str, c: float, w_cap: float | None, scale: str,
    at: Mapping[str, Any],
) -> Fit:  # fmt: skip
    started = time.perf_counter()
    check_machine(name, machine, c, w_cap)
    count = _count(name, m, data.p)
    work, map_ = preprocess(data, scale)
    scores = SCORES[name](work, at)
    order = ranking(scores)
    found = train(work, np.sort(order[:count]), run, machine=machine, c=c, w_cap=w_cap)
    told = int(np.sum(scores > 0))
    few = (f"only {told} features have a score above 0: the rest of the {count} are the first of the others",)
    assert found.certificate.objective is not None
    return make_fit(
        data, map_, Plane(found.w, found.b, found.support), objective=found.certificate.objective,
        outcome=found.outcome, started=started, certificate=found.certificate,
        warnings=(few if told < count else ()) + found.warnings,
        details={**found.details, "scores": scores, "ranking": order},
    )  # fmt: skip


def _count(name: str, m: int | None, p: int) -> int:
    return min(5, p) if m is None else whole(name, "m", m, low=1, high=p, why=f" (of {p} features)")


def check_filter(claim: Claim) -> Certificate:
    """Recompute the scores, the ranking that they give and the machine on its first features."""
    fit, data = claim.fit, claim.data
    try:
        saved, order = np.array(fit.details["scores"], dtype=float), np.array(fit.details["ranking"], dtype=int)
        if saved.shape != (data.p,) or order.shape != (data.p,) or np.isnan(saved).any():
            raise ValueError(f"{data.p} scores and as many ranks are needed")
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"the saved ranking is damaged: {error}", "fit again and save with -o") from error
    scores = SCORES[fit.method](data, fit.params)
    with np.errstate(invalid="ignore"):
        off = np.where(saved == scores, 0.0, np.abs(saved - scores) / np.maximum(1.0, np.abs(scores)))
    chosen = np.sort(ranking(saved)[: _count(fit.method, fit.params.get("m"), data.p)])
    wrong = {"scores": float(off.max()), "ranking": float(np.sum(order != ranking(saved)))}
    return extend(check_chosen(claim, chosen), wrong)
