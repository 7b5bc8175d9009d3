"""The order of units and the estimate of the rest, on made-up units of known seconds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fsopt.studies.running import Rest, in_order

METHODS = {"gbd": 4.0, "fisher": 0.5, "pearson": 0.02}
"""Method -> seconds of each unit."""


def units(folds=10):
    """Return the units of two data sets."""
    return [
        SimpleNamespace(digest=data, method=method, solver=None, key=f"{data} {method} {fold}")
        for data in ("a", "b")
        for method in reversed(METHODS)
        for fold in range(folds)
    ]


def test_one_unit_of_each_kind_goes_first_and_loops_before_the_others():
    found = [units(3)[place] for place in in_order(units(3), range(18))]
    assert in_order(units(3), [8, 4]) == [8, 4]
    assert in_order(units(3), [4, 8, 7]) == [8, 4, 7]
    assert sorted(unit.key for unit in found) == sorted(unit.key for unit in units(3))
    assert sorted(unit.key for unit in found[:6]) == sorted(f"{d} {m} 0" for d in "ab" for m in METHODS)
    assert [unit.method for unit in found[:2]] == ["gbd"] * 2
    assert [unit.method for unit in found[6:10]] == ["gbd"] * 4
    assert "gbd" not in [unit.method for unit in found[10:]]


@pytest.mark.parametrize("workers", [1, 4])
def test_the_estimate_is_the_rest_from_the_first_on(workers):
    waiting = [units()[place] for place in in_order(units(), range(60))]
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
