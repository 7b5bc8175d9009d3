"""A study: data sets x methods (with grids of parameters) x folds x seeds, and the file ``study.toml`` of one."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from itertools import count, product
from pathlib import Path
from typing import Any

import msgspec

from fsopt.answers.records import plain
from fsopt.answers.trained import fingerprint
from fsopt.common.arguments import SECONDS, optional
from fsopt.common.files import check_readable
from fsopt.data import Dataset, load_dataset
from fsopt.data.dataset import stratified_folds
from fsopt.errors import FileError, ParameterError, shown
from fsopt.methods.checking import check_values
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_parameters
from fsopt.studies.methods import Entry, entry_of

PACKAGES = (
    *("fsopt", "numpy", "scipy", "scikit-learn", "pyomo", "highspy", "clarabel", "scs", "cyipopt", "pyscipopt"),
    *("abess", "skglm", "gurobipy", "mosek", "xpress"),
)
"""Distributions whose versions are part of the key of a unit, where they are installed."""


class StudyMethod(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method of a study: a registry name, or that of an ``estimator`` in the rows.

    ``params`` differ from those of :func:`fsopt.compare`; ``grid``, parameter -> values, has a unit for each point, or,
    with ``tune``, one that chooses a point by ``inner_folds`` of its training samples.
    """

    name: str
    estimator: Any = None
    params: dict[str, Any] = {}
    grid: dict[str, list[Any]] = {}
    tune: bool = False
    inner_folds: int = 5
    solver: str | None = None

    @property
    def entry(self) -> Entry:
        """The entry of the method; raises UnknownNameError, ParameterError."""
        return entry_of(self.name if self.estimator is None else (self.name, self.estimator))

    def choices(self, p: int) -> list[tuple[dict[str, Any], tuple[dict[str, Any], ...]]]:
        """Return parameters and candidates of each unit on data with p features; tuned, one, with common parameters."""
        values = [dict(zip(self.grid, point, strict=True)) for point in product(*self.grid.values())]
        points = [{**self.entry.compare(p), **self.params, **point} for point in values]
        if not self.tune:
            return [(point, ()) for point in points]
        return [({k: v for k, v in points[0].items() if k not in self.grid}, tuple(points))]

    def check(self) -> None:
        """Refuse unknown parameters, values that the method never takes, and a grid without values."""
        entry = self.entry
        check_parameters("method", self.name, {**self.params, **self.grid}, entry.parameters)
        if self.estimator is None:
            for params in (self.params, *({name: value} for name, values in self.grid.items() for value in values)):
                check_values(self.name, entry.fit if isinstance(entry, MethodSpec) else entry.make, params)
        for name, values in self.grid.items():
            if not values or name in self.params:
                reason = "is in params and in grid" if values else "has no value in the grid"
                raise ParameterError(f"'{name}' of '{self.name}' {reason}", "in grid give a list, such as [0.1, 1.0]")
        if self.tune and not self.grid:
            raise ParameterError(f"'{self.name}' has tune without a grid", "give grid = { c = [0.1, 1.0] }")


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data sets, or names, files and keywords of some, x methods x folds x seeds; 0 folds fit all samples only.

    ``all_samples`` also fits them; the limit is of each unit; ``exact`` verifies each fit in rational arithmetic too.
    """

    name: str = "study"
    data: tuple[Any, ...] = ()
    methods: tuple[StudyMethod, ...] = ()
    folds: int = 0
    seeds: tuple[int, ...] = (0,)
    all_samples: bool = False
    time_limit: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if self.folds < 0 or self.folds == 1:
            raise ParameterError(f"folds is {self.folds}", "give 2 or more, or 0 to fit all samples only")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ParameterError("the list of seeds is empty or has one twice", "for example seeds = [0, 1]")
        optional(SECONDS).check("time_limit", self.time_limit)
        for method in self.methods:
            method.check()


@dataclass(frozen=True)
class Unit:
    """One fit to data, or one choice among candidates, whose common parameters ``params`` are.

    ``study`` is without data and methods; ``seed`` and ``fold`` are None for a fit to all samples.
    """

    study: Study
    place: int
    data: str
    digest: str
    method: StudyMethod
    params: Mapping[str, Any]
    candidates: tuple[Mapping[str, Any], ...]
    seed: int | None
    fold: int | None

    @cached_property
    def key(self) -> str:
        """The hash of study, data, method, parameters, split and versions: 32 hexadecimal digits; of no time limit."""
        from joblib import hash as hashed

        method, study = self.method, self.study
        asked: list[Any] = [method.name, method.estimator and hashed(method.estimator), method.solver, study.exact]
        asked += [self.params, self.candidates, method.inner_folds if self.candidates else 0]
        split = [0, None, None] if self.fold is None else [study.folds, self.fold, self.seed]
        text = json.dumps(plain([study.name, self.digest, asked, split, versions()]), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def description(self) -> dict[str, Any]:
        """The columns of the row that are known before the unit is computed."""
        params = dict(self.params)
        if self.candidates:
            params |= {"tuned": [{k: v for k, v in c.items() if k not in self.params} for c in self.candidates]}
        known = {name: getattr(self, name) for name in ("place", "data", "fold", "seed")}
        asked = {"method": self.method.name, "params": plain(params), "solver_asked": self.method.solver}
        return {"study": self.study.name, "folds": self.study.folds, **known, **asked}


@cache
def versions() -> Mapping[str, str]:
    """Return package -> version of all that a result may depend on."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def read_study(path: str | Path) -> Study:
    """Return the study of a TOML file, beside which its files are looked for first; FileError, ParameterError."""
    place = check_readable(path, "the study")
    try:
        content = tomllib.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"the study '{path}' is not TOML: {error}", "write lines such as folds = 3") from error
    return study_from({"name": place.stem, **content}, place.parent)


