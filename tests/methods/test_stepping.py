"""A fit step by step, and what ends it: its user, Ctrl-C, or an exception of the progress function."""

import dataclasses
import itertools
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import blobs

import fsopt
from fsopt.common import clock
from fsopt.drivers.run import Run, drained
from fsopt.errors import ParameterError, SolverError, UnknownNameError
from fsopt.linear.interior_point import minimise
from fsopt.methods import large_programs

DATA = blobs(40, 6, seed=2, gap=0.3)
LOOPS = {
    "best-subset": {"m": 3},
    "fsv": {},
    "gbd": {"m": 2},
    "gbd-lambda": {"lam": 1.0},
    "gmeb-penalised": {},
    "l0-mpm": {},
    "misclass": {},
    "mopfs": {},
    "pmm": {},
    "rfe": {},
    "s-mpm": {},
    "vs-ssvm": {},
}


def plain(history):
    return [{k: v for k, v in record.items() if not k.startswith(("seconds", "elapsed"))} for record in history]


def failing(record):
    raise ZeroDivisionError("my plot")


@pytest.mark.parametrize("method", LOOPS)
def test_the_steps_are_the_history_of_the_fit(method):
    loop = fsopt.steps(method, DATA, **LOOPS[method])
    seen = plain(loop)
    whole = fsopt.fit(method, DATA, **LOOPS[method])
    assert seen == plain(whole.history)
    fit = loop.stop()
    assert (fit.status, fit.stop, fit.objective) == (whole.status, whole.stop, whole.objective)
    assert next(loop, None) is None


@pytest.mark.parametrize("method", LOOPS)
def test_every_loop_that_is_stopped_or_whose_progress_fails_at_its_first_step_has_an_incumbent(method):
    loop = fsopt.steps(method, DATA, **LOOPS[method])
    next(loop)
    fit = loop.stop()
    assert fit.status.solved
    assert fit.stop == "interrupted"
    assert fsopt.verify(fit, DATA).numerically
    with pytest.warns(RuntimeWarning, match=r"progress raised ZeroDivisionError \(my plot\): the loop ends"):
        fit = fsopt.fit(method, DATA, progress=failing, **LOOPS[method])
    assert fit.status.solved


@pytest.mark.parametrize(
    ("method", "large"), [("fsv", False), ("fsv", True), ("misclass", False), ("misclass", True), ("l0-mpm", False)]
)
def test_a_loop_that_is_stopped_between_iterates_has_the_last_one_and_is_verified(method, large, monkeypatch):
    for name in ("LONG", "LARGE") if large else ():
        monkeypatch.setattr(large_programs, name, 0)
    data = blobs(60, 5, seed=7, gap=0.2)
    for records in (1, 2, 3):
        loop = fsopt.steps(method, data)
        seen = itertools.islice(loop, records)
        least = min(step["objective"] for step in seen)
        fit = loop.stop()
        assert fit.objective == pytest.approx(least, rel=1e-6)
        assert fsopt.verify(fit, data).numerically


@pytest.mark.parametrize("method", [name for name, spec in fsopt.METHODS.items() if not spec.resumable])
def test_a_loop_of_seconds_has_no_checkpoints(method, tmp_path):
    place = tmp_path / "run.npz"
    place.touch()
    for given in ({"checkpoint": place}, {"resume": place}):
        with pytest.raises(ParameterError, match=f"method '{method}' has no checkpoints") as caught:
            fsopt.fit(method, DATA, **given)
        assert "gbd, gbd-lambda, best-subset, best-subset-penalised have them" in caught.value.hint


def test_a_driver_without_checkpoints_refuses_them(tmp_path):
    with pytest.raises(ParameterError, match="'minimise' has no checkpoints"):
        minimise(DATA, c=1.0, run=Run(checkpoint=tmp_path / "run.npz"))


def test_a_loop_that_waits_leaves_limits_and_ctrl_c_to_its_user():
    """Its time limit is not that of the solves of its user, and a search that notes Ctrl-C does so within a step."""
    before = signal.getsignal(signal.SIGINT)
    loops = [fsopt.steps(method, DATA, time_limit=1e6, **LOOPS[method]) for method in ("best-subset", "fsv", "rfe")]
    for loop in loops:
        next(loop)
    assert clock.left() is None
    assert signal.getsignal(signal.SIGINT) is before
    for loop in loops:  # interleaved, each with the limits of its own
        assert loop.stop().stop == "interrupted"
    assert clock.left() is None


def test_a_loop_that_began_in_the_main_thread_ends_in_another():
    loop = fsopt.steps("best-subset", DATA, **LOOPS["best-subset"])
    next(loop)
    with ThreadPoolExecutor(1) as other:
        assert other.submit(loop.stop).result().stop == "interrupted"


def test_a_step_within_a_step_is_refused_and_the_loop_goes_on(monkeypatch):
    loop, said = fsopt.steps("fsv", DATA), []

    def meddling():
        with pytest.raises(SolverError, match="within a step") as refused:
            next(loop)
        said.append(refused)

    with monkeypatch.context() as patch:
        patch.setattr(clock, "check", meddling)
        next(loop)
        next(loop)
    assert said
    assert loop.stop().stop == "interrupted"


def test_a_method_of_ones_own_without_steps_takes_part(monkeypatch):
    """Its loop may be a plain call of a driver: progress has the records, and steps has the answer alone."""

    def own(data, run, *, lam: float = 0.05):
        return drained(fsopt.METHODS["fsv"].fit(data, run, lam=lam), run.progress)

    spec = dataclasses.replace(fsopt.METHODS["fsv"], name="own-fsv", fit=own)
    monkeypatch.setitem(fsopt.METHODS.own, "own-fsv", spec)
    told = []
    fit = fsopt.fit("own-fsv", DATA, progress=told.append)
    assert plain(told) == plain(fit.history) != []
    loop = fsopt.steps("own-fsv", DATA)
    assert list(loop) == []
    assert loop.stop().objective == fit.objective


@pytest.fixture
def without_incumbent(monkeypatch):
    """Return a method of one's own whose loop has a record before it has an answer."""

    def own(data, run, *, lam: float = 0.05):
        yield {"iteration": 1}

    spec = dataclasses.replace(fsopt.METHODS["fsv"], name="own-fsv", fit=own)
    monkeypatch.setitem(fsopt.METHODS.own, "own-fsv", spec)
    return "own-fsv"


def test_what_cannot_be_stopped_says_so(without_incumbent):
    with pytest.raises(SolverError, match="stopped before its first step"):
        fsopt.steps("fsv", DATA).stop()
    loop = fsopt.steps(without_incumbent, DATA)
    next(loop)
    with pytest.raises(SolverError, match="stopped before it had an incumbent"):
        loop.stop()
    with pytest.raises(ParameterError, match="takes no progress"):
        fsopt.steps("fsv", DATA, progress=print)
    with pytest.raises(UnknownNameError):
        next(fsopt.steps("fvs", DATA))


def test_a_fault_before_the_first_incumbent_is_raised(without_incumbent):
    with pytest.warns(RuntimeWarning, match="my plot"), pytest.raises(ZeroDivisionError, match="my plot"):
        fsopt.fit(without_incumbent, DATA, progress=failing)
