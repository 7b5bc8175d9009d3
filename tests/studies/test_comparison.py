"""Comparison: fits that a limit or the user ends, or that crash, are marked, not averaged, and hurt no other fit."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import pytest
from support import blobs

from fsopt.studies import comparison
from fsopt.studies.comparison import compare
from fsopt.studies.workers import Failure

DATA = blobs(40, 3)


def spoilt(monkeypatch, spoil):
    """Let ``fit`` of the comparison return what ``spoil(call number, fit)`` makes of each fit."""
    real, calls = comparison.fit, []

    def fit(*args, **params):
        calls.append(args)
        return spoil(len(calls), real(*args, **params))

    monkeypatch.setattr(comparison, "fit", fit)
    return calls


def test_a_fit_that_the_time_limit_ended_is_marked_and_not_averaged(monkeypatch):
    def late(call, fit):
        return dataclasses.replace(fit, status=fit.status.FEASIBLE, stop="time-limit") if call in (1, 3) else fit

    spoilt(monkeypatch, late)
    [row] = compare(DATA, ["svm"], folds=3, jobs=1)
    assert (row.status, row.stop, row.ended_early, row.error) == ("feasible", "time-limit", 2, "")
    assert row.cv_accuracy is None
    assert row.cv_mcc is None
    assert row.n_features == len(row.features)


def test_an_optimum_found_when_time_was_over_counts(monkeypatch):
    spoilt(monkeypatch, lambda call, fit: dataclasses.replace(fit, stop="time-limit"))
    [row] = compare(DATA, ["svm"], folds=3, jobs=1)
    assert (row.status, row.ended_early) == ("optimal", 0)
    assert row.cv_accuracy is not None


def test_ctrl_c_within_a_fit_stops_the_comparison_after_the_rows_before(monkeypatch):
    calls = spoilt(monkeypatch, lambda n, fit: dataclasses.replace(fit, stop="interrupted") if n == 6 else fit)
    rows = []
    with pytest.raises(KeyboardInterrupt):
        rows.extend(compare(DATA, ["svm", "mpm"], folds=3, jobs=1))
    assert len(calls) == 6


def test_a_crash_is_the_error_of_its_row_alone(monkeypatch):
    def run_tasks(function, tasks, *, jobs, hard_limit):
        for place, task in enumerate(tasks):
            crashed = task.method == "mpm" and task.fold == 1
            yield place, Failure("its process crashed", 1.0) if crashed else function(task)

    monkeypatch.setattr(comparison, "run_tasks", run_tasks)
    svm, mpm = compare(DATA, ["svm", "mpm"], folds=3, jobs=2)
    assert svm.error == ""
    assert mpm.error == "its process crashed"
    assert (mpm.status, mpm.cv_accuracy) == ("optimal", None)


def test_processes_give_the_rows_of_one_process():
    def rows(**how):
        found = compare(DATA, ["svm", "pearson"], folds=3, **how)
        return [(row.method, row.status, row.features, row.cv_accuracy, row.error) for row in found]

    assert rows(jobs=1) == rows(jobs=2) == rows(jobs=1, hard_limit=100.0)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_ends_with_130_at_ctrl_c(tmp_path, jobs):
    words = [
        sys.executable,
        "-m",
        "fsopt",
        "compare",
        "--data",
        "wdbc",
        "--methods",
        "mopfs,vs-ssvm",
        "--folds",
        "40",
        "--jobs",
        jobs,
        "--json",
    ]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"wdbc"), "the data are read first"
    time.sleep(2.0)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err.decode()
    assert b"Traceback" not in err
