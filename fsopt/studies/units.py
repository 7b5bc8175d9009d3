"""One unit of work of a study: a method at its parameters on one fold, or on all samples, and the row that it gives."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import metadata
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.answers.trained import fingerprint
from fsopt.common import clock
from fsopt.common.customising import Change, FromFile, names_of
from fsopt.common.interruption import whole_or_interrupted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import MEASURES
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import DataError, FsoptError, InternalError
from fsopt.methods.registry import METHODS
from fsopt.studies.methods import study_fit, study_spec
from fsopt.studies.study import DataFile, Loaded, Study, StudyMethod
from fsopt.studies.tuning import tune
from fsopt.verification.verify import exact_word

PACKAGES = ("fsopt", "numpy", "scipy", "scikit-learn", "pyomo", "highspy", "clarabel", "scs", "cyipopt", "pyscipopt")
OPTIONAL_PACKAGES = ("abess", "skglm", "gurobipy", "mosek", "xpress")
"""Distributions whose versions are part of the key of a unit, where they are installed."""
DONE = "done"
"""The state of a row that is a result. Units of the other states are computed again where that is asked for."""
FAILED = "failed"
TIMEOUT = "timeout"
MEMORY = "memory"
ABSENT = "absent"
"""The state of a unit whose data the worker cannot read: no row, the data are sent to it."""
CERTIFICATE = ("kind", "ok", "worst", "residuals", "tolerance")
"""The parts of a certificate that a row keeps."""
TRACED = 200
"""Records of iterations that a row keeps, at most."""


class AbsentError(DataError):
    """A worker cannot read a file of the study."""

    kind = ABSENT


@cache
def versions() -> Mapping[str, str]:
    """Return package -> version of all that a result may depend on."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in (*PACKAGES, *OPTIONAL_PACKAGES):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@dataclass(frozen=True)
class Unit:
    """One fit, or one choice among candidates, with its scores.

    Attributes
    ----------
    data, digest : name and fingerprint of the data set.
    file : where a worker reads the data; None where they are sent to it.
    method, solver : names; None for the preferred solver.
    params : parameters of the fit; where there are candidates, those that all have in common.
    candidates : parameters among which cross-validation on the training samples chooses; empty for none.
    inner_folds : of this cross-validation.
    folds, fold, seed : of the split; ``fold`` and ``seed`` are None for a fit to all samples.
    time_limit, cpu_limit : seconds by the clock, and of the processor; no part of the key, since a finished unit would
        be the same under a longer one.
    customise : slug -> function that changes its models; part of the key by its name, and by the text of its file.
    exact : whether the fit is also verified in rational arithmetic.
    """

    data: str
    digest: str
    file: DataFile | None
    method: str
    solver: str | None
    params: Mapping[str, Any]
    candidates: tuple[Mapping[str, Any], ...]
    inner_folds: int
    folds: int
    fold: int | None
    seed: int | None
    time_limit: float | None
    cpu_limit: float | None = None
    customise: Mapping[str, Change] = field(default_factory=dict)
    exact: bool = False

    @property
    def key(self) -> str:
        """The hash of data, method, parameters, split and versions: 32 hexadecimal digits."""
        asked = [self.method, self.solver, self.params, self.candidates, self.inner_folds if self.candidates else 0]
        if self.customise:
            asked.append({slug: _identity(function) for slug, function in self.customise.items()})
        if self.exact:
            asked.append("exact")
        split = [0, None, None] if self.fold is None else [self.folds, self.fold, self.seed]
        text = json.dumps(plain([self.digest, asked, split, versions()]), sort_keys=True)
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
            "data": self.data,
            "method": self.method,
            "params": plain(params),
            "fold": self.fold,
            "seed": self.seed,
            "solver_asked": self.solver,
        }


def _identity(function: Change) -> list[str]:
    """Return what tells a function from others: module and name, or file, name and the hash of the file's text."""
    if isinstance(function, FromFile):
        return [function.name, function.slug, hashlib.sha256(function.text.encode()).hexdigest()]
    return [str(getattr(function, name, "")) for name in ("__module__", "__qualname__")]


class Units(Sequence[Unit]):
    """The units of a study in the order of its rows, each made when it is asked for: points x splits.

    Parameters
    ----------
    points : units of all data sets, methods and points of grids, without their splits.
    splits : (seed, fold) of each split, the same for all points.
    """

    def __init__(self, points: Sequence[Unit], splits: Sequence[tuple[int | None, int | None]]) -> None:
        self.points, self.splits = points, splits

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.points) * len(self.splits)

    def __getitem__(self, place: Any) -> Any:
        """Return the unit at a place; raises IndexError beyond the last one."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        point, split = divmod(place, len(self.splits))
        seed, fold = self.splits[split]
        return replace(self.points[point], seed=seed, fold=fold)


def units_of(study: Study, loaded: Sequence[Loaded]) -> Units:
    """Return the units of a study.

    Raises
    ------
    ParameterError : too many folds for a data set.
    """
    splits: list[tuple[int | None, int | None]] = []
    if study.all_samples or not study.folds:
        splits.append((None, None))
    if study.folds:
        splits += [(number, k) for number in study.seeds for k in range(study.folds)]
        for one in loaded:
            stratified_folds(one.data, study.folds, study.seeds[0])
    return Units([unit for one in loaded for method in study.methods for unit in _points(study, one, method)], splits)


def _points(study: Study, one: Loaded, method: StudyMethod) -> Iterator[Unit]:
    """Yield a unit without its split for each point of a method's grid; one for the whole grid of a tuned method."""
    points = method.points(one.data.p)
    choices: list[tuple[dict[str, Any], tuple[dict[str, Any], ...]]] = [(point, ()) for point in points]
    if method.tune:
        common = {k: v for k, v in points[0].items() if k not in method.grid and all(k in point for point in points)}
        choices = [(common, tuple(points))]
    for params, candidates in choices:
        yield Unit(
            data=one.name,
            digest=one.digest,
            file=one.file,
            method=method.name,
            solver=method.solver,
            params=params,
            candidates=candidates,
            inner_folds=method.inner_folds,
            folds=study.folds,
            fold=None,
            seed=None,
            time_limit=study.time_limit,
            cpu_limit=study.cpu_limit,
            customise=method.customise,
            exact=study.exact,
        )


