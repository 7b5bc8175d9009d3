"""The search over groups of features, and with bounds on their weights: its relaxations."""

import numpy as np
import pytest
from support import blobs, exact_value

import fsopt
from fsopt.data.hyperplanes import LOSSES
from fsopt.models.gbd.feature_lists import Groups, WeightBounds
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Columns


@pytest.mark.slow
def test_many_groups_are_taken_in_by_turns():
    """Above 150 free features a program has some of them, and takes in those that it lacks."""
    data = blobs(16, 160, seed=3, gap=0.2)
    groups = Groups(tuple(map(str, range(159))), np.maximum(np.arange(160) - 1, 0))
    columns = Columns.needed(groups, WeightBounds(np.zeros(160), np.full(160, np.inf)))
    none = np.zeros(159)
    problem = SelectionProblem.of(data, 1.0, np.ones((1, 159)), np.ones(1), none, columns=columns)
    best = min(exact_value(data, groups.of == g, 1.0, "hinge", np.zeros(160), np.full(160, np.inf)) for g in range(159))
    assert branch_and_benders(problem).objective == pytest.approx(best, rel=2e-6)


def test_bounds_that_are_far_away_are_as_none():
    data = blobs(12, 3, seed=1)
    wide = {"lower": {0: -5e5, 1: -1e9}, "upper": {1: 1e7, 2: 3e3}}
    for loss in LOSSES:
        bounded, free = (fsopt.fit("best-subset", data, m=2, c=17.0, loss=loss, **ends) for ends in (wide, {}))
        assert bounded.status == "optimal"
        assert bounded.objective == pytest.approx(free.objective, rel=2e-6)
