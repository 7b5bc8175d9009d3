"""Stages of a long question: run side by side, counted, and kept in a file from which the question goes on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsopt.answers.records import plain
from fsopt.common.files import check_readable, check_writable, write_text
from fsopt.common.teams import side_by_side
from fsopt.drivers.run import Progress
from fsopt.errors import FileError

TELLING = 0.05
"""Share of the cost, after the first step, from which on the seconds that are left are estimated."""


@dataclass(frozen=True)
class Stage:
    """One step: a function, its arguments, and its cost beside those of other steps. Its result is plain data."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cost: float = 1.0


@dataclass
class Stages:
    """The steps of one question.

    Attributes
    ----------
    question : digest of data and parameters; a checkpoint of another one is refused.
    total : cost of all steps, for the estimate of the seconds that are left.
    jobs : processes; -1 takes all processors.
    checkpoint : file that is replaced after each step; None for none.
    progress : called after each step with ``iteration``, ``step``, ``stop`` (why it ended), ``share`` of the cost, and
        ``seconds_left``, an estimate by the pace after the first step, which loads and compiles; or None.
    """

    question: str
    total: float
    jobs: int
    checkpoint: Path | None = None
    progress: Progress | None = None
    known: dict[str, Any] = field(default_factory=dict)
    cost: float = 0.0
    skipped: float = 0.0
    first: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.checkpoint is not None:
            check_writable(self.checkpoint)

    @classmethod
    def of(
        cls,
        asked: Any,
        total: float,
        jobs: int,
        checkpoint: str | Path | None,
        resume: str | Path | None,
        progress: Progress | None,
    ) -> Stages:
        """Return the steps of what is asked, in plain data, with the results of a checkpoint to go on from."""
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        steps = cls(digest, total, jobs, None if checkpoint is None else Path(checkpoint), progress)
        if resume is not None:
            steps.resume(Path(resume))
        return steps

    def resume(self, path: Path) -> None:
        """Take the results in a checkpoint.

        Raises
        ------
        FileError : it cannot be read, is no checkpoint, or one of other data or parameters.
        """
        hint = "give the file that checkpoint= wrote, or start anew without resume="
        try:
            record = json.loads(check_readable(path, "the checkpoint").read_text(encoding="utf-8"))
            question, known = record["question"], dict(record["known"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f"'{path}' is no checkpoint of such a question", hint) from error
        if question != self.question:
            raise FileError(f"'{path}' is a checkpoint of other data or parameters", hint)
        self.known = known

    def run(self, steps: Mapping[str, Stage]) -> list[Any]:
        """Return the result of each step, in their order."""
        self.skipped += sum(step.cost for name, step in steps.items() if name in self.known)
        todo = {name: step for name, step in steps.items() if name not in self.known}

        def keep(done: tuple[str, Any]) -> None:
            name, result = done
            self.known[name] = result
            if self.checkpoint is not None:
                write_text(self.checkpoint, json.dumps({"question": self.question, "known": self.known}))
            self.count(name, todo[name].cost)

        side_by_side(_named, todo.items(), self.jobs, keep)
        return [self.known[name] for name in steps]

    def count(self, name: str, cost: float, stop: str = "optimal") -> None:
        """Count a step, and tell how far the question is."""
        self.cost += cost
        if self.progress is None:
            return
        share = min(1.0, (self.cost + self.skipped) / self.total)
        now = (time.perf_counter(), self.cost)
        self.first = self.first or now
        seconds, passed = now[0] - self.first[0], now[1] - self.first[1]
        rest = max(self.total - self.skipped - self.cost, 0.0)
        left = seconds * rest / passed if passed >= TELLING * self.total else None
        state = {"iteration": len(self.known), "step": name, "stop": stop, "share": share, "seconds_left": left}
        self.progress(state)


def _named(name: str, step: Stage) -> tuple[str, Any]:
    """Return the name of a step, and its result as plain data."""
    return name, plain(step.function(*step.arguments))
