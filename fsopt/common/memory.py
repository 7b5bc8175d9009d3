"""The memory that is left, the refusal of what does not fit into it, and the limit on what a file may expand to."""

from __future__ import annotations

import gzip
import io
import math
import os
from pathlib import Path

from fsopt.errors import DataError, FsoptError, MemoryLimitError, ParameterError

FEWER = "keep fewer features first (pearson, fisher), or take onsvm, fsv or svm"
"""What helps where data are too large for a method."""

NUMBER = 8
"""Bytes of a number."""

ENTRY = 200
"""Bytes for each entry of the data in a model and its arrays, that of models of 10 million entries."""
LIMIT_VARIABLE = "FSOPT_DATA_LIMIT"
"""Environment variable: gigabytes (10^9 bytes) that a compressed or sparse file may expand to."""
DEFAULT_LIMIT = 0.5
BLOCK = 1 << 20
"""Bytes of a compressed file that are expanded at a time."""


def free_bytes() -> float:
    """Return the bytes that this process may still take, of the machine and of its own limit; infinity if unknown."""
    try:
        import resource

        rows = [row.split() for row in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ImportError):  # another system than Linux
        return math.inf
    free = 1024.0 * sum(int(row[1]) for row in rows if row[0] in ("MemAvailable:", "SwapFree:"))
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return free if most == resource.RLIM_INFINITY else min(free, most - pages * resource.getpagesize())


def require(size: float, what: str, hint: str = FEWER) -> None:
    """Raise MemoryLimitError for arrays, called ``what``, of more bytes than are left, with both numbers in GB."""
    free = free_bytes()
    if size > free:
        raise MemoryLimitError(
            f"{what} need about {size / 1e9:.3g} GB of memory, {max(free, 0.0) / 1e9:.3g} GB are free",
            f"{hint}; docs/limits.md has the sizes that each method takes",
        )


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
