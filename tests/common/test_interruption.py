"""Ctrl-C: the first one is a question of a loop, the second one ends it; it ends a question of many solves."""

import signal
import threading
from contextlib import suppress

import pytest

from fsopt.common import interruption
from fsopt.common.interruption import deferred_interruption, end_if_interrupted, whole_or_interrupted
from fsopt.errors import SolverError


def test_the_first_interruption_is_deferred_and_the_second_one_is_not(usual_interruption):
    with deferred_interruption() as asked:
        assert not asked()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pytest.fail("the first one is not deferred")
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_caller_stays(usual_interruption):
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with deferred_interruption() as asked:
        signal.raise_signal(signal.SIGINT)
        assert not asked()
    assert calls == [signal.SIGINT]


def test_another_thread_sets_no_handler(usual_interruption):
    found = []

    def run():
        with deferred_interruption() as asked:
            found.append((asked(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [(False, signal.default_int_handler)]


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
        with deferred_interruption() as asked:  # not deferred: there is nothing to keep
            reached.append(asked())

    with pytest.raises(KeyboardInterrupt):
        question()
    assert reached == ["part", "between", False]
    end_if_interrupted()


def test_an_interruption_at_the_very_end_of_a_question_leaves_nothing_behind(usual_interruption, monkeypatch):
    set_handler, calls = interruption.handle, []

    def late(handler):
        calls.append(handler)
        if len(calls) == 2:  # where the block gives the signal back
            signal.raise_signal(signal.SIGINT)
        set_handler(handler)

    monkeypatch.setattr(interruption, "handle", late)
    with pytest.raises(KeyboardInterrupt), whole_or_interrupted():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    end_if_interrupted()
    with whole_or_interrupted():  # the next one has not heard of it
        end_if_interrupted()


def test_the_error_of_a_solve_that_was_interrupted_is_the_interruption(usual_interruption):
    @whole_or_interrupted()
    def question():
        swallowed()
        raise SolverError("the solver returned no point", "try another one")

    with pytest.raises(KeyboardInterrupt):
        question()


def test_a_handler_of_the_caller_stays_in_a_question_of_many_solves(usual_interruption):
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with whole_or_interrupted():
        swallowed()
    assert calls == [signal.SIGINT]
