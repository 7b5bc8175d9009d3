"""The open nodes of a search: their order, and their shares for tasks."""

from types import SimpleNamespace

import numpy as np

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
