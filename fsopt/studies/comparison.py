"""All methods side by side: ``fsopt.compare``, a study with one seed that also fits all samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.common.arguments import FLAG, FUNCTION, SECONDS, TEXT, WHOLE, checked, optional
from fsopt.common.figures import draw_front, new_figure, plain
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import MEASURES
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.studies.methods import PEERS, Classifier, Method, entry_of
from fsopt.studies.ranking import Line, answer, lines_of, standings
from fsopt.studies.running import Progress, Row, run_study
from fsopt.studies.study import Study, StudyMethod
from fsopt.studies.units import TIMEOUT
from fsopt.typing import Samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INNER_FOLDS = 3
"""Folds of the cross-validation by which a tuned method chooses."""
OF_FIT = ("status", "stop", "objective", "bound", "n_features", "certificate", "seconds", "cpu_seconds", "exact")
"""Columns of the row of all samples that a record has as they are."""
NONE = dict.fromkeys(("standing", "interval", "told_apart", "worse", "front", "above_larger", "answer"))
"""The standing of a method without scores."""


@dataclass(frozen=True)
class Comparison(Answer):
    """Methods side by side.

    Attributes
    ----------
    study : of which the comparison is made: data sets, methods, folds, seed.
    rows : a record for each data set and method, of which every fit was made. ``data``, ``method`` and ``paper`` are
        names, None for the paper of a method of none. ``status``, ``stop``, ``objective``, ``bound``, ``solver``,
        ``warnings``, ``certificate``, ``exact``, ``seconds``, ``cpu_seconds``, ``n_features`` and ``features`` are of
        the fit to all samples, ``params`` those that were given or chosen for it. ``cv_accuracy``, ``cv_mcc``,
        ``cv_balanced_accuracy``, ``cv_recall`` and ``cv_auc`` are means over the folds, ``spreads`` their standard
        deviations, ``fold_accuracies`` the values: None and empty where a fold failed or was ended early.
        ``fold_statuses`` counts the statuses of the fits to folds, ``ended_early`` the fits that a limit ended,
        ``error`` has the messages of those that failed, and ``lacking`` what a method without an answer has not.
        ``standing`` is the standing of its accuracy in words, with ``interval``, ``told_apart``, ``worse``, ``front``,
        ``above_larger`` and ``answer`` of :func:`fsopt.studies.ranking.standings`.
    majority : data set -> scores of the classifier that always says the larger class.
    sentences : data set -> the method of fewest features that is not told apart from the best; none without scores.
    units : the row of each fit.
    interrupted : whether Ctrl-C ended the comparison; the rows are those that were complete.
    """

    study: Study
    rows: tuple[Mapping[str, Any], ...]
    majority: Mapping[str, Mapping[str, float]]
    sentences: Mapping[str, str]
    units: tuple[Row, ...]
    interrupted: bool = False
    shown = (
        *("method", "standing", "status", "fold_statuses", "n_features", "cv_accuracy", "cv_balanced_accuracy"),
        *("cv_mcc", "objective", "solver", "seconds"),
    )

    @property
    def heading(self) -> dict[str, Any]:
        """Data sets with their sizes, the split, the larger class, the answer, and the methods without one."""
        sets = {"data": list(self.majority), **{k: [getattr(one, k) for one in self.study.data] for k in ("n", "p")}}
        return {
            **{name: values[0] if len(values) == 1 else values for name, values in sets.items()},
            "folds": self.study.folds,
            "seed": self.study.seeds[0],
            "majority": self.majority,
            "answer_in_words": self.sentences,
            "unanswered": [{k: r[k] for k in ("data", "method", "lacking")} for r in self.rows if r["lacking"]],
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return a record for each row."""
        return [dict(row) for row in self.rows]

    def plot(self) -> Figure:
        """Return the accuracies against the numbers of features, a panel for each data set."""
        figure = new_figure(len(self.majority))
        for axes, name in zip(figure.axes, self.majority, strict=True):
            rows = [row for row in self.rows if row["data"] == name and row["interval"] is not None]
            draw_front(axes, {row["method"]: (row["n_features"], row["cv_accuracy"], row["front"]) for row in rows})
            axes.set_title(plain(name))
        return figure


