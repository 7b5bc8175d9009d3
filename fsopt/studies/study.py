"""A study: data sets x methods (with grids of parameters) x folds x seeds, and the file ``study.toml`` that states one.

.. code-block:: toml

    name = "small"
    data = ["wdbc", "mine.csv", {file = "other.csv", label = "outcome", missing = "drop"}]
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

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from fsopt.answers.trained import fingerprint
from fsopt.common.arguments import SECONDS, plain, spelled
from fsopt.common.customising import Change, FromFile
from fsopt.common.files import brief, check_readable
from fsopt.data import Dataset, load_dataset
from fsopt.data.layout import SPELLING
from fsopt.errors import FileError, ParameterError, shown
from fsopt.methods.checking import check_values
from fsopt.methods.registry import METHODS
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_parameters
from fsopt.studies.methods import check_study_changes, comparison_params, study_spec
from fsopt.studies.peers import PEERS


@dataclass(frozen=True)
class DataFile:
    """A data set by its name or file, which every worker reads itself.

    Attributes
    ----------
    file : name or path, as in :func:`fsopt.load_dataset`.
    name : in the rows of the study.
    reading : names and values of other keywords of :func:`fsopt.load_dataset`, such as ``target`` and ``missing``.
    """

    file: str
    name: str
    reading: tuple[tuple[str, Any], ...]

    def load(self) -> Dataset:
        """Return the data set; raises DataError, FileError."""
        return load_dataset(self.file, **dict(self.reading))


@dataclass(frozen=True)
class StudyMethod:
    """A method of a study.

    Attributes
    ----------
    name : registry name.
    params : its parameters; others have the values of :func:`fsopt.studies.comparison.compare`.
    grid : parameter -> list of values: one unit for each point of the grid.
    tune : one unit for the whole grid instead, which chooses a point on its training samples.
    inner_folds : of the cross-validation by which it chooses.
    solver : of its continuous problems; None takes the preferred one.
    customise : slug -> function that changes the models of this slug, as in :func:`fsopt.fit`; in a TOML file
        ``customise = { fsp-master = "rules.py:rule" }``.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tune: bool = False
    inner_folds: int = 5
    solver: str | None = None
    customise: Mapping[str, Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name in METHODS or self.name in PEERS:  # another name is refused with its study
            known = study_spec(self.name).parameters
            for part in ("params", "grid"):
                object.__setattr__(self, part, spelled(f"method '{self.name}'", getattr(self, part), known))

    def points(self, p: int) -> list[dict[str, Any]]:
        """Return the parameters at each point of the grid, for data with p features; the last name varies fastest."""
        points = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        return [comparison_params(self.name, p, {**self.params, **point}) for point in points]

    def check(self) -> None:
        """Refuse an unknown method, unknown parameters, values that it never takes, and a grid without values."""
        entry = study_spec(self.name)
        check_study_changes(self.name, self.customise)
        check_parameters("method", self.name, {**self.params, **self.grid}, entry.parameters)
        for name, values in self.grid.items():
            if not isinstance(values, list | tuple) or not values:
                raise ParameterError(
                    f"the grid of '{self.name}' has {shown(values)} for '{name}'", "give a list, such as [0.1, 1.0]"
                )
        function = entry.fit if isinstance(entry, MethodSpec) else entry.function
        for params in (self.params, *({name: value} for name, values in self.grid.items() for value in values)):
            check_values(self.name, function, params)
        both = sorted(set(self.params) & set(self.grid))
        if both:
            raise ParameterError(f"'{self.name}' has '{both[0]}' in params and in grid", "give it in one of them")
        if self.tune and not self.grid:
            raise ParameterError(f"'{self.name}' has tune without a grid", "give grid = { c = [0.1, 1.0] }")


Data: TypeAlias = Dataset | DataFile


@dataclass(frozen=True)
class Study:
    """Data sets x methods x folds x seeds.

    Attributes
    ----------
    name : of the study, which a store keeps apart from others.
    data : data sets, or names and files.
    methods : of the study.
    folds : of the stratified cross-validation; 0 fits all samples only.
    seeds : one split for each.
    all_samples : also fit all samples; always so for ``folds = 0``. These fits have no scores on test samples.
    time_limit, cpu_limit : seconds of each unit by the clock, and of the processor in all threads of its process, which
        do not pass while other programs have it; None for no limit. The first that passes ends the unit.
    memory_limit : gigabytes (10^9 bytes) of each unit; None for no limit. Linux only.
    exact : verify each fit in rational arithmetic too; a column of the rows has the word.
    """

    name: str
    data: tuple[Data, ...]
    methods: tuple[StudyMethod, ...]
    folds: int = 0
    seeds: tuple[int, ...] = (0,)
    all_samples: bool = False
    time_limit: float | None = None
    cpu_limit: float | None = None
    memory_limit: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if not self.data or not self.methods:
            raise ParameterError(
                f"the study '{self.name}' has no {'methods' if self.data else 'data'}", 'data = ["wdbc"], [[methods]]'
            )
        if self.folds < 0 or self.folds == 1:
            raise ParameterError(f"folds is {self.folds}", "give 2 or more, or 0 to fit all samples only")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ParameterError("the list of seeds is empty or has one twice", "for example seeds = [0, 1]")
        for name in ("time_limit", "cpu_limit", "memory_limit"):
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
    content = study_content(path)
    code = code_of(content)
    if code and not allow_code:
        raise ParameterError(f"the study '{brief(path)}' runs {', '.join(code)}", "read it, then give allow_code=True")
    place = Path(path).expanduser()
    return study_from({"name": place.stem, **content}, place.parent)


def study_from(content: Mapping[str, Any], folder: Path | None = None) -> Study:
    """Return the study of a mapping with the entries of a TOML file; raises ParameterError, UnknownNameError."""
    given = dict(content)
    listed = {name: given.pop(name, []) for name in ("data", "methods")}
    for name, value in listed.items():
        if not isinstance(value, list | tuple):
            raise ParameterError(f"'{name}' of the study is {shown(value)}", f"give a list of {name}")
    _check_entries("the study", given, _KINDS)
    seeds = given.pop("seeds", (0,))
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
        raise ParameterError(f"'seeds' of the study is {shown(seeds)}", "give a list of whole numbers")
    return Study(
        data=tuple(_data(value, folder) for value in listed["data"]),
        methods=tuple(_method(value, folder) for value in listed["methods"]),
        seeds=tuple(seeds),
        **given,
    )


_KINDS: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "folds": (int,),
    "seeds": (list, tuple),
    "all_samples": (bool,),
    "time_limit": (int, float),
    "cpu_limit": (int, float),
    "memory_limit": (int, float),
    "exact": (bool,),
}
_DATA_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("file", "name", "target", "id", "missing", "weights"), (str,)),
    **dict.fromkeys(SPELLING, (str,)),
    "drop": (list, str),
    "positive": (list, int, str),
    "onehot": (bool,),
}
_METHOD_KINDS: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "params": (dict,),
    "grid": (dict,),
    "tune": (bool,),
    "inner_folds": (int,),
    "solver": (str,),
    "customise": (dict,),
}


