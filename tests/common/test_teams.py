"""Independent calls side by side: in order, as they come, and beside workers that are replaced."""

import builtins
import os
import subprocess
import sys
import threading
import time

import pytest
from joblib.externals.loky import process_executor

import fsopt
from fsopt.common.teams import processes, side_by_side
from fsopt.errors import WorkersLost

GROWTH = 60_000_000
"""Bytes by which a worker grows in a call; loky replaces one that has grown by 300 MB."""


def grown(number):
    """Return a number and the process, which keeps what it allocates."""
    vars(builtins).setdefault("kept", []).append(b"x" * GROWTH * (number > 1))
    time.sleep(0.5)
    return number, os.getpid()


def test_values_are_in_the_order_of_the_calls_or_handed_over_as_they_come():
    assert side_by_side(pow, [(2, 3), (3, 2), (5, 0)], 1) == [8, 9, 1]
    seen = []
    found = side_by_side(pow, zip((2, 3, 5), (3, 2, 0), strict=True), 1, seen.append)
    assert sorted(found) == [1, 8, 9]
    assert seen == found


def test_a_function_that_uses_the_package_travels_to_another_process():
    assert side_by_side(lambda: fsopt.__version__, [()] * 2, 2) == [fsopt.__version__] * 2


@pytest.mark.slow
def test_a_worker_that_is_replaced_ends_no_run_where_warnings_are_errors():
    found = side_by_side(grown, zip(range(24)), 2)
    assert [number for number, _ in found] == list(range(24))
    assert len({process for _, process in found}) > 2


@pytest.mark.slow
def test_calls_go_on_after_a_loss_or_an_error():
    def place(fault):
        if fault == "crash":
            os._exit(1)
        if fault == "raise":
            raise ZeroDivisionError
        return os.getpid()

    assert os.getpid() not in side_by_side(place, [("",)] * 6, 3)
    for fault, error in (("crash", WorkersLost), ("raise", ZeroDivisionError)):
        with pytest.raises(error):
            side_by_side(place, [(fault,)] * 6, 3)
        assert len(side_by_side(place, [("",)] * 6, 3)) == 6


@pytest.mark.slow
def test_an_error_while_calls_wait_to_be_handed_over_ends_no_thread(monkeypatch):
    real, busy = process_executor._ExecutorManagerThread.process_result_item, threading.Event()

    def slow(self, item):
        late = not busy.is_set()
        busy.set()
        real(self, item)
        time.sleep(1.0 * late)

    def calls():
        yield from [(1, 0), (1, 1)]
        assert busy.wait(30.0), "a call has ended"
        yield from [(1, 1)] * 2

    monkeypatch.setattr(process_executor._ExecutorManagerThread, "process_result_item", slow)
    with pytest.raises(ZeroDivisionError):
        side_by_side(divmod, calls(), 2)


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


def test_processes_end_before_the_modules_that_they_need_at_the_end_of_the_interpreter():
    script = (
        "import atexit\n"
        "atexit.register(lambda: print(len(teams._POOLS)))\n"
        "from fsopt.common import teams\n"
        "with teams.processes(2) as executor: print(executor.submit(abs, -1).result())\n"
        "print(len(teams._POOLS))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("1\n1\n0\n", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the system has no groups of processes with signals")
def test_processes_that_are_starting_do_not_hear_an_interruption():
    script = (
        "import os, signal, time\n"
        "from fsopt.common.teams import processes\n"
        "signal.signal(signal.SIGINT, lambda number, frame: None)\n"
        "with processes(2) as executor:\n"
        "    started = executor.submit(len, 'abc')\n"
        "    for _ in range(20):\n"
        "        time.sleep(0.02)\n"
        "        os.killpg(0, signal.SIGINT)\n"
        "    print(started.result())\n"
    )
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True)
    assert (ended.stdout, ended.stderr) == ("3\n", "")


@pytest.mark.slow
def test_processes_end_soon_after_their_parent_is_killed(tmp_path):
    script = (
        "import time\n"
        "from pathlib import Path\n"
        "from fsopt.common.teams import side_by_side\n"
        "def beat(name):\n"
        "    while True:\n"
        f"        with open(Path({str(tmp_path)!r}) / name, 'a') as file:\n"
        "            file.write('.')\n"
        "        time.sleep(0.1)\n"
        "side_by_side(beat, [('a',), ('b',)], 2)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])

    def beats():
        return [path.stat().st_size if path.exists() else 0 for path in (tmp_path / "a", tmp_path / "b")]

    def until(condition):
        end = time.monotonic() + 30.0
        while not condition() and time.monotonic() < end:
            time.sleep(0.1)
        return condition()

    def silent():
        before = beats()
        time.sleep(1.0)
        return beats() == before

    assert until(lambda: min(beats()) > 0)
    parent.kill()
    parent.wait()
    assert until(silent)
