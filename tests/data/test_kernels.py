"""Kernels, and the minimax probability machines on kernel matrices (Yang & Ju, section 3.2)."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import pairwise
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.saved import fit_from, numbers
from fsopt.data.kernels import Kernel
from fsopt.errors import DataError, FileError, ParameterError

MACHINES = ("mpm", "l1-mpm", "l0-mpm")


def test_matrices_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    gaussian = Kernel("gaussian", Z, width=0.7).matrix(X)
    np.testing.assert_allclose(gaussian, pairwise.rbf_kernel(X, Z, gamma=1 / (2 * 0.7**2)), rtol=1e-12)
    polynomial = Kernel("polynomial", Z, degree=3, offset=0.5).matrix(X)
    np.testing.assert_allclose(
        polynomial, pairwise.polynomial_kernel(X, Z, gamma=1, degree=3, coef0=0.5), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(Kernel("linear", Z).matrix(X), pairwise.linear_kernel(X, Z), atol=1e-15)


def test_gaussian_distances_survive_a_large_offset_of_the_columns() -> None:
    X = np.random.default_rng(2).standard_normal((6, 4))
    moved = Kernel("gaussian", X + 2.0**20).matrix(X + 2.0**20)
    np.testing.assert_allclose(moved, Kernel("gaussian", X).matrix(X), atol=1e-8)
    assert (np.diag(moved) == 1).all()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("width", (0.0, -1.0, np.inf, np.nan, "wide", True)),
        ("degree", (0, 1.5, np.nan, np.inf)),
        ("offset", (-0.1,)),
        ("name", ("rbf",)),
    ],
)
def test_a_parameter_outside_its_range_is_named(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ParameterError, match="kernel is"):
            Kernel(**{"name": "gaussian", "patterns": np.eye(2), name: value})
    with pytest.raises(DataError, match="overflow"):
        Kernel("polynomial", np.eye(2), degree=200).matrix(np.array([[1e3, 0.0]]))


def test_patterns_are_a_finite_matrix_that_cannot_be_changed() -> None:
    for wrong in (np.array([[np.nan, 1.0]]), np.ones(3)):
        with pytest.raises(DataError):
            Kernel("linear", wrong)
    Z = np.eye(2)
    kernel = Kernel("linear", Z)
    Z[0, 0] = 5.0
    assert kernel.patterns[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        kernel.patterns[0, 0] = 5.0


def test_the_linear_kernel_gives_the_hyperplane_of_the_columns() -> None:
    data, new = blobs(40, 5), blobs(200, 5, seed=9).X
    plane = fsopt.fit("mpm", data)
    machine = fsopt.fit("mpm", data, kernel="linear", ridge=1e-9)
    assert machine.details["kappa_limit"] == pytest.approx(plane.details["kappa_limit"], rel=1e-6)
    scores, expected = machine.decision_function(new), plane.decision_function(new)
    np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("scale", ["standard", "unit-rows"])
def test_prediction_is_the_kernel_expansion_over_the_training_rows(scale: str) -> None:
    data, new = blobs(30, 3), np.random.default_rng(4).standard_normal((5, 3))
    fit = fsopt.fit("l1-mpm", data, kernel="gaussian", width=1.5, scale=scale)
    Z, z = ((X - data.X.mean(axis=0)) / data.X.std(axis=0) for X in (data.X, new))
    if scale == "unit-rows":
        Z, z = (V / np.linalg.norm(V, axis=1, keepdims=True) for V in (Z, z))
    expected = [
        sum(c * np.exp(-np.sum((row - pattern) ** 2) / (2 * 1.5**2)) for c, pattern in zip(fit.coef, Z, strict=True))
        for row in z
    ]
    np.testing.assert_allclose(fit.decision_function(new), np.array(expected) + fit.intercept, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", MACHINES)
def test_the_order_of_the_rows_does_not_matter(method: str) -> None:
    data = blobs(20, 3)
    order = np.random.default_rng(6).permutation(data.n)
    fit, moved = (fsopt.fit(method, d, kernel="gaussian", width=1.5) for d in (data, data.rows(order)))
    assert moved.objective == pytest.approx(fit.objective, rel=1e-5)
    new = blobs(50, 3, seed=8).X
    size = np.abs(fit.decision_function(new)).max()
    np.testing.assert_allclose(moved.decision_function(new), fit.decision_function(new), atol=2e-3 * size)


def test_the_default_ridge_follows_the_scale_of_the_kernel() -> None:
    data = blobs(30, 3)
    fit = fsopt.fit("mpm", data, kernel="linear", scale="none")
    large = fsopt.fit("mpm", data.with_X(10 * data.X), kernel="linear", scale="none")
    assert large.details["ridge"] == pytest.approx(1e4 * fit.details["ridge"])
    assert large.details["kappa_limit"] == pytest.approx(fit.details["kappa_limit"], rel=1e-8)


def test_widths_that_tell_nothing() -> None:
    data = blobs(30, 3)
    with pytest.raises(ParameterError, match="nearly the same values"):
        fsopt.fit("mpm", data, kernel="gaussian", width=1e9)
    fit = fsopt.fit("mpm", data, kernel="gaussian", width=1e-3)
    assert any("unlike every other" in warning for warning in fit.warnings)
    assert fit.scores(data)["accuracy"] == 1.0
    new = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(fit.decision_function(new), fit.intercept, atol=1e-12)
    usual = fsopt.fit("mpm", data, kernel="gaussian")
    assert not usual.warnings
    assert usual.kernel is not None
    assert usual.kernel.width == pytest.approx(np.sqrt(data.p / 2))


def test_a_damaged_kernel_is_refused() -> None:
    data = blobs(20, 3)
    fit = fsopt.fit("l1-mpm", data, kernel="gaussian")
    record = numbers(json.loads(json.dumps(fit_record(fit, data=data, source="blobs"))))
    kernel = record["kernel"]
    again = fit_from(record, "fit.json")
    assert (again.decision_function(data.X) == fit.decision_function(data.X)).all()
    patterns = kernel["patterns"]
    damages = [
        {"patterns": patterns[1:]},
        {"patterns": [row[1:] for row in patterns]},
        {"patterns": [[*patterns[0][1:], float("nan")], *patterns[1:]]},
        {"width": -1.0},
        {"height": 2.0},
    ]
    for damage in damages:
        with pytest.raises(FileError, match="is not a saved answer"):
            fit_from(record | {"kernel": kernel | damage}, "fit.json")
