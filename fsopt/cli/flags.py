"""Messages of the library, which name keywords of Python functions, with the flags of a command in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fsopt.errors import FsoptError

_KEYWORD = re.compile(r"(?<![\w.\-'{])([a-z_]+)=('[^']*'|[\w.+-]+)?")
"""``name=value`` or ``name=`` as messages have it; not at the beginning of a quotation, which a user wrote."""


def in_flags(error: FsoptError, command: Any, given: Sequence[str]) -> FsoptError:
    """Return an error whose texts name the flags of a command: ``folds=1`` is ``--folds 1``, ``tune=True`` ``--tune``.

    A keyword that is no flag of the command stays; where a value is asked for, ``m=...``, it is one of ``--param``.

    Parameters
    ----------
    command : the whole application of typer, as a command.
    given : words of the command line.
    """
    flags = _flags(command, given)
    error.message, error.hint = (_KEYWORD.sub(lambda m: _flag(m, flags), text) for text in (error.message, error.hint))
    return error


def _flags(command: Any, given: Sequence[str]) -> Mapping[str, str]:
    """Return the flags of the verb among the words of a command line: keyword -> flag."""
    for word in given:
        command = getattr(command, "commands", {}).get(word, command)
    named = {one.name: [text for text in one.opts if text.startswith("--")] for one in command.params}
    return {name: texts[0] for name, texts in named.items() if texts}


def _flag(found: re.Match[str], flags: Mapping[str, str]) -> str:
    name, value = found.groups()
    if name not in flags:
        return f"--param {found[0]}" if value == "..." and "param" in flags else found[0]
    if value in (None, "True"):
        return flags[name]
    return f"{flags[name]} {value.strip(chr(39)) if value.strip(chr(39)).isalnum() else value}"
