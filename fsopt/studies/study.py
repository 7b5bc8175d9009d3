"""A study: data sets x methods (with grids of parameters) x folds x seeds, and the file ``study.toml`` that states one.

.. code-block:: toml

    name = "small"
    data = ["wdbc", "mine.csv", {file = "other.csv", target = "outcome", missing = "drop"}]
    folds = 3
    seeds = [0, 1]
    time_limit = 20            # seconds, each unit
    [[methods]]
    name = "fsv"
    [[methods]]
    name = "gbd"
    params = { m = 4 }         # fixed
    grid = { c = [0.1, 1.0] }  # one unit for each point; with tune = true one unit that chooses by folds of its own
"""

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
from fsopt.common.arguments import SECONDS, optional, spelled
from fsopt.common.files import check_readable
from fsopt.common.registry import Change, FromFile, names_of
from fsopt.data import Dataset, load_dataset
from fsopt.data.splits import stratified_folds
from fsopt.errors import FileError, ParameterError, shown
from fsopt.methods.checking import check_values
from fsopt.methods.registry import check_changes
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_parameters
from fsopt.studies.methods import Classifier, Entry, entry_of

PACKAGES = (
    *("fsopt", "numpy", "scipy", "scikit-learn", "pyomo", "highspy", "clarabel", "scs", "cyipopt", "pyscipopt"),
    *("abess", "skglm", "gurobipy", "mosek", "xpress"),
)
"""Distributions whose versions are part of the key of a unit, where they are installed."""


