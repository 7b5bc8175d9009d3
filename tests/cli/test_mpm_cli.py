"""Minimax probability machines on the command line: the printed table, and ``show --limits``."""

from __future__ import annotations

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.methods.mpm.worst_case import accuracy_limit
from fsopt.models.mpm.moments import Moments


@pytest.mark.parametrize("method", ["mpm", "l1-mpm"])
def test_fit_prints_the_worst_case_beside_the_measured_accuracy(method, small, run):
    data = fsopt.load_dataset("small.csv")
    text = run(f"fit {method} --data small.csv")
    fit = fsopt.fit(method, data)
    right = fit.predict(data.X) == data.y
    one, two = fit.details["worst_case"]
    assert f"class +1 {one:.4f} (train {right[data.y > 0].mean():.4f}), class -1 {two:.4f} (train " in text
    assert f"features ({len(fit.support)} of 3, {len(fit.support) / 3:.1%})" in text


def test_show_has_the_limits_of_all_samples_and_of_every_training_fold(small, run):
    record = run("show l1-mpm --data small.csv --limits 4 --json")
    assert {"data", "n", "p", "folds", "seed", "paper_delta", "largest_delta", "rows"} == set(record)
    assert [row["rows"] for row in record["rows"]] == ["all", "fold 1", "fold 2", "fold 3", "fold 4"]
    limit = accuracy_limit(Moments.of(fsopt.load_dataset("small.csv")))
    assert record["rows"][0]["kappa"] == pytest.approx(limit.kappa, rel=1e-8)
    assert record["largest_delta"] == min(row["alpha"] for row in record["rows"])
    assert [row["n"] for row in record["rows"]] == [24, 18, 18, 18, 18]
    assert "0.9 is infeasible" in run("show l1-mpm --data small.csv --limits 0")


def test_limits_warns_of_singular_covariances(small, run):
    wide, single = blobs(10, 15), blobs(40, 3)
    for X, y, kappa, warning in (
        (wide.X, wide.y, np.inf, "separate the means"),
        (
            np.column_stack([single.X, single.X[:, 0]]),
            single.y,
            accuracy_limit(Moments.of(single)).kappa,
            "is singular",
        ),
    ):
        np.savez("data.npz", X=X, y=y)
        [row] = run("show l1-mpm --data data.npz --limits 0 --json")["rows"]
        assert float(row["kappa"]) == pytest.approx(kappa, rel=1e-7)
        assert row["separating"] == (kappa == np.inf)
        assert warning in run.err
