"""Products and factors in pieces are those in one piece, and end with the clock."""

import numpy as np
import pytest

from fsopt.common import clock
from fsopt.errors import OutOfTimeError
from fsopt.linear import pieces

A = np.random.default_rng(0).standard_normal((90, 41))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 0)
    monkeypatch.setattr(pieces, "FEWEST", 7)
    monkeypatch.setattr(pieces, "TILE", 8)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_product_in_pieces(order):
    assert np.allclose(np.tril(pieces.gram(np.array(A, order=order))), np.tril(A.T @ A), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("p", [1, 8, 16, 17, 40, 41])
def test_a_factor_by_tiles(p):
    matrix = A[:, :p].T @ A[:, :p]
    factor = np.tril(pieces.cholesky(np.asfortranarray(np.tril(matrix))))
    assert np.allclose(factor, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-12)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    matrix = A.T @ A
    matrix[30, 30] = -1.0
    assert pieces.cholesky(matrix) is None


@pytest.mark.parametrize("work", [lambda: pieces.gram(A), lambda: pieces.cholesky(A.T @ A)], ids=["gram", "cholesky"])
def test_the_clock_ends_them_between_two_pieces(work):
    with clock.limited(0.0), pytest.raises(OutOfTimeError):
        work()
