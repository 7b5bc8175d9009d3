"""Worker processes: results, exceptions, crashes, processes that hang, and Ctrl-C."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from fsopt.studies.workers import Failure, run_tasks


def act(base, word):
    """Do as the task says: in a worker, which imports this module."""
    match word:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "leave":
            os._exit(3)
        case "hang":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
            time.sleep(600)
        case "print":
            os.write(1, b"a solver's banner\n")
            print("and a line of Python")
        case "raise":
            raise ValueError("a fault of the function")
        case "unpicklable":
            return lambda: None
    return base + len(word)


def results(*words, jobs=2, hard_limit=None):
    return dict(run_tasks(partial(act, 100), words, jobs=jobs, hard_limit=hard_limit))


def test_every_task_has_its_result_whatever_the_others_do():
    found = results("a", "crash", "bb", "leave", "print", "ccc", jobs=2)
    assert [found[k] for k in (0, 2, 4, 5)] == [101, 102, 105, 103]
    assert isinstance(found[1], Failure)
    assert "SIGSEGV" in found[1].message
    assert isinstance(found[3], Failure)
    assert "exit code 3" in found[3].message


def test_a_process_that_hangs_is_killed_at_the_hard_limit_and_the_next_task_runs():
    found = results("hang", "a", jobs=1, hard_limit=8.0)
    assert isinstance(found[0], Failure)
    assert "ended after 8 seconds" in found[0].message
    assert found[1] == 101


def test_an_exception_of_the_function_is_raised_here():
    with pytest.raises(ValueError, match="a fault of the function"):
        results("a", "raise")
    with pytest.raises(RuntimeError, match="cannot be sent"):
        results("unpicklable", jobs=1)


def test_no_process_is_left_where_the_caller_stops_early():
    generator = run_tasks(partial(act, 0), ["a", "hang", "hang"], jobs=2)
    assert next(generator) == (0, 1)
    generator.close()
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if children.exists():
        commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children.read_text().split()]
        assert not [c for c in commands if "fsopt.studies.workers" in c]
