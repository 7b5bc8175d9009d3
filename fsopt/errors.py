"""Errors that a user can cause, each with its reason and a hint.

Every class has a ``kind`` (a stable word, for scripts), a ``message`` (the event and its reason) and a ``hint`` (a
remedy). The command line prints ``message`` and ``hint`` on one line and exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec
from reprlib import Repr

from fsopt.common.texts import one_line

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class FsoptError(Exception):
    """Base of every error that fsopt raises on purpose: the event and its reason, and a remedy, one line each."""

    kind = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = one_line(str(message)), one_line(str(hint))
        super().__init__(self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows: no traceback, as on the command line."""
        return [f"{self.kind}: {self}"]


class DataError(FsoptError):
    """A data set cannot be read, or is not a valid two-class data set."""

    kind = "data"


class UnknownNameError(FsoptError, KeyError):
    """A model, method, solver or parameter name that is not registered."""

    kind = "unknown-name"


class ParameterError(FsoptError):
    """A parameter has the wrong type or lies outside its range."""

    kind = "parameter"


class InfeasibleError(FsoptError):
    """The problem is infeasible for these parameters, as shown before any call of a solver."""

    kind = "infeasible"


class SolverError(FsoptError):
    """A solver is missing, does not solve the problem class, or failed."""

    kind = "solver"


class NotShownError(FsoptError):
    """A claim that rational arithmetic cannot show, for a reason that is said with the claim."""

    kind = "not-shown"


class OutOfTimeError(SolverError):
    """The time limit passed before there was a point: a loop that has one ends with it instead."""

    kind = "time-limit"


class MemoryLimitError(FsoptError):
    """The arrays of a computation do not fit into the memory."""

    kind = "memory"


class OptionError(FsoptError):
    """An option of a solver is unknown or an options file cannot be read."""

    kind = "option"


class FileError(FsoptError):
    """A file cannot be written, or a saved answer cannot be read."""

    kind = "file"


class StoreLost(FileError):
    """The store of a run was removed, replaced or changed by others, or cannot be written any more."""

    kind = "store"


class PackageError(FsoptError):
    """An optional package is needed and not installed."""

    kind = "package"


def needed(package: str, what: str, extra: str) -> None:
    """Raise PackageError where the optional package that ``what`` need, of an extra of fsopt, is not installed."""
    if find_spec(package) is None:
        raise PackageError(f"{what} need {package}, which is not installed", f"pip install 'fsopt[{extra}]'")


class WorkersLost(FsoptError):
    """An executor was lost with all its workers: what the store does not have is computed by another run."""

    kind = "workers"


class InternalError(FsoptError):
    """An error inside fsopt that no user can cause on purpose: the last resort of the command line."""

    kind = "internal"

    @classmethod
    def of(cls, error: BaseException, variable: str) -> InternalError:
        """Return the error for an unforeseen exception; the environment variable shows its traceback."""
        fault = f"an error inside fsopt, {type(error).__name__}: {said(error)}"
        return cls(fault, f"run it again with {variable}=1, which shows where, and report it")


def shown(value: object) -> str:
    """Return a value as messages show it: short and on one line, however long, deep or broken it is."""
    try:
        text = _SHORT.repr(value)
        return " ".join(text.split()) if "\n" in text else text
    except Exception:  # of the object's own repr
        return f"an object of the type {type(value).__name__}"


@contextmanager
def foreign(
    library: str, fault: str, hint: str, kind: type[FsoptError], *, passed: tuple[type[Exception], ...] = (OSError,)
) -> Iterator[None]:
    """Turn whatever a library raises at its boundary into one error, which names the library and what it said.

    There is no list of what a library raises. Errors of fsopt pass, those of ``passed``, and a lack of memory but for
    the size that the library itself could not allocate.
    """
    own: tuple[type[Exception], ...] = (FsoptError, *passed)
    try:
        yield
    except own:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not type(error).__module__.startswith(library):
            raise
        raise kind(f"{fault} ({library}: {said(error)})", hint) from error


def said(error: BaseException) -> str:
    """Return the words of an exception in one short line; with its type, where they are no sentence."""
    first = next((line.strip(" .:") for line in str(error).splitlines() if line.strip(" .:")), "")[:200]
    return f"{type(error).__name__} {first}".strip() if isinstance(error, LookupError) or not first else first


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn the exceptions of damaged data in a saved answer into a FileError that names the damaged part."""
    try:
        yield
    except FsoptError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise FileError(f"the saved {what} is damaged: {reason}", "compute the answer again and save it") from error


MEANT: dict[str, tuple[str, ...]] = {"tol": ("tolerance",), "timeout": ("time_limit",), "random_state": ("seed",)}
MEANT |= dict.fromkeys(("k", "n_features", "max_features", "n_features_to_select"), ("m", "features")) | {"exclude": ()}
"""Keyword of others -> what it is called here."""


def similar(name: str, known: Iterable[str]) -> str:
    """Return a question for the known names that are most similar to an unknown one; empty where none is."""
    own = {one.lower(): one for one in known}
    close = [one for one in MEANT[name] if one in own] if name in MEANT else get_close_matches(str(name).lower(), own)
    return f"did you mean {' or '.join(own[one] for one in close)}?" if close else ""


def unknown(what: str, name: str, known: Iterable[str], command: str, words: Mapping[str, str]) -> UnknownNameError:
    """Return the error for an unregistered name, with what a word of others is here, or similar names, as a hint."""
    meant = words.get("".join(sign for sign in str(name).lower() if sign.isalnum()))
    hint = f"here it is {meant}" if meant else similar(name, sorted(known))
    return UnknownNameError(f"there is no {what} called '{name}'", f"{hint} ('{command}' lists all)".strip())
