"""Paths that users give, writing of files that appear complete or not at all, and what a packed file expands to."""

from __future__ import annotations

import gzip
import io
import math
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.errors import DataError, FileError, FsoptError, ParameterError

WRITE_BITS = 0o222
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""Beginnings of the names of open streams: ``/dev/stdout`` may be a file that is already written to."""

LIMIT_VARIABLE = "FSOPT_DATA_LIMIT"
"""Environment variable: gigabytes (10^9 bytes) that a compressed or sparse file may expand to."""
DEFAULT_LIMIT = 0.5
BLOCK = 1 << 20
"""Bytes of a compressed file that are expanded at a time."""


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
    """Yield the path of an empty file, which takes the place of ``path``, or of what it links to; raises FileError."""
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


def size_limit() -> int:
    """Return the most bytes that a compressed or sparse file may expand to; raises ParameterError for no number."""
    text = os.environ.get(LIMIT_VARIABLE)
    try:
        gigabytes = DEFAULT_LIMIT if not text else float(text)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise ParameterError(f"{LIMIT_VARIABLE} is {text!r}", "set it to a number of gigabytes, such as 4")
    return int(gigabytes * 1e9)


def check_size(size: float, what: str, *, more: bool = False, error: type[FsoptError] = DataError) -> None:
    """Raise an error of a kind for content, called ``what``, of so many bytes or ``more`` beyond :func:`size_limit`."""
    allowed = size_limit()
    if size > allowed:
        needs = "more than" if more else "about"
        raise error(
            f"{what} would take {needs} {size / 1e9:.2g} GB of memory, more than the limit of {allowed / 1e9:g} GB",
            f"if the file is what it should be, raise the limit: {LIMIT_VARIABLE}={math.ceil(2 * size / 1e9)} "
            "(an environment variable, in gigabytes)",
        )


def unpacked(content: bytes, what: str, *, error: type[FsoptError] = DataError) -> bytes:
    """Return the content of a gzip file, expanded block by block and no further than the limit; see check_size."""
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        while block := stream.read(BLOCK):
            whole.write(block)
            check_size(whole.tell(), what, more=True, error=error)
    return whole.getvalue()
