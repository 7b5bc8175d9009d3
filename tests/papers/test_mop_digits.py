"""The digits of Bi: the reader of idx files, the paper's parts, and Table 1 for 100 training digits."""

import gzip
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from support import DIGITS, blobs, needs_digits, written

from fsopt.errors import DataError, ParameterError
from fsopt.papers.mop import experiments
from fsopt.papers.mop.experiments import FILES, mnist_digits, read_idx


def idx(array):
    """Return the bytes of an idx file."""
    return b"\x00\x00\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def test_an_idx_file_is_read_back_and_what_is_none_is_refused_by_its_name(tmp_path):
    for shape in ((7,), (2, 3, 5)):
        array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        np.testing.assert_array_equal(read_idx(written(tmp_path, "a.gz", idx(array)), *shape), array)
    five = idx(np.zeros(5, np.uint8))
    for content in (b"", b"\x00\x00\x0d" + five[3:], five[:7], five[:-1], five + b"\x00", idx(np.zeros(6, np.uint8))):
        with pytest.raises(DataError, match="no idx file of 5 bytes"):
            read_idx(written(tmp_path, "a.gz", content), 5)
    for name, content in (("plain.idx", five), ("cut.idx", gzip.compress(idx(np.zeros(200, np.uint8)))[:-9])):
        with pytest.raises(DataError, match=name):
            read_idx(written(tmp_path, name, content), 5)
    with pytest.raises(DataError, match="No such file"):
        read_idx(tmp_path / "none.gz", 3)
    written(tmp_path, FILES[0], idx(np.zeros((2, 28, 28), np.uint8)))
    with pytest.raises(DataError, match="no idx file of 60000 x 28 x 28 bytes"):
        mnist_digits(100, tmp_path)


def test_the_folder_is_that_of_the_data(monkeypatch, tmp_path):
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    with pytest.raises(DataError, match="FSOPT_DATA"):
        mnist_digits(100)
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    with pytest.raises(DataError, match="mnist"):
        mnist_digits(100)
    for n in (1, 10_001, 2.5):
        with pytest.raises(ParameterError, match="'n' of 'mnist'"):
            mnist_digits(n)


def test_other_digits_than_the_print_s_are_refused():
    digits = experiments.Digits(blobs(30, 3), blobs(10, 3), blobs(10, 3), np.array([5, 30, 783]))
    with pytest.raises(ParameterError, match="prints no row for 30 digits"):
        experiments.mnist_table(digits)


def test_support_vectors_are_the_multipliers_above_the_widest_gap():
    rng = np.random.default_rng(0)
    for zeros, rest in ((0, 1.0), (300, 1e-5), (300, 1e-12), (499, 1e-6)):
        alpha = np.append(rng.uniform(0.04, 3.0, 500 - zeros), rest * rng.uniform(0.0, 1.0, zeros))
        assert experiments.support_vectors(rng.permutation(alpha)) == 500 - zeros
    assert experiments.support_vectors(np.array([2.0, 2e-3, 0.0])) == 2


def test_the_picture_holds_each_scale_at_its_pixel():
    digits = experiments.Digits(blobs(p=3), blobs(p=3), blobs(p=3), np.array([5, 30, 783]))
    found = SimpleNamespace(support=(0, 2), details={"scales": [1.0, 2.0, 3.0]})
    image = experiments.selected_pixels(digits, found).axes[0].images[0].get_array()
    assert image.shape == (28, 28)
    assert (image[0, 5], image[1, 2], image[27, 27], image.sum()) == (1.0, 0.0, 3.0, 4.0)


@needs_digits
def test_the_parts_are_those_of_the_paper():
    digits = mnist_digits(100, DIGITS)
    images, labels = read_idx(DIGITS / FILES[0], 60_000, 28, 28), read_idx(DIGITS / FILES[1], 60_000)
    odd = labels % 2 == 1
    assert (digits.train.n, digits.valid.n, digits.test.n, digits.train.p) == (100, 1000, 10_000, 501)
    for part, rows in (
        (digits.train, range(100)),
        (digits.valid, range(10_000, 11_000)),
        (digits.test, range(50_000, 60_000)),
    ):
        np.testing.assert_array_equal(part.y > 0, odd[rows.start : rows.stop])
        for i in (0, part.n // 2, part.n - 1):
            shown = images[rows[i]].ravel()
            np.testing.assert_array_equal(part.X[i], shown[digits.pixels])
    constant = np.setdiff1d(np.arange(784), digits.pixels)
    assert np.ptp(images[:100].reshape(100, -1)[:, constant], axis=0).max() == 0
    assert not digits.train.constant
    assert digits.train.features[0] == f"row {digits.pixels[0] // 28 + 1} column {digits.pixels[0] % 28 + 1}"
