"""The standard streams of the command line: closed ones, and readers that leave."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TextIO

GONE = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
"""Errors of a write to a pipe whose reader has left."""


def prepare_streams() -> None:
    """Make stdout and stderr take every text, and closed ones take nothing.

    A closed descriptor would be given to the next file that is opened, and whatever a solver prints would go there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor, this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names beyond the alphabet of the terminal
    if type(sys.stdout) is io.TextIOWrapper:
        how = {name: getattr(sys.stdout, name) for name in ("encoding", "errors", "line_buffering", "write_through")}
        sys.stdout = _Stdout(sys.stdout.detach(), **how)


class _Stdout(io.TextIOWrapper):
    """A standard output that says nothing where its reader leaves before the end, as ``head`` does."""

    left = False

    def write(self, text: str, /) -> int:
        """Write a text, as long as somebody reads it."""
        try:
            return super().write(text)
        except OSError as error:
            self._leave(error)
            return len(text)

    def flush(self) -> None:
        """Send the text, as long as somebody reads it."""
        try:
            super().flush()
        except OSError as error:
            self._leave(error)

    def _leave(self, error: OSError) -> None:
        if error.errno not in GONE:
            raise error
        self.left = True
        abandon(self)


def reader_left() -> bool:
    """Return whether nobody reads stdout any more."""
    return getattr(sys.stdout, "left", False)


def abandon(stream: TextIO) -> None:
    """Send what a stream still holds, which the interpreter would write at its end, to nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return
