"""Changes that a user makes to models inside methods, studies and checks: a function for each slug.

A model of a registered builder bears its slug. Where a mapping of functions is in force (:func:`customised`), the
function of a slug is called with each of its models when the model is read for the first time, before it is solved,
certified or searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fsopt.common.arguments import Argument
from fsopt.errors import FileError, FsoptError, ParameterError, shown

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


def complete(model: Any) -> None:
    """Call the function in force for a model, once; raises ParameterError where it failed, or returned anything."""
    present, slug = _CURRENT.get(), getattr(model, SLUG, None)
    if present is None or slug is None:
        return
    functions, read = present
    read.add(slug)
    if slug not in functions or getattr(model, CHANGED, False):
        return
    setattr(model, CHANGED, True)
    what = f"the function for the model '{slug}'"
    try:
        returned: Any = functions[slug](model)
    except FsoptError:
        raise
    except Exception as error:
        raise ParameterError(
            f"{what} failed ({type(error).__name__}: {error})".replace("\n", " "),
            f"correct it; 'fsopt show {slug}' lists the components",
        ) from error
    if returned is not None:
        raise ParameterError(f"{what} returned {shown(returned)}", "change the model in place, return None")


def same_changes(changed: list[str], given: Changes, path: str, names: Mapping[str, str] | None = None) -> None:
    """Raise FileError for an answer or a proof of changed models beside functions of other slugs."""
    if changed != sorted(given or {}):
        told = ", ".join(f"{slug} by {names[slug]}" if names else slug for slug in changed)
        models = f"changed models: {told}" if changed else "unchanged models"
        raise FileError(
            f"'{path}' is of {models}",
            "give fsopt.verify these functions by customise=, and no others",
        )


def names_of(functions: Mapping[str, Change]) -> dict[str, str]:
    """Return slug -> name of its function, as it is saved."""
    return {slug: getattr(f, "__name__", type(f).__name__) for slug, f in functions.items()}


@dataclass(frozen=True)
class FromFile:
    """A function of a Python file, which goes to other processes with the text of the file.

    Attributes
    ----------
    path, name : of the file, and of the function in it.
    text : of the file, read where it is not given; raises ParameterError.
    """

    path: str
    name: str
    text: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            try:
                object.__setattr__(self, "text", Path(self.path).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise ParameterError(f"there is no Python file '{self.path}'", "give FILE.py:FUNCTION") from error

    @property
    def __name__(self) -> str:
        """File and function, for messages and saved answers."""
        return f"{Path(self.path).name}:{self.name}"

    def load(self) -> Change:
        """Return the function; raises ParameterError."""
        found: Change | None = _run(self.path, self.text).get(self.name)
        if not callable(found):
            raise ParameterError(f"'{self.path}' has no function '{self.name}'", "give FILE.py:FUNCTION")
        return found

    def __call__(self, model: Any) -> None:
        """Change a model."""
        self.load()(model)


@cache
def _run(path: str, text: str) -> dict[str, Any]:
    """Return the names of a Python file after it has run, once; raises ParameterError."""
    names: dict[str, Any] = {"__file__": path}
    try:
        exec(compile(text, path, "exec"), names)
    except ParameterError:
        raise
    except Exception as error:
        raise ParameterError(f"'{path}' cannot be run ({error!r})", "correct the file") from error
    return names
