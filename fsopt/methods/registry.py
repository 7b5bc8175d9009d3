"""The registry of methods, and :func:`fit`, which runs one by its name."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from fsopt.answers.fits import Fit
from fsopt.common import clock
from fsopt.common.arguments import FUNCTION, OPTIONS, PATH, SECONDS, TEXT, checked, native, optional, word
from fsopt.common.clock import FEWER, NUMBER, require
from fsopt.common.files import check_readable, check_writable
from fsopt.common.registry import CHANGES, Change, Registry, customised, names_of
from fsopt.data.dataset import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.matrices import refuse_sparse
from fsopt.drivers.run import CallbackError, Progress, Run, Steps, stepwise, through
from fsopt.errors import MemoryLimitError, ParameterError
from fsopt.methods.checking import check_values, with_verified_status
from fsopt.methods.spec import MethodSpec
from fsopt.models.blocks import number
from fsopt.models.registry import MODELS
from fsopt.models.spec import WEIGHTS, check_parameters, check_weights
from fsopt.typing import Samples


def _check(spec: MethodSpec) -> None:
    """Raise ParameterError for a method of the user's own that cannot be fitted."""
    for slug in spec.models:
        MODELS[slug]
    if not (spec.objective or spec.check or (spec.models and MODELS[spec.program].complete)):
        raise ParameterError(
            f"nothing gives the objective value of '{spec.name}' at a hyperplane",
            "give objective= or check= to its MethodSpec, or complete= to the ModelSpec of its program",
        )
    number(spec.name, "threshold", spec.threshold, inside="[0, inf]")
    word(f"weights of '{spec.name}'", spec.weights, WEIGHTS)


METHODS = Registry(
    MethodSpec,
    "method",
    "fsopt.methods",
    (
        "gmeb.gmeb",
        "gmeb.gmeb_penalised",
        "mpm.mpm",
        "mpm.s_mpm",
        "sla.sla",
        "baselines.onsvm",
        "gbd.gbd",
        "mop.mop",
        "baselines.svm",
        "baselines.by_weights",
        "baselines.filters",
    ),
    listing="fsopt methods",
    function="fit",
    check=_check,
)
"""Name -> entry of every method; those of the user's own follow, see :func:`register_method`."""


def register_method(spec: MethodSpec, *, replace: bool = False) -> MethodSpec:
    """Add a method of your own to the registry: fit, compare, studies and check take it by its name from then on.

    Parameters
    ----------
    spec : MethodSpec
        Its entry, as at the end of the modules of the package's own methods; ``paper`` is None.
    replace : bool, default False
        Take the place of a method of your own that has the name already, as in a notebook.

    Returns
    -------
    MethodSpec
        The entry.

    Raises
    ------
    ParameterError : the name is taken, or a model of the method is not registered.
    """
    if isinstance(spec, MethodSpec):
        others = {other.estimator for other in METHODS.values() if other.name != spec.name}
        if spec.estimator in others:  # a changed copy of another entry
            spec = dataclasses.replace(spec, estimator="")
    return METHODS.register(spec, replace=replace)


