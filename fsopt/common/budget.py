"""The limit on the memory that a file may ask for beyond its own size: one for data and models."""

from __future__ import annotations

import gzip
import io
import math
import os

from fsopt.errors import DataError, FsoptError, ParameterError

LIMIT_VARIABLE = "FSOPT_DATA_LIMIT"
"""Environment variable: gigabytes (10^9 bytes) that a compressed or sparse file may expand to."""
DEFAULT_LIMIT = 0.5
BLOCK = 1 << 20
"""Bytes of a compressed file that are expanded at a time."""


def size_limit() -> int:
    """Return the largest number of bytes that a compressed or sparse file may expand to.

    Raises
    ------
    ParameterError : the environment variable FSOPT_DATA_LIMIT is no positive number.
    """
    text = os.environ.get(LIMIT_VARIABLE)
    try:
        gigabytes = DEFAULT_LIMIT if not text else float(text)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise ParameterError(f"{LIMIT_VARIABLE} is {text!r}", "set it to a number of gigabytes, such as 4")
    return int(gigabytes * 1e9)


def check_size(size: float, what: str, *, more: bool = False, error: type[FsoptError] = DataError) -> None:
    """Refuse what takes more memory than :func:`size_limit` allows.

    Parameters
    ----------
    size : bytes that are needed, in total if not ``more``.
    what : subject of the sentence.
    more : whether the total may be larger.
    error : kind of the error, by the kind of the file.
    """
    allowed = size_limit()
    if size > allowed:
        needs = "more than" if more else "about"
        raise error(
            f"{what} would take {needs} {size / 1e9:.2g} GB of memory, more than the limit of {allowed / 1e9:g} GB",
            f"if the file is what it should be, raise the limit: {LIMIT_VARIABLE}={math.ceil(2 * size / 1e9)} "
            "(an environment variable, in gigabytes)",
        )


def unpacked(content: bytes, what: str, *, each: int = 1, error: type[FsoptError] = DataError) -> bytes:
    """Return the content of a gzip file, expanded block by block and no further than the limit.

    Parameters
    ----------
    content : of the compressed file.
    what : subject of the sentence that refuses it.
    each : bytes of memory that a byte of the expanded content takes where it is read.
    error : kind of the error, by the kind of the file.
    """
    blocks, size = list[bytes](), 0
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        while block := stream.read(BLOCK):
            blocks.append(block)
            size += len(block)
            check_size(each * size, what, more=True, error=error)
    return b"".join(blocks)
