"""Worker processes: results, exceptions, crashes, processes that hang, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support import ROOT, blobs

import fsopt
from fsopt.errors import FileError
from fsopt.studies import executors
from fsopt.studies.executors import local_processes
from fsopt.studies.store import opened
from fsopt.studies.workers import Failure, Process

STUDY = {"name": "small", "data": [blobs(40, 3)], "folds": 2, "methods": [{"name": "svm"}]}


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
        case "burn":
            burn(1.5)  # a slow start, which no limit is on
            with executors.limited_cpu(1.0):
                burn(600.0)
        case "print":
            os.write(1, b"a solver's banner\n")
            print("and a line of Python")
        case "raise":
            raise ValueError("a fault of the function")
        case "unpicklable":
            return lambda: None
    return base + len(word)


def burn(seconds):
    """Use seconds of a processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def results(*words):
    process = Process(partial(act, 100))
    found = [process.ask(word, 5.0 if word == "hang" else None) for word in words]
    process.close()
    return found


@pytest.mark.slow
def test_every_task_has_its_result_whatever_the_others_do():
    found = results("a", "crash", "bb", "leave", "print", "ccc")
    assert [found[k] for k in (0, 2, 4, 5)] == [101, 102, 105, 103]
    assert isinstance(found[1], Failure)
    assert "SIGSEGV" in found[1].message
    assert isinstance(found[3], Failure)
    assert "exit code 3" in found[3].message


@pytest.mark.slow
def test_a_process_that_hangs_is_killed_at_its_limits_and_the_next_task_runs():
    found = results("hang", "a", "burn", "a")
    assert [one.late for one in found[::2]] == [True, True]
    assert "ended after 5 seconds" in found[0].message
    assert "CPU seconds are used up" in found[2].message
    assert found[1] == found[3] == 101


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of CPU seconds")
def test_cpu_seconds_count_from_the_first_of_the_unit_on_and_the_limit_ends_with_it(monkeypatch):
    import resource

    def soft():
        return resource.getrlimit(resource.RLIMIT_CPU)[0]

    seen, before = [], soft()
    monkeypatch.setattr(executors, "warm_up", lambda *given: seen.append(soft()))
    monkeypatch.setattr(executors, "run_unit", lambda unit, data: seen.append(soft() - time.process_time()))
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    unit = SimpleNamespace(method="svm", solver=None, time_limit=100.0, cpu_limit=None)
    executors.run_alone((unit, None, None, {}))
    assert seen == [before, pytest.approx(4 * 230, abs=2.0)]
    executors.run_alone((SimpleNamespace(**{**vars(unit), "time_limit": None}), None, None, {}))
    executors.run_task((unit, None, None, {}))  # in a program of the user's, which no limit may end
    assert seen[2:4] == [before, pytest.approx(before - time.process_time(), abs=2.0)]
    assert soft() == before
    cases = ((None, 5.0), (100.0, 5.0), (5.0, 100.0), (5.0, None))
    units = [SimpleNamespace(time_limit=clock, cpu_limit=cpu) for clock, cpu in cases]
    assert [executors.hard_limit(unit) for unit in units] == [40.0] * 4
    assert executors.hard_limit(SimpleNamespace(time_limit=np.inf, cpu_limit=1e300)) is None, "no clock counts so far"


@pytest.mark.slow
def test_an_exception_of_the_function_is_its_result():
    first, second = results("raise", "unpicklable")
    assert isinstance(first, ValueError)
    assert "a fault of the function" in str(first)
    assert isinstance(second, RuntimeError)
    assert "cannot be sent" in str(second)


def test_no_process_is_left_where_the_caller_stops_early():
    def ask():
        process = Process(partial(act, 0))
        executors._THREAD.opened.append(process)
        processes.append(process)
        return process.ask("hang")

    processes = []
    with suppress(KeyboardInterrupt), local_processes(2) as executor:
        futures = [executor.submit(ask) for _ in range(2)]
        while len(processes) < 2 or any(process.process is None for process in processes):
            time.sleep(0.05)
        raise KeyboardInterrupt
    assert all(isinstance(future.result(), Failure) for future in futures)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if children.exists():
        commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children.read_text().split()]
        assert not [c for c in commands if "fsopt.studies.workers" in c]


