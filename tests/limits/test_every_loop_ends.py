"""Every method ends soon after its limit, in seconds of the processor; on 200 and on large data with FSOPT_LIMITS=1."""

import os
import time

import numpy as np
import pytest

import fsopt
from fsopt.common.teams import unordered
from fsopt.data import Dataset
from fsopt.errors import FsoptError, WorkersLost

LIMIT, MOST, KILLED = 2.0, 4.0, 60.0
SEEDS = range(200) if os.environ.get("FSOPT_LIMITS") else (1, 4)
LARGE, LARGE_LIMIT, LARGE_MOST = {"wide": (100, 20_000), "long": (20_000, 200), "separated": (2_000, 100)}, 8.0, 11.6
SHAPES = tuple(LARGE) if os.environ.get("FSOPT_LIMITS") else ()
"""Large data take minutes for each method."""


def drawn(seed):
    """Return data with duplicates, integers, ties, categories as 0/1, constants or huge units, by the seed."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 160)), int(rng.integers(1, 24))
    kind = seed % 6
    X = rng.standard_normal((n, p))
    if kind == 1:
        X = np.round(X)
    elif kind == 2:
        X = np.eye(p)[rng.integers(0, p, size=n)]
    elif kind == 3:
        X = np.repeat(X[: n // 2], 2, axis=0)
        X = np.hstack([X, X[:, :1]])
    elif kind == 4:
        X = np.hstack([np.eye(4)[rng.integers(0, 4, size=n)] for _ in range(1 + p // 2)] + [np.ones((n, 1))])
    elif kind == 5:
        X = X * 10.0 ** rng.integers(-6, 7, size=p)
    y = np.where(X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Dataset(X, y)


def large(shape):
    """Return data of a shape in which features are hundreds of times as many as samples, or samples as features."""
    rng = np.random.default_rng(0)
    n, p = LARGE[shape]
    X = rng.standard_normal((n, p))
    signal = X[:, :5].sum(axis=1)
    y = np.where(signal + (0.0 if shape == "separated" else 1.0) * rng.standard_normal(n) > 0, 1.0, -1.0)
    if shape == "separated":
        X[:, :5] += 0.5 * y[:, None]
    return Dataset(X, y)


def seconds_of(method, given):
    """Return (processor seconds, status) of one fit on the data of a seed or a shape."""
    data, limit = (large(given), LARGE_LIMIT) if given in LARGE else (drawn(given), LIMIT)
    started = time.process_time()
    try:
        status = str(fsopt.fit(method, data, time_limit=limit, **fsopt.METHODS[method].compare(data.p)).status)
    except FsoptError as error:
        status = str(error)
    return time.process_time() - started, status


@pytest.mark.slow
@pytest.mark.parametrize("method", fsopt.METHODS)
def test_a_method_ends_soon_after_its_limit(method):
    """With FSOPT_LIMITS on large data too: within 1.2 times the limit and two seconds, for the imports of modules."""
    found = {}
    for given in (*SEEDS, *SHAPES):
        try:
            most = 10 * KILLED if given in LARGE else KILLED
            [found[given]] = unordered([(most, seconds_of, method, given)], 1)
        except WorkersLost as error:
            found[given] = error.message
    most = {given: LARGE_MOST if given in LARGE else MOST for given in found}
    assert {k: one for k, one in found.items() if not isinstance(one, tuple) or one[0] > most[k]} == {}
