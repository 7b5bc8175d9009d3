"""The smallest number of errors of a hyperplane, over all dichotomies of a few samples."""

import functools
import itertools

import numpy as np
from scipy.optimize import linprog


@functools.cache
def least_errors(data):
    """Return the smallest number of errors of a hyperplane: samples without which the others are separable."""
    rows = -data.y[:, None] * np.column_stack([data.X, -np.ones(data.n)])
    for k in range(data.n + 1):
        for keep in itertools.combinations(range(data.n), data.n - k):
            found = linprog(np.zeros(data.p + 1), rows[list(keep)], -np.ones(len(keep)), bounds=(None, None))
            if found.status == 0:
                return k
    raise AssertionError
