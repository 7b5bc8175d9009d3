"""The bytes of data files."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from pathlib import Path

from fsopt.common.budget import BLOCK, check_size
from fsopt.data.tables.spelling import decoded
from fsopt.errors import DataError

NUMBER = 8
"""Bytes of a number in memory."""


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
