"""How many features, which, how good, and how sure: the whole question that a person with a table has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.analysis.alternatives import Alternatives, alternatives
from fsopt.analysis.held_out import (
    NODES,
    RULES,
    Choice,
    Nested,
    Substitute,
    choose,
    numbers_of_features,
    path_scores,
)
from fsopt.analysis.resampling import displaced_by_permuted, score_of_selection, selected_of_halves
from fsopt.analysis.selection_answers import Selection
from fsopt.analysis.stages import Stage, Stages
from fsopt.answers.fits import Fit
from fsopt.answers.trained import fingerprint
from fsopt.common.arguments import FLAG, FUNCTION, PATH, SECONDS, TEXT, WHOLE, checked, optional, word
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.data.scores import MEASURES
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.drivers.interruption import uninterrupted
from fsopt.drivers.run import Progress
from fsopt.errors import ParameterError
from fsopt.methods.calibration import held_out_scores, with_sigmoid
from fsopt.methods.registry import fit as fit_method
from fsopt.models.blocks import number, whole
from fsopt.verification.exact_checking import exact_word

WEIGHTS = (0.1, 1.0)
"""Penalty weights of the hinge loss that are tried."""
INNER_FOLDS = 3
"""Folds of the cross-validation inside of each training part."""
PAIRS, DRAWS = 20, 99
"""Pairs of complementary halves of the data, and draws of permuted columns."""
WITHIN, COUNT = 0.05, 20
"""Share above the optimum up to which other selections are listed, and their largest number."""
TOLERANCE = 1e-4
"""Relative optimality gap of the final selection."""
FIRST_PART = 12.0
"""Cost of the final selection and of its alternatives, in searches of a path."""


@checked(
    data=DATASET,
    features=optional(WHOLE),
    rule=TEXT,
    score=TEXT,
    folds=WHOLE,
    seed=WHOLE,
    exact=FLAG,
    time_limit=optional(SECONDS),
    jobs=WHOLE,
    checkpoint=optional(PATH),
    resume=optional(PATH),
    progress=optional(FUNCTION),
)
def select(
    data: Dataset,
    *,
    features: int | None = None,
    rule: str = "one-se",
    score: str = "accuracy",
    c: float | Sequence[float] = WEIGHTS,
    folds: int = 5,
    seed: int = 0,
    exact: bool = False,
    time_limit: float | None = 30.0,
    jobs: int = -1,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> Selection:
    r"""Return the best few features of a data set: how many, which, how good their classifier is, and how sure that is.

    .. math:: F^*(M) = \min_{\sigma \in \{0,1\}^p}\ F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M

    F is the value of the support vector machine on the selected features. The number of features M and the penalty
    weight C are chosen by cross-validation of the path over M; the whole choice is repeated inside of the training
    samples of each fold, and scored on its other samples (nested cross-validation).

    Parameters
    ----------
    data : Dataset
        Raw features.
    features : int, optional
        The largest number of features, instead of a choice.
    rule : str, default 'one-se'
        ``one-se`` takes the smallest number of features whose score is within one standard error of the best, ``min``
        the number of the best score.
    score : str, default 'accuracy'
        ``accuracy``, ``mcc``, ``balanced_accuracy``, ``recall`` or ``auc``.
    c : float | Sequence[float], default (0.1, 1.0)
        > 0, penalty weights of the hinge loss to choose among.
    folds, seed : int
        Of the stratified, shuffled split.
    exact : bool, default False
        Whether the selection is also verified in rational arithmetic.
    time_limit : float, default 30.0
        Seconds for the proof of the selection, and for the list of its alternatives; None for no limit.
    jobs : int, default -1
        Processes; -1 takes all processors.
    checkpoint, resume : str | Path, optional
        File that is replaced after each step, and one to go on from.
    progress : Progress, optional
        Called after each step with its name, the ``share`` that is done and ``seconds_left`` (None before an estimate).

    Returns
    -------
    Selection
        The selection is ``optimal`` where its gap is closed; its classifier and its evidence are ``fit``. Scores of
        cross-validation are estimates: searches inside of folds and resamples keep their incumbent at the root, without
        a proof.

    Raises
    ------
    ParameterError : a parameter out of range.
    FileError : a checkpoint that cannot be written, or is of other data or parameters.
    KeyboardInterrupt : by Ctrl-C; the steps that are done are in the checkpoint.

    Notes
    -----
    The rule of one standard error is that of Breiman, Friedman, Olshen and Stone (1984), the halves are those of Shah
    and Samworth (2013), the permuted columns those of Wu, Boos and Stefanski (2007), the probabilities Platt's (1999).
    """
    word("rule", rule, RULES)
    word("score", score, MEASURES)
    weights = _weights(c)
    wanted = None if features is None else whole("select", "features", features, low=1, high=data.p)
    numbers = sorted({*numbers_of_features(data.p), *([] if wanted is None else [wanted])})
    asked = {"features": wanted, "rule": rule, "score": score, "c": weights, "folds": folds, "seed": seed}
    total = _cost(len(numbers), len(numbers) if wanted is None else 1, len(weights), folds)
    steps = Stages.of([fingerprint(data), asked], total, jobs, checkpoint, resume, progress)
    choice, nested = _chosen(steps, data, numbers, asked)
    fit = uninterrupted(
        fit_method("best-subset", data, m=choice.m, c=choice.c, tolerance=TOLERANCE, time_limit=time_limit)
    )
    steps.count("proof", FIRST_PART)
    others = alternatives(data, choice.m, within=WITHIN, count=COUNT, c=choice.c, time_limit=time_limit)
    steps.count("alternatives", FIRST_PART, others.stop)
    halves, displaced = _resampled(steps, data, fit, choice, seed)
    folded = {"max_nodes": NODES}
    scores = held_out_scores(fit, data, folds, seed, folded)
    return Selection(
        data=data.name,
        n=data.n,
        y=data.y,
        all_features=data.features,
        fit=with_sigmoid(fit, data, scores, {"folds": folds, "seed": seed, "params": folded}),
        choice=choice,
        numbers=tuple(numbers),
        rule="given" if wanted is not None else rule,
        score=score,
        nested=nested,
        larger=max(len(data.positive), len(data.negative)) / data.n,
        halves=tuple(tuple(one) for one in halves),
        displaced=displaced,
        alternatives=others,
        substitutes=_substitutes(steps, data, fit, others, choice, (folds, seed, score)),
        scores=scores,
        draws=DRAWS,
        exact=exact_word(fit, data) if exact else None,
    )


def _weights(c: float | Sequence[float]) -> list[float]:
    """Return the penalty weights to choose among, ascending; raises ParameterError."""
    weights = sorted({number("select", "c", one) for one in np.atleast_1d(np.asarray(c, dtype=object)).tolist()})
    if not weights:
        raise ParameterError("'c' of 'select' is empty", "give a number > 0, or several")
    return weights


def _cost(numbers: int, inside: int, weights: int, folds: int) -> float:
    """Return the cost of all steps, in searches of one number of features: paths, halves, draws, the selection."""
    return weights * folds * (numbers + INNER_FOLDS * inside) + 2.0 * PAIRS + 0.1 * DRAWS + 2.0 * FIRST_PART


def _chosen(steps: Stages, data: Dataset, numbers: list[int], asked: dict[str, Any]) -> tuple[Choice, Nested]:
    """Return the choice of number and penalty weight, and the scores of the same choice inside of each fold."""
    weights, score = asked["c"], asked["score"]
    wanted = asked["features"]
    inside = numbers if wanted is None else [wanted]
    outer = stratified_folds(data, asked["folds"], asked["seed"])
    tasks = {}
    for k, fold in enumerate(outer):
        train, _ = train_and_test(data, fold)
        parts = stratified_folds(train, INNER_FOLDS, asked["seed"])
        for c in weights:
            tasks[f"fold {k}, c {c}"] = Stage(path_scores, (data, fold, numbers, c, score), len(numbers))
            for j, part in enumerate(parts):
                step = Stage(path_scores, (train, part, inside, c, score), len(inside))
                tasks[f"fold {k}, part {j}, c {c}"] = step
    found = dict(zip(tasks, steps.run(tasks), strict=True))
    table = np.array([[found[f"fold {k}, c {c}"] for k in range(len(outer))] for c in weights])
    kept, scores = [], []
    for k in range(len(outer)):
        names = [[f"fold {k}, part {j}, c {c}" for j in range(INNER_FOLDS)] for c in weights]
        own = choose(np.array([[found[name] for name in line] for line in names]), inside, weights, asked["rule"])
        kept.append(own.m)
        scores.append(float(table[weights.index(own.c), k, numbers.index(own.m)]))
    choice = choose(table, numbers, weights, asked["rule"])
    return choice if wanted is None else choice.at(numbers, wanted), Nested(tuple(scores), tuple(kept))


def _resampled(
    steps: Stages, data: Dataset, fit: Fit, choice: Choice, seed: int
) -> tuple[list[list[str]], dict[str, int]]:
    """Return the selections of the halves, and how many draws of permuted columns displace each selected feature."""
    halves = {f"halves {k}": Stage(selected_of_halves, (data, choice.m, choice.c, seed + k)) for k in range(PAIRS)}
    pairs = steps.run({name: Stage(one.function, one.arguments, 2.0) for name, one in halves.items()})
    support = list(fit.support)
    draws = {
        f"permuted {k}": Stage(displaced_by_permuted, (data, support, choice.c, seed + k), 0.1) for k in range(DRAWS)
    }
    counts = dict.fromkeys(fit.features, 0)
    for places in steps.run(draws):
        for j in places:
            counts[data.features[j]] += 1
    return [half for pair in pairs for half in pair], counts


def _substitutes(
    steps: Stages,
    data: Dataset,
    fit: Fit,
    others: Alternatives,
    choice: Choice,
    split: tuple[int, int, str],
) -> tuple[Substitute, ...]:
    """Return the other selections within one standard error of the score of the selection, the best one first."""
    folds, seed, score = split
    supports = [fit.features, *(tuple(data.features[j] for j in one) for one in others.support)]
    supports = list(dict.fromkeys(supports))
    tasks = {
        f"selection {k}": Stage(score_of_selection, (data, list(one), choice.c, (folds, seed), score), 0.0)
        for k, one in enumerate(supports)
    }
    table = np.array(steps.run(tasks))
    error = float(table[0].std(ddof=1) / np.sqrt(folds))
    means = table.mean(axis=1)
    kept = [k for k in np.argsort(-means, kind="stable").tolist() if k and means[k] >= means[0] - error]
    return tuple(Substitute(supports[k], float(means[k])) for k in kept)
