"""One unit of work of a study: a method at its parameters on one fold, or on all samples, and the row that it gives."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, TypeAlias

from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.common.customising import Change, FromFile, names_of
from fsopt.common.interruption import whole_or_interrupted
from fsopt.common.registry import REGISTRIES
from fsopt.data import Dataset
from fsopt.data.hyperplanes import MEASURES
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import FsoptError, InternalError
from fsopt.studies.methods import ClassifierFit, Entry, entry_of, study_fit
from fsopt.studies.tuning import tune
from fsopt.verification.verify import exact_word

PACKAGES = (
    *("fsopt", "numpy", "scipy", "scikit-learn", "pyomo", "highspy", "clarabel", "scs", "cyipopt", "pyscipopt"),
    *("abess", "skglm", "gurobipy", "mosek", "xpress"),
)
"""Distributions whose versions are part of the key of a unit, where they are installed."""
DONE = "done"
"""The state of a row that is a result. Units of the other states are computed again where that is asked for."""
FAILED = "failed"
TIMEOUT = "timeout"
MEMORY = "memory"
CERTIFICATE = ("kind", "ok", "worst", "residuals", "tolerance")
"""The parts of a certificate that a row keeps."""
HARD, MORE = 2.0, 30.0
"""The process of a unit ends after this multiple of its limit and these seconds."""
ASLEEP = 10.0
"""Multiple of both for a limit of CPU seconds: the process may wait for others."""

Own: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The entries of the user's own in each registry, which a worker gets with a unit."""


@cache
def versions() -> Mapping[str, str]:
    """Return package -> version of all that a result may depend on."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@dataclass(frozen=True)
class Unit:
    """One fit, or one choice among candidates, with its scores.

    Attributes
    ----------
    study, place : name of the study, and the place of the unit in it.
    data, digest : name and fingerprint of the data set.
    method, identity : a name, or a classifier; and what tells it from others of its name.
    solver : a name; None for the preferred one.
    params : parameters of the fit; where there are candidates, those that all have in common.
    candidates : parameters among which cross-validation on the training samples chooses; empty for none.
    inner_folds : of this cross-validation.
    folds, fold, seed : of the split; ``fold`` and ``seed`` are None for a fit to all samples.
    time_limit, cpu_limit : seconds by the clock, and of the processor; no part of the key, since a finished unit would
        be the same under a longer one.
    customise : slug -> function that changes its models; part of the key by its name, and by the text of its file.
    exact : whether the fit is also verified in rational arithmetic.
    """

    study: str
    place: int
    data: str
    digest: str
    method: str | Entry
    identity: str
    solver: str | None
    params: Mapping[str, Any]
    candidates: tuple[Mapping[str, Any], ...]
    inner_folds: int
    folds: int
    fold: int | None
    seed: int | None
    time_limit: float | None
    cpu_limit: float | None
    customise: Mapping[str, Change]
    exact: bool

    @property
    def key(self) -> str:
        """The hash of study, data, method, parameters, split and versions: 32 hexadecimal digits."""
        asked = [self.identity, self.solver, self.params, self.candidates, self.inner_folds if self.candidates else 0]
        asked += [{slug: _identity(function) for slug, function in self.customise.items()}, self.exact]
        split = [0, None, None] if self.fold is None else [self.folds, self.fold, self.seed]
        text = json.dumps(plain([self.study, self.digest, asked, split, versions()]), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def description(self) -> dict[str, Any]:
        """The columns of the row that are known before the unit is computed."""
        params = dict(self.params)
        if self.candidates:
            params |= {"tuned": [{k: v for k, v in c.items() if k not in self.params} for c in self.candidates]}
        if self.customise:
            params |= {"customised": names_of(self.customise)}
        return {
            "study": self.study,
            "place": self.place,
            "data": self.data,
            "method": entry_of(self.method).name,
            "params": plain(params),
            "folds": self.folds,
            "fold": self.fold,
            "seed": self.seed,
            "solver_asked": self.solver,
        }

    @property
    def hard_limit(self) -> float | None:
        """Seconds of the clock after which its process ends, whatever its solver does; None without a limit."""
        limits = [
            seconds for seconds in map(clock.seconds_of, (self.time_limit, self.cpu_limit)) if seconds is not None
        ]
        if not limits:
            return None
        return (HARD * min(limits) + MORE) * (1.0 if clock.seconds_of(self.time_limit) is not None else ASLEEP)


def _identity(function: Change) -> list[str]:
    """Return what tells a function from others: module and name, or file, name and the hash of the file's text."""
    if isinstance(function, FromFile):
        return [function.name, function.slug, hashlib.sha256(function.text.encode()).hexdigest()]
    return [str(getattr(function, name, "")) for name in ("__module__", "__qualname__")]


