"""All methods side by side: the rows of ``fsopt compare``, a study with one seed that also fits all samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.common.customising import Change
from fsopt.common.plugins import load
from fsopt.data import Dataset
from fsopt.data.scores import MEASURES
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.models.registry import model_spec
from fsopt.studies.methods import study_spec
from fsopt.studies.running import Progress, advance, check_jobs, local_executor
from fsopt.studies.store import Row as StoreRow
from fsopt.studies.store import Store, opened
from fsopt.studies.study import Study, StudyMethod
from fsopt.studies.summary import Spread, spread
from fsopt.studies.units import TIMEOUT

GRIDS: Mapping[str, Mapping[str, tuple[Any, ...]]] = MappingProxyType(
    {
        "gmeb": {"r_plus": (1.0, 3.0, 9.0), "r_minus": (1.0, 3.0, 9.0)},
        "l0-mpm": {"alpha": (1.0, 5.0)},
        "fsv": {"lam": (0.01, 0.05, 0.2)},
        "gbd-lambda": {"lam": (0.3, 1.0, 3.0)},
        "skglm": {"alpha": (0.003, 0.01, 0.03)},
    }
)
"""Method -> the grid of ``--tune``."""
WEIGHTS = (0.1, 1.0, 10.0)
"""The same for the parameter ``c`` of every other method that has one. A method with neither is not tuned."""
INNER_FOLDS = 3
"""Folds of the cross-validation by which a tuned method chooses."""


@dataclass(frozen=True)
class Row:
    """One method in the comparison on one data set.

    Attributes
    ----------
    data : name of the data set.
    method : name in the registry, or of a peer.
    paper : its key in :data:`fsopt.models.papers.PAPERS`; None for a baseline.
    params : that were given or chosen; others are those of comparisons.
    status, stop, objective, bound, solver, warnings : of the fit to all samples.
    n_features, features : of the same fit, the number and the names of the selected features.
    cv_accuracy, cv_mcc, cv_balanced_accuracy, cv_recall, cv_auc : means over the folds, see
        :func:`fsopt.data.scores.measures`; None where a fold failed, or where the fit of one was ended early.
    spreads : name of these means -> standard deviation over the folds.
    certificate : parts of the certificate of the fit to all samples.
    seconds, cpu_seconds : of this fit, by the clock and of the processor; None where its process ended early.
    error : messages of the fits that failed; empty where none did.
    ended_early : number of fits, on all samples and on folds, that the time limit ended before their own criterion.
    exact : the word of an exact check of the fit to all samples; None where it was not asked for.
    """

    data: str
    method: str
    paper: str | None
    params: Mapping[str, Any]
    status: str
    stop: str
    objective: float | None
    bound: float | None
    n_features: int | None
    features: tuple[str, ...]
    cv_accuracy: float | None
    cv_mcc: float | None
    cv_balanced_accuracy: float | None
    cv_recall: float | None
    cv_auc: float | None
    spreads: Mapping[str, float]
    certificate: Mapping[str, Any] | None
    solver: str
    seconds: float
    warnings: tuple[str, ...]
    error: str
    ended_early: int = 0
    exact: str | None = None
    cpu_seconds: float | None = None

    @property
    def lacking(self) -> str:
        """What a method without an answer has not: a fit to all samples, or scores, by an error; empty for none.

        A fit that the time limit ended with a classifier is no error, though there are no means then.
        """
        if self.status == Status.NONE:
            return "no fit"
        return "no scores" if self.error and self.cv_accuracy is None else ""


def comparison_study(
    data: Sequence[Dataset],
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    time_limit: float | None = None,
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
    time_limit : seconds for each fit.
    params : method -> parameters that differ.
    solver : of the continuous problems of every method; None takes the preferred ones.
    tune : choose among :data:`GRIDS` and :data:`WEIGHTS` inside of each training part; given parameters stay.
    customise : slug -> function that changes the models of the methods that solve them, as in :func:`fsopt.fit`.
    exact : whether each fit is also verified in rational arithmetic.

    Raises
    ------
    UnknownNameError, ParameterError : an unknown method, parameter or model, or a method that is given twice.
    """
    if folds < 2:
        raise ParameterError(f"--folds is {folds}", "give 2 or more")
    load()
    names = list(METHODS) if methods is None else list(methods)
    given, changes = params or {}, customise or {}
    for name in (*names, *given):
        study_spec(name)
    unused = [name for name in given if name not in names]
    if unused:
        raise ParameterError(f"there are parameters for '{unused[0]}', which is not compared", "name it in --methods")
    _check_changes(names, changes)
    made = []
    for name in names:
        entry, own = study_spec(name), dict(given.get(name, {}))
        grid = {k: v for k, v in _grid(name, entry.parameters).items() if tune and k not in own}
        slugs = getattr(entry, "models", ())
        made.append(
            StudyMethod(
                name,
                own,
                grid,
                tune=bool(grid),
                inner_folds=INNER_FOLDS,
                solver=solver,
                customise={slug: function for slug, function in changes.items() if slug in slugs},
            )
        )
    return Study(
        "compare", tuple(data), tuple(made), folds, (seed,), all_samples=True, time_limit=time_limit, exact=exact
    )


