"""Subtrees of a proof tree as tasks: the same answer for any executor, and evidence that holds."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from executors import Lost, Remote
from integer_programs import best_knapsack, knapsacks, near

import fsopt
from fsopt.errors import ParameterError
from fsopt.search import frontier
from fsopt.search.branch_and_bound import driver


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Give subtrees out as soon as there are some, in small slices: a small program has few open nodes."""
    monkeypatch.setattr(driver, "RAMP", 1)
    monkeypatch.setattr(frontier, "SLICE", 0.05)


@pytest.mark.parametrize("kind", [Remote, lambda: ThreadPoolExecutor(2)], ids=["remote", "threads"])
def test_the_answer_is_that_of_enumeration_for_any_executor(kind):
    model, before = knapsacks(8), Remote.tasks
    with kind() as executor:
        result = fsopt.prove(model, jobs=2, executor=executor)
    assert kind is not Remote or Remote.tasks > before + 1
    best = best_knapsack(model)
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert near(result.objective, best)
    assert near(result.bound, best)
    assert fsopt.verify(result, model, exact=True).verified


@pytest.mark.parametrize(("after", "cancelled"), [(0, False), (1, False), (1, True)])
def test_nodes_of_lost_processes_are_searched_here(after, cancelled):
    model = knapsacks(10)
    result = fsopt.prove(model, jobs=2, executor=Lost(after, cancelled))
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert near(result.bound, best_knapsack(model))
    assert fsopt.verify(result, model).verified


@pytest.mark.slow
def test_a_checkpoint_of_two_tasks_is_resumed_by_one(tmp_path):
    path, model = tmp_path / "tree.npz", knapsacks(10)
    fsopt.prove(model, jobs=2, executor=Remote(), checkpoint=path)
    result = fsopt.prove(model, resume=path)
    assert result.status == "optimal"
    assert near(result.bound, best_knapsack(model))


def test_what_is_no_number_of_subtrees_is_refused():
    for given in ({"jobs": 0}, {"jobs": 1.5}, {"executor": Remote()}, {"jobs": 2, "executor": "two"}):
        with pytest.raises(ParameterError):
            fsopt.prove(knapsacks(3), **given)
