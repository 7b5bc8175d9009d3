"""Entries of models, methods, peers, solvers, penalties and experiments, and the changes of users to their models.

Packages of others name a function without arguments as an entry point of the group ``fsopt``. It is called once, before
a registry is asked for a name that it does not hold, or lists its names, and registers models, methods and solvers.

A model of a registered builder bears its slug. Where a mapping of functions is in force (:func:`customised`), the
function of a slug is called with each of its models when the model is read for the first time, before it is solved,
certified or searched.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fsopt.common.arguments import TEXT, Argument
from fsopt.errors import ParameterError, UnknownNameError, foreign, shown, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")
REGISTRIES: dict[str, Registry[Any]] = {}
"""What is registered -> its registry, of those that were imported."""


@dataclass(eq=False, repr=False)
class Registry(Mapping[str, Entry]):
    """Entries by their names: those of the package, loaded at the first look, and behind them those of users, ``own``.

    ``modules`` below the ``package``, in the order of tables, each end in an entry ``SPEC``, or in several, ``SPECS``,
    of a ``kind``, which messages call ``what``; ``listing`` is the command that lists them. ``key`` and ``function``
    are the attributes of an entry that hold its name, and the function that it rests on. ``check`` raises
    ParameterError for one of the user's own that cannot work; ``words``: see :func:`fsopt.errors.unknown`.
    """

    kind: type[Entry]
    what: str
    package: str
    modules: tuple[str, ...]
    _: KW_ONLY
    listing: str
    key: str = "name"
    function: str = ""
    check: Callable[[Entry], None] = lambda entry: None
    words: Mapping[str, str] = field(default_factory=dict)
    own: dict[str, Entry] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        REGISTRIES[self.what] = self

    @cached_property
    def shipped(self) -> dict[str, Entry]:
        """The entries of the package itself."""
        loaded = [import_module(f"{self.package}.{module}") for module in self.modules]
        entries = [entry for one in loaded for entry in getattr(one, "SPECS", None) or (one.SPEC,)]
        return {getattr(entry, self.key): entry for entry in entries}

    def __getitem__(self, name: str) -> Entry:
        """Return an entry; raises UnknownNameError, which is a KeyError."""
        if name not in self:
            other = {"method": "model", "model": "method"}.get(self.what, "")
            if other and name in import_module(f"fsopt.{other}s.registry").__dict__[f"{other.upper()}S"]:
                raise UnknownNameError(f"'{name}' is no {self.what}", f"it is a {other}: 'fsopt {other}s' lists all")
            raise unknown(self.what, name, self, self.listing, self.words)
        return self.shipped[name] if name in self.shipped else self.own[name]

    def __contains__(self, name: object) -> bool:
        if name not in self.shipped and name not in self.own:
            load_plugins()
        return name in self.shipped or name in self.own

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter([*self.shipped, *self.own])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def register(self, entry: Entry, *, replace: bool = False) -> Entry:
        """Add an entry of the user's own, which may ``replace`` one of his, and return it.

        Raises ParameterError where the name is taken or is none, or the entry cannot work.
        """
        if not isinstance(entry, self.kind):
            fault = f"a {self.what} is registered by its entry, not by {shown(entry)}"
            raise ParameterError(fault, f"give a {self.kind.__name__}")
        name = getattr(entry, self.key)
        TEXT.check(f"name of the {self.what}", name)
        if not name or any(letter.isspace() for letter in name):
            raise ParameterError(f"'{name}' is no name for a {self.what}", "give a word such as my-svm")
        if name in self and not (replace and name in self.own):
            raise ParameterError(f"there is a {self.what} called '{name}' already", "give another name")
        if self.function and not callable(given := getattr(entry, self.function)):
            raise ParameterError(f"the {self.what} '{name}' has {shown(given)} for a function", "give a function")
        self.check(entry)
        self.own[name] = entry
        return entry


def load_plugins() -> None:
    """Call the functions of the entry points that were not called yet; one that fails is a warning, not an error."""
    waiting = _waiting()
    while waiting:
        entry = waiting.pop(0)
        try:
            entry.load()()
        except Exception as error:  # of any package that is installed: fsopt works without it
            warnings.warn(f"the package behind '{entry.value}' failed to register: {error}", stacklevel=2)


@cache
def _waiting() -> list[EntryPoint]:
    """Return the entry points that were not loaded yet."""
    from importlib.metadata import entry_points

    return list(entry_points(group="fsopt"))


Change: TypeAlias = Callable[[Any], None]
"""Changes a Pyomo model in place."""
Changes: TypeAlias = Mapping[str, Change] | None
"""Functions of a user by the slugs of the models that they change; None for none."""
CHANGES = Argument(
    "a mapping of slugs to functions",
    lambda value: isinstance(value, Mapping) and all(isinstance(k, str) and callable(f) for k, f in value.items()),
    "for example {'fsp-master': rule}, where rule(model) adds a constraint",
)
SLUG, CHANGED = "_fsopt_slug", "_fsopt_changed"
"""Attributes of a model: the slug of its builder, and whether the function of this slug was called."""
_CURRENT: ContextVar[tuple[Mapping[str, Change], set[str]] | None] = ContextVar("changes", default=None)
"""The functions in force, and the slugs of the models that were read meanwhile."""


@contextmanager
def customised(functions: Mapping[str, Change] | None) -> Iterator[set[str]]:
    """Put functions in force, None those that are; yield the growing set of the slugs of the models read inside."""
    if functions is None:
        yield set()
        return
    read = set[str]()
    token = _CURRENT.set((dict(functions), read))
    try:
        yield read
    finally:
        _CURRENT.reset(token)


def changes_in_force() -> bool:
    """Return whether there is a function for the models of any slug: what solves no model would not see it."""
    present = _CURRENT.get()
    return present is not None and bool(present[0])


def apply_changes(model: Any) -> None:
    """Call the function in force for a model, once; raises ParameterError where it failed, or returned anything."""
    present, slug = _CURRENT.get(), getattr(model, SLUG, None)
    if present is None or slug is None:
        return
    functions, read = present
    read.add(slug)
    if slug not in functions or getattr(model, CHANGED, False):
        return
    setattr(model, CHANGED, True)
    what, hint = f"the function for the model '{slug}'", f"correct it; 'fsopt show {slug}' lists the components"
    with foreign("Python", f"{what} failed", hint, ParameterError, passed=()):
        returned: Any = functions[slug](model)
    if returned is not None:
        raise ParameterError(f"{what} returned {shown(returned)}", "change the model in place, return None")


def names_of(functions: Mapping[str, Change]) -> dict[str, str]:
    """Return slug -> name of its function, as it is saved."""
    return {slug: getattr(f, "__name__", type(f).__name__) for slug, f in functions.items()}
