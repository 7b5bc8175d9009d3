"""How many features, which, how good, and how sure: the whole question that a person with a table has."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.analysis.chance import aggregated, noise_p_value, questions_of, selected_and_tested
from fsopt.analysis.few_features import (
    RULES,
    Choice,
    area_of_all,
    choose,
    columns_of_variables,
    cross_validated,
    intervals,
    nested_scores,
    path_of,
    quality,
    weight_intervals,
)
from fsopt.analysis.selection_answers import NOISE, Selection
from fsopt.answers.fits import Fit
from fsopt.common.arguments import FLAG, FUNCTION, SECONDS, WHOLE, checked, optional, word
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.teams import check_jobs, side_by_side
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.dataset import random_parts, smaller_class, stratified_folds
from fsopt.data.encoding import Encoded
from fsopt.data.given import Given, dataset_of
from fsopt.data.matrices import refuse_sparse
from fsopt.drivers.run import Progress
from fsopt.errors import OutOfTimeError, ParameterError
from fsopt.methods.registry import fit as fit_method
from fsopt.models.blocks import whole
from fsopt.models.gbd.feature_lists import CATEGORIES
from fsopt.typing import Samples
from fsopt.verification.verify import exact_word

REPEATS, PAIRS = 2, 25
"""Repetitions of the cross-validation, and random pairs of complementary halves."""
FEWEST = 4
"""Samples of each class: the training samples of a fold, and each half, have two."""
MOST_SAMPLES = 2500
"""Samples that the choice looks at; of more, a random part."""
TOLERANCE = 1e-4
"""Relative optimality gap of the selection."""


@checked(folds=WHOLE, seed=WHOLE, exact=FLAG, time_limit=optional(SECONDS), jobs=WHOLE, progress=optional(FUNCTION))
@whole_or_interrupted()
def select(
    data: Given | Samples,
    y: ArrayLike | None = None,
    *,
    group: ArrayLike | None = None,
    features: int | None = None,
    rule: str = "log-loss",
    folds: int = 5,
    seed: int = 0,
    exact: bool = False,
    time_limit: float | None = 30.0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Selection:
    r"""Return the best few features of a data set: how many, which, how good their classifier is, and how sure that is.

    .. math::

        F^*(M) = \min_{w, b, \sigma}\ \tfrac12 \|w\|^2 + C \sum_i \ln\big(1 + e^{-y_i(w'x_i + b)}\big) + \pi'\sigma
        \quad\text{s.t.}\quad w_j = 0 \text{ if } \sigma_j = 0,\ \ e'\sigma \le M,\ \ \sigma \in \{0, 1\}^p

    The number of features M and the penalty weights are chosen by repeated cross-validation of the log-loss; M = 0 is
    one of the numbers. A greedy path with exchanges selects, and branch and bound proves or mends its selection. The
    classifier is the logistic one on the selected features with a penalty weight of its own, and has probabilities.
    Columns that were made of one column of a table are one variable and enter together. The price :math:`\pi_v` of a
    variable is what its columns gain on noise beyond those of the cheapest one (:mod:`fsopt.linear.logistic_path`).

    Parameters
    ----------
    data : Given | Samples
        Raw features, dense: a data set, samples X, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    y : ArrayLike, optional
        Labels (n,) of samples, or the name of their column.
    group : ArrayLike, optional
        The person, animal or batch of each sample (n,), in place of that of the data: samples of one group stay
        together in folds, halves, permutations and bootstrap draws, and count as one unit.
    features : int, optional
        The number of variables, which the answer calls features, instead of a choice.
    rule : str, default 'log-loss'
        ``log-loss`` takes the fewest that lose at most a twentieth of what the best number gains, and at most 0.02, on
        a smoothed curve, ``shortest`` the fewest whose AUC is within one standard error of the best.
    folds, seed : int
        Of the stratified, shuffled splits.
    exact : bool, default False
        Whether the selection is also verified in rational arithmetic.
    time_limit : float, default 30.0
        Seconds for the proof of the selection; None for no limit.
    jobs : int, default 1
        Processes; -1 takes all processors.
    progress : Progress, optional
        Called after each step with its name and the ``share`` that is done.

    Returns
    -------
    Selection
        The selection is ``optimal`` where its gap is closed. Measures are those of nested cross-validation, which
        repeats the choice of number and weights, not the test by permuted labels, without the samples that it scores:
        labels that are told no better than permuted ones have no feature. Features that number samples are left out.

    Raises
    ------
    ParameterError : a parameter out of range, sparse data, or a class of fewer than four samples or groups.
    DataError : groups of mixed labels, of which fewer than two have one of the labels for the most part.

    Notes
    -----
    The choice looks at 2,500 samples at most, a random part of more.
    """
    word("rule", rule, RULES)
    check_jobs(jobs)
    data = dataset_of(data, y)
    if group is not None:
        data = replace(data, group=group)  # type: ignore[arg-type]
    refuse_sparse("select", data.X)
    data, left_out = _without_numbers(data)
    looked_at, p = _looked_at(data, seed), len(columns_of_variables(data))
    wanted = None if features is None else whole("select", "features", features, low=1, high=p)
    done = itertools.count(1)

    def count(name: str) -> None:
        if progress is not None:
            k = next(done)
            progress({"iteration": k, "step": name, "share": min(1.0, k / (1 + folds + PAIRS))})

    scores = cross_validated(looked_at, wanted, folds, REPEATS, seed)
    choice, chance = choose(scores, rule, wanted), noise_p_value(looked_at, seed)
    if chance > NOISE and wanted is None:
        choice = replace(choice, m=0)
    split = stratified_folds(looked_at, folds, seed)
    calls = [(looked_at, fold, folds, seed, rule, wanted) for fold in split]
    parts = side_by_side(nested_scores, calls, jobs, lambda _: count("fold"))
    held_out = np.concatenate(parts)[np.argsort(np.concatenate(split))]
    halves = [(looked_at, choice.m, choice.c_path, seed + k) for k in range(PAIRS)]
    pairs = side_by_side(selected_and_tested, halves, jobs, lambda _: count("halves"))
    proof, fit = _fits(data, choice, time_limit)
    nested = quality(looked_at.y, held_out) if fit.features else {}
    weights = {row.feature: row.weight for row in fit.to_frame().itertuples()}
    return Selection(
        data=data,
        left_out=left_out,
        fit=fit,
        proof=proof,
        choice=choice,
        rule="given" if wanted is not None else rule,
        p_value=chance,
        held_out=(looked_at.y, held_out),
        nested=nested,
        whole=area_of_all(looked_at, split),
        intervals=intervals(scores, nested, rule, wanted, seed),
        shares=np.mean([selected for selected, _ in pairs], axis=(0, 1)),
        p_values=aggregated(np.concatenate([tested for _, tested in pairs])),
        weight_ends=weight_intervals(looked_at, data.n, weights, choice.c, seed),
        questions=questions_of(looked_at, split),
        exact=exact_word(proof, data) if exact and proof is not None else None,
    )


def _without_numbers(data: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """Return the data without the features that number the samples, and their names; raises ParameterError for none."""
    out = data.identifiers
    if not out:
        return data, out
    kept = [j for j, name in enumerate(data.features) if name not in out]
    if not kept:
        raise ParameterError("every feature numbers the samples", "give features that tell something of them")
    story = (*data.story, f"left out, since they number the rows: {', '.join(out)}")
    encoded = data.encoded
    if encoded is not None:
        columns = tuple(column for column in encoded.encoding.columns if column.name not in out)
        encoded = Encoded(replace(encoded.encoding, columns=columns), encoded.source.drop(columns=list(out)))
    return replace(data.columns(kept), encoded=encoded, story=story), out


def _looked_at(data: Dataset, seed: int) -> Dataset:
    """Return the samples that choose, a random part of many; raises ParameterError for a class of too few."""
    smaller, noun = smaller_class(data), "sample" if data.group is None else "group"
    if smaller < FEWEST:
        raise ParameterError(
            f"'select' has {counted(smaller, noun)} of the smaller class, too few for nested cross-validation",
            f"give data with {FEWEST} {noun}s of each class",
        )
    share = MOST_SAMPLES / data.n
    return data if share >= 1.0 else data.rows(random_parts(data, (share, 1.0 - share), seed)[0])


def _fits(data: Dataset, choice: Choice, time_limit: float | None) -> tuple[Fit | None, Fit]:
    """Return the proof of the path's selection, or of a better one, None for none or no time; and the classifier."""
    problem, _ = path_of(data)
    chosen = problem.path(choice.c_path, choice.m, choice.m)[-1]
    support, proof = sorted(problem.columns(chosen).tolist()), None
    search: dict[str, Any] = {"m": len(chosen), "c": choice.c_path, "initial": support}
    penalised = "-penalised" if len(problem.groups) < data.p else ""
    if penalised:
        prices = problem.prices(choice.c_path)
        search |= {"groups": CATEGORIES, "lam": (prices - prices.min()).tolist()}
    logistic: dict[str, Any] = {"loss": "logistic", "tolerance": TOLERANCE}
    if support:
        with suppress(OutOfTimeError):  # of many samples
            proof = fit_method(f"best-subset{penalised}", data, **search, **logistic, time_limit=time_limit)
            support = list(proof.support)
    # A budget of 0 leaves the intercept alone.
    kept: Any = {"include": support, "m": len(support)} if support else {"costs": [1.0] * data.p, "budget": 0.0}
    return proof, fit_method("best-subset", data, c=choice.c, **logistic, **kept)
