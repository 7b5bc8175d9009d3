"""Locks of files that one process at a time may write, released by the system where the process dies."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fsopt.errors import FileError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
HELD = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
"""What the system says of a lock that another process has."""


@contextmanager
def alone(path: Path | None) -> Iterator[None]:
    """Run a block as the only process that writes a file; None needs no lock.

    The lock is on a hidden file beside it, because the file itself is replaced whole again and again.

    Raises
    ------
    FileError : another process is at it, or the folder cannot be written.
    """
    if path is None:
        yield
        return
    place = path.resolve()
    beside = place.with_name(f".{place.name}.lock")
    handle = _locked(beside, path)
    try:
        yield
    finally:
        if sys.platform == "win32":  # where a file that is open cannot be removed
            os.close(handle)
        with suppress(OSError):
            beside.unlink()
        if sys.platform != "win32":
            os.close(handle)


def _locked(beside: Path, path: Path) -> int:
    """Return the open lock file; raise FileError where another process has it."""
    while True:  # until the file that was locked is the one in the folder: a process that ends removes its own
        # A link may have been laid by somebody else, and would have a file made wherever it leads.
        if beside.is_symlink():
            raise FileError(
                f"the lock of '{path}' is a symbolic link, '{beside}'", "remove it, or choose another place"
            )
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o600)
        except OSError as error:
            raise FileError(f"cannot write '{path}': {error.strerror}", "choose another place") from error
        try:
            _try_lock(handle)
        except OSError as error:
            os.close(handle)
            if error.errno not in HELD:
                raise FileError(
                    f"'{path}' cannot be locked, its file system has no locks: {error.strerror}", "choose another place"
                ) from error
            raise FileError(f"another process is writing '{path}'", "wait for it, or give another file") from error
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), beside.lstat()):
                return handle
        os.close(handle)
