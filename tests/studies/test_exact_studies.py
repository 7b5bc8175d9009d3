"""The path, necessity and alternatives replayed in rational arithmetic, each claim confirmed by the verifier."""

import numpy as np
import pytest
from proof_files import refused
from support import blobs

import fsopt


@pytest.fixture(scope="module")
def data():
    return blobs(n=20, p=4, seed=4, gap=0.4)


def confirmed(claim):
    return not refused(claim.part)


def test_every_search_of_necessity_is_verified_exactly(data):
    found = fsopt.necessity(data, 2, exact=True)
    assert len(found.exact) == data.p + 1
    assert all(claim.holds and confirmed(claim) for claim in found.exact)
    others = [found.without[j] if j in found.support else found.with_feature[j] for j in range(data.p)]
    assert np.allclose([float(claim.upper) for claim in found.exact[1:]], others, rtol=1e-9)
    assert fsopt.necessity(data, 2).exact == ()


def test_all_other_selections_cost_more_than_the_limit(data):
    found = fsopt.alternatives(data, 2, within=0.3, exact=True)
    claim = found.exact
    assert found.complete
    assert claim.holds
    assert confirmed(claim)
    assert found.limit <= float(claim.lower) <= found.bound * (1 + 1e-9) + 1e-9
    # A claim on the optimum may not leave the known selections out.
    statement = claim.part["statement"]
    assert refused({**claim.part, "statement": {**statement, "status": "interval", "upper": 10**9}})
