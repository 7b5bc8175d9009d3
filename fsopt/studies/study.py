"""A study: data sets x methods (with grids of parameters) x folds x seeds, and the file ``study.toml`` that states one.

.. code-block:: toml

    name = "small"
    data = ["wdbc", "mine.csv", {file = "other.csv", target = "outcome", missing = "drop"}]
    folds = 3
    seeds = [0, 1]
    time_limit = 20            # seconds, each unit; cpu_limit = 20 counts those of the processor
    [[methods]]
    name = "fsv"
    [[methods]]
    name = "gbd"
    params = { m = 4 }         # fixed
    grid = { c = [0.1, 1.0] }  # one unit for each point; with tune = true one unit that chooses by folds of its own
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from fsopt.answers.trained import fingerprint
from fsopt.common.arguments import SECONDS, plain, spelled
from fsopt.common.customising import Change, FromFile
from fsopt.common.files import brief, check_readable
from fsopt.data import Dataset, load_dataset
from fsopt.data.splits import stratified_folds
from fsopt.errors import FileError, ParameterError, shown
from fsopt.methods.checking import check_values
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_parameters
from fsopt.studies.methods import Classifier, Entry, check_study_changes, entry_of
from fsopt.studies.units import Unit


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

    def __post_init__(self) -> None:
        for part in ("params", "grid"):
            own = spelled(f"method '{self.name}'", getattr(self, part), self.entry.parameters)
            msgspec.structs.force_setattr(self, part, own)

    @property
    def entry(self) -> Entry:
        """The entry of the method; raises UnknownNameError, ParameterError."""
        return entry_of(self.name if self.estimator is None else (self.name, self.estimator))

    def points(self, p: int) -> list[dict[str, Any]]:
        """Return the parameters at each point of the grid, for data with p features; the last name varies fastest."""
        points = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        return [{**self.entry.compare(p), **self.params, **point} for point in points]

    def check(self) -> None:
        """Refuse unknown parameters, values that the method never takes, and a grid without values."""
        entry = self.entry
        check_study_changes(entry, self.customise)
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
    time_limit, cpu_limit : seconds of each unit by the clock, and of the processor in all threads of its process, which
        do not pass while other programs have it; None for no limit. The first that passes ends the unit.
    exact : verify each fit in rational arithmetic too; a column of the rows has the word.
    """

    name: str = "study"
    data: tuple[Any, ...] = ()
    methods: tuple[StudyMethod, ...] = ()
    folds: int = 0
    seeds: tuple[int, ...] = (0,)
    all_samples: bool = False
    time_limit: float | None = None
    cpu_limit: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if not self.data or not self.methods:
            lacking = "methods" if self.data else "data"
            raise ParameterError(f"the study '{self.name}' has no {lacking}", 'data = ["wdbc"], [[methods]]')
        if self.folds < 0 or self.folds == 1:
            raise ParameterError(f"folds is {self.folds}", "give 2 or more, or 0 to fit all samples only")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ParameterError("the list of seeds is empty or has one twice", "for example seeds = [0, 1]")
        for name in ("time_limit", "cpu_limit"):
            if getattr(self, name) is not None:
                SECONDS.check(name, getattr(self, name))
        for method in self.methods:
            method.check()


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
    code = code_of(content)
    if code and not allow_code:
        raise ParameterError(f"the study '{brief(path)}' runs {', '.join(code)}", "read it, then give allow_code=True")
    return study_from({"name": place.stem, **content}, place.parent)


def code_of(content: Mapping[str, Any]) -> list[str]:
    """Return the functions FILE.py:FUNCTION that the entries of a study name; nothing is run."""
    methods = content.get("methods")
    tables = [m.get("customise") for m in methods if isinstance(m, dict)] if isinstance(methods, list) else []
    return list(dict.fromkeys(shown(given) for table in tables if isinstance(table, dict) for given in table.values()))


def study_from(content: Mapping[str, Any], folder: Path | None = None) -> Study:
    """Return the study of a mapping with the entries of a TOML file; raises ParameterError, UnknownNameError.

    A method is a mapping, a name, or a pair of a name and a classifier.
    """
    given = dict(content)
    for name in ("data", "methods"):
        if not isinstance(given.get(name, ()), list | tuple):
            raise ParameterError(f"'{name}' of the study is {shown(given[name])}", f"give a list of {name}")
    given["data"] = [_beside(value, folder) for value in given.get("data", ())]
    given["methods"] = [_method(value, folder) for value in given.get("methods", ())]
    try:
        return msgspec.convert(given, Study)
    except msgspec.ValidationError as error:
        raise ParameterError(f"the study is none: {error}", "docs/studies.md has its entries") from error


