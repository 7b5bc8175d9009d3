"""Studies of weighted samples: a weight of k is k equal samples."""

import numpy as np
import pytest
from support import blobs

import fsopt

DATA = blobs(20, 4, gap=0.8, seed=3)
WEIGHTS = np.random.default_rng(1).integers(1, 5, DATA.n)
BOTH = DATA.weighted(sample_weight=WEIGHTS), DATA.rows(np.repeat(np.arange(DATA.n), WEIGHTS))
STUDIES = {
    "path of the number of features": lambda data: fsopt.selection_path(data, m=[1, 2, 3]).objective,
    "path of the radii": lambda data: fsopt.radius_path(data, (1.0, 4.0)).objective.ravel(),
    "front of loss and capacity": lambda data: fsopt.pareto_front(data, (3.0, 10.0)).y,
    "alternatives": lambda data: np.array(
        [r["objective"] for r in fsopt.alternatives(data, 2, within=0.1).to_records()]
    ),
    "necessity": lambda data: fsopt.necessity(data, 2).without,
}


@pytest.mark.parametrize("name", STUDIES)
def test_whole_weights_are_repeated_samples(name):
    weighted, repeated = map(STUDIES[name], BOTH)
    assert weighted == pytest.approx(repeated, rel=1e-5)
