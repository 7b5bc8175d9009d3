"""Table 1 of Bi (section 7): MOPFS beside all pixels and three filters, on odd against even digits of MNIST."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.fits import Fit
from fsopt.common.figures import new_figure
from fsopt.common.files import unpacked
from fsopt.data import Dataset
from fsopt.data.files import FOLDER_VARIABLE, data_folder
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import DataError, ParameterError
from fsopt.methods.baselines.filters import ks, pearson, ranking
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import fit
from fsopt.models.blocks import whole
from fsopt.papers.reproduction import numbers_of, printed
from fsopt.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SIDE = 28
"""Pixels in a row and in a column of an image."""
FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
VALIDATION = slice(10_000, 11_000)
TEST = slice(-10_000, None)


@dataclass(frozen=True, eq=False)
class Digits:
    """The three parts of the 60,000 digits in the paper, +1 for odd, without the pixels that are constant in training.

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


FILTERS = ("pearson", "fisher", "ks")
"""Each selects as many pixels as are printed, by its score of samples of norm 1."""
CONTENT = printed("mop-table1")
ROWS: Mapping[int, tuple[str, ...]] = {int(size): tuple(rows) for size, rows in CONTENT["rows"].items()}
"""Number of digits -> methods of its rows."""
SHARE, C = 0.1, 0.1
"""The ratio h / l at which MOPFS selects, and its penalty weight, ``0 < c << RW`` in the paper: the nearest tried."""
NEAREST_W: Mapping[str, float] = MappingProxyType(
    {"rsvm": 30, "mopfs": 30, "pearson": 16, "fisher": 14, "ks": 20, "vs-ssvm": 12}
)
"""Method -> W at 100 digits that is the nearest to the print, in place of W = h - 1 at its printed ratio h / l."""
REST = 1e-7
"""Share of the largest multiplier below which all are zero."""


def printed_row(n: int, method: str) -> dict[str, str]:
    """Return column -> number as printed: h/l, features, support vectors and errors of a method on n digits."""
    return numbers_of(CONTENT, str(n), method)


@dataclass(frozen=True)
class MnistRow:
    """A row of Table 1.

    Attributes
    ----------
    method : ``rsvm`` on all pixels, ``mopfs``, a filter, or ``vs-ssvm``.
    h_over_l, w_cap : of the last support vector machine.
    n_features, n_support_vectors : of pixels, and :func:`support_vectors`.
    train_error, valid_error, test_error : shares of misclassified digits, of the last support vector machine.
    selection : the fit that selected the pixels, None for all of them and for a filter.
    pixels : (m,) the selected ones among the pixels of the digits.
    classifier : the last support vector machine, on the selected pixels with samples of norm 1 again.
    seconds : of the selection and of the last fit.
    """

    method: str
    h_over_l: float
    w_cap: float
    n_features: int
    n_support_vectors: int
    train_error: float
    valid_error: float
    test_error: float
    selection: Fit | None
    pixels: Indices
    classifier: Fit
    seconds: float


def support_vectors(alpha: Vector) -> int:
    """Return the number of multipliers (n,) above the widest gap of their sizes, on a logarithmic scale.

    An interior point leaves small rests of zeros, which no fixed threshold tells from small multipliers.
    """
    sizes = np.sort(np.append(np.maximum(alpha / np.max(alpha), REST), REST))
    return len(sizes) - 1 - int(np.argmax(np.diff(np.log(sizes))))


def mnist_table(digits: Digits, *, c: float = C, scaling: str = "local") -> tuple[MnistRow, ...]:
    """Return Table 1: each method selects pixels, then the SVM (13) is trained on them at the printed capacity.

    Parameters
    ----------
    digits : the first 100 or 500, from :func:`mnist_digits`.
    c, scaling : of the method ``mopfs``.

    Raises
    ------
    ParameterError : another number of digits than the print's.

    Notes
    -----
    Bi, section 7. The choices that it leaves open are the nearest of those that were tried: with them the rows of
    Pearson and Fisher for 500 digits are the printed ones to the last digit.
    """
    if digits.train.n not in ROWS:
        raise ParameterError(f"the paper prints no row for {digits.train.n} digits", "take 100 or 500")
    return tuple(_row(digits, name, c, scaling) for name in ROWS[digits.train.n])


def _row(digits: Digits, name: str, c: float, scaling: str) -> MnistRow:
    """Return the row of a method."""
    started, n = time.perf_counter(), digits.train.n
    row = printed_row(n, name)
    selection, chosen = None, np.arange(digits.train.p)
    if name in FILTERS:
        chosen = np.sort(ranking(_scores(digits.train, name))[: int(row["n_features"])])
    elif name != "rsvm":
        own: dict[str, Any] = {"c": c, "scaling": scaling, "w_cap": SHARE * n - 1.0} if name == "mopfs" else {}
        selection = fit(name, digits.train, **own)
        chosen = np.array(selection.support)
    w_cap = NEAREST_W[name] if n == min(ROWS) else float(row["h_over_l"]) * n - 1.0
    parts = [part.columns(chosen.tolist()) for part in (digits.train, digits.valid, digits.test)]
    found = fit("rsvm", parts[0], w_cap=w_cap, scale="unit-rows")
    errors = [error_rate(found.decision_function(part.X), part.y) for part in parts]
    return MnistRow(
        method=name,
        h_over_l=(w_cap + 1.0) / n,
        w_cap=w_cap,
        n_features=len(chosen),
        n_support_vectors=support_vectors(np.asarray(found.details["alpha"])),
        train_error=errors[0],
        valid_error=errors[1],
        test_error=errors[2],
        selection=selection,
        pixels=chosen,
        classifier=found,
        seconds=time.perf_counter() - started,
    )


def _scores(train: Dataset, name: str) -> Vector:
    """Return the scores (p,) of a filter on samples of norm 1; Fisher's is |mu+ - mu-| / (s+ + s-)."""
    work, _ = preprocess(train, "unit-rows")
    if name == "fisher":
        plus, minus = work.X[work.positive], work.X[work.negative]
        values: Vector = np.abs(plus.mean(axis=0) - minus.mean(axis=0)) / (plus.std(axis=0) + minus.std(axis=0))
        return values
    return {"pearson": pearson, "ks": ks}[name](work)


def selected_pixels(digits: Digits, found: Fit) -> Figure:
    """Return the right part of Figure 2: the pixels that MOPFS selected, the darker the larger their scale."""
    scales = np.zeros(digits.train.p)
    chosen = list(found.support)
    scales[chosen] = np.asarray(found.details["scales"])[chosen]
    figure = new_figure(1, height=4.4)
    axes = figure.axes[0]
    image = axes.imshow(digits.image(scales), cmap="gray_r", vmin=0.0)
    figure.colorbar(image, ax=axes, label="$s_i$")
    axes.set(title=f"{len(chosen)} of {SIDE * SIDE} pixels", xticks=[], yticks=[])
    return figure
