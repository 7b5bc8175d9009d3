"""All methods side by side on one data set, with cross-validation: the rows of ``fsopt compare``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fsopt.customising import Change
from fsopt.data import Dataset
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import FsoptError, ParameterError
from fsopt.exact_checking import exact_word
from fsopt.methods.registry import METHODS, fit, method_spec, own_methods, register_method
from fsopt.models.registry import MODELS, model_spec, own_models, register_model
from fsopt.plugins import load
from fsopt.results import Fit, Status
from fsopt.studies.workers import Failure, portable, run_tasks
from fsopt.typing import Indices

CERTIFICATE = ("kind", "ok", "worst", "residuals", "tolerance")
"""The parts of the certificate of the fit to all samples that a row keeps."""


@dataclass(frozen=True)
class Task:
    """One fit: a method on all samples (``fold`` None), or on the samples outside a fold, tested on the fold."""

    method: str
    fold: int | None
    test: Indices | None


@dataclass(frozen=True)
class Done:
    """The result of a task: a Fit (all samples), scores (a fold), or the message of the error.

    ``early`` is the stop of a fit that a limit or the user ended before its own stopping criterion; empty otherwise.
    ``exact`` is the word of :func:`fsopt.exact_checking.exact_word`, None where it was not asked for.
    """

    task: Task
    seconds: float
    fit: Fit | None = None
    scores: Mapping[str, float] | None = None
    error: str = ""
    early: str = ""
    exact: str | None = None


@dataclass(frozen=True)
class Row:
    """One method in the comparison.

    Attributes
    ----------
    method : registry name.
    paper : its key in :data:`fsopt.models.papers.PAPERS`; None for a baseline.
    status, stop, objective, bound, solver, warnings : of the fit to all samples.
    n_features, features : of the same fit, the number and the names of the selected features.
    cv_accuracy, cv_mcc : means over the folds; None where a fold failed, or where the fit of one was ended early.
    certificate : :data:`CERTIFICATE` of the fit to all samples.
    seconds : of this fit.
    error : messages of the fits that failed; empty where none did.
    ended_early : number of fits, on all samples and on folds, that the time limit ended before their own criterion.
    exact : the word of an exact check of the fit to all samples; None where it was not asked for.
    """

    method: str
    paper: str | None
    status: str
    stop: str
    objective: float | None
    bound: float | None
    n_features: int | None
    features: tuple[str, ...]
    cv_accuracy: float | None
    cv_mcc: float | None
    certificate: Mapping[str, Any] | None
    solver: str
    seconds: float
    warnings: tuple[str, ...]
    error: str
    ended_early: int = 0
    exact: str | None = None


def compare(
    data: Dataset,
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    jobs: int = -1,
    time_limit: float | None = None,
    hard_limit: float | None = None,
    customise: Mapping[str, Change] | None = None,
    exact: bool = False,
    progress: Callable[[int, int, Done], None] | None = None,
) -> Iterator[Row]:
    """Fit methods to all samples and under stratified cross-validation, and yield a row for each, in their order.

    Parameters
    ----------
    methods : names; all registered ones by default, with the parameters that ``compare`` of their entries returns.
    folds, seed : of the stratified, shuffled split; accuracy and Matthews correlation are means over folds.
    jobs : worker processes; -1 takes all processors. 1 without a hard limit runs the fits in this process. Solvers run
        on one thread.
    time_limit : seconds for each fit.
    hard_limit : seconds after which the process of a fit is killed: for solvers that look at no clock. The fit has
        failed then, and the others go on; None (default) for no limit.
    customise : slug -> function that changes the models of the methods that solve them, as in :func:`fsopt.fit`. With
        worker processes a function of a module or file is needed; one of a notebook or of the main script, like a
        method that was registered there, runs all fits in this process.
    exact : whether the fit to all samples is also verified in rational arithmetic.
    progress : called with (number of finished fits, number of all fits, the last result).

    Raises
    ------
    UnknownNameError, ParameterError : before any fit. The error of a fit is a text in the row of its method.
    KeyboardInterrupt : by Ctrl-C; the rows before it are complete.
    """
    load()
    names = list(METHODS) if methods is None else list(methods)
    for name in names:
        method_spec(name)
    _check_changes(names, customise or {})
    splits = stratified_folds(data, folds, seed)
    tasks = [Task(name, k, test) for name in names for k, test in [(None, None), *enumerate(splits)]]
    done: dict[str, list[Done]] = {name: [] for name in names}
    waiting = list(names)
    # Methods with a loop take longest: they go first, so that no process waits for one of them at the end.
    order = sorted(tasks, key=lambda t: not method_spec(t.method).driver)
    limits = Limits(time_limit, hard_limit, customise, exact)
    for finished, result in enumerate(_results(data, order, jobs, limits), start=1):
        done[result.task.method].append(result)
        if progress is not None:
            progress(finished, len(tasks), result)
        while waiting and len(done[waiting[0]]) == len(splits) + 1:
            yield summarise(waiting[0], done[waiting[0]])
            waiting.pop(0)


@dataclass(frozen=True)
class Limits:
    """The limits of each fit in seconds, the changes of models, and the exact check, as in :func:`compare`."""

    soft: float | None
    hard: float | None
    customise: Mapping[str, Change] | None = None
    exact: bool = False


def _check_changes(names: Sequence[str], customise: Mapping[str, Change]) -> None:
    """Raise UnknownNameError or ParameterError for a changed model that none of the methods solves."""
    for slug in customise:
        model_spec(slug)
        if not any(slug in method_spec(name).models for name in names):
            raise ParameterError(f"none of the methods solves the model '{slug}'", "'fsopt methods' lists the models")


def _results(data: Dataset, tasks: Sequence[Task], jobs: int, limits: Limits) -> Iterator[Done]:
    """Yield the result of each task, as they end."""
    one = partial(run_task, data, limits)
    own = (own_models(), own_methods(), limits.customise)
    hard_limit = limits.hard
    if (jobs == 1 and hard_limit is None) or not portable(own):
        yield from map(one, tasks)
        return
    one = partial(_run_registered, own[:2], one)
    for place, result in run_tasks(one, tasks, jobs=jobs, hard_limit=hard_limit):
        if isinstance(result, Failure):
            yield Done(tasks[place], result.seconds, error=result.message)
        else:
            yield result


def _run_registered(own: tuple[Any, Any], one: Callable[[Task], Done], task: Task) -> Done:
    """Run a task in another process, which gets the models and methods of the user's own first."""
    for registered in own[0]:
        if registered[0] not in MODELS:
            register_model(*registered[:3], equation=registered[3])
    for spec, threshold in own[1]:
        if spec.name not in METHODS:
            register_method(spec, threshold=threshold)
    return one(task)


