"""The parameter ``executor`` of fit: who runs the subtrees of a search."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from joblib import Parallel, delayed
from selection_cases import DEEP

import fsopt
from fsopt.search.branch_and_benders import driver


class Counting(ThreadPoolExecutor):
    tasks = 0

    def submit(self, *args, **keywords):
        self.tasks += 1
        return super().submit(*args, **keywords)


@pytest.mark.slow
def test_the_executor_runs_the_subtrees_and_the_answer_is_the_same(monkeypatch):
    monkeypatch.setattr(driver, "RAMP", 2)  # a small problem never has as many open nodes as a large one
    alone = fsopt.fit("best-subset", DEEP, m=5, c=1.0, tolerance=1e-4, scale="none")
    with Counting(2) as executor:
        fit = fsopt.fit("best-subset", DEEP, m=5, c=1.0, tolerance=1e-4, scale="none", jobs=2, executor=executor)
        assert executor.tasks > 0
    assert fit.objective == pytest.approx(alone.objective, rel=1e-4)
    assert fit.status == "optimal"
    assert "executor" not in fit.params


@pytest.mark.slow
def test_processes_of_a_search_are_not_those_of_joblib():
    fit = fsopt.fit("best-subset", DEEP, m=5, c=1.0, tolerance=1e-4, scale="none", jobs=2)
    assert fit.status == "optimal"
    assert Parallel(n_jobs=2)(delayed(abs)(k) for k in (-1, -2)) == [1, 2]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_dask_that_dies_leaves_the_optimum_as_it_is(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(driver, "RAMP", 2)
    params = {"m": 5, "c": 1.0, "scale": "none"}
    alone = fsopt.fit("best-subset", DEEP, **params)
    killed = []
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def kill(record):
            if not killed and any(client.processing().values()):
                killed.append(os.kill(pids[0], signal.SIGKILL))

        fit = fsopt.fit("best-subset", DEEP, jobs=2, executor=client.get_executor(pure=False), progress=kill, **params)
    assert killed
    assert fit.status == "optimal"
    assert fit.objective == pytest.approx(alone.objective, rel=1e-6)
    assert fsopt.verify(fit, DEEP).verified
