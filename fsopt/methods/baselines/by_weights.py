"""Methods ``rfe`` and ``vs-ssvm``: features that the weights of support vector machines choose, and one more on these.

Recursive feature elimination is a baseline of Peleg & Meir and of Aytug; the union of the features of sparse machines
on random parts of the samples is one of Bi.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.baselines import partitions, rfe
from fsopt.drivers.run import Run, Steps, drained
from fsopt.methods.baselines.filters import number_kept
from fsopt.methods.baselines.machines import (
    check_subset,
    default_capacity,
    part_of,
    squared_radius,
    subset_fit,
    train_on_subset,
)
from fsopt.methods.claims import of_subset
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend
from fsopt.typing import Indices


def fit_rfe(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    c: float = 1.0,
    step: int = 1,
    scale: str = "standard",
) -> Steps[Fit]:
    """Fit support vector machines on ever fewer features, down to m (RFE).

    Parameters
    ----------
    m : int, optional
        Number of features to keep; None keeps 5, or all where there are fewer.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    step : int, default 1
        Features removed after each SVM: 1 (default) is the method of the papers, p - m + 1 SVMs; take more where there
        are thousands of features.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of Aytug, that of the SVM on the m features, in preprocessed units. The certificate
        proves it for these features; their selection is a heuristic: ``feasible``, without a bound.

    Raises
    ------
    ParameterError : m outside 1..p, c <= 0, step < 1.

    Notes
    -----
    Guyon et al. (2002), as used in Peleg & Meir, section 6.1, and Aytug, section 4.
    """
    work, map_ = preprocess(data, scale)
    result = yield from rfe.steps(
        work,
        lambda left: drained(train_on_subset("svm", work, left, replace(run, time_limit=None), c)),
        m=number_kept("rfe", m, data.p),
        c=c,
        step=step,
        run=run,
    )
    return subset_fit(map_, result.point["svm"], result)


def check_rfe(saved: SavedFit) -> Certificate:
    """Certify the support vector machine on the features that are left again; their choice has no certificate."""
    chosen = np.flatnonzero(saved.w)
    more = len(chosen) - number_kept("rfe", saved.fit.params.get("m"), saved.data.p)
    return extend(check_subset(saved, chosen), {"number of features": max(float(more), 0.0)})


RFE = MethodSpec(
    "rfe",
    fit_rfe,
    ("fsp-sub", "svm"),
    program="svm",
    check=check_rfe,
    equation="Peleg & Meir, 6.1",
    estimator="RFE",
    driver="rfe",
    compare=lambda p: {"step": max(1, p // 100)},  # one percent of the features is removed at a time
    weights="samples",
    exact=of_subset,
)


SHARE = 0.8
"""Share of the samples of each class that a one-norm SVM is trained on."""


def fit_vs_ssvm(
    data: Dataset,
    run: Run,
    *,
    n_partitions: int = 20,
    c: float = 1.0,
    scale: str = "unit-rows",
) -> Steps[Fit]:
    """Fit a support vector machine on all features that sparse SVMs on random parts of the samples use (VS-SSVM).

    Each one-norm SVM is trained on 80 % of the samples of each class. The paper prints neither its split nor its grid
    of C: these and one C are our choice. The
    last machine is a rigorous one with (RW + 1) / n = 0.1.

    Parameters
    ----------
    n_partitions : int, default 20
        Number of one-norm SVMs; the paper's 20.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss in the one-norm SVMs.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; the selection depends
        on it.

    Returns
    -------
    Fit
        ``objective`` is that of the last support vector machine, in preprocessed units. The certificate proves it on
        the union of the features; the selection is a heuristic: ``feasible``, without a bound. The optimal vertex of a
        one-norm SVM need not be unique. :func:`fsopt.drivers.baselines.partitions` has them and their multipliers.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Bi, section 7, after Bi et al. (2003).
    """
    work, map_ = preprocess(data, scale)
    loop = yield from partitions.steps(work, parts_of(work, n_partitions), c=c, run=run)
    chosen = np.flatnonzero(loop.point["selected"].any(axis=0))
    found = drained(train_on_subset("rsvm", work, chosen, run, None))
    solver = "+".join(dict.fromkeys([loop.solver, found.outcome.solver]))
    outcome = replace(loop, objective=found.outcome.objective, certificate=None, solver=solver)
    return subset_fit(map_, found, outcome)


def parts_of(data: Dataset, count: int, share: float = SHARE, seed: int = 0) -> list[Indices]:
    """Return random parts of the samples, increasing indices: a share of each class, at least one sample of each."""
    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(data.y > 0), np.flatnonzero(data.y < 0)]
    return [
        np.sort(np.concatenate([rng.choice(k, max(1, round(share * len(k))), replace=False) for k in classes]))
        for _ in range(count)
    ]


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return the capacity of the last SVM, which follows from its features."""
    part = part_of(saved.data, np.flatnonzero(saved.w))
    return {"w_cap": default_capacity(part.total, squared_radius(part))}


VS_SSVM = MethodSpec(
    "vs-ssvm",
    fit_vs_ssvm,
    ("onsvm", "rsvm"),
    program="rsvm",
    check=check_subset,
    numbers=numbers,
    equation="Bi, 7",
    estimator="VSSSVM",
    driver="partitions",
    weights="classes",  # a sample of weight 2 is not two samples: the parts are drawn
    exact=of_subset,
)
SPECS = (RFE, VS_SSVM)
