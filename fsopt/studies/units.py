"""One unit of work of a study: a method at its parameters on one fold, or on all samples, and the row that it gives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.registry import REGISTRIES
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.hyperplanes import MEASURES
from fsopt.errors import FsoptError, InternalError, MemoryLimitError
from fsopt.studies.methods import ClassifierFit, entry_of, study_fit
from fsopt.studies.study import Unit, versions
from fsopt.studies.tuning import tune
from fsopt.verification.verify import exact_word

DONE = "done"
"""The state of a row that is a result. Units of the other states are computed again where that is asked for."""
FAILED = "failed"
TIMEOUT = "timeout"
STATES = {"time-limit": TIMEOUT, "memory": "memory"}
"""Kind of an error -> state of its row, where that is not ``failed``."""
OF_FIT = ("status", "stop", "objective", "bound", "features", "solver", "iterations", "warnings")
"""Columns of a row that the fit has as they are."""
CERTIFICATE = ("kind", "ok", "worst", "residuals", "tolerance")
"""The parts of a certificate that a row keeps."""


def run_task(unit: Unit, data: Dataset, own: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Return key and row of a unit, from a process that may not know the user's own entries of the registries."""
    for what, entries in own.items():
        known = REGISTRIES[what]
        known.own.update({name: entry for name, entry in entries.items() if name not in known})
    return unit.key, row_of(unit, run_unit(unit, data))


def row_of(unit: Unit, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a unit."""
    return {**unit.description, **result, "versions": dict(versions())}


@whole_or_interrupted()
def run_unit(unit: Unit, data: Dataset) -> dict[str, Any]:
    """Compute a unit and return the columns of its result, an error too; seconds are of all fits, without scores."""
    started = _now()
    try:
        train, test = data, None
        if unit.fold is not None and unit.seed is not None:
            train, test = train_and_test(data, stratified_folds(data, unit.study.folds, unit.seed)[unit.fold])
        started = _now()
        with clock.limited(unit.study.time_limit):
            found, late = _fitted(unit, train)
        spent = _since(started)
        asked = unit.study.exact and isinstance(found, Fit)
        word = exact_word(found, train) if asked else None
        return _row(found, test, late) | {"exact": word, **spent}
    except Exception as error:  # a fault of the package, too: the other units go on, the row says so
        if isinstance(error, MemoryError):
            error = MemoryLimitError(f"the memory was used up ({error})")
        told = error if isinstance(error, FsoptError) else InternalError.of(error, "FSOPT_TRACEBACK")
        return failure(str(told), STATES.get(told.kind, FAILED), **_since(started))


def _now() -> tuple[float, float]:
    """Return the time of the clock, and the processor time of all threads of this process."""
    return time.perf_counter(), time.process_time()


def _since(started: tuple[float, float]) -> dict[str, float]:
    """Return the columns of a row with the seconds since then."""
    passed, used = _now()
    return {"seconds": passed - started[0], "cpu_seconds": used - started[1]}


def _fitted(unit: Unit, train: Dataset) -> tuple[Any, bool]:
    """Return the fit of a unit, and whether the time limit ended it before its own stopping criterion."""
    method, entry = unit.method, unit.method.entry
    if unit.candidates:
        return tune(entry, train, unit.candidates, folds=method.inner_folds, solver=method.solver).fit, clock.expired()
    found = study_fit(entry, train, solver=method.solver, time_limit=unit.study.time_limit, **unit.params)
    return found, found.stop == "time-limit" and found.status is not Status.OPTIMAL


def _row(found: Any, test: Dataset | None, late: bool) -> dict[str, Any]:
    """Return the columns of a row that the fit gives."""
    scores, held = {} if test is None else found.scores(test), getattr(found, "certificate", None)
    known = found.params if isinstance(found, ClassifierFit) else entry_of(found.method).parameters
    row = {
        **{name: getattr(found, name, None) for name in OF_FIT},
        **{name: scores.get(name) for name in MEASURES},
        "state": TIMEOUT if late else DONE,
        "n_features": len(found.support),
        "certificate": held and {name: getattr(held, name) for name in CERTIFICATE},
        "fitted": {k: v for k, v in found.params.items() if k in known},
        "error": "the time limit ended it before its own stopping criterion" if late else "",
    }
    return plain(row)  # type: ignore[no-any-return]


def failure(message: str, state: str, seconds: float, cpu_seconds: float | None = None) -> dict[str, Any]:
    """Return the columns of a unit without a result."""
    spent = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    return {"state": state, "status": Status.NONE.value, "stop": "error", "error": message, **spent}
