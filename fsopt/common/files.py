"""Paths that users give, and writing of files that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.errors import FileError

WRITE_BITS = 0o222
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""Beginnings of the names of open streams: ``/dev/stdout`` may be a file that is already written to."""


def expanded(path: str | os.PathLike[str], verb: str = "use") -> Path:
    """Return a path with the home directory in place of ``~``.

    Raises
    ------
    FileError : there is no such home directory.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise FileError(f"cannot {verb} '{brief(path)}': {error}", "write the path without ~") from error


def status(path: Path, verb: str = "use") -> os.stat_result | None:
    """Return the status of a file behind links, None where there is none.

    Raises
    ------
    FileError : the operating system refuses the path: a name is too long, a folder is closed, links form a loop.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot {verb} '{brief(path)}': {reason}", "give another path") from error


def brief(path: str | os.PathLike[str]) -> str:
    """Return a path as messages show it: the two ends of a long one."""
    text = os.fspath(path)
    return text if len(text) <= 120 else f"{text[:60]}...{text[-40:]}"


def check_readable(path: str | os.PathLike[str], what: str = "") -> Path:
    """Return the path of a file or pipe that can be opened; ``what`` it is goes into the message.

    Raises
    ------
    FileError : there is none, or it is a folder or a device.
    """
    source = expanded(path, "read")
    found = status(source, "read")
    reason = ""
    if found is None:
        reason = "No such file or directory"
    elif stat.S_ISDIR(found.st_mode):
        reason = "it is a folder"
    elif not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
        reason = "it is a device"
    elif not os.access(source, os.R_OK):
        reason = "Permission denied"
    if reason:
        raise FileError(f"cannot read {what and what + ' '}'{brief(source)}': {reason}", "check the path")
    return source


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there; call it before a long computation of the file's content.

    Raises
    ------
    FileError : the folder does not exist or is read-only, or the path is a folder or a read-only file.
    """
    target = expanded(path, "write")
    found = status(target, "write")
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise FileError(f"cannot write '{brief(target)}': it is a folder", "give a file name")
    if _is_stream(target, found):
        places = [target]
    else:
        real = Path(os.path.realpath(target))
        if not real.parent.is_dir():
            folder = brief(real.parent if target.is_symlink() else target.parent)
            raise FileError(f"cannot write '{brief(target)}': there is no folder '{folder}'", "create the folder first")
        places = [real.parent, real]
    for place in places:
        state = status(place, "write")
        if state is not None and not (state.st_mode & WRITE_BITS and os.access(place, os.W_OK)):
            reason = f"'{brief(place)}' is read-only"
            raise FileError(f"cannot write '{brief(target)}': {reason}", "choose another place or name")
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of an empty file; it takes the place of ``path`` if the block succeeds.

    The place keeps its mode, and a link stays a link to the file that is replaced. A device or a pipe is never
    replaced: it is given the content.

    Raises
    ------
    FileError : as :func:`check_writable`, or an error of the disk.
    """
    target = check_writable(path)
    found = status(target, "write")
    stream = _is_stream(target, found)
    place = Path(os.path.realpath(target))
    temporary = Path(tempfile.gettempdir() if stream else place.parent) / f".fsopt-{secrets.token_hex(8)}"
    try:
        # Unlike tempfile's, which are for their owner only, this file has the mode that the umask allows.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if stream else 0o666))
        try:
            yield temporary
            if stream:
                with target.open("ab") as file:
                    file.write(temporary.read_bytes())
                return
            if found is not None:
                temporary.chmod(stat.S_IMODE(found.st_mode))
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"cannot write '{brief(target)}': {error.strerror or error}", "choose another place") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def only_mine(folder: str | os.PathLike[str], pattern: str) -> bool:
    """Return whether a folder and its files of a pattern belong to this user, and no other can write or replace them.

    What is read as code must be so. Of the folders above, root may own some, and others may write into those with the
    sticky bit, such as /tmp. Of a folder that is not there yet, the nearest one above is meant. On Windows, whose
    permissions no mode says, the folder is within the user's own.
    """
    place = Path(os.path.abspath(folder))
    real = place.resolve()
    if sys.platform == "win32":
        return real.is_relative_to(Path.home().resolve())
    while not real.exists():
        real = real.parent
    try:
        above = [one.lstat() for one in {*place.parents, *real.parents} if os.path.lexists(one)]
        states = [one.lstat() for one in (real, *real.glob(pattern))]
    except OSError:
        return False
    safe = all(
        one.st_uid in (0, os.getuid()) and (stat.S_ISLNK(one.st_mode) or one.st_mode & stat.S_ISVTX or _closed(one))
        for one in above
    )
    return safe and all(one.st_uid == os.getuid() and _closed(one) for one in states)


def _closed(found: os.stat_result) -> bool:
    """Return whether only the owner of a file, or his own group where he is alone in it, may write it."""
    import grp
    import pwd

    if not found.st_mode & stat.S_IWGRP:
        return not found.st_mode & stat.S_IWOTH
    try:
        owner, group = pwd.getpwuid(found.st_uid).pw_name, grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    return group.gr_name == owner and set(group.gr_mem) <= {owner} and not found.st_mode & stat.S_IWOTH


def _is_stream(target: Path, found: os.stat_result | None) -> bool:
    """Return whether a path is a device, a pipe or an open stream, which nothing may replace."""
    if found is None:
        return False
    return not stat.S_ISREG(found.st_mode) or os.path.abspath(target).startswith(STREAMS)