@checked(
    folds=WHOLE,
    seed=WHOLE,
    time_limit=optional(SECONDS),
    solver=optional(TEXT),
    tune=FLAG,
    exact=FLAG,
    jobs=WHOLE,
    progress=optional(FUNCTION),
)
def compare(
    data: Given | Samples,
    y: ArrayLike | None = None,
    *,
    methods: str | Sequence[Method] | None = None,
    folds: int = 5,
    seed: int = 0,
    time_limit: float | None = 30.0,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    solver: str | None = None,
    tune: bool = False,
    exact: bool = False,
    jobs: int = -1,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare methods on a data set: each fitted to all samples and under stratified cross-validation.

    Parameters
    ----------
    data : Given | Samples
        A data set, samples X, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    y : ArrayLike, optional
        Labels (n,) of samples, or the name of their column.
    methods : str | Sequence[Method], optional
        Names, of peers too, and pairs of a name and a classifier or pipeline of scikit-learn, whose features are those
        of ``get_support`` and ``coef_``; all registered methods by default, with their parameters for comparisons.
    folds, seed : int
        Of the stratified, shuffled split.
    time_limit : float, default 30.0
        Seconds for each fit; None for no limit.
    params : Mapping[str, Mapping[str, Any]], optional
        Method -> parameters that differ.
    solver : str, optional
        Of the continuous problems of every method; None takes the preferred ones.
    tune : bool, default False
        Choose parameters inside of each training part, among the candidates of each method; given ones stay.
    exact : bool, default False
        Whether each fit is also verified in rational arithmetic.
    jobs : int, default -1
        Worker processes, as in :func:`fsopt.run_study`; -1 takes all processors. Solvers run on one thread.
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
    if folds < 2:
        raise ParameterError(f"folds={folds} is no cross-validation", "give 2 or more")
    study = Study(
        name="compare",
        data=(dataset_of(data, y),),
        methods=_methods(methods, params or {}, solver, tune),
        folds=folds,
        seeds=(seed,),
        all_samples=True,
        time_limit=time_limit,
        exact=exact,
    )
    units, interrupted = _computed(study, jobs, progress)
    larger = {one.name: majority(one, folds, seed) for one in study.data}
    papers = {method.name: method.entry.paper for method in study.methods}
    rows, sentences = list[dict[str, Any]](), dict[str, str]()
    for name, share in larger.items():
        lines = lines_of(row for row in units if row["data"] == name)
        whole = [line for line in lines if len(line.rows) == folds + 1]
        found = standings(whole, share["cv_accuracy"])
        rows += [_record(line, papers[line.method]) | found.get(line.title, NONE) for line in whole]
        sentences |= {name: answer(whole, found)} if found else {}
    return Comparison(study, tuple(rows), larger, sentences, units, interrupted)


def _computed(study: Study, jobs: int, progress: Callable[[Progress], None] | None) -> tuple[tuple[Row, ...], bool]:
    """Return the rows of the units in the order of the study, and whether Ctrl-C came before the last one."""
    rows: list[Row] = []

    def told(state: Progress) -> None:
        rows.append(state.last)
        if progress is not None:
            progress(state)

    try:
        return run_study(study, jobs=jobs, progress=told).rows, False
    except KeyboardInterrupt:
        return tuple(sorted(rows, key=lambda row: int(row["place"]))), True


def _methods(
    methods: str | Sequence[Method] | None, params: Mapping[str, Any], solver: str | None, tune: bool
) -> tuple[StudyMethod, ...]:
    """Return the methods of the study behind a comparison; refuse parameters of others."""
    given = list(METHODS) if methods is None else [methods] if isinstance(methods, str) else list(methods)
    entries = {entry.name: entry for entry in map(entry_of, given)}
    if len(entries) < len(given) or not given:
        raise ParameterError("the list of methods is empty or has one twice", "give different names")
    for name in params.keys() - entries:
        entry_of(name)
        raise ParameterError(f"there are parameters for '{name}', which is not compared", "name it in methods=")
    found = []
    for entry in entries.values():
        own = dict(params.get(entry.name, {}))
        grid = {k: list(v) for k, v in entry.candidates.items() if tune and k not in own}
        how: dict[str, Any] = {"params": own, "grid": grid, "tune": bool(grid), "inner_folds": INNER_FOLDS}
        peer = not isinstance(entry, Classifier) or entry.name in PEERS
        used = solver if entry.solver else None
        found.append(StudyMethod(name=entry.name, estimator=None if peer else entry, solver=used, **how))
    return tuple(found)


def _record(line: Line, paper: str | None) -> dict[str, Any]:
    """Return the record of a method from the rows of its units, but for its standing."""
    whole, spreads = line.whole, {f"cv_{name}": line.spread(name) for name in MEASURES}
    early = [row["state"] == TIMEOUT and row["status"] != Status.NONE for row in line.rows]
    errors = [row["error"] for row, late in zip(line.rows, early, strict=True) if row["error"] and not late]
    unscored = errors and not line.values("accuracy")
    return {
        "data": line.data,
        "method": line.method,
        "paper": paper,
        "params": whole.get("fitted") or whole["params"],
        **{name: whole.get(name) for name in OF_FIT},
        "features": whole.get("features") or [],
        **{name: mean for name, (mean, _) in spreads.items()},
        "spreads": {name: deviation for name, (mean, deviation) in spreads.items() if mean is not None},
        "fold_accuracies": line.values("accuracy"),
        "fold_statuses": line.statuses,
        "solver": whole.get("solver") or "",
        "warnings": whole.get("warnings") or [],
        "error": "; ".join(dict.fromkeys(errors)),
        "ended_early": sum(early),
        "lacking": "no fit" if whole["status"] == Status.NONE else "no scores" if unscored else "",
    }


def majority(data: Dataset, folds: int, seed: int) -> dict[str, float]:
    """Return the scores of the classifier that always says the larger class of its training samples, over the folds."""
    right = []
    for test in stratified_folds(data, folds, seed):
        says = 1.0 if np.delete(data.y, test).sum() >= 0.0 else -1.0
        right.append(float(np.mean(data.y[test] == says)))
    return {"cv_accuracy": float(np.mean(right)), "cv_balanced_accuracy": 0.5, "cv_mcc": 0.0}
