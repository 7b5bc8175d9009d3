"""Ctrl-C: the first one is a question of a loop, the second one ends it; a question of many solves has no answer."""

import dataclasses
import signal
import sys
import threading
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import pytest
from sklearn.model_selection import GridSearchCV
from support import blobs

import fsopt
from fsopt.common import clock
from fsopt.common.clock import deferred_interruption, end_if_interrupted, whole_or_interrupted
from fsopt.common.teams import results
from fsopt.errors import SolverError
from fsopt.estimators import FSV
from fsopt.papers.reproduction import RunSettings
from fsopt.solvers.spec import Connection
from fsopt.studies.running import opened
from fsopt.studies.tuning import cross_validate, tune


@pytest.mark.parametrize("question", [nullcontext, whole_or_interrupted])
def test_a_first_interruption_is_deferred_and_a_second_one_comes_with_a_look_at_the_clock(question, usual_interruption):
    """No handler raises in a loop: numba ends the process where one does while it takes arguments."""
    heard = []
    with suppress(KeyboardInterrupt), question(), deferred_interruption() as asked:
        for _ in range(2):
            heard.append((asked(), clock.expired()))
            signal.raise_signal(signal.SIGINT)
        heard.append(asked())
        heard.append(clock.expired())
    assert heard == [(False, False), (True, False), True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("block", [deferred_interruption, whole_or_interrupted])
def test_a_second_interruption_at_any_step_of_the_handler_of_the_first_one_waits_for_nothing(block, usual_interruption):
    left, tracing = [0], sys.gettrace()

    def trace(*_):
        left[0] -= 1
        if left[0] == 0:
            signal.raise_signal(signal.SIGINT)
        return trace

    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for itself"))
    signal.alarm(5)
    for left[0] in range(1, 12):
        with suppress(KeyboardInterrupt), block():
            sys.settrace(trace)
            signal.raise_signal(signal.SIGINT)
        sys.settrace(tracing)
    signal.alarm(0)


def swallowed():
    """A loop that ends with its incumbent."""
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_each_part_of_an_interrupted_question_ends_it(usual_interruption):
    reached = []

    @whole_or_interrupted()
    def part(work):
        work()

    @whole_or_interrupted()
    def question():
        part(int)
        try:
            part(swallowed)
        except KeyboardInterrupt:
            reached.append("part")
        try:
            end_if_interrupted()
        except KeyboardInterrupt:
            reached.append("between")
        with deferred_interruption() as asked:  # a loop that begins after it ends at once
            reached.append(asked())
        raise SolverError("the solver returned no point", "try another one")

    with pytest.raises(KeyboardInterrupt):
        question()
    assert reached == ["part", "between", True]
    end_if_interrupted()


def test_an_interruption_at_the_very_end_of_a_question_leaves_nothing_behind(usual_interruption, monkeypatch):
    set_handler, calls = clock.handle, []

    def late(handler):
        calls.append(handler)
        if len(calls) == 2:  # where the block gives the signal back
            signal.raise_signal(signal.SIGINT)
        set_handler(handler)

    monkeypatch.setattr(clock, "handle", late)
    with pytest.raises(KeyboardInterrupt), whole_or_interrupted():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    end_if_interrupted()
    with whole_or_interrupted():  # the next one has not heard of it
        end_if_interrupted()
    monkeypatch.undo()
    block = whole_or_interrupted()
    block.__enter__()
    swallowed()
    block.gen.close()  # as where it is interrupted before it begins: the interpreter prints what a finaliser raises


def test_an_interruption_between_the_calls_of_processes_leaves_no_lock_of_theirs_closed(usual_interruption):
    call = Future()

    def idle():
        signal.raise_signal(signal.SIGINT)
        call.set_result("an exception in this function would be one within a lock")

    with pytest.raises(KeyboardInterrupt):
        list(results(SimpleNamespace(submit=lambda *_: call), [(0, (int,))], 1, idle))
    assert call.done()


@pytest.mark.parametrize("block", [deferred_interruption, whole_or_interrupted])
def test_a_handler_of_the_caller_stays_and_another_thread_sets_none(block, usual_interruption):
    def run():
        with block():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    thread = threading.Thread(target=run)  # an error of a thread is one of the test
    thread.start()
    thread.join()
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with block():
        swallowed()
    assert calls == [signal.SIGINT]


DATA = blobs(40, 5)
CANDIDATES = [{"lam": 0.05}, {"lam": 0.1}]


def part_of_an_experiment():
    with opened(None) as store:
        RunSettings(store=store).part("one", lambda: [fsopt.fit("fsv", DATA).objective for _ in range(2)])


QUESTIONS = {
    "tune": lambda: tune("fsv", DATA, CANDIDATES, folds=2),
    "tune on validation data": lambda: tune("fsv", DATA, CANDIDATES, validation=DATA),
    "cross_validate": lambda: cross_validate("fsv", DATA, CANDIDATES, folds=2),
    "necessity": lambda: fsopt.necessity(DATA, m=2),
    "select": lambda: fsopt.select(DATA, folds=2),
    "a search of scikit-learn": lambda: GridSearchCV(FSV(), {"lam": [0.05, 0.1]}, cv=2).fit(DATA.X, DATA.y),
    "part of an experiment": part_of_an_experiment,
}


@pytest.fixture
def interrupted_at(monkeypatch, usual_interruption):
    """A function after which the look at the clock of a number has Ctrl-C; it returns the looks so far."""

    def at(number):
        looks = []

        def looking(look):
            def looked(*args):
                looks.append(1)
                if len(looks) == number:
                    signal.raise_signal(signal.SIGINT)
                return look(*args)

            return looked

        for name in ("check", "expired", "left"):
            monkeypatch.setattr(clock, name, looking(getattr(clock, name)))
        return looks

    return at


def test_a_solver_that_hears_the_interruption_itself_ends_the_question(monkeypatch):
    answer, ends = Connection.solve, iter(["optimal", "optimal"])

    def interrupted(self, *given):
        return dataclasses.replace(answer(self, *given), stop=next(ends, "interrupted"))

    monkeypatch.setattr(Connection, "solve", interrupted)
    assert fsopt.fit("fsv", DATA).stop == "interrupted", "one fit has the answer of its first steps"
    with pytest.raises(KeyboardInterrupt):
        tune("fsv", DATA, CANDIDATES, folds=2)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("number", [2, 5])
def test_an_interrupted_question_has_no_answer(name, number, interrupted_at):
    looks = interrupted_at(number)
    with pytest.raises(KeyboardInterrupt):
        QUESTIONS[name]()
    assert len(looks) >= number