class StudyMethod(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method of a study.

    Attributes
    ----------
    name : registry name, or that of an ``estimator`` in the rows.
    estimator : a classifier of scikit-learn's kind, or a pipeline; None for a registered method.
    params : its parameters; others have the values of :func:`fsopt.compare`.
    grid : parameter -> list of values: one unit for each point of the grid.
    tune : one unit for the whole grid instead, which chooses a point on its training samples.
    inner_folds : of the cross-validation by which it chooses.
    solver : of its continuous problems; None takes the preferred one.
    customise : slug -> function that changes the models of this slug, as in :func:`fsopt.fit`; in a TOML file
        ``customise = { fsp-master = "rules.py:rule" }``.
    """

    name: str
    estimator: Any = None
    params: dict[str, Any] = {}
    grid: dict[str, list[Any]] = {}
    tune: bool = False
    inner_folds: int = 5
    solver: str | None = None
    customise: dict[str, Any] = {}

    @property
    def entry(self) -> Entry:
        """The entry of the method; raises UnknownNameError, ParameterError."""
        return entry_of(self.name if self.estimator is None else (self.name, self.estimator))

    @property
    def identity(self) -> str:
        """What tells it from others: its name, and the hash of a classifier."""
        entry = self.entry
        if self.estimator is None or not isinstance(entry, Classifier):
            return self.name
        from joblib import hash as hashed

        return f"{self.name} {hashed(entry.make)}"

    def choices(self, p: int) -> list[tuple[dict[str, Any], tuple[dict[str, Any], ...]]]:
        """Return parameters and candidates of each unit on a split of data with p features.

        That is one for each point of the grid, whose last name varies fastest; tuned, one with all points as candidates
        and what they have in common as parameters.
        """
        values = [dict(zip(self.grid, point, strict=True)) for point in product(*self.grid.values())]
        points = [{**self.entry.compare(p), **self.params, **point} for point in values]
        if not self.tune:
            return [(point, ()) for point in points]
        return [({k: v for k, v in points[0].items() if k not in self.grid}, tuple(points))]

    def check(self) -> None:
        """Spell parameters as the method does; refuse unknown ones, values it never takes, a grid without values."""
        entry = self.entry
        for part in ("params", "grid"):
            known = spelled(f"method '{self.name}'", getattr(self, part), entry.parameters)
            msgspec.structs.force_setattr(self, part, known)
        check_changes(entry, self.customise)  # type: ignore[arg-type]  # a classifier has a name and models, too
        check_parameters("method", self.name, {**self.params, **self.grid}, entry.parameters)
        for name, values in self.grid.items():
            if not values:
                raise ParameterError(f"the grid of '{self.name}' has no '{name}'", "give a list, such as [0.1, 1.0]")
        function = entry.fit if isinstance(entry, MethodSpec) else entry.make
        if self.estimator is None:
            for params in (self.params, *({name: value} for name, values in self.grid.items() for value in values)):
                check_values(self.name, function, params)
        both = sorted(set(self.params) & set(self.grid))
        if both:
            raise ParameterError(f"'{self.name}' has '{both[0]}' in params and in grid", "give it in one of them")
        if self.tune and not self.grid:
            raise ParameterError(f"'{self.name}' has tune without a grid", "give grid = { c = [0.1, 1.0] }")


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data sets x methods x folds x seeds.

    Attributes
    ----------
    name : of the study, which a store keeps apart from others.
    data : data sets, names, files, or mappings of ``file``, ``name`` and the keywords of :func:`fsopt.load_dataset`.
    methods : of the study.
    folds : of the stratified cross-validation; 0 fits all samples only.
    seeds : one split for each.
    all_samples : also fit all samples; always so for ``folds = 0``. These fits have no scores on test samples.
    time_limit : seconds of each unit; None for no limit.
    exact : verify each fit in rational arithmetic too; a column of the rows has the word.
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
        if not self.data or not self.methods:
            lacking = "methods" if self.data else "data"
            raise ParameterError(f"the study '{self.name}' has no {lacking}", 'data = ["wdbc"], [[methods]]')
        if self.folds < 0 or self.folds == 1:
            raise ParameterError(f"folds is {self.folds}", "give 2 or more, or 0 to fit all samples only")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ParameterError("the list of seeds is empty or has one twice", "for example seeds = [0, 1]")
        optional(SECONDS).check("time_limit", self.time_limit)
        for method in self.methods:
            method.check()


@dataclass(frozen=True)
class Unit:
    """One fit, or one choice among candidates, with its scores.

    Attributes
    ----------
    study, place : name of the study, and the place of the unit in it.
    data, digest : name and fingerprint of the data set.
    method : of the study.
    params : parameters of the fit; where there are candidates, those that all have in common.
    candidates : parameters among which cross-validation on the training samples chooses; empty for none.
    folds, fold, seed : of the split; ``fold`` and ``seed`` are None for a fit to all samples.
    time_limit : seconds; no part of the key, since a finished unit would be the same under a longer one.
    exact : whether the fit is also verified in rational arithmetic.
    """

    study: str
    place: int
    data: str
    digest: str
    method: StudyMethod
    params: Mapping[str, Any]
    candidates: tuple[Mapping[str, Any], ...]
    folds: int
    fold: int | None
    seed: int | None
    time_limit: float | None
    exact: bool

    @cached_property
    def key(self) -> str:
        """The hash of study, data, method, parameters, split and versions: 32 hexadecimal digits."""
        method = self.method
        asked: list[Any] = [method.identity, method.solver, self.params, self.candidates]
        asked += [method.inner_folds if self.candidates else 0]
        asked += [{slug: _identity(function) for slug, function in method.customise.items()}, self.exact]
        split = [0, None, None] if self.fold is None else [self.folds, self.fold, self.seed]
        text = json.dumps(plain([self.study, self.digest, asked, split, versions()]), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def description(self) -> dict[str, Any]:
        """The columns of the row that are known before the unit is computed."""
        params = dict(self.params)
        if self.candidates:
            params |= {"tuned": [{k: v for k, v in c.items() if k not in self.params} for c in self.candidates]}
        if self.method.customise:
            params |= {"customised": names_of(self.method.customise)}
        known = {name: getattr(self, name) for name in ("study", "place", "data", "folds", "fold", "seed")}
        return {**known, "method": self.method.name, "params": plain(params), "solver_asked": self.method.solver}


def _identity(function: Change) -> list[str]:
    """Return what tells a function from others: module and name, or file, name and the hash of the file's text."""
    if isinstance(function, FromFile):
        return [function.name, hashlib.sha256(function.text.encode()).hexdigest()]
    return [str(getattr(function, name, "")) for name in ("__module__", "__qualname__")]


@cache
def versions() -> Mapping[str, str]:
    """Return package -> version of all that a result may depend on."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def read_study(path: str | Path, *, allow_code: bool = False) -> Study:
    """Return the study of a TOML file; files of data are looked for beside it first.

    Parameters
    ----------
    path : of the file.
    allow_code : run the Python files that its ``customise`` entries name.

    Raises
    ------
    FileError : the file cannot be read, or is not TOML.
    ParameterError, UnknownNameError : a wrong entry, or code without ``allow_code``; the message names it.
    """
    place = check_readable(path, "the study")
    try:
        content = tomllib.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"the study '{path}' is not TOML: {error}", "write lines such as folds = 3") from error
    return study_from({"name": place.stem, **content}, place.parent, allow_code=allow_code)


def study_from(content: Mapping[str, Any], folder: Path = Path(), *, allow_code: bool = True) -> Study:
    """Return the study of a mapping with the entries of a TOML file; raises ParameterError, UnknownNameError.

    A method is a mapping, a name, or a pair of a name and a classifier. Files are looked for in ``folder`` first.
    """
    given = dict(content)
    for name in ("data", "methods"):
        if not isinstance(given.get(name, ()), list | tuple):
            raise ParameterError(f"'{name}' of the study is {shown(given[name])}", f"give a list of {name}")
    given["data"] = [_beside(value, folder) for value in given.get("data", ())]
    given["methods"] = [_method(value, folder, allow_code) for value in given.get("methods", ())]
    try:
        return msgspec.convert(given, Study)
    except msgspec.ValidationError as error:
        raise ParameterError(f"the study is none: {error}", "docs/studies.md has its entries") from error


def _beside(value: Any, folder: Path) -> Any:
    """Return an entry of ``data``, a file beside the study with its folder."""
    entry = {"file": value} if isinstance(value, str) else value
    if not isinstance(entry, Mapping) or not isinstance(entry.get("file"), str):
        return value
    place = folder / entry["file"]
    return {"name": entry["file"], **entry, **({"file": str(place)} if place.is_file() else {})}


def _method(value: Any, folder: Path, allow_code: bool) -> Any:
    """Return an entry of ``methods`` as a mapping."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, tuple | list) and len(value) == 2:
        return {"name": value[0], "estimator": value[1]}
    if not isinstance(value, Mapping) or not isinstance(value.get("customise", {}), Mapping):
        return value
    changes = {slug: _change(slug, given, folder, allow_code) for slug, given in value.get("customise", {}).items()}
    return {**value, "customise": changes}


def _change(slug: str, given: Any, folder: Path, allow_code: bool) -> Change:
    """Return the function of a text FILE.py:FUNCTION, the file beside the study first, or a function as it is."""
    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]
    if not allow_code:
        raise ParameterError(f"the study runs {shown(given)}", "read it, then give allow_code=True")
    file, colon, name = given.rpartition(":")
    if not colon or not name.isidentifier():
        raise ParameterError(f"'{slug}' of customise is {shown(given)}", 'for example "rules.py:rule"')
    found = FromFile(str(folder / file) if (folder / file).is_file() else file, name)
    found.load()
    return found


