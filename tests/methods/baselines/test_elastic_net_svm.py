"""The elastic net SVM: its ends, the optimum by cutting planes, forgeries."""

import pytest
from support import blobs

import fsopt

DATA = blobs(24, 4, seed=3, gap=0.5)


@pytest.mark.parametrize(("rho", "other"), [(0.0, "svm"), (1.0, "onsvm")])
def test_the_ends_are_the_svm_and_the_one_norm_svm(rho, other):
    ours, known = (fsopt.fit(name, DATA, **p) for name, p in (("elastic-net-svm", {"l1_ratio": rho}), (other, {})))
    assert ours.objective == pytest.approx(known.objective, rel=1e-6)
    assert ours.support == known.support
