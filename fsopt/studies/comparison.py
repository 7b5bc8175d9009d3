"""All methods side by side: the rows of ``fsopt compare``, a study with one seed that also fits all samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from numpy.typing import ArrayLike

from fsopt.common.arguments import EXECUTOR, FLAG, FUNCTION, LIST, SECONDS, TEXT, WHOLE, checked, optional, spelled
from fsopt.common.customising import Change
from fsopt.common.teams import check_jobs
from fsopt.data import Dataset
from fsopt.data.given import Given, datasets_of
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.models.registry import MODELS
from fsopt.studies.comparison_rows import ComparedMethod, Comparison, majority, summarise
from fsopt.studies.methods import study_spec
from fsopt.studies.running import Plan, Progress, advance, planned
from fsopt.studies.store import Row, Store, opened
from fsopt.studies.study import Study, StudyMethod
from fsopt.typing import Samples

INNER_FOLDS = 3
"""Folds of the cross-validation by which a tuned method chooses."""


def comparison_study(
    data: Sequence[Dataset],
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    time_limit: float | None = None,
    cpu_limit: float | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    solver: str | None = None,
    tune: bool = False,
    customise: Mapping[str, Change] | None = None,
    exact: bool = False,
) -> Study:
    """Return the study behind a comparison.

    Parameters
    ----------
    data : data sets of different names.
    methods : names, of peers too; all registered ones by default, with their parameters for comparisons.
    folds, seed : of the stratified, shuffled split.
    time_limit, cpu_limit : seconds for each fit by the clock, and of the processor.
    params : method -> parameters that differ.
    solver : of the continuous problems of every method that calls one; None takes the preferred ones.
    tune : choose among the candidates of each method inside of each training part; given parameters stay.
    customise : slug -> function that changes the models of the methods that solve them, as in :func:`fsopt.fit`.
    exact : whether each fit is also verified in rational arithmetic.

    Raises
    ------
    UnknownNameError, ParameterError : an unknown method, parameter or model, or a method that is given twice.
    """
    if folds < 2:
        raise ParameterError(f"folds={folds} is no cross-validation", "give 2 or more")
    names = list(METHODS) if methods is None else list(methods)
    given, changes = params or {}, customise or {}
    for name in (*names, *given):
        study_spec(name)
    unused = [name for name in given if name not in names]
    if unused:
        raise ParameterError(f"there are parameters for '{unused[0]}', which is not compared", "name it in methods=")
    _check_changes(names, changes)
    made = []
    for name in names:
        entry = study_spec(name)
        own = spelled(f"method '{name}'", given.get(name, {}), entry.parameters)
        grid = {k: v for k, v in entry.candidates.items() if tune and k not in own}
        slugs = getattr(entry, "models", ())
        made.append(
            StudyMethod(
                name,
                own,
                grid,
                tune=bool(grid),
                inner_folds=INNER_FOLDS,
                solver=solver if getattr(entry, "solver", True) else None,
                customise={slug: function for slug, function in changes.items() if slug in slugs},
            )
        )
    limits = {"time_limit": time_limit, "cpu_limit": cpu_limit}
    return Study("compare", tuple(data), tuple(made), folds, (seed,), all_samples=True, exact=exact, **limits)


@checked(
    methods=optional(LIST),
    folds=WHOLE,
    seed=WHOLE,
    time_limit=optional(SECONDS),
    cpu_limit=optional(SECONDS),
    solver=optional(TEXT),
    tune=FLAG,
    exact=FLAG,
    jobs=WHOLE,
    executor=optional(EXECUTOR),
    progress=optional(FUNCTION),
)
def compare(
    data: Given | Samples | Sequence[Given],
    y: ArrayLike | None = None,
    *,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    time_limit: float | None = 30.0,
    cpu_limit: float | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    solver: str | None = None,
    tune: bool = False,
    customise: Mapping[str, Change] | None = None,
    exact: bool = False,
    jobs: int = -1,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare methods on a data set: each fitted to all samples and under stratified cross-validation.

    Parameters
    ----------
    data : Given | Samples | Sequence[Given]
        A data set, samples X, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`; or a list of several of
        different names.
    y : ArrayLike, optional
        Labels (n,) of samples, or the name of their column.
    methods : Sequence[str], optional
        Names, of peers too; all registered ones by default, with their parameters for comparisons.
    folds, seed : int
        Of the stratified, shuffled split.
    time_limit : float, default 30.0
        Seconds for each fit; None for no limit.
    cpu_limit : float, optional
        CPU seconds for each fit, which do not pass while other programs have the processor; give ``time_limit=None``
        with it on a busy machine. Both hold where both are given.
    params : Mapping[str, Mapping[str, Any]], optional
        Method -> parameters that differ.
    solver : str, optional
        Of the continuous problems of every method; None takes the preferred ones.
    tune : bool, default False
        Choose parameters inside of each training part, among the candidates of each method; given ones stay.
    customise : Mapping[str, Change], optional
        Slug -> function that changes the models of the methods that solve them, as in :func:`fsopt.fit`.
    exact : bool, default False
        Whether each fit is also verified in rational arithmetic.
    jobs : int, default -1
        Worker processes, each killed at the hard limit of its fit; -1 takes all processors. Solvers run on one thread.
    executor : Executor, optional
        Any other ``concurrent.futures.Executor``. A function of ``customise`` or a method that cannot be sent to
        another process runs all fits in this one.
    progress : Callable[[Progress], None], optional
        Called with a :class:`fsopt.studies.running.Progress` after each fit.

    Returns
    -------
    Comparison
        A row for each method and data set; after Ctrl-C those that were complete.

    Raises
    ------
    UnknownNameError, ParameterError : before any fit. The error of a fit is a text in the row of its method.
    """
    sets = datasets_of(data, y)
    if not sets:
        raise ParameterError("there is no data set", "give one, or several")
    study = comparison_study(
        sets,
        methods,
        folds=folds,
        seed=seed,
        time_limit=time_limit,
        cpu_limit=cpu_limit,
        params=params,
        solver=solver,
        tune=tune,
        customise=customise,
        exact=exact,
    )
    workers, rows = check_jobs(jobs), list[ComparedMethod]()
    plan = planned(study)
    larger = {one.name: majority(one, folds, seed) for one in sets}
    interrupted = False
    with opened(None) as database:
        try:
            rows.extend(_rows(plan, database, executor, workers, progress))
        except KeyboardInterrupt:
            interrupted = True
    return Comparison(
        data=tuple(one.name for one in sets),
        sizes=tuple((one.n, one.p) for one in sets),
        rows=tuple(rows),
        folds=folds,
        seed=seed,
        tune=tune,
        majority=larger,
        interrupted=interrupted,
    )


def _rows(
    plan: Plan, database: Store, executor: Executor | None, jobs: int, progress: Callable[[Progress], None] | None
) -> Iterator[ComparedMethod]:
    """Yield the row of each method as soon as it and those before it are complete."""
    study = plan.study
    waiting: list[tuple[str, str]] = [(d.name, m.name) for d in study.data for m in study.methods]
    left = dict.fromkeys(waiting, study.folds + 1)
    found: dict[tuple[str, str], list[Row]] = {pair: [] for pair in waiting}
    for state in advance(plan, database, executor, jobs):
        if not state.last:  # the plan of many fits
            continue
        pair = (state.last["data"], state.last["method"])
        left[pair] -= 1
        found[pair].append(state.last)
        if progress is not None:
            progress(state)
        while waiting and not left[waiting[0]]:
            yield summarise(found[waiting.pop(0)])


def _check_changes(names: Sequence[str], customise: Mapping[str, Change]) -> None:
    """Raise UnknownNameError or ParameterError for a changed model that none of the methods solves."""
    for slug in customise:
        MODELS[slug]
        if not any(slug in getattr(study_spec(name), "models", ()) for name in names):
            raise ParameterError(f"none of the methods solves the model '{slug}'", "'fsopt methods' lists the models")
