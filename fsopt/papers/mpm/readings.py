"""Yang & Ju: what their paper leaves open, the data of their tables, and the scores of a method by a reading of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.trained import fingerprint
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset, load_dataset, mpm_synthetic
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import InfeasibleError, ParameterError, SolverError
from fsopt.methods.mpm.space import FeatureSpace
from fsopt.papers.reproduction import RunSettings, spelled
from fsopt.studies.tuning import fit_candidate
from fsopt.typing import Vector

Pair: TypeAlias = tuple[Dataset, Dataset]
"""Training data and test data."""
PSF = "selected features, %"
TSA = "accuracy, %"
SCORES = ("n_features", "psf", "accuracy", "mcc", "iterations")
"""Fields of :class:`PairScores`."""
SPACE = ("scale", "ridge", "kernel", "width")
"""Parameters of a method that alpha* depends on."""


@dataclass(frozen=True)
class PairScores:
    """Scores of one method on one pair.

    Attributes
    ----------
    n_features, psf : number of selected features, and its percentage of all features (PSF in the paper).
    accuracy, mcc : on the test data (TSA and MCC in the paper), in [0, 1] and [-1, 1].
    iterations : of the loop of the method; nan for a method that is one solve.
    """

    n_features: float
    psf: float
    accuracy: float
    mcc: float
    iterations: float


def synthetic_pairs(
    repetitions: int = 10, *, n: int = 50, n_test: int = 1000, p: int = 1000, seed: int = 0, literal: bool = False
) -> list[Pair]:
    """Return draws of the synthetic data of section 4.2, each with other samples of the same law to test on.

    Parameters
    ----------
    repetitions : number of pairs, 10 in the paper.
    n, n_test : samples of the training data, 50 in the paper, and of the test data.
    p, literal : as in :func:`fsopt.data.mpm_synthetic`.
    seed : the pairs have the seeds ``seed``, ``seed + 1``, ...

    Raises
    ------
    ParameterError, DataError : as in :func:`fsopt.data.mpm_synthetic`.
    """
    drawn = (mpm_synthetic(n + n_test, seed + k, p, literal) for k in range(repetitions))
    return [(both.rows(np.arange(n)), both.rows(np.arange(n, n + n_test))) for both in drawn]


def pairs_of(data: Dataset | Sequence[Pair], folds: int, seed: int) -> Sequence[Pair]:
    """Return the given pairs, or one pair for each stratified fold of a data set."""
    if isinstance(data, Dataset):
        return [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]
    if not len(data):
        raise ParameterError("there are no pairs of data", "give a data set, or pairs (training data, test data)")
    return data


def accuracy_limit(train: Dataset, params: Mapping[str, Any]) -> float:
    """Return alpha* of training data in the space in which a method with these parameters works."""
    options = {name: params[name] for name in SPACE if name in params}
    return FeatureSpace.of(train, **options).limit.alpha


def scores_on(pair: Pair, method: str, params: Mapping[str, Any], solver: str | None) -> PairScores:
    """Return the scores of a method that is fitted to the training data of a pair and tested on the test data."""
    train, test = pair
    fitted = fit_candidate(method, train, params, solver=solver)
    tested, count = fitted.scores(test), len(fitted.support)
    return PairScores(
        n_features=float(count),
        psf=100.0 * count / len(fitted.coef),
        accuracy=tested["accuracy"],
        mcc=tested["mcc"],
        iterations=float(fitted.iterations) if fitted.history else np.nan,
    )


Measures: TypeAlias = Mapping[str, Vector]
"""TSA, MCC and PSF in percent, and iterations -> values by fold."""
CHOSEN: Mapping[str, Any] = {"share": 0.5, "epsilon": 1e-1, "ridge": 0.0}
"""What the paper leaves open for Tables 2, 3 and 5 to 7, which report one run: the values nearest to its print.

* share: delta as a share of the largest feasible one where the paper has 0.9, which exceeds it on seven of eight sets;
  Table 2's other values in proportion.