@stepwise(lambda keywords: keywords.get("progress"))
@checked(
    name=TEXT,
    solver=optional(TEXT),
    time_limit=optional(SECONDS),
    options=optional(OPTIONS),
    progress=optional(FUNCTION),
    checkpoint=optional(PATH),
    resume=optional(PATH),
    customise=optional(CHANGES),
)
def fit(
    name: str,
    data: Given | Samples,
    y: ArrayLike | None = None,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> Steps[Fit]:
    """Run a method on a data set, end to end.

    Parameters
    ----------
    name : str
        One of ``fsopt.METHODS``.
    data : Given | Samples
        The training data, in raw units: methods preprocess it themselves, see their parameter ``scale``. A data set;
        samples X (n, p); a pair (X, y); a DataFrame; or a path or name as for :func:`fsopt.load_dataset`, which has
        the words for tables with texts and missing values.
    y : ArrayLike, optional
        Labels (n,) of samples X: -1 and +1, 0 and 1, or two texts. Of a DataFrame or file the name of the column of
        the labels; ``label`` by default.
    solver : str, optional
        For the continuous problems of the method; None takes the preferred one of their class.
    time_limit : float, optional
        Seconds for the whole method.
    options : Mapping[str, Any], optional
        Options of the solver, as in :func:`fsopt.solve`.
    progress : Progress, optional
        Called with the record of each iteration. An exception of it, KeyboardInterrupt or another one with a warning,
        ends the loop with its incumbent; before there is one, it is raised.
    checkpoint : str | Path, optional
        File that a ``best-subset`` method replaces as it runs, whole or not at all, by one process at a time.
    resume : str | Path, optional
        Checkpoint of the same method, data and parameters to go on from; limits and tolerances of the loop may differ.
    customise : Mapping[str, Change], optional
        Slug of a model of the method -> function that changes each of its freshly built models in place, for example
        one that adds a rule to ``fsp-master``. The answer is that of the changed program, its certificate too, or
        it is ``feasible``; ``details["customised"]`` names the functions, and :func:`fsopt.verify` needs them again.
    class_weight, sample_weight : array or str | Mapping[str | int, float], optional
        As in :meth:`fsopt.Dataset.weighted`, in place of the weights of the data. They multiply the penalty weight of
        the hinge loss, C_i in place of C, and count in the means and deviations of the preprocessing; methods without a
        place for them refuse them.
    **params
        The method's own keywords; unknown names are refused.

    Returns
    -------
    Fit
        Selected features, classifier, certificate, and the status that :func:`fsopt.verify` supports.

    Raises
    ------
    UnknownNameError, ParameterError, InfeasibleError, SolverError, FileError
    DataError : sparse data for a method that needs dense ones.
    OutOfTimeError : the time limit passed before there was a hyperplane.
    MemoryLimitError : the arrays of the method do not fit into the memory.
    """
    entry = METHODS[name]
    given = check_parameters("method", name, params, entry.parameters)
    params = {parameter: native(value) for parameter, value in given.items()}
    check_values(name, entry.fit, params)
    data = dataset_of(data, y)
    if class_weight is not None or sample_weight is not None:
        data = data.weighted(class_weight, data.weights if sample_weight is None else sample_weight)
    refuse_data(entry, data)
    check_changes(entry, customise)
    place = None if checkpoint is None else check_writable(checkpoint)
    source = None if resume is None else check_readable(resume, "the checkpoint")
    run = Run(solver, clock.seconds_of(time_limit), options, progress, place, source)
    refuse_means(entry, run)
    defaults = {k: v for k, v in entry.parameters.items() if v is not None}
    started = time.perf_counter()
    with _own_errors(entry, data), clock.limited(time_limit), customised(customise) as read:
        fitted = yield from through(entry.fit(data, run, **params))
    # A fit may be that of another method, whose parameters this one has not: they are details.
    others = {k: v for k, v in fitted.params.items() if k not in entry.parameters}
    params = {**defaults, **params, **{k: v for k, v in fitted.params.items() if k not in others}}
    seconds = {**fitted.seconds, "total": time.perf_counter() - started}
    own: dict[str, Any] = {"method": name, "params": params, "details": {**fitted.details, **others}}
    fitted = dataclasses.replace(fitted, **own, seconds=seconds, trained=fitted.kept_of(data))
    with _own_errors(entry, data), customised(customise):
        fitted = with_verified_status(entry, fitted, data)
    if not customise:
        return fitted
    _refuse_unread(name, customise, read)
    return dataclasses.replace(fitted, details={**fitted.details, "customised": names_of(customise)})


@contextmanager
def _own_errors(entry: MethodSpec, data: Dataset) -> Iterator[None]:
    """Raise errors within a method in the user's words: those of a callback, of a parameter, of the memory."""
    try:
        yield
    except CallbackError as error:
        raise error.__cause__ or error from None
    except ParameterError as error:
        raise _with_own_name(entry, error) from error
    except MemoryError as error:
        raise MemoryLimitError(
            f"method '{entry.name}' has no memory for {data.n} samples and {data.p} features ({error})",
            f"{FEWER}; docs/limits.md has the sizes that each method takes",
        ) from error


def _with_own_name(entry: MethodSpec, error: ParameterError) -> ParameterError:
    """Return the error of a parameter with the name of the method, known to the user, in place of that of its model."""
    message = error.message
    for name in sorted({*entry.models, *METHODS} - {entry.name}):
        message = message.replace(f"of '{name}'", f"of '{entry.name}'")
    return type(error)(message, error.hint)


def check_changes(entry: MethodSpec, customise: Mapping[str, Change] | None) -> None:
    """Raise UnknownNameError or ParameterError for a function of a model that the method does not solve."""
    for slug in customise or {}:
        MODELS[slug]
        if slug not in entry.models:
            raise ParameterError(
                f"method '{entry.name}' solves no model '{slug}'", f"its models: {', '.join(entry.models)}"
            )


def _refuse_unread(name: str, customise: Mapping[str, Change], read: set[str]) -> None:
    """Raise ParameterError for functions that were never called: the answer would be that of the unchanged method."""
    if unread := [slug for slug in customise if slug not in read]:
        raise ParameterError(
            f"method '{name}' took another way here and solved no model '{unread[0]}', so that nothing was changed",
            f"it solved {', '.join(sorted(read)) or 'no model'}: change these, or choose its parameters otherwise",
        )


def able(holds: Callable[[MethodSpec], bool]) -> str:
    """Return the names of the methods for which something holds."""
    return ", ".join(spec.name for spec in METHODS.values() if holds(spec))


def refuse_data(entry: MethodSpec, data: Dataset) -> None:
    """Raise for weights, sparse data, or a size that a method does not take: DataError, MemoryLimitError."""
    check_weights("method", entry.name, entry.weights, data)
    if not entry.sparse:
        takers = able(lambda spec: spec.sparse)
        refuse_sparse(f"method '{entry.name}'", data.X, f"methods that take sparse data: {takers}; or ")
    # The preprocessed samples, and a copy of them in the arrays of a solver or a loop.
    stored = data.X.nnz if data.sparse else data.X.size  # type: ignore[attr-defined]
    require(2 * NUMBER * stored, f"the arrays of method '{entry.name}' for {data.n} samples and {data.p} features")


def refuse_means(entry: MethodSpec, run: Run) -> None:
    """Raise ParameterError for a solver or a checkpoint of a method that has no use for it."""
    if not entry.solver and (run.solver is not None or run.options):
        given = "options" if run.solver is None else f"solver={run.solver!r}"
        raise ParameterError(
            f"method '{entry.name}' calls no solver, and is given {given}",
            f"leave it out, or take {able(lambda s: s.solver and s.paper == entry.paper)}",
        )
    if not entry.resumable and (run.checkpoint, run.resume) != (None, None):
        raise ParameterError(
            f"method '{entry.name}' has no checkpoints: a loop of seconds is run again",
            f"leave out 'checkpoint' and 'resume'; {able(lambda spec: spec.resumable)} have them",
        )
