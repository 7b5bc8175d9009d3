"""Changes that a user makes to models inside methods, studies and checks: a function for each slug.

A model of a registered builder bears its slug. Where a mapping of functions is in force (:func:`customised`), the
function of a slug is called with each of its models when the model is read for the first time, before it is solved,
certified or searched.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from fsopt.common.arguments import Argument
from fsopt.errors import FsoptError, ParameterError, shown

Change: TypeAlias = Callable[[Any], None]
"""Changes a Pyomo model in place."""
CHANGES = Argument(
    "a mapping of slugs to functions",
    lambda value: isinstance(value, Mapping) and all(isinstance(k, str) and callable(f) for k, f in value.items()),
    "for example {'fsp-master': rule}, where rule(model) adds a constraint",
)
SLUG, CHANGED = "_fsopt_slug", "_fsopt_changed"
"""Attributes of a model: the slug of its builder, and whether the function of this slug was called."""


@dataclass
class _InForce:
    """The functions in force, and the slugs of the models that were read meanwhile."""

    functions: Mapping[str, Change]
    read: set[str] = field(default_factory=set)


_CURRENT: ContextVar[_InForce | None] = ContextVar("changes", default=None)


@contextmanager
def customised(functions: Mapping[str, Change] | None) -> Iterator[set[str]]:
    """Put functions in force for the models that are read inside; yield the growing set of the slugs of these.

    None leaves in force what is.
    """
    if functions is None:
        yield set()
        return
    present = _InForce(dict(functions))
    token = _CURRENT.set(present)
    try:
        yield present.read
    finally:
        _CURRENT.reset(token)


def changes_in_force() -> bool:
    """Return whether there is a function for the models of any slug: what solves no model would not see it."""
    present = _CURRENT.get()
    return present is not None and bool(present.functions)


def complete(model: Any) -> None:
    """Call the function in force for a model, once.

    Raises
    ------
    ParameterError : the function failed, or returned anything.
    """
    present = _CURRENT.get()
    slug = getattr(model, SLUG, None)
    if present is None or slug is None:
        return
    present.read.add(slug)
    change = present.functions.get(slug)
    if change is None or getattr(model, CHANGED, False):
        return
    setattr(model, CHANGED, True)
    try:
        returned: Any = change(model)
    except FsoptError:
        raise
    except Exception as error:
        raise ParameterError(
            f"the function for the model '{slug}' failed ({type(error).__name__}: {error})".replace("\n", " "),
            f"correct it; 'fsopt show {slug}' lists the components",
        ) from error
    if returned is not None:
        raise ParameterError(
            f"the function for the model '{slug}' returned {shown(returned)}", "change the model in place, return None"
        )


def names_of(functions: Mapping[str, Change]) -> dict[str, str]:
    """Return slug -> name of its function, as it is saved."""
    return {slug: getattr(f, "__name__", type(f).__name__) for slug, f in functions.items()}


@dataclass(frozen=True)
class FromFile:
    """A function of a Python file, loaded at its first call: it can be sent to other processes, with the file's text.

    Attributes
    ----------
    path, name : of the file, and of the function in it.
    slug : the key, where the name in the file is a mapping of slugs to functions; empty otherwise.
    sent : the text of the file, where it came from another process, whose files this one may not have.
    """

    path: str
    name: str
    slug: str = ""
    sent: str | None = None

    @property
    def __name__(self) -> str:
        """File and function, for messages and saved answers."""
        return f"{Path(self.path).name}:{self.name}"

    @property
    def text(self) -> str:
        """The text of the file; raises ParameterError."""
        if self.sent is not None:
            return self.sent
        try:
            return Path(self.path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ParameterError(f"there is no Python file '{self.path}'", "give FILE.py:FUNCTION") from error

    def __reduce__(self) -> tuple[type[FromFile], tuple[str, str, str, str]]:
        return type(self), (self.path, self.name, self.slug, self.text)

    def load(self) -> Any:
        """Return the function, or the mapping; raises ParameterError."""
        key = f"fsopt_customise_{abs(hash(str(Path(self.path).resolve())))}"
        if key not in sys.modules:
            module = ModuleType(key)
            module.__file__ = self.path
            try:
                exec(compile(self.text, self.path, "exec"), vars(module))
            except ParameterError:
                raise
            except Exception as error:
                raise ParameterError(f"'{self.path}' cannot be run ({error!r})", "correct the file") from error
            sys.modules[key] = module
        found = getattr(sys.modules[key], self.name, None)
        if isinstance(found, Mapping) and self.slug:
            found = found.get(self.slug)
        if not callable(found) and not isinstance(found, Mapping):
            raise ParameterError(f"'{self.path}' has no function '{self.name}'", "give FILE.py:FUNCTION")
        return found

    def __call__(self, model: Any) -> None:
        """Change a model."""
        self.load()(model)
