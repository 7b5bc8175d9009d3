"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.errors import FileError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder that becomes ``path`` if the block succeeds.

    Raises
    ------
    FileError : the folder does not exist or cannot be written, or ``path`` is a folder.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"cannot write '{target}': it is a folder", "give a file name")
    try:
        handle, name = tempfile.mkstemp(prefix=".fsopt-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise FileError(f"cannot write '{target}': {error.strerror}", "choose a folder you can write to") from error
    temporary = Path(name)
    try:
        yield temporary
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"cannot write '{target}': it is read-only", "choose another name")
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
