"""Paths that users give, files that appear complete or not at all, what packed ones expand to, and checkpoints."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsopt.errors import DataError, FileError, FsoptError, ParameterError, foreign

WRITE_BITS = 0o222
LIMIT_VARIABLE = "FSOPT_DATA_LIMIT"
"""Environment variable: gigabytes (10^9 bytes) that a compressed or sparse file may expand to."""
DEFAULT_LIMIT = "0.5"
WRITING = 20.0
"""Between two checkpoints is at least that many times as long as writing the last one took."""
BLOCK = 1 << 20
"""Bytes of a compressed file that are expanded at a time."""


@contextmanager
def refused(verb: str, path: str | os.PathLike[str], hint: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn what the operating system says of a path, or an error of other kinds, into a FileError."""
    faults: tuple[type[Exception], ...] = (OSError, *kinds)
    try:
        yield
    except faults as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot {verb} '{brief(path)}': {reason}", hint) from error


def expanded(path: str | os.PathLike[str], verb: str = "use") -> Path:
    """Return a path with the home directory in place of ``~``; raises FileError where there is no such directory."""
    with refused(verb, path, "write the path without ~", RuntimeError):
        return Path(path).expanduser()


def brief(path: str | os.PathLike[str]) -> str:
    """Return a path as messages show it: the two ends of a long one."""
    text = os.fspath(path)
    return text if len(text) <= 120 else f"{text[:60]}...{text[-40:]}"


def check_readable(path: str | os.PathLike[str], what: str = "") -> Path:
    """Return the path of a file that can be read; raises FileError, with ``what`` it is, for none or a folder."""
    source = expanded(path, "read")
    with refused(f"read {what}".rstrip(), source, "check the path", ValueError):
        source.open("rb").close()
    return source


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path if a file can be written there, before its content is computed for long; raises FileError."""
    target = expanded(path, "write")
    with refused("write", target, "choose another place or name", ValueError, RuntimeError):  # a null byte, a loop
        real = target.resolve()
        if real.exists() and not real.is_file():
            raise OSError("it is a folder, a device or a pipe")
        if not real.parent.is_dir():
            raise OSError(f"there is no folder '{brief(real.parent)}'")
        for place in (real.parent, real) if real.exists() else (real.parent,):
            if not (place.stat().st_mode & WRITE_BITS and os.access(place, os.W_OK)):
                raise OSError(f"'{brief(place)}' is read-only")
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of an empty file, which takes the place of ``path``, or of what it links to; raises FileError."""
    target = check_writable(path)
    place = target.resolve()
    temporary = place.parent / f".fsopt-{secrets.token_hex(8)}"
    with refused("write", target, "choose another place"):
        # Unlike tempfile's, which are for their owner only, this file has the mode that the umask allows.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield temporary
            if place.exists():
                temporary.chmod(stat.S_IMODE(place.stat().st_mode))
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def size_limit() -> int:
    """Return the most bytes that a compressed or sparse file may expand to; raises ParameterError for no number."""
    text = os.environ.get(LIMIT_VARIABLE) or DEFAULT_LIMIT
    hint = "set it to a number of gigabytes, such as 4"
    with foreign("Python", f"{LIMIT_VARIABLE} is '{text}'", hint, ParameterError):
        return int(float(text) * 1e9)


def check_size(size: float, what: str, *, error: type[FsoptError] = DataError) -> None:
    """Raise an error of a kind for content, called ``what``, of so many bytes or more beyond :func:`size_limit`."""
    allowed = size_limit()
    if size > allowed:
        fault = f"{what} would take more than {size / 1e9:.2g} GB of memory, beyond the limit of {allowed / 1e9:g} GB"
        more = f"{LIMIT_VARIABLE}={math.ceil(2 * size / 1e9)} (an environment variable, in gigabytes)"
        raise error(fault, f"if the file is what it should be, raise the limit: {more}")


def unpacked(content: bytes, what: str, *, error: type[FsoptError] = DataError) -> bytes:
    """Return the content of a gzip file, expanded block by block and no further than the limit; see check_size."""
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        while block := stream.read(BLOCK):
            whole.write(block)
            check_size(whole.tell(), what, error=error)
    return whole.getvalue()


def digest(*arrays: Any) -> str:
    """Return the SHA-256 of arrays and their shapes."""
    import numpy as np

    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(repr(array.shape).encode() + array.tobytes())
    return found.hexdigest()


@dataclass
class Keeper:
    """Writes the checkpoints of a run: ``save`` replaces the file ``path``, None for none, by what it is given."""

    path: Path | None
    save: Callable[..., None]
    next: float = -math.inf

    def due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        return self.path is not None and time.perf_counter() > self.next

    def write(self, *state: Any) -> None:
        """Write a checkpoint in place of the last one; raises FileError."""
        if self.path is not None:
            begun = time.perf_counter()
            self.save(self.path, *state)
            written = time.perf_counter()
            self.next = written + WRITING * (written - begun)


def write(path: Path, problem: Mapping[str, str], words: Mapping[str, Any]) -> None:
    """Write the checkpoint of a problem, told by texts, in place of the last one; raises FileError."""
    write_text(path, json.dumps({**words, "problem": dict(problem)}))


def read(path: Path, kind: str, problem: Mapping[str, str]) -> dict[str, Any]:
    """Return the words of a checkpoint; raises FileError for a damaged one, or of another problem."""
    with undamaged(path, kind):
        words: dict[str, Any] = json.loads(check_readable(path, "the checkpoint").read_text("utf-8"))
        found = dict(words["problem"])
    for name in {**problem, **found}:
        if found.get(name) != problem.get(name):
            fault = f"the checkpoint '{path}' is of a run that differs in {name}"
            raise FileError(fault, "resume with the problem and the settings of that run, or start again without it")
    return words


def undamaged(path: Path, kind: str) -> AbstractContextManager[None]:
    """Raise FileError where what is read of a file is no checkpoint of this kind."""
    fault = f"'{path}' is no checkpoint of {kind}, or damaged"
    return foreign("json", fault, "start again without it", FileError, passed=())
