"""Writing of files that appear complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.errors import FileError

WRITE_BITS = 0o222


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there; call it before a long computation of the file's content.

    Raises
    ------
    FileError : the folder does not exist or is read-only, or the path is a folder or a read-only file.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"cannot write '{target}': it is a folder", "give a file name")
    if not target.parent.is_dir():
        raise FileError(f"cannot write '{target}': there is no folder '{target.parent}'", "create the folder first")
    for place in (target.parent, target):
        if place.exists() and not (place.stat().st_mode & WRITE_BITS and os.access(place, os.W_OK)):
            raise FileError(f"cannot write '{target}': '{place}' is read-only", "choose another place or name")
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder; its file replaces ``path`` if the block succeeds.

    Raises
    ------
    FileError : as :func:`check_writable`, or an error of the disk.
    """
    target = check_writable(path)
    try:
        handle, name = tempfile.mkstemp(prefix=".fsopt-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())  # mkstemp makes files for their owner only, whatever the umask allows
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"cannot write '{target}': {error.strerror}", "choose another place") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0)  # the only way to read it is to set it
    os.umask(mask)
    return mask
