"""Independent calls side by side: in order, as they come, and beside workers that are replaced."""

import builtins
import os
import time

import pytest

from fsopt.common.teams import side_by_side

GROWTH = 60_000_000
"""Bytes by which a worker grows in a call; joblib replaces one that has grown by 300 MB."""


def grown(number):
    """Return a number and the process, which keeps what it allocates."""
    vars(builtins).setdefault("kept", []).append(b"x" * GROWTH * (number > 1))
    time.sleep(0.5)
    return number, os.getpid()


def test_values_are_in_the_order_of_the_calls_or_handed_over_as_they_come():
    assert side_by_side(pow, [(2, 3), (3, 2), (5, 0)], 1) == [8, 9, 1]
    seen = []
    found = side_by_side(pow, zip((2, 3, 5), (3, 2, 0), strict=True), 1, seen.append)
    assert sorted(found) == [1, 8, 9]
    assert seen == found


@pytest.mark.slow
def test_a_worker_that_is_replaced_ends_no_run_where_warnings_are_errors():
    found = side_by_side(grown, zip(range(24)), 2)
    assert [number for number, _ in found] == list(range(24))
    assert len({process for _, process in found}) > 2