def _check_entries(what: str, given: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse entries of unknown names, and values of other types."""
    for name, value in given.items():
        if name not in kinds:
            raise ParameterError(f"{what} has an unknown entry '{name}'", f"one of {', '.join(kinds)}")
        if not isinstance(value, kinds[name]) or (isinstance(value, bool) and bool not in kinds[name]):
            raise ParameterError(f"'{name}' of {what} is {shown(value)}", f"its type is {kinds[name][-1].__name__}")


def _data(value: Any, folder: Path | None) -> Data:
    """Return an entry of ``data``: a data set, a name or path, or a table with ``file``."""
    if isinstance(value, Dataset | DataFile):
        return value
    entry = {"file": value} if isinstance(value, str) else value
    if not isinstance(entry, Mapping) or not isinstance(entry.get("file"), str):
        raise ParameterError(f"the study has {shown(value)} in data", 'give a name, a file, or {file = "mine.csv"}')
    _check_entries("an entry of data", entry, _DATA_KINDS)
    beside = None if folder is None else folder / entry["file"]
    file = str(beside) if beside is not None and beside.is_file() else entry["file"]
    own: dict[str, Any] = {name: tuple(given) if isinstance(given, list) else given for name, given in entry.items()}
    del own["file"]
    return DataFile(file, own.pop("name", "") or entry["file"], tuple(own.items()))


def _method(value: Any, folder: Path | None) -> StudyMethod:
    """Return an entry of ``methods``."""
    if isinstance(value, StudyMethod):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise ParameterError(f"the study has {shown(value)} in methods", 'give [[methods]] with name = "fsv"')
    _check_entries(f"the method '{value['name']}'", value, _METHOD_KINDS)
    for name, number in value.get("params", {}).items():
        if not plain(number):
            raise ParameterError(f"'{name}' of '{value['name']}' is {shown(number)}", "give a number, word or list")
    changes = {slug: _change(slug, given, folder) for slug, given in value.get("customise", {}).items()}
    return StudyMethod(**{**value, "customise": changes})


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


@dataclass(frozen=True)
class Loaded:
    """A data set of a study in memory, its name in the rows, its fingerprint, and its file if workers read it."""

    name: str
    data: Dataset
    digest: str
    file: DataFile | None


def load_all(study: Study) -> list[Loaded]:
    """Return the data sets of a study, read once; raises DataError, FileError, ParameterError for two of one name."""
    found = []
    for entry in study.data:
        data = entry.load() if isinstance(entry, DataFile) else entry
        found.append(Loaded(entry.name, data, fingerprint(data), entry if isinstance(entry, DataFile) else None))
    names = [one.name for one in found]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ParameterError(f"two data sets of the study are called '{repeated[0]}'", "give them different names")
    digests = {one.digest: one.name for one in found}
    for one in found:
        if digests[one.digest] != one.name:
            raise ParameterError(f"'{one.name}' and '{digests[one.digest]}' hold the same data", "name one of them")
    return found


def study_content(path: str | Path) -> dict[str, Any]:
    """Return the entries of the TOML file of a study, as they are; raises FileError."""
    place = check_readable(path, "the study")
    try:
        return tomllib.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"the study '{path}' is not TOML: {error}", "write lines such as folds = 3") from error


def code_of(content: Mapping[str, Any]) -> list[str]:
    """Return the functions FILE.py:FUNCTION that the entries of a study name; nothing is run."""
    methods = content.get("methods")
    tables = [m.get("customise") for m in methods if isinstance(m, dict)] if isinstance(methods, list) else []
    return list(dict.fromkeys(shown(given) for table in tables if isinstance(table, dict) for given in table.values()))
