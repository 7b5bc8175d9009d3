"""The digits of Bi (section 7): odd against even on MNIST, in the three parts of the paper."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fsopt.common.memory import unpacked
from fsopt.data import Dataset
from fsopt.data.files import FOLDER_VARIABLE, data_folder
from fsopt.errors import DataError
from fsopt.models.blocks import whole
from fsopt.typing import Indices, Matrix, Vector

SIDE = 28
"""Pixels in a row and in a column of an image."""
FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
VALIDATION = slice(10_000, 11_000)
TEST = slice(-10_000, None)


@dataclass(frozen=True, eq=False)
class Digits:
    """The three parts of the 60,000 digits in the paper, +1 for odd, without the pixels that are constant in training.

    Two of them are equal where they are the same object, which lets functions keep what they found for one.

    Attributes
    ----------
    train, valid, test : the first l digits, the 1000 after the first 10,000, and the last 10,000.
    pixels : (p,) indices of the remaining pixels, 0..783, row by row.
    """

    train: Dataset
    valid: Dataset
    test: Dataset
    pixels: Indices

    def image(self, values: Vector) -> Matrix:
        """Return values (p,) of the remaining pixels as an image (28, 28), 0 elsewhere."""
        flat = np.zeros(SIDE * SIDE)
        flat[self.pixels] = values
        return flat.reshape(SIDE, SIDE)


def read_idx(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """Return the array of a gzip'ed idx file of bytes, the format of MNIST.

    Raises
    ------
    DataError : the file cannot be read, is no gzip'ed idx file of bytes, differs in length from its header, or would
        expand beyond the limit on memory.
    """
    hint = f"give the original {FILES[0]} or {FILES[1]}"
    try:
        content = unpacked(Path(path).read_bytes(), "the expanded file")
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror or error}", hint) from error
    except (EOFError, zlib.error) as error:
        raise DataError(f"'{path}' is damaged: {error}", hint) from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or len(content) < 4 + 4 * content[3]:
        raise DataError(f"'{path}' is no idx file of bytes", hint)
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4).astype(int)
    start, length = 4 + 4 * len(shape), int(np.prod(shape))
    if len(content) != start + length:
        raise DataError(f"'{path}' holds {len(content) - start} bytes, its header states {length}", hint)
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def mnist_digits(n: int, folder: str | os.PathLike[str] | None = None) -> Digits:
    """Return the parts of MNIST that the paper uses.

    Parameters
    ----------
    n : number of training digits (l in the paper), 2 to 10,000; the paper has 100 and 500.
    folder : with the two files of the training digits; by default ``mnist`` in the folder of the environment
        variable FSOPT_DATA.

    Raises
    ------
    DataError : the files are missing, damaged, or do not hold 60,000 digits of 28 by 28 pixels.
    ParameterError : n outside its range.
    """
    n = whole("mnist", "n", n, low=2, high=VALIDATION.start)
    if folder is None:
        home = data_folder()
        if home is None:
            raise DataError("there is no folder with the digits", f"set {FOLDER_VARIABLE}, or give the folder")
        folder = home / "mnist"
    images, labels = (read_idx(Path(folder) / name) for name in FILES)
    if images.shape != (60_000, SIDE, SIDE) or labels.shape != (60_000,):
        raise DataError(f"the files hold {images.shape} images and {labels.shape} labels", "give those of MNIST")
    flat, y = images.reshape(60_000, -1), np.where(labels % 2 == 1, 1.0, -1.0)
    pixels = np.flatnonzero(flat[:n].min(axis=0) != flat[:n].max(axis=0))
    names = [f"row {j // SIDE + 1} column {j % SIDE + 1}" for j in pixels]
    train, valid, test = (
        Dataset(flat[part][:, pixels], y[part], names, name=f"mnist {word}", labels=("even", "odd"))
        for part, word in ((slice(n), "training"), (VALIDATION, "validation"), (TEST, "test"))
    )
    return Digits(train, valid, test, pixels)
