"""The one kind of registry: name -> entry of models, methods, peers, solvers, penalties, experiments and readers.

Models, methods and solvers of other packages come by the entry points of the group ``fsopt``.

Such a package names a function without arguments in its ``pyproject.toml``::

    [project.entry-points.fsopt]
    mypackage = "mypackage.registration:register"

which calls :func:`fsopt.register_model`, :func:`fsopt.register_method` and :func:`fsopt.register_solver`. It is called
once, before a registry is asked for a name that it does not hold, or lists its names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from fsopt.common.arguments import TEXT
from fsopt.errors import ParameterError, UnknownNameError, shown, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Entry = TypeVar("Entry")
REGISTRIES: dict[str, Registry[Any]] = {}
"""What is registered -> its registry, of those that were imported."""
GROUP = "fsopt"


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
        """The entries of the package itself; raises RuntimeError for a name that two of them bear."""
        entries: dict[str, Entry] = {}
        for module in self.modules:
            loaded = import_module(f"{self.package}.{module}")
            for entry in getattr(loaded, "SPECS", None) or (loaded.SPEC,):
                name = getattr(entry, self.key)
                if name in entries:
                    raise RuntimeError(f"the {self.what} '{name}' is registered twice")
                entries[name] = entry
        return entries

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

    def __repr__(self) -> str:
        return f"<{self.what}s: {', '.join(self)}>"

    def register(self, entry: Entry, *, replace: bool = False) -> Entry:
        """Add an entry of the user's own, which may ``replace`` one of his, and return it.

        Raises
        ------
        ParameterError : the name is taken or is none, or the entry cannot work.
        """
        if not isinstance(entry, self.kind):
            raise ParameterError(
                f"a {self.what} is registered by its entry, not by {shown(entry)}", f"give a {self.kind.__name__}"
            )
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

    return list(entry_points(group=GROUP))
