"""The memory that is left, and the refusal of what does not fit before any of it is taken."""

from __future__ import annotations

import math
from pathlib import Path

from fsopt.errors import MemoryLimitError

FEWER = "keep fewer features first (pearson, fisher), or take onsvm, fsv or svm"
"""What helps where data are too large for a method."""

NUMBER = 8
"""Bytes of a number."""

ENTRY = 200
"""Bytes for each entry of the data in a model and its arrays, that of models of 10 million entries."""


def free_bytes() -> float:
    """Return the bytes that this process may still take, of the machine and of its own limit; infinity if unknown."""
    free = math.inf
    try:
        rows = [row.split() for row in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()]
        free = 1024.0 * sum(int(row[1]) for row in rows if row[0] in ("MemAvailable:", "SwapFree:"))
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            free = min(free, most - pages * resource.getpagesize())
    except (OSError, ImportError):  # another system than Linux
        pass
    return free


def require(size: float, what: str, hint: str = FEWER) -> None:
    """Refuse what does not fit into the memory that is left.

    Parameters
    ----------
    size : bytes, an estimate.
    what : the arrays in the words of the message.
    hint : what the user can do.

    Raises
    ------
    MemoryLimitError : more bytes than are left; the message has both numbers in GB.
    """
    free = free_bytes()
    if size > free:
        raise MemoryLimitError(
            f"{what} need about {size / 1e9:.3g} GB of memory, {max(free, 0.0) / 1e9:.3g} GB are free",
            f"{hint}; docs/limits.md has the sizes that each method takes",
        )