def study_from(content: Mapping[str, Any], folder: Path = Path()) -> Study:
    """Return the study of a mapping with the entries of a TOML file, whose files are looked for in ``folder`` first."""
    for name in ("data", "methods"):
        if not isinstance(content.get(name, ()), list | tuple):
            raise ParameterError(f"'{name}' of the study is {shown(content[name])}", f"give a list of {name}")
    data = [_entry(value, folder) for value in content.get("data", ())]
    try:
        return msgspec.convert({**content, "data": data, "methods": [*map(_method, content.get("methods", ()))]}, Study)
    except msgspec.ValidationError as error:
        raise ParameterError(f"the study is none: {error}", "docs/studies.md has its entries") from error


def _entry(value: Any, folder: Path) -> Any:
    """Return an entry of ``data``: a data set, or a name, a file, beside the study first, and keywords."""
    entry = {"file": value} if isinstance(value, str) else value
    if isinstance(value, Dataset):
        return value
    if not isinstance(entry, Mapping) or not isinstance(entry.get("file"), str):
        raise ParameterError(f"the study has {shown(entry)} in data", 'give a name, a file, or {file = "mine.csv"}')
    beside = folder / entry["file"]
    return {"name": entry["file"], **entry, **({"file": str(beside)} if beside.is_file() else {})}


def _method(value: Any) -> Any:
    """Return an entry of ``methods``, a name, a pair of a name and a classifier, or a mapping, as a mapping."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return {"name": value[0], "estimator": value[1]}
    return {"name": value} if isinstance(value, str) else value


def load_all(study: Study) -> dict[str, tuple[str, Dataset]]:
    """Return fingerprint -> name in the rows, and data set; raises DataError, FileError, ParameterError."""
    if not study.data or not study.methods:
        lacking = "methods" if study.data else "data"
        raise ParameterError(f"the study '{study.name}' has no {lacking}", 'data = ["wdbc"], [[methods]]')
    found: dict[str, tuple[str, Dataset]] = {}
    for entry in study.data:
        if isinstance(entry, Dataset):
            name, data = entry.name, entry
        else:
            name, known = entry["name"], inspect.signature(load_dataset).parameters
            own = {k: v for k, v in entry.items() if k not in ("file", "name")}
            data = load_dataset(entry["file"], **check_parameters("data set", name, own, known))
        digest = fingerprint(data)
        if digest in found or any(name == other for other, _ in found.values()):
            raise ParameterError(f"two data sets are called '{name}', or hold the same data", "name each once")
        found[digest] = (name, data)
    return found


def units_of(study: Study, loaded: Mapping[str, tuple[str, Dataset]]) -> Iterator[Unit]:
    """Yield units in the order of the rows: data, methods, points, splits; ParameterError for too many folds."""
    splits: list[tuple[int | None, int | None]] = [(None, None)] if study.all_samples or not study.folds else []
    splits += product(study.seeds, range(study.folds))
    places, alone = count(), msgspec.structs.replace(study, data=(), methods=())
    for digest, (name, data) in loaded.items():
        if study.folds:
            stratified_folds(data, study.folds, study.seeds[0])
        for method in study.methods:
            for (params, candidates), split in product(method.choices(data.p), splits):
                yield Unit(alone, next(places), name, digest, method, params, candidates, *split)
