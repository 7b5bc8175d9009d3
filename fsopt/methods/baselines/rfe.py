"""Method ``rfe``: recursive feature elimination, a baseline of Peleg & Meir and of Aytug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.baselines import rfe
from fsopt.drivers.run import Run, Steps, drained
from fsopt.errors import reading
from fsopt.methods.baselines.filters import number_kept
from fsopt.methods.baselines.machines import check_subset, subset_fit, train_on_subset
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
    unlimited = replace(run, time_limit=None)
    result = yield from rfe.steps(
        work,
        lambda left: drained(train_on_subset("svm", work, left, unlimited, c)),
        m=number_kept("rfe", m, data.p),
        c=c,
        step=step,
        run=run,
    )
    found = result.point["svm"]
    details = {"chosen": np.flatnonzero(result.point["sigma"])}
    return subset_fit(map_, found, result, details)


def one_percent(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: one percent of the features is removed at a time."""
    return {"step": max(1, p // 100)}


def check(saved: SavedFit) -> Certificate:
    """Certify the support vector machine on the features that are left again; their choice has no certificate."""
    p = saved.data.p
    with reading("selection"):
        chosen: Indices = np.array(saved.fit.details["chosen"], dtype=np.intp)
        if chosen.ndim != 1 or (np.diff(chosen) <= 0).any() or not ((chosen >= 0) & (chosen < p)).all():
            raise ValueError("the features are no increasing list of places")
    wrong = {"number of features": abs(float(len(chosen) - number_kept("rfe", saved.fit.params.get("m"), p)))}
    return extend(check_subset(saved, chosen), wrong)


SPEC = MethodSpec(
    "rfe",
    fit_rfe,
    ("fsp-sub", "svm"),
    program="svm",
    check=check,
    equation="Peleg & Meir, 6.1",
    estimator="RFE",
    driver="rfe",
    compare=one_percent,
    weights="samples",
    exact=of_subset,
)