def test_a_worker_whose_parent_died_before_it_looked_ends_at_once():
    """The parent is killed as soon as the worker has a number: this test holds its pipe, which tells it nothing.

    The worker has the output of its parent, too, so that the call below returns when both have ended.
    """
    program = (
        "import os, subprocess, sys\n"
        "from fsopt.studies.workers import PROGRAM\n"
        "words = [sys.executable, '-c', PROGRAM.format(path=sys.path, parent=os.getpid())]\n"
        "print(subprocess.Popen(words, stdin=int(sys.argv[1])).pid, flush=True)\n"
        "os._exit(1)"
    )
    read, write = os.pipe()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    words = [sys.executable, "-c", program, str(read)]
    parent = subprocess.run(words, stdout=subprocess.PIPE, env=environment, pass_fds=[read], timeout=60, check=False)
    os.close(write)
    os.close(read)
    assert int(parent.stdout) > 0


def hang_or_crash(task):
    if task[0].seed == 1:
        time.sleep(600) if task[0].fold else os._exit(3)
    return {"state": "done", "status": "optimal", "stop": "optimal", "seconds": 0.0, "error": ""}


@pytest.mark.slow
def test_a_unit_that_hangs_is_killed_at_its_hard_limit_and_one_that_crashes_fails(monkeypatch):
    monkeypatch.setattr(executors, "run_alone", hang_or_crash)
    limits = iter([None, None, None, 0.1])  # the last one hangs
    monkeypatch.setattr(executors, "hard_limit", lambda seconds: next(limits))
    found = fsopt.run_study({**STUDY, "seeds": [0, 1]}, jobs=1)
    assert found.counts == {"done": 2, "failed": 1, "timeout": 1}
    assert "crashed" in found.rows[-2]["error"]
    assert "was ended after 1 seconds" in found.rows[-1]["error"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory limits are Linux's")
def test_a_unit_beyond_its_memory_is_a_row():
    wide = blobs(1500, 3)
    methods = [{"name": "rsvm", "params": {"kernel": "gaussian"}}]
    study = {**STUDY, "data": [wide], "methods": methods, "memory_limit": 0.2, "time_limit": 300}
    found = fsopt.run_study(study, jobs=1)
    assert set(found.counts) <= {"memory", "failed"}


@pytest.mark.slow
def test_a_unit_whose_process_is_killed_by_somebody_else_is_run_again(monkeypatch, tmp_path):
    monkeypatch.setenv("FSOPT_TEST_ONCE", str(tmp_path / "once"))
    monkeypatch.setattr(executors, "run_alone", killed_once)
    assert fsopt.run_study({**STUDY, "folds": 0}, jobs=1).complete


def killed_once(task):
    place = os.environ["FSOPT_TEST_ONCE"]
    if not os.path.exists(place):
        open(place, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"state": "done", "status": "optimal", "stop": "optimal", "seconds": 0.0, "error": ""}


SMALL = 'data = ["wdbc"]\nfolds = 3\n[[methods]]\nname = "pearson"\n'


def finished(place):
    """Return key -> row of the units that are done."""
    with suppress(FileError), opened(place) as held:
        return {row["key"]: row for row in held.rows() if row["state"] == "done"}
    return {}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_study_that_is_killed_at_every_row_ends_as_the_one_in_peace(tmp_path):
    """Alone or with its workers, by turns: a second computation of a finished unit would change its seconds."""
    (tmp_path / "q.toml").write_text(SMALL)
    words = [sys.executable, "-m", "fsopt", "study", "q.toml", "--jobs", "2", "--store"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    how = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": path}, "stderr": subprocess.DEVNULL}
    how["stdout"] = subprocess.DEVNULL
    subprocess.run([*words, "whole.sqlite"], check=True, **how)
    place, seen, starts, code = tmp_path / "killed.sqlite", {}, 0, None
    while code != 0:
        process, starts = subprocess.Popen([*words, place.name], start_new_session=True, **how), starts + 1
        while process.poll() is None and len(finished(place)) <= len(seen):
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if starts % 2 else process.kill()
        code, before, seen = process.wait(), seen, finished(place)
        assert all(seen.get(key) == row for key, row in before.items()), "a finished unit was lost or computed again"
    assert starts > 1
    whole = finished(tmp_path / "whole.sqlite")
    for row in (*whole.values(), *seen.values()):
        for volatile in ("seconds", "cpu_seconds", "trace"):
            del row[volatile]
    assert seen == whole
    assert len(seen) == 3