* epsilon: of L0-MPM's stopping criterion.
* ridge: added to the covariances of all but S-MPM, which has 0.01.

The classifier is sgn(w'x - b), as the constraints have it; features are in their own units; folds are stratified, and
features and iterations are means over them.
"""
USED: Mapping[str, tuple[str, ...]] = {
    "mpm": ("ridge",),
    "l1-mpm": ("ridge", "share"),
    "l0-mpm": ("ridge", "share", "epsilon"),
    "s-mpm": (),
}
"""Method -> choices that its fits depend on."""
PRINTED_DELTA = 0.9
SETS = ("sonar", "pima", "ionosphere", "spambase", "wbcd", "wpbc", "wdbc", "madelon.train")
SAMPLED = {"spambase": 200, "madelon.train": 200}
"""Sets of which the paper has a part: data set -> samples (Table 1), here drawn at random."""


def load_set(name: str, seed: int) -> Dataset:
    """Return a data set as the paper's Table 1 has it."""
    data = load_dataset(name) if name == "wdbc" else load_dataset(name, missing="drop")
    if name not in SAMPLED:
        return data
    return data.rows(np.sort(np.random.default_rng(seed).choice(data.n, SAMPLED[name], replace=False)))


def folds_of(settings: RunSettings) -> int:
    """Return the number of folds."""
    return 3 if settings.quick else 10


def protocol(settings: RunSettings) -> str:
    """Return what the notes of a table say of its protocol."""
    return (
        f"{folds_of(settings)} folds; {', '.join(f'{n} samples of {name}' for name, n in SAMPLED.items())} drawn at "
        "random; of the choices that the paper leaves open those nearest to its Tables 2, 3 and 5 to 7: the classifier "
        f"sgn(w'x - b), features in their own units, {spelled(CHOSEN)}"
    )


def measured(name: str, methods: Sequence[str], settings: RunSettings) -> dict[str, Measures | str]:
    """Return method -> its measures on a data set, or the reason why it has no answer.

    What does not change a method is no part of its key in the store.

    Raises
    ------
    DataError : the data are not available.
    OutOfTimeError : as in :meth:`fsopt.papers.reproduction.RunSettings.part`.
    """
    data = load_set(name, settings.seed)
    found: dict[str, Measures | str] = {}
    for method in methods:
        key = {"data": fingerprint(data), "method": method, "folds": folds_of(settings)}
        chosen = {k: CHOSEN[k] for k in USED[method]}
        rows = settings.part("l0mpm scores", partial(_computed, data, method, settings), **key, **chosen)
        measures = ("TSA", "MCC", "PSF", "iterations")
        found[method] = rows if isinstance(rows, str) else dict(zip(measures, np.array(rows).T, strict=True))
    return found


def _computed(data: Dataset, method: str, settings: RunSettings) -> list[list[float]] | str:
    """Return the numbers of each fold, or why there are none."""
    pairs = pairs_of(data, folds_of(settings), settings.seed)
    try:
        return side_by_side(partial(_scores, data.name, method), pairs, settings.jobs)
    except (InfeasibleError, SolverError) as error:
        return error.message


def _scores(name: str, method: str, train: Dataset, test: Dataset) -> list[float]:
    """Return TSA, MCC and PSF, all in percent, and iterations."""
    params: dict[str, Any] = {"scale": "none", "ridge": CHOSEN["ridge"] if "ridge" in USED[method] else 1e-2}
    if "share" in USED[method]:
        params["delta"] = CHOSEN["share"] * accuracy_limit(train, params)
    if method == "l0-mpm":
        params |= {"alpha": 0.5 if name == "ionosphere" else 5.0, "tolerance": CHOSEN["epsilon"]}
    if method == "s-mpm":
        params["lam"] = 0.1
    fitted = fit_candidate(method, train, params)
    tested = fitted.scores(test)
    shares = [100.0 * tested[measure] for measure in ("accuracy", "mcc")]
    return [*shares, 100.0 * len(fitted.support) / train.p, float(fitted.iterations)]
