"""Proofs of integer programs: the tree against enumeration, its replay, limits, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from integer_programs import KINDS, random_program

import fsopt


def proved(seed, kind, **options):
    model, best = random_program(seed, kind)
    return model, best, fsopt.prove(model, time_limit=30, **options)


def agrees(result, best):
    if not np.isfinite(best):
        return result.status == "infeasible"
    return (
        result.status == "optimal"
        and abs(result.objective - best) <= 1e-6 * max(1.0, abs(best))
        and abs(result.bound - best) <= 1e-6 * max(1.0, abs(best))
        and result.certificate.bound_source.startswith("proved by fsopt")
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_are_proved_as_enumeration_says(seed, kind):
    model, best, result = proved(seed, kind)
    assert agrees(result, best)
    assert fsopt.verify(result, model).verified
    assert fsopt.certify(model, result).ok


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 67))
def test_many_random_programs_are_proved_as_enumeration_says(seed):
    for kind in KINDS:
        model, best, result = proved(seed, kind)
        assert agrees(result, best), kind
        assert fsopt.verify(result, model).verified, kind