def _grid(name: str, parameters: Mapping[str, Any]) -> Mapping[str, Sequence[Any]]:
    return GRIDS.get(name) or ({"c": WEIGHTS} if "c" in parameters else {})


def compare(
    data: Dataset | Sequence[Dataset],
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    jobs: int = -1,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Iterator[Row]:
    """Fit methods to all samples and under stratified cross-validation, and yield a row for each, in their order.

    Parameters
    ----------
    data : a data set, or several.
    methods, folds : as in :func:`comparison_study`.
    jobs : worker processes, each killed at the hard limit of its fit; -1 takes all processors. Solvers run on one
        thread.
    executor : any other ``concurrent.futures.Executor``. A function of ``customise`` or a method that cannot be sent
        to another process runs all fits in this one.
    progress : called with a :class:`fsopt.studies.running.Progress` after each fit.
    settings : ``seed``, ``time_limit``, ``params``, ``solver``, ``tune``, ``customise`` and ``exact`` of
        :func:`comparison_study`.

    Raises
    ------
    UnknownNameError, ParameterError : before any fit. The error of a fit is a text in the row of its method.
    KeyboardInterrupt : by Ctrl-C; the rows before it are complete.
    """
    sets = [data] if isinstance(data, Dataset) else list(data)
    study = comparison_study(sets, methods, folds=folds, **settings)
    workers = check_jobs(jobs)
    with opened(None) as held:
        yield from _rows(study, held, executor or local_executor(study, workers), executor is None, progress)


def _rows(
    study: Study, held: Store, executor: Executor, own: bool, progress: Callable[[Progress], None] | None
) -> Iterator[Row]:
    """Yield the row of each method as soon as it and those before it are complete."""
    waiting: list[tuple[str, str]] = [(d.name, m.name) for d in study.data for m in study.methods]
    left = dict.fromkeys(waiting, study.folds + 1)
    found: dict[tuple[str, str], list[StoreRow]] = {pair: [] for pair in waiting}
    for state in advance(study, held, executor, own=own):
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
        model_spec(slug)
        if not any(slug in getattr(study_spec(name), "models", ()) for name in names):
            raise ParameterError(f"none of the methods solves the model '{slug}'", "'fsopt methods' lists the models")


def summarise(rows: Sequence[StoreRow]) -> Row:
    """Return the row of a method from the rows of its units."""
    # In the order of the folds, not in that of their ends, which decides on the last digit of a mean.
    ordered = sorted(rows, key=lambda row: -1 if row["fold"] is None else row["fold"])
    whole, parts = ordered[0], ordered[1:]
    early = [row["state"] == TIMEOUT and row["status"] != "none" for row in ordered]
    scores: dict[str, Spread | None] = {
        name: None if any(early[1:]) else spread([row.get(name) for row in parts]) for name in MEASURES
    }
    errors = [row["error"] for row, late in zip(ordered, early, strict=True) if row["error"] and not late]
    return Row(
        data=whole["data"],
        method=whole["method"],
        paper=study_spec(whole["method"]).paper,
        params=whole.get("fitted") or whole["params"],
        status=whole["status"],
        stop=whole["stop"],
        objective=whole.get("objective"),
        bound=whole.get("bound"),
        n_features=whole.get("n_features"),
        features=tuple(whole.get("features") or ()),
        **{f"cv_{name}": None if value is None else value.mean for name, value in scores.items()},
        spreads={f"cv_{name}": value.deviation for name, value in scores.items() if value is not None},
        certificate=whole.get("certificate"),
        solver=whole.get("solver") or "",
        seconds=whole["seconds"],
        cpu_seconds=whole.get("cpu_seconds"),
        warnings=tuple(whole.get("warnings") or ()),
        error="; ".join(dict.fromkeys(errors)),
        ended_early=sum(early),
        exact=whole.get("exact"),
    )


def majority(data: Dataset, folds: int, seed: int) -> dict[str, float]:
    """Return the scores of the classifier that always says the larger class of its training samples, over the folds."""
    right = []
    for test in stratified_folds(data, folds, seed):
        train, held_out = train_and_test(data, test)
        says = 1.0 if 2 * len(train.positive) >= train.n else -1.0
        right.append(float(np.mean(held_out.y == says)))
    return {"cv_accuracy": float(np.mean(right)), "cv_balanced_accuracy": 0.5, "cv_mcc": 0.0}
