"""The open nodes of a search: their order, their shares for tasks, and rounds of tasks with checkpoints between."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from fsopt.common import checkpoints
from fsopt.search import frontier
from fsopt.search.frontier import Frontier


def node(number, bound):
    return SimpleNamespace(number=number, bound=bound)


def test_nodes_come_by_bound_and_equal_ones_by_number():
    rng = np.random.default_rng(0)
    nodes = [node(k, bound) for k, bound in enumerate(rng.integers(0, 5, 40).tolist())]
    held = Frontier()
    assert (len(held), held.bound, held.nodes) == (0, np.inf, [])
    held.push(*(nodes[k] for k in rng.permutation(40)))
    wanted = sorted(nodes, key=lambda one: (one.bound, one.number))
    assert held.nodes == wanted
    assert (held.best, held.bound) == (wanted[0], wanted[0].bound)
    assert [held.pop() for _ in nodes] == wanted


def test_each_task_gets_a_share_of_the_best_nodes_and_none_is_lost():
    nodes = [node(k, float(k)) for k in range(10)]
    held = Frontier()
    held.push(*nodes)
    first = held.shared(3, 2)
    assert [one.number for one in first] == [0, 3]
    assert held.nodes == [one for one in nodes if one not in first]
    assert held.shared(1, 100) == [one for one in nodes if one not in first]
    assert not held


class Busy(frontier.Team):
    """A team whose tasks are out in each of a hundred rounds, unless it is told to finish."""

    ran = finished = 0

    def run(self, go_on, seconds):
        self.pending = dict.fromkeys(range(self.ran < 100))
        self.ran += 1
        if not self.pending:
            self.frontier.replace()

    def finish(self):
        self.finished += 1
        self.pending = {}


def test_tasks_that_never_end_together_are_taken_in_for_checkpoints():
    # Each look at the clock takes a second, and so does writing a checkpoint.
    open_nodes, keeper = frontier.Frontier([(0.0, 0, None)]), checkpoints.Keeper("run.npz", lambda path: None)
    team = Busy(open_nodes, None, 2, None, None)
    seconds = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
        for due in team.rounds(lambda: True, 0.0, keeper):
            assert not (due and team.pending)
            if due:
                keeper.write()
    assert team.ran == 101
    assert team.finished >= 5
