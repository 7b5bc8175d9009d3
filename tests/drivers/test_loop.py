"""The runner of loops: what it records, what ends a loop and with which iterate, restarts, and loops inside loops."""

import pytest

from fsopt.common import clock
from fsopt.drivers.loop import Iterate, best, run_inner
from fsopt.drivers.loop import best_of as best_of_steps
from fsopt.drivers.loop import run_loop as loop_steps
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import drained
from fsopt.errors import MemoryLimitError, OutOfTimeError, SolverError

EARLY = {
    KeyboardInterrupt: "interrupted",
    OutOfTimeError: "time-limit",
    MemoryLimitError: "memory",
    MemoryError: "memory",
}


def run_loop(*given, progress=None):
    return drained(loop_steps(*given), progress)


def best_of(*given):
    return drained(best_of_steps(*given))


def iterate(value, *, point=True, **given):
    return Iterate(value, {"x": value} if point else {}, **{"record": {"objective": value}, **given})


def failing(error, *before):
    """Yield iterates, then fail."""
    yield from before
    raise error("late", "more") if error in (OutOfTimeError, MemoryLimitError) else error


def test_a_loop_is_recorded_to_its_stopping_criterion_and_iterates_without_a_record_are_not():
    told, recorder = [], Recorder([])
    steps = iter([iterate(3.0), iterate(2.5, record=None), iterate(2.0, stop="stationary")])
    at, stop = run_loop((step for step in steps), recorder, progress=told.append)
    assert (at.point, stop) == ({"x": 2.0}, "stationary")
    assert recorder.history == told
    assert [r["objective"] for r in told] == [3.0, 2.0]
    assert [r["iteration"] for r in recorder.history] == [1, 2]


def test_a_loop_that_ends_without_a_criterion_is_at_its_limit_and_one_without_a_step_is_refused():
    at, stop = run_loop((step for step in [iterate(1.0)]), Recorder([]))
    assert (at.objective, stop) == (1.0, "iteration-limit")
    with pytest.raises(SolverError, match="before its first step"):
        run_loop((step for step in []), Recorder([]))


@pytest.mark.parametrize("error", EARLY)
def test_what_ends_a_step_leaves_the_last_iterate_and_is_raised_before_there_is_a_point(error):
    at, stop = run_loop(failing(error, iterate(2.0), iterate(1.0, record=None)), Recorder([]))
    assert (at.objective, stop) == (1.0, EARLY[error])
    for before in ([], [iterate(2.0, point=False)]):
        with pytest.raises(error):
            run_loop(failing(error, *before), Recorder([]))


def test_another_error_is_not_an_end():
    with pytest.raises(ZeroDivisionError):
        run_loop(failing(ZeroDivisionError, iterate(2.0)), Recorder([]))


@pytest.mark.parametrize(
    ("first", "seen"), [({}, 1), ({"within": True, "record": None}, 2), ({"record": None}, 1), ({"stop": "x"}, 2)]
)
def test_the_clock_is_looked_at_between_steps_only(first, seen, monkeypatch):
    """Not within a step, nor where the criterion holds: an answer that is there is not lost to the last second."""
    monkeypatch.setattr(clock, "expired", lambda: True)
    taken = []

    def loop():
        for value, given in ((2.0, first), (1.0, {})):
            taken.append(value)
            yield iterate(value, **given)

    at, stop = run_loop(loop(), Recorder([]))
    assert len(taken) == seen
    assert stop == "time-limit"
    assert at.objective == taken[-1]
    with pytest.raises(OutOfTimeError):
        run_loop((step for step in [iterate(2.0, point=False)]), Recorder([]))


def test_an_interrupted_loop_is_closed_and_its_checkpoint_was_written_before():
    said = []

    def loop():
        try:
            yield iterate(2.0)
            yield iterate(1.0)
        finally:
            said.append("closed")

    def progress(record):
        said.append("told")
        raise KeyboardInterrupt

    def save(at):
        said.append((at.objective, len(recorder.history)))

    recorder = Recorder([])
    at, stop = run_loop(loop(), recorder, save, progress=progress)
    assert (at.objective, stop) == (2.0, "interrupted")
    assert said == [(2.0, 1), "told", "closed"]


def test_what_follows_an_interruption_is_recorded_and_not_told():
    """A loop may have an end of its own, such as the last machine of an elimination."""
    told, recorder = [], Recorder([])

    def two_loops():
        for values in ((3.0, 2.0), (1.0,)):
            yield from loop_steps((iterate(value) for value in values), recorder)
        return "whole"

    def progress(record):
        told.append(record)
        raise ZeroDivisionError("my plot")

    with pytest.warns(RuntimeWarning, match="my plot"):
        assert drained(two_loops(), progress) == "whole"
    assert told == recorder.history[:1]
    assert [record["objective"] for record in recorder.history] == [3.0, 1.0]


def test_the_best_of_several_starts_is_the_first_of_the_smallest():
    runs = [[iterate(2.0, stop="a")], [iterate(3.0), iterate(1.0, stop="b")], [iterate(1.0, stop="c")]]
    recorder = Recorder([])
    ends, stop = best_of(lambda ended: (s for s in runs[len(ended)]) if len(ended) < 3 else None, recorder)
    assert [end.objective for end in ends] == [2.0, 1.0, 1.0]
    assert (best(ends).stop, stop) == ("b", "b")
    assert len(recorder.history) == 4


@pytest.mark.parametrize("before", [[], [iterate(0.5, record=None)], [iterate(0.5, point=False)]])
def test_what_ends_a_later_start_ends_all_and_keeps_the_best(before):
    runs = [iter([iterate(2.0, stop="a")]), failing(KeyboardInterrupt, *before), failing(AssertionError)]
    ends, stop = best_of(lambda ended: (s for s in runs[len(ended)]), Recorder([]))
    kept = bool(before and before[0].point)
    assert (best(ends).objective, stop) == (0.5 if kept else 2.0, "interrupted")
    with pytest.raises(KeyboardInterrupt):
        best_of(lambda ended: failing(KeyboardInterrupt), Recorder([]))


def test_a_start_whose_solver_was_late_is_the_last_one():
    ends, stop = best_of(lambda ended: (s for s in [iterate(2.0, stop="time-limit")]), Recorder([]))
    assert (len(ends), stop) == (1, "time-limit")


def test_a_loop_inside_a_step_ends_at_the_time_limit_once_it_has_a_point(monkeypatch):
    monkeypatch.setattr(clock, "expired", lambda: True)
    taken = []

    def loop():
        for value, point in ((3.0, False), (2.0, True), (1.0, True)):
            taken.append(value)
            yield iterate(value, point=point)

    run_inner(loop())
    assert taken == [3.0, 2.0]
