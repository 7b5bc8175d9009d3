"""The runner of loops and its records: what ends a loop and with which iterate, restarts, substitutes of solvers."""

import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.results import SolveResult, Status
from fsopt.common import clock
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.loop import Iterate, best
from fsopt.drivers.loop import best_of as best_of_steps
from fsopt.drivers.loop import run_loop as loop_steps
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint, Run, drained
from fsopt.errors import MemoryLimitError, OutOfTimeError, SolverError
from fsopt.solvers.base import Session

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

    recorder = Recorder([])
    checkpoint = lambda at: said.append((at.objective, len(recorder.history)))  # noqa: E731
    at, stop = run_loop(loop(), recorder, checkpoint, progress=progress)
    assert (at.objective, stop) == (2.0, "interrupted")
    assert said == [(2.0, 1), "told", "closed"]


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


C = 4.0


def failing_solver(monkeypatch, name, calls=(1,), how="none"):
    """Let some calls of a solver fail: no point, or an error; returns the names of the solvers called."""
    solve, called = Session.solve, []

    def sometimes(self, **keywords):
        called.append(self.spec.name)
        if self.spec.name != name or called.count(name) - 1 not in calls:
            return solve(self, **keywords)
        if how == "error":
            raise SolverError(f"{name} stopped with 'Not Set'", "try another solver")
        return SolveResult(Status.NONE, "numerical", None, None, name, {}, 0, message="lost its digits")

    monkeypatch.setattr(Session, "solve", sometimes)
    return called


def selection_of(run=None):
    data = reference("gbd_n6")
    master, sub = fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=C)
    return gbd(data, master, sub, c=C, settings=GbdSettings(), run=run or Run())


@pytest.mark.parametrize("how", ["none", "error"])
def test_another_solver_takes_over_a_subproblem_and_the_record_says_so(how, monkeypatch):
    plain = selection_of()
    called = failing_solver(monkeypatch, "clarabel", calls=(1, 3), how=how)
    result = selection_of()
    assert result.status is plain.status is Status.OPTIMAL
    assert result.objective == pytest.approx(plain.objective, rel=1e-6)
    (other,) = set(called) - set(plain.solver.split("+"))
    assert set(result.solver.split("+")) >= {"clarabel", other}
    told = [record["fallback"] for record in result.history if record["fallback"]]
    assert told
    assert all(f"{other} solved it" in text and "clarabel" in text for text in told)
    assert not any(record["fallback"] for record in plain.history)
    assert other not in plain.solver
    for k in ("translate", "solve"):
        assert sum(h[f"seconds_{k}"] for h in result.history) <= result.seconds[k] * (1 + 1e-9)


def test_the_first_failure_is_told_where_no_solver_succeeds(ends):
    ends(1, "numerical")
    session = Session(fsopt.build("fsp-sub", blobs(20, 3), c=C))
    with pytest.raises(SolverError, match=r"the subproblem was not solved: none .*clarabel.*nor was it by \w+"):
        Recorder([session]).solve(session, "the subproblem")


def test_a_solver_that_the_user_named_and_that_refuses_its_first_solve_is_not_replaced(monkeypatch):
    """A missing licence is the user's to mend: the error says how."""
    called = failing_solver(monkeypatch, "clarabel", calls=(0,), how="error")
    with pytest.raises(SolverError, match="Not Set"):
        selection_of(Run(solver="clarabel"))
    assert called == ["clarabel"]


@pytest.mark.parametrize(("stop", "error"), [("infeasible", NoPoint), ("time-limit", OutOfTimeError)])
def test_infeasible_programs_and_late_solvers_are_not_given_to_others(stop, error, ends):
    called = ends(1, stop)
    session = Session(fsopt.build("fsp-sub", blobs(20, 3), c=C))
    with pytest.raises(error):
        Recorder([session]).solve(session, "the subproblem")
    assert called == ["clarabel"]