def own_entries() -> Own:
    """Return the entries of the user's own: what is registered -> name -> entry."""
    return {what: dict(registry.own) for what, registry in REGISTRIES.items() if registry.own}


def enter(own: Own) -> None:
    """Register entries of the user's own that this process does not know."""
    for what, entries in own.items():
        REGISTRIES[what].own.update({k: entry for k, entry in entries.items() if k not in REGISTRIES[what]})


def run_task(unit: Unit, data: Dataset, own: Own) -> dict[str, Any]:
    """Compute a unit in a process that may not know the user's own entries, and return its row with its key."""
    enter(own)
    return {"key": unit.key, **unit.description, **run_unit(unit, data), "versions": dict(versions())}


@whole_or_interrupted()
def run_unit(unit: Unit, data: Dataset) -> dict[str, Any]:
    """Compute a unit and return the columns of its result: plain data; an error of the computation is part of it.

    ``seconds`` and ``cpu_seconds`` are those of the fit, or of all fits of a tuned unit, without scores. The second one
    has no processes that a solver starts.

    Raises
    ------
    KeyboardInterrupt : by Ctrl-C, whatever a loop made of it.
    """
    started = _now()
    try:
        train, test = data, None
        if unit.fold is not None and unit.seed is not None:
            train, test = train_and_test(data, stratified_folds(data, unit.folds, unit.seed)[unit.fold])
        started = _now()
        with clock.limited(unit.time_limit, cpu=unit.cpu_limit):
            found, late = _fitted(unit, train)
        spent = _since(started)
        asked = unit.exact and isinstance(found, Fit)
        word = exact_word(found, train, customise=unit.customise or None) if asked else None
        return _row(found, test, late) | {"exact": word, **spent}
    except FsoptError as error:
        state = {"time-limit": TIMEOUT, "memory": MEMORY}.get(error.kind, FAILED)
        return failure(str(error), state, **_since(started))
    except MemoryError as error:
        return failure(f"the memory was used up ({error})", MEMORY, **_since(started))
    except Exception as error:  # a fault of the package: the other units go on, the row says so
        return failure(str(InternalError.of(error, "FSOPT_TRACEBACK")), FAILED, **_since(started))


def _now() -> tuple[float, float]:
    """Return the time of the clock, and the processor time of all threads of this process."""
    return time.perf_counter(), time.process_time()


def _since(started: tuple[float, float]) -> dict[str, float]:
    """Return the columns of a row with the seconds since then."""
    passed, used = _now()
    return {"seconds": passed - started[0], "cpu_seconds": used - started[1]}


def _fitted(unit: Unit, train: Dataset) -> tuple[Any, bool]:
    """Return the fit of a unit, and whether the time limit ended it before its own stopping criterion."""
    if unit.candidates:
        changed = {"customise": unit.customise} if unit.customise else {}
        candidates = [{**candidate, **changed} for candidate in unit.candidates]
        return tune(unit.method, train, candidates, folds=unit.inner_folds, solver=unit.solver).fit, clock.expired()
    limits: dict[str, Any] = {"solver": unit.solver, "time_limit": unit.time_limit, "customise": unit.customise}
    found = study_fit(entry_of(unit.method), train, **limits, **dict(unit.params))
    return found, found.stop == "time-limit" and found.status is not Status.OPTIMAL


def _row(found: Any, test: Dataset | None, late: bool) -> dict[str, Any]:
    """Return the columns of a row that the fit gives."""
    certified = found.certificate
    certificate = None if certified is None else vars(certified) | {"worst": certified.worst}
    scores = {} if test is None else found.scores(test)
    known = found.params if isinstance(found, ClassifierFit) else entry_of(found.method).parameters
    return plain(  # type: ignore[no-any-return]
        {
            "state": TIMEOUT if late else DONE,
            "status": found.status,
            "stop": found.stop,
            "objective": found.objective,
            "bound": found.bound,
            "n_features": len(found.support),
            "features": list(found.features),
            **{name: scores.get(name) for name in MEASURES},
            "solver": found.solver,
            "iterations": found.iterations,
            "certificate": None if certificate is None else {name: certificate[name] for name in CERTIFICATE},
            "fitted": {k: v for k, v in found.params.items() if k in known},
            "warnings": list(found.warnings),
            "error": "the time limit ended it before its own stopping criterion" if late else "",
        }
    )


def failure(
    message: str, state: str = FAILED, *, seconds: float = 0.0, cpu_seconds: float | None = None
) -> dict[str, Any]:
    """Return the columns of a unit without a result."""
    spent = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    return {"state": state, "status": Status.NONE.value, "stop": "error", "error": message, **spent}
