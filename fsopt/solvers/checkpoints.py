"""Checkpoints of loops over solves: the answers of the solvers so far, with which a loop that is run again goes on.

What a loop does follows from the answers to its programs. A checkpoint has these answers, each with the digest of its
program; a loop that resumes runs again from its first step, and where the file has the answer, no solver is called.
Answers are certified anew from the arrays of their programs, so that a changed file proves nothing. Optimal points of
convex programs are kept alone: of other programs the bound would be the word of the file.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.common.files import check_readable, check_writable, checkpoint_of, whole_file
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.errors import FileError
from fsopt.solvers.interface import Outcome

FORMAT = "fsopt solves 1"
WRITING = 10.0
"""Between two checkpoints is at least that many times as long as writing the last one took."""


@dataclass
class Answers:
    """The answers to the programs of a loop: digest of a program -> outcome of its solver, without seconds.

    Attributes
    ----------
    place : file that is replaced; None for none.
    source : checkpoint from which they come, until one of them was used; None for none.
    """

    place: Path | None
    source: Path | None
    known: dict[str, Outcome] = field(default_factory=dict)
    written: float = field(default_factory=time.perf_counter)
    writing: float = 0.0

    def answer(self, program: Program, asked: str, solve: Callable[[], Outcome]) -> Outcome:
        """Return the answer to a program: a known one, or that of the solver.

        Parameters
        ----------
        program : as the solver has it.
        asked : name and settings of the solver.
        solve : calls it.

        Raises
        ------
        FileError : the first program of the loop is not in the checkpoint, which is of another loop; an answer of
            another size.
        """
        if program_class(program) not in CONVEX:
            return solve()
        key = _digest(program, asked)
        if key in self.known:
            self.source = None
            return _fitting(self.known[key], program)
        if self.source is not None:
            raise FileError(
                f"the checkpoint '{self.source}' is of another run: it does not have the first program of this one",
                "resume with the data, the parameters and the solver of that run, or start again without it",
            )
        outcome = solve()
        if outcome.status is Status.OPTIMAL and outcome.point is not None:
            self.known[key] = replace(outcome, bound=None, seconds=0.0)
            if time.perf_counter() - self.written > WRITING * self.writing:
                self.write()
        return outcome

    def write(self) -> None:
        """Replace the file, if there is something to keep; raises FileError."""
        if self.place is None or not self.known:
            return
        started = time.perf_counter()
        entries: list[dict[str, Any]] = []
        values = []
        for key, outcome in self.known.items():
            assert outcome.point is not None
            parts = {name: getattr(outcome.point, name) for name in ("x", "y", "z")}
            sizes = {name: None if part is None else len(part) for name, part in parts.items()}
            said = {"stop": outcome.stop, "iterations": int(outcome.iterations), "message": outcome.message}
            entries.append({"program": key, **sizes, **said})
            values += [part for part in parts.values() if part is not None]
        words = np.frombuffer(json.dumps({"format": FORMAT, "solves": entries}).encode(), dtype=np.uint8)
        with whole_file(self.place) as temporary, temporary.open("wb") as file:
            np.savez(file, words=words, values=np.concatenate(values))
        self.written = time.perf_counter()
        self.writing = self.written - started


_ANSWERS: ContextVar[Answers | None] = ContextVar("answers", default=None)


def current() -> Answers | None:
    """Return the answers of the loop around; None where nothing is kept."""
    return _ANSWERS.get()


@contextmanager
def kept(checkpoint: Path | None, resume: Path | None) -> Iterator[Answers | None]:
    """Keep the answers to the programs of a loop in a file, and begin with those of another.

    A loop inside another one has the checkpoint of that.

    Raises
    ------
    FileError : a file that cannot be read or written, or is no checkpoint of solves.
    """
    if (checkpoint is None and resume is None) or _ANSWERS.get() is not None:
        yield _ANSWERS.get()
        return
    place = None if checkpoint is None else check_writable(checkpoint)
    answers = Answers(place, resume, {} if resume is None else _load(resume))
    token = _ANSWERS.set(answers)
    try:
        yield answers
    finally:
        _ANSWERS.reset(token)
        answers.write()


def _load(path: Path) -> dict[str, Outcome]:
    """Return the answers in a checkpoint; raises FileError."""
    with checkpoint_of("solves", path, "give the file that this method wrote, or start again without it"):
        with check_readable(path, "the checkpoint").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            words, values = json.loads(arrays["words"].tobytes()), np.array(arrays["values"], dtype=float)
        if words["format"] != FORMAT:
            raise ValueError(f"its format is {words['format']!r}")
        return _outcomes(words["solves"], values)


def _outcomes(entries: list[dict[str, Any]], values: np.ndarray) -> dict[str, Outcome]:
    """Return digest -> outcome; raises ValueError, KeyError or TypeError where the entries do not fit the values."""
    sizes = [entry[name] for entry in entries for name in ("x", "y", "z")]
    if values.ndim != 1 or sum(size or 0 for size in sizes) != len(values) or not np.isfinite(values).all():
        raise ValueError("its numbers are not those of its solves")
    found, place = {}, 0
    for entry in entries:
        parts: dict[str, Any] = {}
        for name in ("x", "y", "z"):
            size = entry[name]
            parts[name] = None if size is None else values[place : place + size]
            place += size or 0
        point = Point(**parts)
        said = str(entry["stop"]), point, None, int(entry["iterations"]), 0.0, str(entry["message"])
        found[str(entry["program"])] = Outcome(Status.OPTIMAL, *said)
    return found


def _fitting(outcome: Outcome, program: Program) -> Outcome:
    """Return an outcome whose point has the sizes of a program; raises FileError for another."""
    point = outcome.point
    sizes = {"x": len(program.c), "y": len(program.lo) + len(program.general), "z": len(program.cones.h)}
    parts = {name: getattr(point, name) for name in sizes}
    if parts["x"] is None or any(part is not None and len(part) != sizes[k] for k, part in parts.items()):
        raise FileError("the checkpoint is damaged: a point has another size than its program", "start again")
    return outcome


def _digest(program: Program, asked: str) -> str:
    """Return the SHA-256 of the arrays of a convex program, and of what its solver is asked."""
    p, cones = program, program.cones
    found = hashlib.sha256(f"{asked} {p.c0!r}".encode())
    matrices = [part for m in (p.P, p.A, cones.G) for part in (m.data, m.indices, m.indptr)]
    for array in (*matrices, p.c, p.lo, p.hi, p.lb, p.ub, cones.h, cones.starts, cones.orders):
        found.update(repr(np.shape(array)).encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
