"""The parameter ``executor`` of fit: who runs the subtrees of a search."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from joblib import Parallel, delayed
from support import blobs

import fsopt
from fsopt.algorithms.branch_and_benders import driver
from fsopt.errors import ParameterError

DATA = blobs(150, 24, seed=11, gap=0.2)


class Counting(ThreadPoolExecutor):
    """An executor that counts its tasks."""

    tasks = 0

    def submit(self, *args, **keywords):
        self.tasks += 1
        return super().submit(*args, **keywords)


def test_the_executor_runs_the_subtrees_and_the_answer_is_the_same(monkeypatch):
    monkeypatch.setattr(driver, "RAMP", 2)  # a small problem never has as many open nodes as a large one
    alone = fsopt.fit("best-subset", DATA, m=6, c=4.0, tolerance=1e-4, scale="none")
    with Counting(2) as executor:
        fit = fsopt.fit("best-subset", DATA, m=6, c=4.0, tolerance=1e-4, scale="none", jobs=2, executor=executor)
        assert executor.tasks > 0
    assert fit.objective == pytest.approx(alone.objective, rel=1e-4)
    assert fit.status == "optimal"
    assert "executor" not in fit.params


@pytest.mark.slow
def test_processes_of_a_search_are_not_those_of_joblib():
    fit = fsopt.fit("best-subset", DATA, m=6, c=4.0, tolerance=1e-4, scale="none", jobs=2)
    assert fit.status == "optimal"
    assert Parallel(n_jobs=2)(delayed(abs)(k) for k in (-1, -2)) == [1, 2]


@pytest.mark.parametrize(
    ("name", "params"), [("svm", {}), ("best-subset", {"m": 2}), ("best-subset", {"m": 2, "jobs": 1})]
)
def test_an_executor_without_tasks_is_refused(name, params):
    with ThreadPoolExecutor(1) as executor, pytest.raises(ParameterError, match="no more than one"):
        fsopt.fit(name, DATA, executor=executor, **params)


def test_what_is_no_executor_is_refused():
    with pytest.raises(ParameterError, match="an executor"):
        fsopt.fit("best-subset", DATA, m=2, jobs=2, executor=print)
