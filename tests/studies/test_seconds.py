"""Seconds of units: those of the fit alone, by the clock and of the processor.

The order of units and the estimate of the rest, on made-up units of known seconds.
"""

import dataclasses
import signal
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest
from support import blobs

import fsopt
from fsopt.common import clock
from fsopt.errors import ParameterError
from fsopt.studies import executors, units
from fsopt.studies.comparison import compare
from fsopt.studies.executors import InProcess, run_task
from fsopt.studies.running import Rest, in_order
from fsopt.studies.study import load_all, study_from
from fsopt.studies.summary import summarised
from fsopt.studies.units import units_of
from fsopt.studies.workers import Process

DATA = blobs(40, 3)
STUDY = {"name": "small", "data": [DATA], "folds": 2, "methods": [{"name": "svm"}]}


@pytest.fixture
def calls(monkeypatch):
    """Return the calls of first fits, of which this process has forgotten the earlier ones."""
    found, real = [], executors.study_fit
    monkeypatch.setattr(executors, "study_fit", lambda *a, **k: found.append((a[0], k["solver"])) or real(*a, **k))
    executors.warm_up.cache_clear()
    yield found
    executors.warm_up.cache_clear()


def test_only_the_fit_is_on_the_clock(monkeypatch):
    passed = [0.0]

    def taking(seconds, function):
        def slow(*given, **keywords):
            passed[0] += seconds
            return function(*given, **keywords)

        return slow

    monkeypatch.setattr(units, "_now", lambda: (passed[0], 2 * passed[0]))
    monkeypatch.setattr(units, "_read", taking(100.0, lambda file, digest: DATA))
    monkeypatch.setattr(units, "stratified_folds", taking(10.0, units.stratified_folds))
    monkeypatch.setattr(units, "study_fit", taking(3.0, units.study_fit))
    monkeypatch.setattr(units, "exact_word", taking(50.0, lambda *a, **k: "a word"))
    study = study_from({**STUDY, "exact": True})
    for unit in units_of(study, load_all(study)):
        row = units.run_unit(dataclasses.replace(unit, file=object()))
        assert (row["seconds"], row["cpu_seconds"], row["exact"]) == (3.0, 6.0, "a word")


def test_on_a_busy_machine_a_limit_of_cpu_seconds_ends_no_unit_and_used_up_ones_do(monkeypatch):
    passed, used = [0.0], [0.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: passed.append(passed[-1] + 20.0) or passed[-1])
    monkeypatch.setattr(clock.time, "process_time", lambda: used[0])
    study = {**STUDY, "methods": [{"name": "fsv"}]}
    by_clock = fsopt.run_study({**study, "time_limit": 10}, executor=InProcess())
    assert by_clock.counts == {"timeout": 2}, "each look at the clock is 20 seconds later"
    by_processor = fsopt.run_study({**study, "cpu_limit": 10}, executor=InProcess())
    assert by_processor.complete
    [row] = compare(DATA, methods=["fsv"], folds=2, time_limit=None, cpu_limit=10, executor=InProcess()).rows
    assert (row.lacking, row.ended_early) == ("", 0)
    real = units.study_fit
    monkeypatch.setattr(units, "study_fit", lambda *a, **k: used.append(used.pop() + 30.0) or real(*a, **k))
    assert fsopt.run_study({**study, "cpu_limit": 10}, executor=InProcess()).counts == {"timeout": 2}
    [row] = compare(DATA, methods=["fsv"], folds=2, time_limit=None, cpu_limit=10, executor=InProcess()).rows
    assert row.lacking == "no fit"
    with pytest.raises(ParameterError, match="cpu limit"):
        compare(DATA, methods=["fsv"], cpu_limit=0)


def test_the_first_fit_of_a_process_is_before_the_clock_and_once_for_each_method_and_solver(calls, monkeypatch):
    order = []
    real = units.study_fit
    monkeypatch.setattr(units, "study_fit", lambda *a, **k: order.append(list(calls)) or real(*a, **k))
    methods = [{"name": "svm"}, {"name": "svm", "solver": "scs"}, {"name": "sklearn-kbest", "params": {"m": 2}}]
    assert fsopt.run_study({**STUDY, "methods": methods}, executor=InProcess()).complete
    assert calls == [("svm", None), ("svm", "scs"), ("sklearn-kbest", None)]
    assert order[0] == calls[:1]


