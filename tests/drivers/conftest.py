"""Solvers that end early or answer otherwise, under any loop."""

import pytest

from fsopt.answers.results import SolveResult, Status
from fsopt.solvers.base import Session


@pytest.fixture
def ends(monkeypatch):
    """A function after which all solves from a number on have no answer, or are interrupted: it returns the solvers."""

    def end(first, stop="time-limit"):
        solve, called = Session.solve, []

        def ending(self, **keywords):
            called.append(self.spec.name)
            if len(called) < first:
                return solve(self, **keywords)
            if stop == "interrupted":
                raise KeyboardInterrupt
            status = Status.INFEASIBLE if stop == "infeasible" else Status.NONE
            return SolveResult(status, stop, None, None, self.spec.name, {}, 0)

        monkeypatch.setattr(Session, "solve", ending)
        return called

    return end


@pytest.fixture
def answers(monkeypatch):
    """A function after which each answer of a solver is what another function makes of it."""

    def change(function):
        solve = Session.solve
        monkeypatch.setattr(Session, "solve", lambda self, **keywords: function(solve(self, **keywords)))

    return change
