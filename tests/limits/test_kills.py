"""A run that is killed at random moments and resumed ends as the run that was not: the same record but for seconds.

Every method with checkpoints is taken; 20 kills with ``FSOPT_LIMITS=1`` (``make limits``), else 2.
"""

import os

import numpy as np
import pytest
from kills import killed_again_and_again, lasting, uninterrupted
from support import blobs

import fsopt

KILLS = 20 if os.environ.get("FSOPT_LIMITS") else 2
PARAMS = {"gbd": "--param m=5", "gbd-lambda": "--param lam=1.0 --param max_cuts=100"}
RESUMABLE = [name for name, spec in fsopt.METHODS.items() if spec.resumable]


@pytest.mark.slow
@pytest.mark.parametrize("method", RESUMABLE)
def test_a_killed_and_resumed_run_ends_as_the_whole_one(method, tmp_path):
    data = blobs(80, 18, seed=3, gap=0.1)
    np.savez(tmp_path / "data.npz", X=data.X, y=data.y)
    words = f"fit {method} --data {tmp_path / 'data.npz'} {PARAMS.get(method, '')}"
    whole, seconds = uninterrupted(words, tmp_path)
    resumed = killed_again_and_again(words, tmp_path, KILLS, seconds, seed=0)
    assert lasting(resumed) == lasting(whole)
