"""Yang & Ju: what their paper leaves open, the data of their tables, and the scores of a method by a reading of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.trained import fingerprint
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset, load_dataset
from fsopt.errors import InfeasibleError, SolverError
from fsopt.methods.preprocessing import preprocess
from fsopt.papers.mpm.pairs import Pair, accuracy_limit, split_pairs
from fsopt.papers.reproduction import RunSettings, spelled
from fsopt.studies.tuning import fit_candidate
from fsopt.typing import Vector

Measures: TypeAlias = Mapping[str, Vector]
"""TSA, MCC and PSF in percent, and iterations -> values by fold."""
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "sign": ("w'x - b", "w'x + b"),
    "counts": ("folds", "all samples"),
    "share": (0.5, 0.9, 0.7, 0.3),
    "epsilon": (1e-1, 1e-3, 1e-6),
    "scale": ("none", "standard", "unit-rows", "range"),
    "draw": (0, 1, 2),
    "ridge": (0.0, 1e-2),
    "split": ("stratified", "equal", "equal, rest in training"),
}
"""What the paper leaves open for Tables 2, 3 and 5 to 7, which report one run; the reading of the pages first.

* sign: of b on new samples: the constraints have w'x - b, the classifier of section 3 is sgn(w'x + b).
* counts: features and iterations of the folds, or of one fit to all samples: the shares of Table 6 are whole numbers of
  features.
* share: delta as a share of the largest feasible one where the paper has 0.9, which exceeds it on seven of eight sets;
  Table 2's other values in proportion.
* epsilon: of L0-MPM's stopping criterion.
* scale: features in their own units; standardised; these and each sample of norm 1; or in [0, 1] / sqrt(p).
* draw: of the 200 samples of Spam and of Madelon, which the paper does not name.
* ridge: added to the covariances of all but S-MPM, which has 0.01.
* split: ten folds with the class shares of the data; or drawn without a look at the classes, each of floor(m/10)
  samples, with the rest left out, or in training (printed accuracies of WPBC are multiples of 1/190, of WDBC of 1/560).
"""
USED: Mapping[str, tuple[str, ...]] = {
    "mpm": ("ridge",),
    "l1-mpm": ("ridge", "share"),
    "l0-mpm": ("ridge", "share", "epsilon"),
    "s-mpm": (),
}
"""Method -> choices that its fits depend on, beside scale, split and draw."""
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


def protocol(settings: RunSettings, chosen: Mapping[str, Any]) -> str:
    """Return what the notes of a table say of its protocol."""
    return (
        f"{folds_of(settings)} folds; {', '.join(f'{n} samples of {name}' for name, n in SAMPLED.items())} drawn at "
        "random; of the choices that the paper leaves open those nearest to its Tables 2, 3 and 5 to 7 by --search: "
        f"{spelled(chosen)}"
    )


def measured(
    name: str, methods: Sequence[str], settings: RunSettings, chosen: Mapping[str, Any]
) -> dict[str, Measures | str]:
    """Return method -> its measures on a data set, or the reason why it has no answer.

    What does not change a method is no part of its key in the store.

    Raises
    ------
    DataError : the data are not available.
    OutOfTimeError : as in :meth:`fsopt.papers.reproduction.RunSettings.part`.
    """
    data = load_set(name, settings.seed + chosen["draw"])
    found: dict[str, Measures | str] = {}
    for method in methods:
        place = {k: chosen[k] for k in ("scale", "split", *USED[method])}
        rows = _rows(data, method, place, settings)
        counted = _rows(data, method, place | {"split": "none"}, settings) if chosen["counts"] != "folds" else rows
        if isinstance(rows, str) or isinstance(counted, str):
            found[method] = rows if isinstance(rows, str) else str(counted)
            continue
        values, counts = np.array(rows).T, np.array(counted).T
        first = 0 if chosen["sign"] == CHOICES["sign"][0] else 2
        found[method] = {"TSA": values[first], "MCC": values[first + 1], "PSF": counts[4], "iterations": counts[5]}
    return found


def _rows(data: Dataset, method: str, place: Mapping[str, Any], settings: RunSettings) -> list[list[float]] | str:
    """Return the numbers of each fold, or why there are none, from the store where it has them."""
    key = {"data": fingerprint(data), "method": method, "folds": folds_of(settings), **place}
    found: list[list[float]] | str = settings.part(
        "l0mpm scores", partial(_computed, data, method, place, settings), **key
    )
    return found


def _computed(data: Dataset, method: str, place: Mapping[str, Any], settings: RunSettings) -> list[list[float]] | str:
    """Return the numbers of each fold, or why there are none."""
    pairs = pairs_by(data, place, settings)
    try:
        return side_by_side(partial(_scores, data.name, method, place), pairs, settings.jobs)
    except (InfeasibleError, SolverError) as error:
        return error.message


def pairs_by(data: Dataset, place: Mapping[str, Any], settings: RunSettings) -> list[Pair]:
    """Return training and test data of each fold, preprocessed, by the values of split and scale."""
    if place["split"] == "none":
        return [_scaled((data, data), place["scale"])]
    pairs = split_pairs(data, folds_of(settings), settings.seed, place["split"])
    return [_scaled(pair, place["scale"]) for pair in pairs]


def _scaled(pair: Pair, kind: str) -> Pair:
    """Return both data sets of a pair, preprocessed by the statistics of the first."""
    train, test = pair
    if kind == "range":
        low, size = train.X.min(axis=0), np.ptp(train.X, axis=0) * np.sqrt(train.p)
        size[size == 0] = 1.0
        train, test = (one.with_X((one.X - low) / size) for one in pair)
        return train, test
    work, map_ = preprocess(train, kind)
    return work, test.with_X(map_.apply(test.X))


def _scores(name: str, method: str, place: Mapping[str, Any], train: Dataset, test: Dataset) -> list[float]:
    """Return TSA and MCC with either sign of b, PSF, all in percent, and iterations, on preprocessed data."""
    params: dict[str, Any] = {"scale": "none", "ridge": place.get("ridge", 1e-2)}
    if "share" in place:
        params["delta"] = place["share"] * accuracy_limit(train, params)
    if method == "l0-mpm":
        params |= {"alpha": 0.5 if name == "ionosphere" else 5.0, "tolerance": place["epsilon"]}
    if method == "s-mpm":
        params["lam"] = 0.1
    fitted = fit_candidate(method, train, params)
    tested = [replace(fitted, intercept=b).scores(test) for b in (fitted.intercept, -fitted.intercept)]
    shares = [100.0 * one[measure] for one in tested for measure in ("accuracy", "mcc")]
    return [*shares, 100.0 * len(fitted.support) / train.p, float(fitted.iterations)]
