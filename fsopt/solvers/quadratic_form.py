"""Shared by the solvers of convex quadratic programs that are loaded anew at every solve: arrays, statuses, answers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from pyomo.common.tee import capture_output

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.errors import SolverError, said
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.interface import Change, Outcome, Settings, set_options
from fsopt.typing import Indices, Vector


@dataclass(frozen=True)
class Arrays:
    """The program ``min x'Px / 2 + c'x, Ax = b, h - Gx in K`` in the units of its conic form; P (n, n) is whole.

    K is the nonnegative orthant of the first ``linear`` rows of G and a second-order cone for each of ``cones``.
    """

    P: sp.csc_matrix
    c: Vector
    A: sp.csc_matrix
    b: Vector
    G: sp.csc_matrix
    h: Vector
    linear: int
    cones: Indices


TINY = Arrays(
    P=sp.csc_matrix(np.ones((1, 1))),
    c=-np.ones(1),
    A=sp.csc_matrix((0, 1)),
    b=np.zeros(0),
    G=sp.csc_matrix(np.ones((1, 1))),
    h=np.full(1, 2.0),
    linear=1,
    cones=np.zeros(0, dtype=int),
)
"""``min x^2 / 2 - x, x <= 2``."""


@dataclass(frozen=True)
class QuadraticAnswer:
    """A solver's word, its point x (n,), the multipliers of Ax = b and of h - Gx in K, and its number of iterations."""

    word: str
    x: Vector
    y: Vector
    z: Vector
    iterations: int


class QuadraticSolver(ABC):
    """One convex quadratic program, with second-order cones at most; the arrays are read from it at every solve.

    Attributes
    ----------
    name : registry name.
    statuses : the solver's word -> status and stop.
    trial : object with an attribute for each option of the solver: its settings, or, where it takes options as
        keywords alone, a ``types.SimpleNamespace`` of their defaults; set before ``super().__init__``.
    given : the options so far by the solver's names, for ``run`` where ``trial`` is not what it solves with.
    limit : seconds of the solve in progress, for ``run`` of a solver that has a time limit; None without one.
    """

    name: ClassVar[str]
    statuses: ClassVar[Mapping[str, tuple[Status, str]]]
    trial: Any

    def __init__(self, program: Program, settings: Settings) -> None:
        self.given: dict[str, Any] = {}
        self.limit: float | None = None
        self.program = program
        self.settings = settings
        self.form = ConicForm(program)
        refusals = AttributeError, TypeError, ValueError
        set_options(self.name, self.options(settings), self.put, refusals)
        set_options(self.name, settings.own, self.tried, refusals)

    @abstractmethod
    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the options that mean the same for every solver, by the solver's names."""

    def put(self, name: str, value: Any) -> None:
        """Try one option on ``trial`` and keep it in ``given``; raises AttributeError, TypeError or ValueError."""
        before = getattr(self.trial, name)  # a wrong name must not become a new attribute
        if isinstance(before, (int, float)) and not isinstance(value, (int, float)):
            raise TypeError("it is a number")
        if type(before) is int and isinstance(value, float):
            raise TypeError("it is a whole number")
        setattr(self.trial, name, value)
        self.given[name] = value

    def tried(self, name: str, value: Any) -> None:
        """Keep one option of the user's, and solve a tiny program: some packages check values there, and print why."""
        self.put(name, value)
        log = StringIO()
        try:
            with capture_output(log, capture_fd=True):
                word = self.run(TINY).word
        except Exception as error:
            raise ValueError(" ".join(log.getvalue().split()) or said(error)) from error
        if self.statuses[word][0] is Status.NONE:
            raise ValueError(word)

    @abstractmethod
    def run(self, arrays: Arrays) -> QuadraticAnswer:
        """Solve a program."""

    def update(self, change: Change) -> str | None:
        """Take over a change: the next solve reads the program, but its rows must have kept their places."""
        if change.added:
            return "constraints were added"
        if (change.bounds or change.rows is not None) and self.form.kinds_changed():
            return "a bound appeared or vanished"
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Solve from scratch."""
        self.limit, started = time_limit, time.perf_counter()
        p, form = self.program, self.form
        M, b = form.matrix(), form.right_hand_side()
        e, upper = form.equalities, form.hessian()
        P = sp.csc_matrix(upper + sp.triu(upper, 1).T)
        parts = sp.csc_matrix(M[:e]), b[:e], sp.csc_matrix(M[e:]), b[e:]
        found = self.run(Arrays(P, form.linear(), *parts, form.inequalities, p.cones.sizes))
        if found.word not in self.statuses:
            raise SolverError(f"{self.name} stopped with '{found.word}'", "try solver='clarabel'")
        status, stop = self.statuses[found.word]
        linear = form.inequalities
        z = np.concatenate([found.y, np.maximum(found.z[:linear], 0.0), found.z[linear:]])
        usable = status.solved and bool(np.all(np.isfinite(found.x)) and np.all(np.isfinite(z)))
        ray = status is Status.INFEASIBLE and bool(np.all(np.isfinite(z)))
        return Outcome(
            status=status,
            stop=stop,
            point=form.point(found.x, z) if usable else None,
            bound=None,
            iterations=found.iterations,
            seconds=time.perf_counter() - started,
            message=found.word,
            ray=form.point(np.zeros(p.n), z) if ray else None,
        )
