"""Checkpoints: words and numbers in one file that appears whole or not at all, for one problem alone."""

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

from fsopt.common.files import check_readable, write_text
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
    written: float = -np.inf
    writing: float = 0.0

    def due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        return self.path is not None and time.perf_counter() > self.written + WRITING * self.writing

    def write(self, *state: Any) -> None:
        """Write a checkpoint in place of the last one; raises FileError."""
        if self.path is not None:
            begun = time.perf_counter()
            self.save(self.path, *state)
            self.written = time.perf_counter()
            self.writing = self.written - begun


def write(path: Path, problem: Mapping[str, str], words: Mapping[str, Any]) -> None:
    """Write the checkpoint of a problem, told by texts, in place of the last one; raises FileError."""
    write_text(path, json.dumps({**words, "problem": dict(problem)}))


def read(path: Path, kind: str, problem: Mapping[str, str]) -> dict[str, Any]:
    """Return the words of a checkpoint; raises FileError for a damaged one, or of another problem."""
    with undamaged(path, kind):
        words: dict[str, Any] = json.loads(check_readable(path, "the checkpoint").read_text("utf-8"))
        found = dict(words["problem"])
    for name in {**problem, **found}:
        value = problem.get(name, "")
        if found.get(name) != value:
            shown = "" if not value or len(value) > 30 else f" ({found.get(name)}, not {value})"
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}{shown}",
                "resume with the problem and the settings of that run, or start again without it",
            )
    return words


def undamaged(path: Path, kind: str) -> AbstractContextManager[None]:
    """Raise FileError where what is read of a file is no checkpoint of this kind."""
    fault = f"'{path}' is no checkpoint of {kind}, or damaged"
    return foreign("json", fault, "start again without it", FileError, passed=())
