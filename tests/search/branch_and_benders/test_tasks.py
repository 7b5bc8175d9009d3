"""Open nodes, and subtrees as tasks: one answer for any number of them and any executor, with evidence that holds."""

import pickle
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
from selection_cases import NOISE, problem_of
from support import sampled

from fsopt.answers.results import Status
from fsopt.drivers.run import Run
from fsopt.search.branch_and_benders import driver, tasks
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import replayed
from fsopt.search.branch_and_benders.problem import BranchSettings

PROBLEM = problem_of(NOISE, 1.0, {"m": 5})
TWO = BranchSettings(tolerance=1e-4, jobs=2)


class Remote(Executor):
    """An executor that runs a task at once, with nothing but what its pickled form carries, as a cluster does."""

    tasks = 0

    def submit(self, function, /, *args, **keywords):
        Remote.tasks += 1
        future = Future()
        function, args = pickle.loads(pickle.dumps((function, args)))
        future.set_result(pickle.loads(pickle.dumps(function(*args, **keywords))))
        return future


class Lost(Executor):
    """An executor whose processes are lost after some tasks; those after it are broken."""

    def __init__(self, after):
        self.left = after

    def submit(self, function, /, *args, **keywords):
        future = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(BrokenExecutor("a process was killed"))
        else:
            future.set_result(function(*args, **keywords))
        return future


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Give subtrees out as soon as there are a few: a small problem never has as many open nodes as a large one."""
    monkeypatch.setattr(driver, "RAMP", 2)


@pytest.fixture(scope="module")
def whole():
    return branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4))


def held(result, whole):
    """The optimum is proved by the evidence of all tasks together."""
    assert (result.status, result.stop) == (Status.OPTIMAL, "optimal")
    assert result.objective == pytest.approx(whole.objective, rel=1e-4)
    assert result.bound <= whole.objective * (1 + 1e-9)
    assert replayed(PROBLEM, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-12)


@pytest.mark.parametrize(("kind", "jobs"), sampled([(Remote, 2), (ThreadPoolExecutor, 2), (Remote, 3)], 1))
def test_the_answer_is_the_same_for_any_executor(kind, jobs, whole):
    before, settings = Remote.tasks, BranchSettings(tolerance=1e-4, jobs=jobs)
    with kind() as executor:
        result = branch_and_benders(PROBLEM, settings=settings, run=Run(executor=executor))
    assert kind is not Remote or Remote.tasks > before + 1
    held(result, whole)


@pytest.mark.parametrize("after", sampled([1, 0], 1))
def test_nodes_of_lost_processes_are_searched_here(after, whole):
    held(branch_and_benders(PROBLEM, settings=TWO, run=Run(executor=Lost(after))), whole)


class Half(Remote):
    """An executor of which the first task comes back alone."""

    ran = False

    def submit(self, function, /, *args, **keywords):
        if self.ran:
            return Future()
        self.ran = True
        return super().submit(function, *args, **keywords)


def test_nodes_of_tasks_that_are_out_at_a_limit_are_open(monkeypatch):
    monkeypatch.setattr(tasks, "BLOCK", 1)
    monkeypatch.setattr(tasks, "PATIENCE", 0.1)
    executor, records = Half(), []
    run = Run(executor=executor, time_limit=2.0, progress=records.append)
    result = branch_and_benders(PROBLEM, settings=TWO, run=run)
    assert executor.ran
    assert len(records) < 1000  # it waits for them
    assert (result.status, result.stop) == (Status.FEASIBLE, "time-limit")
    assert replayed(PROBLEM, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-12)


@pytest.mark.slow
def test_processes_of_its_own(whole):
    held(branch_and_benders(PROBLEM, settings=TWO), whole)


def test_a_checkpoint_of_two_tasks_is_resumed_by_one(tmp_path, whole):
    path = tmp_path / "run.json"
    settings = BranchSettings(tolerance=1e-4, jobs=2, max_nodes=40)
    part = branch_and_benders(PROBLEM, settings=settings, run=Run(checkpoint=path, executor=Remote()))
    assert part.stop in ("iteration-limit", "optimal")
    held(branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4), run=Run(resume=path)), whole)
