"""Reading a store without a trace: a copy of it in memory, whatever its folder allows and whoever writes it.

A run keeps its store with a write-ahead log where the folder is on a local disk: rows are durable at once without a
wait for the disk, and readers and the run do not wait for each other. The log needs memory that all programs share,
which network file systems do not have; there the store has a rollback journal. At rest a store is one file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

LOG = "-wal"
INDEX = "-shm"
JOURNAL = "-journal"
"""Ends of the names of the files beside a store that is being written."""
LOCAL = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "tmpfs", "ramfs", "overlay")
)
"""File systems of a single machine. All others, and those of systems that do not name them, count as shared."""
MOUNTS = Path("/proc/self/mountinfo")
LOCKED_OUT = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def local(folder: Path) -> bool:
    """Return whether a folder is known to be on a disk of this machine alone (Linux); other systems do not say."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    kind, longest = "", -1
    for line in lines:
        mount, _, described = line.partition(" - ")
        # The fifth entry is the place; the kernel writes a space in it as \040.
        place = mount.split(" ")[4].replace("\\040", " ")
        if len(place) >= longest and folder.is_relative_to(place):
            kind, longest = described.split(" ")[0], len(place)
    return kind in LOCAL


def snapshot(place: Path) -> sqlite3.Connection:
    """Return a copy in memory of a store, in which it can be read; nothing is written beside the store.

    Raises
    ------
    sqlite3.Error : it is no database, or cannot be read.
    """
    place = place.resolve()
    if not beside(place):
        # Nobody writes it. Without this word SQLite would put a log beside a store that was closed by a kill.
        before = _version(place)
        found = _copied(place, "immutable=1")
        if not beside(place) and _version(place) == before:
            return found
        found.close()
    if not place.with_name(place.name + LOG).exists() or place.with_name(place.name + INDEX).exists():
        try:
            return _copied(place, "mode=ro")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in LOCKED_OUT:
                raise
    # A killed run has left a log, or half of a transaction, which SQLite can use in a folder of our own only.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        there = Path(folder) / place.name
        for end in ("", LOG, JOURNAL):
            source = place.with_name(place.name + end)
            if source.exists():
                shutil.copyfile(source, there.with_name(there.name + end))
        return _copied(there, "mode=rw")


def beside(place: Path) -> bool:
    """Return whether a run writes the store, or has left a log of it."""
    return any(place.with_name(place.name + end).exists() for end in (LOG, JOURNAL))


def _version(place: Path) -> tuple[int, int]:
    found = os.stat(place)
    return found.st_mtime_ns, found.st_size


def _copied(place: Path, how: str) -> sqlite3.Connection:
    """Return a copy in memory of a database that is opened in a way of SQLite's."""
    memory = sqlite3.connect(":memory:")
    try:
        with closing(sqlite3.connect(f"{place.as_uri()}?{how}", uri=True, timeout=30.0)) as source:
            # A file that was cut off is refused at once otherwise: its other pages are read like any.
            source.execute("PRAGMA writable_schema = ON")
            source.backup(memory)
        memory.execute("PRAGMA writable_schema = ON")
    except BaseException:
        memory.close()
        raise
    return memory
