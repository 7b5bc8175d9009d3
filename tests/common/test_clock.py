"""The clock: limits within limits; memory that is refused by an estimate; independent calls side by side."""

import dataclasses
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from support import blobs, run

import fsopt
from fsopt.common import clock
from fsopt.common.teams import processes, side_by_side
from fsopt.compiler import compile_model
from fsopt.drivers.recorder import LATE, Recorder
from fsopt.errors import MemoryLimitError, OutOfTimeError
from fsopt.methods import registry
from fsopt.models.gbd.svm import build_svm


def test_parts_of_a_time_limit_end_with_it(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    end = clock.end_of(8)
    assert (clock.part(end), clock.part(end, 0.25)) == (8.0, 2.0)
    now[0] = 106.0
    assert clock.part(end, 0.5) == 1.0
    now[0] = 109.0
    assert clock.part(end) == 1e-3
    assert clock.part(clock.end_of(None)) is clock.part(clock.end_of(1e12)) is None


@pytest.fixture
def passed(monkeypatch):
    """Let every limit have passed long ago, as soon as it is set."""
    real, offset = time.perf_counter, [0.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: real() + offset[0])
    return offset


def test_the_tighter_limit_holds_and_none_is_no_limit(passed):
    assert (clock.left(), clock.left(3.0), clock.expired()) == (None, 3.0, False)
    with clock.limited(100.0):
        with clock.limited(None):
            assert 99.0 < clock.left() <= 100.0
        with clock.limited(1e6):
            assert clock.left() <= 100.0
        with clock.limited(1e6, extend=True):
            assert clock.left() > 1e5
        with clock.lifted():
            assert clock.left() is None
        passed[0] = 101.0
        assert clock.expired()
        assert clock.left() == clock.LEAST
        assert clock.left(1e-6) == 1e-6
    assert not clock.expired()


def test_building_and_translating_end_at_the_limit_unless_there_is_a_point(passed):
    data = blobs()
    model = build_svm(data)
    with clock.limited(10.0):
        passed[0] = 100.0
        for work in (lambda: build_svm(data), lambda: compile_model(model)):
            with pytest.raises(OutOfTimeError, match="while a model was built"):
                work()
        clock.found()
        compile_model(build_svm(data))


def test_no_loop_begins_more_than_a_few_solves_after_the_limit():
    session = fsopt.Session(fsopt.build("onsvm", blobs()))
    recorder = Recorder([session])
    with clock.limited(1e-9):
        for _ in range(LATE):
            recorder.solve(session, "a warm program")
        spent = recorder.seconds["solve"]
        recorder.renew()
        assert recorder.seconds["solve"] == spent > 0.0, "what a session took counts when it goes"
        with pytest.raises(OutOfTimeError, match="between two solves"):
            recorder.solve(session, "a warm program")


def test_a_limit_without_an_answer_is_exit_1_and_says_what_helps(monkeypatch, capsys):
    def slow(*args, **params):
        raise OutOfTimeError("the time limit passed", "give more seconds")

    monkeypatch.setattr(fsopt, "fit", slow)
    out, err = run("fit svm --data wdbc --json", capsys, code=1)
    assert '"kind": "time-limit"' in out
    assert "give more seconds" in err


def test_arrays_that_do_not_fit_are_an_error_with_sizes_and_a_way_out(monkeypatch):
    entry = registry.METHODS["svm"]

    def hungry(*args, **params):
        raise MemoryError("Unable to allocate 18.6 GiB")

    monkeypatch.setitem(registry.METHODS.shipped, "svm", dataclasses.replace(entry, fit=hungry))
    monkeypatch.setattr(registry, "check_parameters", lambda what, name, given, *rest: given)
    with pytest.raises(MemoryLimitError, match=r"30 samples and 4 features \(Unable to allocate 18.6 GiB\): keep"):
        fsopt.fit("svm", blobs())


def test_every_method_refuses_data_that_do_not_fit(monkeypatch):
    data = blobs(40, 4, seed=1)
    monkeypatch.setattr(clock, "MEMORY", 1000.0)  # bytes
    monkeypatch.setattr(np, "zeros", lambda *args, **keywords: pytest.fail("an array was made"))
    for method in fsopt.METHODS:
        with pytest.raises(MemoryLimitError, match=rf"'{method}' for 40 samples and 4 features need about 2.56e-06 GB"):
            fsopt.fit(method, data)


def test_kernel_values_of_terabytes_are_refused_with_their_size():
    with pytest.raises(MemoryLimitError, match=r"400000 samples need about 2.56e\+03 GB") as refused:
        fsopt.fit("svm", blobs(400_000, 1, seed=1), kernel="gaussian")
    assert "leave the kernel out" in refused.value.hint
    assert refused.value.kind == "memory"


def test_a_model_is_refused_before_it_is_built(monkeypatch):
    slug, data = "gmeb-cuts", blobs(40, 4, seed=1)
    monkeypatch.setattr(clock, "MEMORY", 40 * 4 * clock.ENTRY - 1.0)
    with pytest.raises(MemoryLimitError, match="models of 40 samples and 4 features"):
        fsopt.build(slug, data)
    monkeypatch.setattr(clock, "MEMORY", 40 * 4 * clock.ENTRY + 0.0)
    fsopt.build(slug, data)


def test_values_are_in_the_order_of_the_calls_or_handed_over_as_they_come():
    assert side_by_side(pow, [(2, 3), (3, 2), (5, 0)], 1) == [8, 9, 1]
    seen = []
    found = side_by_side(pow, zip((2, 3, 5), (3, 2, 0), strict=True), 1, seen.append)
    assert sorted(found) == [1, 8, 9]
    assert seen == found


def test_a_function_that_uses_the_package_travels_to_another_process():
    assert side_by_side(lambda: fsopt.__version__, [()] * 2, 2) == [fsopt.__version__] * 2


@pytest.mark.parametrize("cancelled", [False, True])
def test_processes_are_killed_with_a_call_that_had_not_reached_them(cancelled):
    handing, calls = threading.Event(), []

    def busy(_):  # in the thread that hands calls over to the processes
        handing.set()
        time.sleep(0.5)

    def use(executor):
        executor.submit(time.sleep, 0.3).add_done_callback(busy)
        assert handing.wait(30.0)
        calls.append(executor.submit(time.sleep, 60))
        if cancelled:
            calls[0].cancel()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), processes(1) as executor:
        use(executor)
    assert calls[0].cancelled() if cancelled else calls[0].exception()
    assert not executor._processes


def test_processes_serve_the_next_block_then_joblib_may_take_them_over_and_they_end_with_the_interpreter():
    script = (
        "from fsopt.common.teams import processes\n"
        "for _ in range(2):\n"
        "    with processes(1) as executor: print(executor.submit(__import__('os').getpid).result())\n"
        "import joblib; assert joblib.Parallel(n_jobs=2)([joblib.delayed(int)()] * 2) == [0, 0]\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert len(set(ended.stdout.split())) == 1
    assert ended.stderr == ""
