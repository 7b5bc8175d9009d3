"""VS-SSVM: its parts, each sparse SVM beside a fresh solve, the union, restricted programs, forgeries."""

from dataclasses import replace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.drivers.baselines import nonzero, partitions
from fsopt.drivers.run import Run
from fsopt.methods.baselines.vs_ssvm import parts_of
from fsopt.verification.verify import check_fit


def test_parts_are_shares_of_each_class():
    data = fsopt.Dataset(np.arange(50.0)[:, None], [1.0] * 20 + [-1.0] * 30)
    parts = parts_of(data, 6, 0.5, seed=3)
    for part in parts:
        assert len(set(part.tolist())) == 25
        assert np.sum(data.y[part] > 0) == 10
    assert len({tuple(part.tolist()) for part in parts}) == 6
    again, other = parts_of(data, 6, 0.5, seed=3), parts_of(data, 6, 0.5, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(parts, other, strict=True))
    assert [len(part) for part in parts_of(data, 2, 1.0, seed=0)] == [50, 50]
    assert [len(part) for part in parts_of(data, 1, 1e-3, seed=0)] == [2]


@pytest.mark.parametrize("solver", [None, "clarabel"])
def test_each_sparse_svm_is_the_one_norm_svm_of_its_samples(solver):
    data = blobs(60, 8, seed=1)
    parts = parts_of(data, 3, 0.6, seed=2)
    found = partitions(data, parts, c=0.7, run=Run(solver=solver))
    assert found.certificate.ok
    values = []
    for k, part in enumerate(parts):
        alone = fsopt.fit("onsvm", data.rows(part), c=0.7, scale="none")
        values.append(alone.objective)
        np.testing.assert_allclose(found.point["w"][k], alone.coef, atol=1e-6)
        assert tuple(np.flatnonzero(found.point["selected"][k])) == alone.support
    assert found.objective == pytest.approx(sum(values), rel=1e-6)
    assert len(set(map(tuple, found.point["selected"].tolist()))) > 1


def test_the_last_svm_is_trained_on_the_union():
    data = blobs(80, 10, seed=1)
    fit = fsopt.fit("vs-ssvm", data, c=0.08, n_partitions=8, scale="standard")
    assert fit.details["counts"].tolist() == nonzero(fit.details["sparse_w"]).sum(axis=0).tolist()
    union = np.flatnonzero(fit.details["counts"])
    assert fit.support == tuple(union)
    assert {0, 1} <= set(union.tolist())
    assert 2 < len(union) < 10
    assert fit.details["counts"][:2].tolist() == [8, 8]
    work = data.with_X((data.X - data.X.mean(axis=0)) / data.X.std(axis=0))
    alone = fsopt.fit("rsvm", work.columns(union), scale="none", w_cap=fit.details["w_cap"])
    assert fit.objective == pytest.approx(alone.objective, rel=1e-6)
    assert (fit.status, fit.bound, fit.stop, fit.iterations) == ("feasible", None, "complete", 8)


def test_no_feature_at_all_is_told_and_checked():
    data = blobs(41, 4)
    fit = fsopt.fit("vs-ssvm", data, c=1e-6, n_partitions=2)
    assert fit.support == ()
    assert not np.any(fit.coef)
    assert "raise c" in fit.warnings[0]
    assert fit.certificate.ok
    assert check_fit(fit, data).ok
    assert fit.objective == pytest.approx(2 * 20)


def test_an_early_end_leaves_the_machines_trained_so_far():
    def interrupt(record):
        raise KeyboardInterrupt

    data = blobs(60, 5)
    fit = fsopt.fit("vs-ssvm", data, progress=interrupt)
    assert fit.stop == "interrupted"
    assert fit.iterations == 1
    assert fit.details["sparse_w"].shape == (1, 5)
    assert check_fit(fit, data).ok
    assert not check_fit(replace(fit, stop="complete"), data).ok