def _beside(value: Any, folder: Path | None) -> Any:
    """Return an entry of ``data``, a file beside the study with its folder."""
    if isinstance(value, str):
        return _beside({"file": value, "name": value}, folder)
    if folder is None or not isinstance(value, Mapping) or not isinstance(value.get("file"), str):
        return value
    place = folder / value["file"]
    return {"name": value["file"], **value, **({"file": str(place)} if place.is_file() else {})}


def _method(value: Any, folder: Path | None) -> Any:
    """Return an entry of ``methods`` as a mapping."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, tuple | list) and len(value) == 2:
        return {"name": value[0], "estimator": value[1]}
    if not isinstance(value, Mapping) or not isinstance(value.get("customise", {}), Mapping):
        return value
    for name, number in dict(value.get("params", {})).items():
        if not plain(number):
            raise ParameterError(
                f"'{name}' of {shown(value.get('name'))} is {shown(number)}", "give a number or a word"
            )
    changes = {slug: _change(slug, given, folder) for slug, given in value.get("customise", {}).items()}
    return {**value, "customise": changes}


def _change(slug: str, given: Any, folder: Path | None) -> Change:
    """Return the function of a text FILE.py:FUNCTION, the file beside the study first, or a function as it is."""
    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]
    file, colon, name = given.rpartition(":")
    if not colon or not name.isidentifier():
        raise ParameterError(f"'{slug}' of customise is {shown(given)}", 'for example "rules.py:rule"')
    beside = None if folder is None else folder / file
    found = FromFile(str(beside) if beside is not None and beside.is_file() else file, name)
    return FromFile(found.path, name, slug) if isinstance(found.load(), Mapping) else found


def load_all(study: Study) -> dict[str, tuple[str, Dataset]]:
    """Return fingerprint -> name in the rows, and data set, of a study.

    Raises
    ------
    DataError, FileError : the data cannot be read.
    ParameterError : two data sets have one name, or hold the same data.
    """
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
    """Yield the units of a study in the order of its rows: data, methods, points of grids, then splits.

    Raises
    ------
    ParameterError : too many folds for a data set.
    """
    splits: list[tuple[int | None, int | None]] = []
    if study.all_samples or not study.folds:
        splits.append((None, None))
    if study.folds:
        splits += [(seed, fold) for seed in study.seeds for fold in range(study.folds)]
    place = 0
    for digest, (name, data) in loaded.items():
        if study.folds:
            stratified_folds(data, study.folds, study.seeds[0])
        for method in study.methods:
            for params, candidates in _choices(method, data.p):
                for seed, fold in splits:
                    yield Unit(
                        study=study.name,
                        place=place,
                        data=name,
                        digest=digest,
                        method=method.name if method.estimator is None else method.entry,
                        identity=_identity(method),
                        solver=method.solver,
                        params=params,
                        candidates=candidates,
                        inner_folds=method.inner_folds,
                        folds=study.folds,
                        fold=fold,
                        seed=seed,
                        time_limit=study.time_limit,
                        cpu_limit=study.cpu_limit,
                        customise=method.customise,
                        exact=study.exact,
                    )
                    place += 1


def _identity(method: StudyMethod) -> str:
    """Return what tells a method from others: its name, and the hash of a classifier."""
    entry = method.entry
    if method.estimator is None or not isinstance(entry, Classifier):
        return method.name
    from joblib import hash as hashed

    return f"{method.name} {hashed(entry.make)}"


def _choices(method: StudyMethod, p: int) -> Sequence[tuple[dict[str, Any], tuple[dict[str, Any], ...]]]:
    """Return parameters and candidates of each point of a method's grid; of a tuned method of the whole grid."""
    points = method.points(p)
    if not method.tune:
        return [(point, ()) for point in points]
    common = {k: v for k, v in points[0].items() if k not in method.grid and all(k in point for point in points)}
    return [(common, tuple(points))]
