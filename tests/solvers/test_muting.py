"""Standard error goes nowhere while a solver runs, and what a callback writes arrives."""

import os
import threading

import pytest
from solver_cases import knapsacks

import fsopt
from fsopt.solvers.muting import heard, muted


def say(text: str) -> None:
    os.write(2, text.encode())


def test_only_what_is_outside_or_in_a_callback_is_heard(capfd):
    say("a")
    with heard(), muted():
        say("b")
        with heard():
            say("c")
        with muted():
            say("d")
        say("e")
    say("f")
    assert capfd.readouterr().err == "acf"


def test_an_error_ends_it(capfd):
    with pytest.raises(KeyError), muted():
        raise KeyError
    say("a")
    assert capfd.readouterr().err == "a"


def test_threads_that_overlap_leave_it_as_it_was(capfd):
    begun, end = threading.Event(), threading.Event()

    def other() -> None:
        with muted():
            begun.set()
            end.wait(60)

    thread = threading.Thread(target=other)
    with muted():
        thread.start()
        assert begun.wait(60)
    say("b")  # the other one goes on
    end.set()
    thread.join()
    say("a")
    assert capfd.readouterr().err == "a"


def test_a_closed_stream_is_no_error(monkeypatch):
    monkeypatch.setattr("fsopt.solvers.muting.STDERR", 10**6)
    with muted(), heard():
        pass


def test_the_progress_of_scip_is_heard(capfd):
    pytest.importorskip("pyscipopt")
    result = fsopt.solve(knapsacks(12), "scip", progress=lambda record: say("."))
    assert capfd.readouterr().err == "." * len(result.history)
