"""Method ``vs-ssvm`` (baseline of Bi): the union of the features of sparse SVMs on random parts of the samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.baselines import certify_partitions, nonzero, partitions
from fsopt.drivers.recorder import EARLY
from fsopt.drivers.run import Run, Steps, drained
from fsopt.errors import reading
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

SPARSE = ("sparse_w", "sparse_b", "sparse_alpha")
"""Details of a fit: the one-norm SVMs."""
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
        the union of the features, and each one-norm SVM on its samples; the selection is a heuristic: ``feasible``,
        without a bound. ``details`` has ``counts`` (p,), the number of one-norm SVMs that use each feature, and
        ``sparse_w sparse_b sparse_alpha``, these SVMs and their multipliers. The optimal vertex of a one-norm SVM need
        not be unique.

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
    none = () if len(chosen) else ("no one-norm SVM uses any feature: raise c",)
    sparse = {name: loop.point[name.removeprefix("sparse_")] for name in SPARSE}
    return subset_fit(map_, found, outcome, {"chosen": chosen, **sparse}, warnings=none)


def parts_of(data: Dataset, count: int, share: float = SHARE, seed: int = 0) -> list[Indices]:
    """Return random parts of the samples, increasing indices: a share of each class, at least one sample of each."""
    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(data.y > 0), np.flatnonzero(data.y < 0)]
    return [
        np.sort(np.concatenate([rng.choice(k, max(1, round(share * len(k))), replace=False) for k in classes]))
        for _ in range(count)
    ]


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return the number of sparse SVMs that use each feature, and the capacity of the last SVM."""
    counts = nonzero(np.array(saved.fit.details["sparse_w"], dtype=float)).sum(axis=0)
    part = part_of(saved.data, np.flatnonzero(counts))
    return {"counts": counts, "w_cap": default_capacity(part.total, squared_radius(part))}


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: the parts, the SVM on each of them, the union of their features, the last SVM."""
    fit, data = saved.fit, saved.data
    parts = parts_of(data, int(fit.params["n_partitions"]))
    with reading("proof"):
        w, b, alpha = (np.array(fit.details[k], dtype=float) for k in SPARSE)
        trained, shapes = len(b), [svms.shape for svms in (w, b, alpha)]
        if not trained or shapes != [(trained, data.p), (trained,), (trained, data.n)]:
            raise ValueError("hyperplanes and multipliers do not fit together")
        if not all(np.isfinite(svms).all() for svms in (w, b, alpha)):
            raise ValueError("hyperplanes and multipliers are not finite")
    _, largest = certify_partitions(data, parts[:trained], float(fit.params["c"]), w, b, alpha)
    fewer, used = trained != len(parts) and fit.stop not in EARLY, nonzero(w).any(axis=0)
    wrong = {
        "sparse SVMs": largest,
        "number of SVMs": float(fewer or trained > len(parts)),
    }
    return extend(check_subset(saved, np.flatnonzero(used)), wrong)


SPEC = MethodSpec(
    "vs-ssvm",
    fit_vs_ssvm,
    ("onsvm", "rsvm"),
    program="rsvm",
    check=check,
    numbers=numbers,
    equation="Bi, 7",
    estimator="VSSSVM",
    driver="partitions",
    weights="classes",  # a sample of weight 2 is not two samples: the parts are drawn
    exact=of_subset,
)
