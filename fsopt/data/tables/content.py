"""The bytes of data files, and the limit on the memory that a small file may ask for."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsopt.data.tables.spelling import decoded
from fsopt.errors import DataError, FsoptError, ParameterError

LIMIT_VARIABLE = "FSOPT_DATA_LIMIT"
"""Environment variable: gigabytes (10^9 bytes) that a compressed or sparse file may expand to."""
DEFAULT_LIMIT = 0.5
NUMBER = 8
"""Bytes of a number in memory."""
BLOCK = 1 << 20


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


def check_size(size: float, what: str, *, more: bool = False) -> None:
    """Refuse what takes more memory than :func:`size_limit` allows.

    Parameters
    ----------
    size : bytes that are needed, in total if not ``more``.
    what : subject of the sentence.
    more : whether the total may be larger.
    """
    allowed = size_limit()
    if size > allowed:
        needs = "more than" if more else "about"
        raise DataError(
            f"{what} would take {needs} {size / 1e9:.2g} GB of memory, more than the limit of {allowed / 1e9:g} GB",
            f"if the file is what it should be, raise the limit: {LIMIT_VARIABLE}={math.ceil(2 * size / 1e9)} "
            "(an environment variable, in gigabytes)",
        )


@contextmanager
def foreign(fault: str, hint: str) -> Iterator[None]:
    """Turn every exception of another library's parser into a DataError.

    A damaged file ends in whatever exception the line of code raises that stumbles over it, of any type: there is no
    list of them.
    """
    try:
        yield
    except (FsoptError, OSError):
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        raise DataError(f"{fault} ({reason})", hint) from error


def text_bytes(path: Path, delimiters: str, encoding: str | None = None) -> tuple[bytes, str]:
    """Return the content of a text file in UTF-8, expanded if its name ends in .gz, and the encoding of the file.

    Parameters
    ----------
    delimiters : what may separate its fields.
    encoding : of the file; None to find it.

    Raises
    ------
    DataError
        If it is not valid gzip or of another encoding, has a NUL character, or would expand beyond the limit.
    """
    if path.suffix.lower() == ".gz":
        try:
            _check_expansion(path, delimiters.encode())
            raw = gzip.decompress(path.read_bytes())
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"the file is not valid gzip ({error})", "drop .gz from its name, or compress it anew"
            ) from error
    else:
        raw = path.read_bytes()
    content, found = decoded(raw, encoding)
    place = content.find(b"\0")
    if place >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise DataError(f"line {line} has a NUL character, so the file is no text", "save it as UTF-8 text")
    return content, found


def _check_expansion(path: Path, delimiters: bytes) -> None:
    """Refuse a compressed file whose text, or whose matrix, would exceed the limit, without holding any of it."""
    size = lines = 0
    cells = Counter[int]()
    with gzip.open(path) as stream:
        while block := stream.read(BLOCK):
            size += len(block)
            lines += block.count(b"\n")
            cells.update({mark: block.count(mark) for mark in delimiters})
            check_size(max(size, NUMBER * (lines + max(cells.values()))), "the expanded file", more=True)
