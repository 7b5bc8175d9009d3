"""Checkpoints: words and arrays in one file that appears whole or not at all, for one problem alone."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.files import check_readable, whole_file
from fsopt.errors import FileError, foreign

WRITING = 20.0
"""Between two checkpoints is at least that many times as long as writing the last one took."""


def digest(*arrays: ArrayLike) -> str:
    """Return the SHA-256 of arrays and their shapes."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(repr(array.shape).encode() + array.tobytes())
    return found.hexdigest()


@dataclass
class Keeper:
    """Writes the checkpoints of a run: ``save`` replaces the file ``path``, None for none, by what it is given."""

    path: Path | None
    save: Callable[..., None]
    next: float = -np.inf

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


def write(path: Path, problem: Mapping[str, str], words: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write the checkpoint of a problem, told by texts, in place of the last one; raises FileError."""
    text = json.dumps({**words, "problem": dict(problem)}).encode()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, text=np.frombuffer(text, dtype=np.uint8), **arrays)


def read(path: Path, kind: str, problem: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the words and the arrays of a checkpoint; raises FileError for a damaged one, or of another problem."""
    with undamaged(path, kind):
        with check_readable(path, "the checkpoint").open("rb") as file, np.load(file, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in parts.files}
        words = json.loads(arrays["text"].tobytes())
        found = dict(words["problem"])
    for name in {**problem, **found}:
        if found.get(name) != problem.get(name):
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}",
                "resume with the problem and the settings of that run, or start again without it",
            )
    return words, arrays


def undamaged(path: Path, kind: str) -> AbstractContextManager[None]:
    """Raise FileError where what is read of a file is no checkpoint of this kind."""
    fault = f"'{path}' is no checkpoint of {kind}, or damaged"
    return foreign("numpy", fault, "start again without it", FileError, passed=())
