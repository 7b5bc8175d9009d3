"""How a loop is run: solver, options, limits, progress, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Run:
    """How a method is run, apart from its own parameters.

    Attributes
    ----------
    solver : registry name for the continuous subproblems; None for the preferred one.
    time_limit : seconds for the whole method; None for no limit.
    options : options of the solver.
    progress : called with the record of each iteration of a driver.
    checkpoint, resume : file that a driver replaces after each iteration, and one to go on from; None for none.
    """

    solver: str | None = None
    time_limit: float | None = None
    options: Mapping[str, Any] | None = None
    progress: Progress | None = None
    checkpoint: Path | None = None
    resume: Path | None = None