def test_a_first_fit_fails_for_itself_alone_and_hears_an_interruption(calls, monkeypatch, usual_interruption):
    def fail(*given, **keywords):
        raise ZeroDivisionError

    real = executors.study_fit
    monkeypatch.setattr(executors, "study_fit", fail)
    assert fsopt.run_study(STUDY, executor=InProcess()).complete
    executors.warm_up.cache_clear()

    def incumbent(*given, **keywords):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return real(*given, **keywords)

    monkeypatch.setattr(executors, "study_fit", incumbent)
    with pytest.raises(KeyboardInterrupt):
        fsopt.run_study({**STUDY, "seeds": [1]}, executor=InProcess())


def test_a_method_of_the_users_own_is_not_called_for_it(calls, monkeypatch):
    spec = dataclasses.replace(fsopt.METHODS["svm"], name="mine", paper=None)
    monkeypatch.setitem(fsopt.METHODS.own, "mine", spec)
    executors.warm_up("mine", None)
    assert calls == []


def loaded_after(task):
    """Return the modules that a unit loads after the first fit of its method."""
    executors.warm_up(task[0].method, task[0].solver)
    before = set(sys.modules)
    assert run_task(task)["state"] == "done"
    return set(sys.modules) - before


@pytest.mark.slow
def test_a_unit_finds_its_solver_loaded():
    study = study_from({**STUDY, "folds": 0, "methods": [{"name": "fsv"}]})
    [unit] = units_of(study, load_all(study))
    process = Process(loaded_after)
    try:
        assert process.ask((unit, DATA, None, {})) == set()
    finally:
        process.close()


def test_rows_summaries_and_comparisons_have_both_seconds():
    rows = fsopt.run_study(STUDY, executor=InProcess()).rows
    assert all(row["seconds"] > 0 and row["cpu_seconds"] > 0 for row in rows)
    [line] = summarised(rows)
    assert line.measures["cpu_seconds"].mean == pytest.approx(sum(row["cpu_seconds"] for row in rows) / 2)
    [row] = compare(DATA, methods=["svm"], folds=2, executor=InProcess()).rows
    assert row.cpu_seconds > 0


METHODS = {"gbd": 4.0, "fisher": 0.5, "pearson": 0.02}
"""Method -> seconds of each unit."""


def estimates_units(folds=10):
    """Return the estimates_units of two data sets."""
    return [
        SimpleNamespace(digest=data, method=method, solver=None, key=f"{data} {method} {fold}")
        for data in ("a", "b")
        for method in reversed(METHODS)
        for fold in range(folds)
    ]


def test_one_unit_of_each_kind_goes_first_and_loops_before_the_others():
    found = [estimates_units(3)[place] for place in in_order(estimates_units(3), range(18))]
    assert in_order(estimates_units(3), [8, 4]) == [8, 4]
    assert in_order(estimates_units(3), [4, 8, 7]) == [8, 4, 7]
    assert sorted(unit.key for unit in found) == sorted(unit.key for unit in estimates_units(3))
    assert sorted(unit.key for unit in found[:6]) == sorted(f"{d} {m} 0" for d in "ab" for m in METHODS)
    assert [unit.method for unit in found[:2]] == ["gbd"] * 2
    assert [unit.method for unit in found[6:10]] == ["gbd"] * 4
    assert "gbd" not in [unit.method for unit in found[10:]]


@pytest.mark.parametrize("workers", [1, 4])
def test_the_estimate_is_the_rest_from_the_first_on(workers):
    waiting = [estimates_units()[place] for place in in_order(estimates_units(), range(60))]
    rest, elapsed, said = Rest(waiting), 0.0, []
    for unit in waiting:
        elapsed += METHODS[unit.method] / workers
        said.append(rest.seconds(unit, {"seconds": METHODS[unit.method]}, elapsed))
    whole = 20 * sum(METHODS.values()) / workers
    assert said[:5] == [None] * 5  # pearson on b is the sixth kind
    assert said[5] == pytest.approx(whole - 2 * sum(METHODS.values()) / workers)
    assert said[30] == pytest.approx(whole - elapsed_until(waiting[:31], workers))
    assert said[-1] == 0.0


def elapsed_until(ended, workers):
    return sum(METHODS[unit.method] for unit in ended) / workers


def test_a_unit_without_seconds_counts_little_and_divides_nothing():
    kinds = [SimpleNamespace(digest="a", method="svm", solver=None, key=str(k)) for k in range(3)]
    rest = Rest(kinds)
    assert rest.seconds(kinds[0], {"seconds": None, "state": "failed"}, 0.2) == pytest.approx(0.4)
    assert rest.seconds(kinds[1], {"seconds": 0.0}, 0.3) == pytest.approx(0.15)
