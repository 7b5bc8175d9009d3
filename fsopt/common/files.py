"""Paths that users give, and writing of files that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.errors import FileError

WRITE_BITS = 0o222
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""Beginnings of the names of open streams: ``/dev/stdout`` may be a file that is already written to."""


@contextmanager
def refused(verb: str, path: str | os.PathLike[str], hint: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn what the operating system says of a path, or an error of other kinds, into a FileError."""
    faults: tuple[type[Exception], ...] = (OSError, *kinds)
    try:
        yield
    except faults as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot {verb} '{brief(path)}': {reason}", hint) from error


def expanded(path: str | os.PathLike[str], verb: str = "use") -> Path:
    """Return a path with the home directory in place of ``~``; raises FileError where there is no such directory."""
    with refused(verb, path, "write the path without ~", RuntimeError):
        return Path(path).expanduser()


def status(path: Path, verb: str = "use") -> os.stat_result | None:
    """Return the status of a file behind links, None where there is none; raises FileError for an impossible path."""
    with refused(verb, path, "give another path", ValueError):  # a null byte
        try:
            return path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None


def brief(path: str | os.PathLike[str]) -> str:
    """Return a path as messages show it: the two ends of a long one."""
    text = os.fspath(path)
    return text if len(text) <= 120 else f"{text[:60]}...{text[-40:]}"


def check_readable(path: str | os.PathLike[str], what: str = "") -> Path:
    """Return the path of a file or pipe; raises FileError, with ``what`` it is, for none, a folder or a device."""
    source = expanded(path, "read")
    with refused(f"read {what}".rstrip(), source, "check the path", ValueError):
        mode = source.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise OSError("it is a folder or a device")
        if not os.access(source, os.R_OK):
            raise OSError("Permission denied")
    return source


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there, before its content is computed for long; raises FileError."""
    target = expanded(path, "write")
    found, real = status(target, "write"), Path(os.path.realpath(target))
    with refused("write", target, "choose another place or name"):
        stream = os.path.abspath(target).startswith(STREAMS)
        if stream or (found is not None and not stat.S_ISREG(found.st_mode)):
            raise OSError("it is a folder, a device or a pipe")
        if not real.parent.is_dir():
            raise OSError(f"there is no folder '{brief(real.parent)}'")
        for place in (real.parent, real):
            state = status(place, "write")
            if state is not None and not (state.st_mode & WRITE_BITS and os.access(place, os.W_OK)):
                raise OSError(f"'{brief(place)}' is read-only")
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of an empty file; it takes the place of ``path`` if the block succeeds.

    The place keeps its mode, and a link stays a link to the file that is replaced. Raises FileError, of the disk too.
    """
    target = check_writable(path)
    found = status(target, "write")
    place = Path(os.path.realpath(target))
    temporary = place.parent / f".fsopt-{secrets.token_hex(8)}"
    with refused("write", target, "choose another place"):
        # Unlike tempfile's, which are for their owner only, this file has the mode that the umask allows.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield temporary
            if found is not None:
                temporary.chmod(stat.S_IMODE(found.st_mode))
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