def run_task(data: Dataset, limits: Limits, task: Task) -> Done:
    """Run one fit; an :class:`fsopt.errors.FsoptError` becomes part of the result.

    Raises
    ------
    KeyboardInterrupt : also where a loop has turned it into its incumbent.
    """
    started = time.perf_counter()
    train, test = (data, None) if task.test is None else train_and_test(data, task.test)
    try:
        entry = method_spec(task.method)
        changes = {k: f for k, f in (limits.customise or {}).items() if k in entry.models}
        found = fit(
            task.method, train, time_limit=limits.soft, customise=changes or None, **dict(entry.compare(data.p))
        )
    except FsoptError as error:
        return Done(task, time.perf_counter() - started, error=str(error))
    if found.stop == "interrupted":
        raise KeyboardInterrupt
    early = found.stop if found.stop == "time-limit" and found.status is not Status.OPTIMAL else ""
    seconds = time.perf_counter() - started
    if test is None:
        exact = exact_word(found, data, customise=changes or None) if limits.exact else None
        return Done(task, seconds, fit=found, early=early, exact=exact)
    return Done(task, seconds, scores=found.scores(test), early=early)


def summarise(method: str, results: Sequence[Done]) -> Row:
    """Return the row of a method from its fits."""
    # In the order of the folds, not in that of their ends, which decides on the last digit of a mean.
    results = sorted(results, key=lambda r: -1 if r.task.fold is None else r.task.fold)
    whole = results[0]
    scores = [r.scores for r in results if r.scores is not None and not r.early]
    complete = len(scores) == len(results) - 1
    errors = dict.fromkeys(r.error for r in results if r.error)
    found = whole.fit
    certificate = vars(found.certificate) | {"worst": found.certificate.worst} if found and found.certificate else None
    return Row(
        method=method,
        paper=method_spec(method).paper,
        status=(found.status if found else Status.NONE).value,
        stop=found.stop if found else "error",
        objective=found.objective if found else None,
        bound=found.bound if found else None,
        n_features=len(found.support) if found else None,
        features=found.features if found else (),
        cv_accuracy=float(np.mean([s["accuracy"] for s in scores])) if complete else None,
        cv_mcc=float(np.mean([s["mcc"] for s in scores])) if complete else None,
        certificate={name: certificate[name] for name in CERTIFICATE} if certificate else None,
        solver=found.solver if found else "",
        seconds=whole.seconds,
        warnings=found.warnings if found else (),
        error="; ".join(errors),
        ended_early=sum(bool(r.early) for r in results),
        exact=whole.exact,
    )
