"""Checkpoints of loops over solves: the answers of the solvers so far, with which a loop that is run again goes on.

What a loop does follows from the answers to its programs. A checkpoint has these answers, each with the digest of its
program; a loop that resumes runs again from its first step, and where the file has the answer, no solver is called.
Answers are certified anew from the arrays of their programs, so that a changed file proves nothing. Of programs that
are not convex the bound would be the word of the file: their answers are kept where a loop asks for its path alone,
within :func:`steering`, and the one of the largest bound is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.common.checkpoints import Keeper, digest, read, undamaged, write
from fsopt.common.files import check_writable
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.errors import FileError
from fsopt.solvers.interface import Outcome

FORMAT = {"format": "fsopt solves 3"}
SAID: Mapping[str, Callable[[Any], Any]] = {
    "stop": str,
    "bound": lambda v: None if v is None else float(v),
    "iterations": int,
    "message": str,
    "evidence_source": str,
    "failed": str,
    "integer_tolerance": float,
}
"""Parts of an outcome in the file beside its points -> their kind."""


@dataclass
class Answers:
    """The answers to the programs of a loop: digest of a program -> outcome of its solver, without seconds.

    Attributes
    ----------
    place : file that is replaced; None for none.
    source : checkpoint from which they come, until one of them was used; None for none.
    steering : whether answers to programs that are not convex are kept.
    recalled : number of answers of the file so far.
    """

    place: Path | None
    source: Path | None
    known: dict[str, Outcome] = field(default_factory=dict)
    steering: bool = False
    recalled: int = 0

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.place, _save)

    def answer(self, program: Program, asked: str, solve: Callable[[], Outcome]) -> Outcome:
        """Return the answer to a program: a known one, or that of the solver with its evidence.

        Parameters
        ----------
        asked : name and settings of the solver.
        solve : calls it.

        Raises
        ------
        FileError : the first program of the loop is not in the checkpoint, which is of another loop; an answer of
            another size.
        """
        convex = program_class(program) in CONVEX
        if not (convex or (self.steering and not program.general and not program.objective_terms)):
            return solve()
        key = _digest(program, asked)
        sizes = {"x": len(program.c), "y": len(program.lo) + len(program.general), "z": len(program.cones.h)}
        return self.recall(key, sizes, solve, bounded=not convex)

    def recall(
        self, key: str, sizes: Mapping[str, int], compute: Callable[[], Outcome], *, bounded: bool = False
    ) -> Outcome:
        """Return the known outcome of a digest, or the computed one, kept where it is optimal.

        Parameters
        ----------
        sizes : name -> entries of the parts of its point.
        bounded : whether its bound is kept, on which nothing but the path of a loop may rest.
        """
        if key in self.known:
            self.source = None
            self.recalled += 1
            return _fitting(self.known[key], sizes)
        if self.source is not None:
            raise FileError(
                f"the checkpoint '{self.source}' is of another run: it does not have the first program of this one",
                "resume with the data, the parameters and the solver of that run, or start again without it",
            )
        outcome = compute()
        if outcome.status is Status.OPTIMAL and outcome.point is not None:
            self.known[key] = replace(outcome, bound=outcome.bound if bounded else None, seconds=0.0)
            if self.keeper.due():
                self.write()
        return outcome

    def write(self) -> None:
        """Replace the file, if there is something to keep; raises FileError."""
        if self.known:
            self.keeper.write(self.known)


_ANSWERS: ContextVar[Answers | None] = ContextVar("answers", default=None)


def current() -> Answers | None:
    """Return the answers of the loop around; None where nothing is kept."""
    return _ANSWERS.get()


@contextmanager
def steering() -> Iterator[Callable[[], bool]]:
    """Keep answers to programs that are not convex in a block; yield whether one in it was of the file so far.

    The bound of such an answer is the word of the file: a loop may go its way by it, and prove nothing.
    """
    answers = _ANSWERS.get()
    if answers is None:
        yield lambda: False
        return
    before, answers.steering = answers.recalled, True
    try:
        yield lambda: answers.recalled > before
    finally:
        answers.steering = False


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


def _save(path: Path, known: Mapping[str, Outcome]) -> None:
    """Write a checkpoint in place of the last one; raises FileError."""
    entries: list[dict[str, Any]] = []
    values = []
    for key, outcome in known.items():
        parts = [getattr(at, name, None) for at in (outcome.point, outcome.evidence) for name in ("x", "y", "z")]
        said = {name: kind(getattr(outcome, name)) for name, kind in SAID.items()}
        entries.append({"program": key, "sizes": [None if part is None else len(part) for part in parts], **said})
        values += [part for part in parts if part is not None]
    write(path, FORMAT, {"solves": entries}, {"values": np.concatenate(values)})


def _load(path: Path) -> dict[str, Outcome]:
    """Return the answers in a checkpoint; raises FileError."""
    words, arrays = read(path, "solves", FORMAT)
    with undamaged(path):
        return _outcomes(words["solves"], np.array(arrays["values"], dtype=float))


def _outcomes(entries: list[dict[str, Any]], values: np.ndarray) -> dict[str, Outcome]:
    """Return digest -> outcome; raises ValueError, KeyError or TypeError where the entries do not fit the values."""
    sizes = [size or 0 for entry in entries for size in entry["sizes"]]
    if values.ndim != 1 or sum(sizes) != len(values) or not np.isfinite(values).all():
        raise ValueError("its numbers are not those of its solves")
    found, rest = {}, iter(np.split(values, np.cumsum(sizes)))
    for entry in entries:
        parts: list[Any] = [None if size is None else part for size, part in zip(entry["sizes"], rest, strict=False)]
        point, evidence = Point(*parts[:3]), None if parts[3] is None else Point(*parts[3:])
        said = {name: kind(entry[name]) for name, kind in SAID.items()}
        outcome = Outcome(status=Status.OPTIMAL, point=point, seconds=0.0, evidence=evidence, **said)
        found[str(entry["program"])] = outcome
    bounded = {key: outcome.bound for key, outcome in found.items() if outcome.bound is not None}
    if bounded:
        del found[max(bounded, key=bounded.__getitem__)]  # the one on which an answer may rest: it is solved again
    return found


def _fitting(outcome: Outcome, sizes: Mapping[str, int]) -> Outcome:
    """Return an outcome whose points have the sizes of a program; raises FileError for another."""
    for point in (outcome.point, *([] if outcome.evidence is None else [outcome.evidence])):
        parts = {name: getattr(point, name) for name in sizes}
        if parts["x"] is None or any(part is not None and len(part) != sizes[k] for k, part in parts.items()):
            raise FileError("the checkpoint is damaged: a point has another size than its program", "start again")
    return outcome


def _digest(program: Program, asked: str) -> str:
    """Return the digest of the arrays of a program without nonlinear terms, and of what its solver is asked."""
    p, cones = program, program.cones
    matrices = [part for m in (p.P, p.A, cones.G) for part in (m.data, m.indices, m.indptr)]
    arrays = (*matrices, p.c, p.lo, p.hi, p.lb, p.ub, p.integer, cones.h, cones.starts, cones.orders)
    return digest(np.frombuffer(f"{asked} {p.c0!r}".encode(), dtype=np.uint8), *arrays)
