"""The exact search with every pair of groups, signs, bounds, cardinality, costs and rules is enumeration, in any loss.

All 400 problems with ``FSOPT_TRUTH=1`` (``make truth``), else 30 of them, two of each pair.
"""

import os

import numpy as np
import pytest
from grouped_cases import PAIRS, drawn, enumerated
from support import sampled

import fsopt

LOSSES = ("hinge", "squared-hinge", "logistic")
COUNT = 400 if os.environ.get("FSOPT_TRUTH") else 30


@pytest.mark.parametrize("k", sampled(range(COUNT), 12))
def test_the_optimum_is_that_of_enumeration(k):
    data, params = drawn(k)
    loss, c = LOSSES[k // len(PAIRS) % 3], float(np.random.default_rng(k).choice([0.1, 1.0, 10.0]))
    fit = fsopt.fit("best-subset-penalised" if "lam" in params else "best-subset", data, c=c, loss=loss, **params)
    assert fit.status == "optimal", fit.warnings
    assert fit.objective == pytest.approx(enumerated(data, params, c, loss), rel=3e-6, abs=1e-9)
    assert fsopt.verify(fit, data).verified
