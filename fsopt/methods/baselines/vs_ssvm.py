"""Method ``vs-ssvm`` (baseline of paper 5): the features that sparse machines on many parts of the rows use."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.drivers.partitions import certify_partitions, partitions, sparse
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods.baselines.subset_svm import LastSvm, check_final_svm, objective, train_final
from fsopt.methods.large_programs import generates_columns
from fsopt.methods.assembly import extend, make_fit
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.results import Fit
from fsopt.typing import Indices


def fit_vs_ssvm(
    data: Dataset,
    run: Run,
    *,
    n_partitions: int = 20,
    share: float = 0.8,
    seed: int = 0,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    generate: bool | str = "auto",
) -> Fit:
    """Fit a machine on all features that sparse machines on random parts of the rows use (VS-SSVM).

    Parameters
    ----------
    n_partitions : number of one-norm machines; the paper's 20.
    share : in (0, 1], part of the rows of each class that a one-norm machine is trained on. The paper prints neither
        its split nor its grid of C: 0.8 and one C are our choice.
    seed : >= 0, of the parts.
    machine : the last machine, ``rsvm`` (default) or ``svm``, as in :func:`fsopt.methods.baselines.subset_svm.train_final`.
    c : > 0, price of a unit of hinge loss in the one-norm machines, and in ``svm``.
    w_cap : > 0, capacity of ``rsvm``.
    scale : ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; the selection depends on it.
    generate : as in :func:`fsopt.methods.baselines.onsvm.fit_onsvm`.

    Returns
    -------
    Fit
        ``objective`` is the last machine's, in preprocessed units. The certificate proves it on the union of the
        features, and each one-norm machine on its rows; the choice is a heuristic: ``feasible``, without a bound.
        ``details`` has ``counts`` (p,), how many machines use each feature, and ``sparse_w sparse_b sparse_alpha``,
        the machines and their proofs. Optimal vertices of a one-norm machine need not be unique.

    Raises
    ------
    ParameterError : a number outside its range, or an unknown machine.

    Notes
    -----
    Paper 5, section 7, after Bi et al. (2003).
    """
    started = time.perf_counter()
    n_partitions = whole("vs-ssvm", "n_partitions", n_partitions, low=1, high=100_000)
    share = number("vs-ssvm", "share", share, low=0.0, high=1.0)
    share = number("vs-ssvm", "share", share, low=0.0, strict=True)
    seed = whole("vs-ssvm", "seed", seed, low=0, high=2**63 - 1)
    last = LastSvm(machine, c, w_cap)
    last.check("vs-ssvm")
    work, map_ = preprocess(data, scale)
    model = None if generates_columns(generate, work, run) else build_onsvm(work, c=c)
    loop = partitions(work, model, parts_of(work, n_partitions, share, seed), c=c, run=run)  # fmt: skip
    counts = loop.point["selected"].sum(axis=0)
    left = None if run.time_limit is None else max(run.time_limit - (time.perf_counter() - started), 0.1)
    found = train_final(work, np.flatnonzero(counts), replace(run, time_limit=left), last)
    outcome = replace(
        loop, solver="+".join(dict.fromkeys([loop.solver, found.outcome.solver])),
        seconds={k: v + found.outcome.seconds.get(k, 0.0) for k, v in loop.seconds.items()},
    )  # fmt: skip
    assert loop.certificate is not None
    assert found.certificate.objective is not None
    none = () if counts.any() else ("no machine uses any feature: raise c",)
    return make_fit(
        data, map_, Hyperplane(found.w, found.b, found.support), objective=found.certificate.objective, outcome=outcome,
        started=started, warnings=none + found.warnings,
        certificate=extend(found.certificate, loop.certificate.residuals),
        details={**found.details, "counts": counts, **{f"sparse_{k}": loop.point[k] for k in ("w", "b", "alpha")}},
    )  # fmt: skip


def parts_of(data: Dataset, count: int, share: float, seed: int) -> list[Indices]:
    """Return random parts of the rows, increasing indices: a share of each class, at least one row of each."""
    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(data.y > 0), np.flatnonzero(data.y < 0)]
    return [
        np.sort(np.concatenate([rng.choice(k, max(1, round(share * len(k))), replace=False) for k in classes]))
        for _ in range(count)
    ]


def check(claim: SavedFit) -> Certificate:
    """Recompute the parts, the proof of the machine on each of them, the union of their features, the last machine."""
    fit, data = claim.fit, claim.data
    own = fit.params
    with reading("proof"):
        w, b, alpha = (np.array(fit.details[f"sparse_{k}"], dtype=float) for k in ("w", "b", "alpha"))
        trained = len(b)
        shapes = w.shape == (trained, data.p) and b.shape == (trained,) and alpha.shape == (trained, data.n)
        if not shapes or not trained or not all(np.isfinite(v).all() for v in (w, b, alpha)):
            raise ValueError("planes and multipliers do not fit together")
        counts = np.array(fit.details["counts"], dtype=int)
        parts = parts_of(data, int(own["n_partitions"]), float(own["share"]), int(own["seed"]))
    _, worst = certify_partitions(data, parts[:trained], float(own["c"]), w, b, alpha)
    fewer = trained != len(parts) and fit.stop not in ("time-limit", "interrupted")
    seen = sparse(w).sum(axis=0)
    wrong = {
        "sparse machines": worst,
        "counts": float(not np.array_equal(counts, seen)),
        "machines": float(fewer or trained > len(parts)),
    }
    return extend(check_final_svm(claim, np.flatnonzero(seen)), wrong)


SPEC = MethodSpec(
    "vs-ssvm",
    fit_vs_ssvm,
    objective,
    check,
    ("onsvm", "rsvm-dual", "rsvm-least-norm", "svm"),
    equation="Bi, 7",
    driver="partitions",
)