@lru_cache(maxsize=4)
def _read(file: DataFile, digest: str) -> Dataset:
    """Return the data of a unit, read once by each process; raises DataError where they are not those of the study."""
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # what the run has said already
            data = file.load()
    except FsoptError as error:  # the program that runs the study has read it: it has what this machine has not
        raise AbsentError(error.message, error.hint) from error
    if fingerprint(data) != digest:
        raise DataError(f"'{file.file}' holds other data on this machine", "put the same file on every machine")
    return data


@whole_or_interrupted()
def run_unit(unit: Unit, data: Dataset | None = None) -> dict[str, Any]:
    """Compute a unit and return its row: plain data; an error of the computation is part of it.

    ``seconds`` and ``cpu_seconds`` are those of the fit, or of all fits of a tuned unit: neither of reading the data
    nor of scores. The second one has no processes that a solver starts.

    Parameters
    ----------
    unit : to be computed.
    data : all samples; None where ``unit.file`` is read here.

    Raises
    ------
    KeyboardInterrupt : by Ctrl-C, whatever a loop made of it.
    """
    started = _now()
    trace: list[list[float | None]] = []

    def watch(entry: Mapping[str, Any]) -> None:
        numbers = [entry.get(name) for name in ("objective", "bound")]
        seen = [float(v) if isinstance(v, float | int) and np.isfinite(v) else None for v in numbers]
        if seen != [None, None]:
            trace.append([time.perf_counter() - started[0], *seen])

    try:
        if data is None:
            assert unit.file is not None
            data = _read(unit.file, unit.digest)
        train, test = data, None
        if unit.fold is not None and unit.seed is not None:
            train, test = train_and_test(data, stratified_folds(data, unit.folds, unit.seed)[unit.fold])
        started = _now()
        with clock.limited(unit.time_limit, cpu=unit.cpu_limit):
            found, late = _fitted(unit, train, watch)
        spent = _since(started)
        asked = unit.exact and unit.method in METHODS
        word = exact_word(found, train, customise=unit.customise or None) if asked else None
        row = _row(found, test, late)
    except FsoptError as error:
        state = {"time-limit": TIMEOUT, "memory": MEMORY, ABSENT: ABSENT}.get(error.kind, FAILED)
        return failure(str(error), state, **_since(started))
    except MemoryError as error:
        return failure(f"the memory was used up ({error})", MEMORY, **_since(started))
    except Exception as error:  # a fault of the package: the other units go on, the row says so
        return failure(str(InternalError.of(error, "FSOPT_TRACEBACK")), FAILED, **_since(started))
    thinned = trace[:: max(1, -(-len(trace) // TRACED))]
    return row | {"exact": word, **spent, "trace": thinned}


def _now() -> tuple[float, float]:
    """Return the time of the clock, and the processor time of all threads of this process."""
    return time.perf_counter(), time.process_time()


def _since(started: tuple[float, float]) -> dict[str, float]:
    """Return the columns of a row with the seconds since then."""
    passed, used = _now()
    return {"seconds": passed - started[0], "cpu_seconds": used - started[1]}


def _fitted(unit: Unit, train: Dataset, watch: Any) -> tuple[Fit, bool]:
    """Return the fit of a unit, and whether the time limit ended it before its own stopping criterion."""
    if unit.candidates:
        changed = {"customise": unit.customise} if unit.customise else {}
        candidates = [{**candidate, **changed} for candidate in unit.candidates]
        found = tune(unit.method, train, candidates, folds=unit.inner_folds, solver=unit.solver).fit
        return found, clock.expired()
    limits: dict[str, Any] = {"solver": unit.solver, "time_limit": unit.time_limit}
    found = study_fit(unit.method, train, **limits, progress=watch, customise=unit.customise, **dict(unit.params))
    return found, found.stop == "time-limit" and found.status is not Status.OPTIMAL


def _row(found: Fit, test: Dataset | None, late: bool) -> dict[str, Any]:
    """Return the columns of a row that the fit gives."""
    certified = found.certificate
    certificate = None if certified is None else vars(certified) | {"worst": certified.worst}
    scores = {} if test is None else found.scores(test)
    own = {k: v for k, v in found.params.items() if k in study_spec(found.method).parameters}
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
            "fitted": own,
            "warnings": list(found.warnings),
            "error": "the time limit ended it before its own stopping criterion" if late else "",
        }
    )


def failure(
    message: str, state: str = FAILED, *, seconds: float = 0.0, cpu_seconds: float | None = None
) -> dict[str, Any]:
    """Return the row of a unit without a result."""
    spent = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    return {"state": state, "status": Status.NONE.value, "stop": "error", "error": message, **spent}