def load_all(study: Study) -> dict[str, tuple[str, Dataset]]:
    """Return fingerprint -> name in the rows, and data set; raises DataError, FileError, ParameterError."""
    found: dict[str, tuple[str, Dataset]] = {}
    for entry in study.data:
        name, data = (entry.name, entry) if isinstance(entry, Dataset) else _loaded(entry)
        digest = fingerprint(data)
        if any(name == other for other, _ in found.values()):
            raise ParameterError(f"two data sets of the study are called '{name}'", "give them different names")
        if digest in found:
            raise ParameterError(f"'{name}' and '{found[digest][0]}' hold the same data", "name one of them")
        found[digest] = (name, data)
    return found


def _loaded(entry: Any) -> tuple[str, Dataset]:
    """Return the name and the data set of an entry of ``data``."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("file"), str):
        raise ParameterError(f"the study has {shown(entry)} in data", 'give a name, a file, or {file = "mine.csv"}')
    own = {name: value for name, value in entry.items() if name not in ("file", "name")}
    known = inspect.signature(load_dataset).parameters
    unknown = [name for name in own if name not in known]
    if unknown:
        raise ParameterError(f"an entry of data has an unknown entry '{unknown[0]}'", f"one of {', '.join(known)}")
    return entry.get("name", entry["file"]), load_dataset(entry["file"], **own)


def units_of(study: Study, loaded: Mapping[str, tuple[str, Dataset]]) -> Iterator[Unit]:
    """Yield units in the order of the rows: data, methods, points, splits; ParameterError for too many folds."""
    splits: list[tuple[int | None, int | None]] = [(None, None)] if study.all_samples or not study.folds else []
    splits += product(study.seeds, range(study.folds))
    places = count()
    for digest, (name, data) in loaded.items():
        if study.folds:
            stratified_folds(data, study.folds, study.seeds[0])
        for method in study.methods:
            for (params, candidates), (seed, fold) in product(method.choices(data.p), splits):
                yield Unit(
                    study=study.name,
                    place=next(places),
                    data=name,
                    digest=digest,
                    method=method,
                    params=params,
                    candidates=candidates,
                    folds=study.folds,
                    fold=fold,
                    seed=seed,
                    time_limit=study.time_limit,
                    exact=study.exact,
                )
