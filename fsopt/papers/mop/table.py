"""Table 1 of Bi (section 7): MOPFS beside all pixels and three filters, on odd against even digits of MNIST."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.fits import Fit
from fsopt.common.arguments import word
from fsopt.common.figures import new_figure
from fsopt.common.memory import unpacked
from fsopt.data import Dataset
from fsopt.data.files import FOLDER_VARIABLE, data_folder
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import DataError, ParameterError
from fsopt.methods.baselines.filters import fisher as fisher_scores
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


Machine: TypeAlias = tuple[Fit, float, tuple[float, ...]]
"""A support vector machine, its capacity, and its errors on the three parts of the digits."""
SHARES = (0.05, 0.1, 0.13, 0.15, 0.16, 0.2, 0.25, 0.3, 0.5)
"""h / l that are tried on the validation digits: the printed ones, in the printed range 0.05 to 0.5."""
SUPPORT = 1e-6
"""Multipliers above this make a support vector."""
FILTERS = ("pearson", "fisher", "ks")
"""Each selects as many pixels as MOPFS."""
CONTENT = printed("mop-table1")
NEAREST_W: Mapping[str, float] = MappingProxyType(
    {"rsvm": 30, "mopfs": 30, "pearson": 16, "fisher": 14, "ks": 20, "vs-ssvm": 12}
)
"""Method -> W at 100 digits that is the nearest to the print."""
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "scores": ("unit-rows", "standard"),
        "fisher": ("deviations", "variances"),
        "samples": ("unit-rows", "scaled"),
        "capacity": ("h - 1", "(h - 1) / R"),
        "count": ("print", "mopfs"),
        "h": ("print", "validation"),
    }
)
"""Words of a :class:`Reading`, the nearest to the print first."""


@dataclass(frozen=True)
class DigitsRow:
    """A row of Table 1, each number with its printed digits: h/l, features, support vectors, errors."""

    h_over_l: str
    n_features: str
    n_support_vectors: str
    train_error: str
    test_error: str


TABLE_ONE: Mapping[int, Mapping[str, DigitsRow]] = MappingProxyType(
    {
        int(size): MappingProxyType({method: DigitsRow(**numbers_of(CONTENT, size, method)) for method in rows})
        for size, rows in CONTENT["rows"].items()
    }
)
"""l -> method -> printed row; the paper has 571 pixels that are not constant, these digits have 501 and 579."""


@dataclass(frozen=True)
class Reading:
    r"""The choices that section 7 leaves open, and whether the numbers that it prints are taken from it.

    Attributes
    ----------
    scores : the samples that a filter scores: ``unit-rows`` (centred, unit deviation, norm 1) or ``standard``.
    fisher : Fisher's criterion: ``deviations`` :math:`|\mu^+ - \mu^-|/(s^+ + s^-)`, or ``variances``
        :math:`(\mu^+ - \mu^-)^2/(v^+ + v^-)`.
    samples : of the last support vector machine: ``unit-rows``, the selected pixels brought to unit deviation and norm
        1 again; or ``scaled``, the pixels of the samples that selected them, times the roots of the scales of MOPFS.
    capacity : its W at a ratio h / l: ``h - 1``, as the caption of Table 1 has it, or ``(h - 1) / R`` with R the
        largest squared norm of a sample.
    count : pixels that a filter keeps: those of the ``print``, or those of our ``mopfs``.
    h : its ratio h / l: that of the ``print``, or of smallest error by ``validation``, the first of equal ones.
    c : penalty weight of MOPFS, ``0 < c << RW`` in the paper.
    w : method -> W of its last support vector machine at 100 digits, where it is not that of its printed ratio h / l.
    """

    scores: str = "unit-rows"
    fisher: str = "deviations"
    samples: str = "unit-rows"
    capacity: str = "h - 1"
    count: str = "print"
    h: str = "print"
    c: float = 0.1
    w: Mapping[str, float] = field(default_factory=lambda: dict(NEAREST_W))

    def __post_init__(self) -> None:
        for name, values in WORDS.items():
            word(name, getattr(self, name), values)


@dataclass(frozen=True)
class MnistRow:
    """A row of Table 1.

    Attributes
    ----------
    method : ``rsvm`` on all pixels, ``mopfs``, a filter, or ``vs-ssvm``.
    h_over_l, w_cap : of the last support vector machine.
    n_features, n_support_vectors : pixels; multipliers above 1e-6.
    train_error, valid_error, test_error : shares of misclassified digits, of the last support vector machine.
    selection : the fit that selected the pixels, None for all of them and for a filter.
    pixels : (m,) the selected ones among the pixels of the digits.
    classifier : the last support vector machine, on the samples of the reading.
    seconds : of the selection and of the fits at all capacities.
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


def mnist_table(
    digits: Digits,
    *,
    reading: Reading | None = None,
    share: float = 0.1,
    shares: Sequence[float] = SHARES,
    scaling: str = "local",
    progress: Callable[[str], None] | None = None,
) -> tuple[MnistRow, ...]:
    r"""Return Table 1: each method selects pixels, then the SVM (13) is trained on the reduced data.

    Parameters
    ----------
    digits : from :func:`fsopt.papers.mop.table.mnist_digits`; the counts and ratios of the print are those of 100 and
        500 digits.
    reading : of what the paper leaves open; by default the nearest to the print.
    share : h / l at which MOPFS selects, 0.1 in the paper, W = 49 for 500 digits.
    shares : h / l that ``validation`` tries, each above 1 / l.
    scaling : of the method ``mopfs``.
    progress : called with one line of text for each method.

    Raises
    ------
    ParameterError : no share, or one that leaves no capacity; another number of digits than the print's, where the
        reading takes numbers from the print.

    Notes
    -----
    Bi, section 7. The default reading is the nearest of those that were tried: with it the
    rows of Pearson and Fisher for 500 digits are the printed ones to the last digit.
    """
    read, n = Reading() if reading is None else reading, digits.train.n
    if not shares or min(share, *shares) * n <= 1.0:
        raise ParameterError("there must be shares h / l, each above 1 / l", "for example 0.05, 0.1 and 0.2")
    if n not in TABLE_ONE and "print" in (read.count, read.h):
        raise ParameterError(
            f"the paper prints no row for {n} digits", "take 100 or 500, or Reading(count='mopfs', h='validation')"
        )
    rows: list[MnistRow] = []
    cap = share * n - 1.0
    for name in ("rsvm", "mopfs", *FILTERS, "vs-ssvm"):
        started = time.perf_counter()
        selection = None
        if name in FILTERS:
            count = int(TABLE_ONE[n][name].n_features) if read.count == "print" else rows[1].n_features
            chosen = _ranked(digits, name, read.scores, read.fisher)[:count]
        elif name == "rsvm":
            chosen = tuple(range(digits.train.p))
        else:
            selection = _selection(digits, name, cap, read.c if name == "mopfs" else None, scaling)
            chosen = tuple(selection.support)
        grid = (float(TABLE_ONE[n][name].h_over_l),) if read.h == "print" else tuple(sorted(shares))
        if n == 100 and read.h == "print" and name in read.w:
            grid = ((read.w[name] + 1.0) / n,)
        rows.append(_row(digits, name, (selection, tuple(sorted(chosen))), read, grid, started))
        if progress is not None:
            progress(f"{name}: {rows[-1].n_features} pixels, test error {rows[-1].test_error:.4f}")
    return tuple(rows)


@lru_cache(maxsize=16)
def _ranked(digits: Digits, name: str, scores: str, fisher: str) -> tuple[int, ...]:
    """Return the pixels in the order of the scores of a filter, the best first."""
    work, _ = preprocess(digits.train, scores)
    if name == "fisher" and fisher == "deviations":
        plus, minus = work.X[work.positive], work.X[work.negative]
        values = np.abs(plus.mean(axis=0) - minus.mean(axis=0)) / (plus.std(axis=0) + minus.std(axis=0))
    else:
        values = {"pearson": pearson, "fisher": fisher_scores, "ks": ks}[name](work)
    return tuple(ranking(values).tolist())


@lru_cache(maxsize=16)
def _selection(digits: Digits, name: str, cap: float, c: float | None, scaling: str) -> Fit:
    """Return the fit of MOPFS or VS-SSVM that selects pixels."""
    own: dict[str, Any] = {} if c is None else {"c": c, "scaling": scaling, "w_cap": cap}
    return fit(name, digits.train, **own)


@lru_cache(maxsize=2048)
def _classifier(
    digits: Digits, chosen: tuple[int, ...], scales: tuple[float, ...] | None, capacity: str | None, share: float
) -> Machine:
    """Return the last support vector machine at h / l = share; no word for its capacity: on samples of norm 1 again."""
    parts = [part.columns(list(chosen)) for part in (digits.train, digits.valid, digits.test)]
    radius = 1.0
    if capacity is not None:
        parts = [reduced(part, digits.train, chosen, scales) for part in (digits.train, digits.valid, digits.test)]
        radius = float((parts[0].X ** 2).sum(axis=1).max()) if capacity == "(h - 1) / R" else 1.0
    cap = (share * digits.train.n - 1.0) / radius
    found = fit("rsvm", parts[0], w_cap=cap, scale="unit-rows" if capacity is None else "none")
    return found, cap, tuple(error_rate(found.decision_function(part.X), part.y) for part in parts)


def _row(
    digits: Digits,
    name: str,
    selected: tuple[Fit | None, tuple[int, ...]],
    read: Reading,
    shares: Sequence[float],
    started: float,
) -> MnistRow:
    """Return the row of a selection, with the SVM on its pixels at the share of smallest validation error."""
    selection, chosen = selected
    scales, capacity = None, read.capacity if read.samples == "scaled" else None
    if capacity is not None and selection is not None and "scales" in selection.details:
        scales = tuple(np.asarray(selection.details["scales"])[list(chosen)].tolist())
    machines = [(share, *_classifier(digits, chosen, scales, capacity, share)) for share in shares]
    share, classifier, cap, errors = min(machines, key=lambda machine: machine[3][1])
    return MnistRow(
        method=name,
        h_over_l=share,
        w_cap=cap,
        n_features=len(chosen),
        n_support_vectors=int(np.sum(np.asarray(classifier.details["alpha"]) > SUPPORT)),
        train_error=errors[0],
        valid_error=errors[1],
        test_error=errors[2],
        selection=selection,
        pixels=np.array(chosen),
        classifier=classifier,
        seconds=time.perf_counter() - started,
    )


def reduced(data: Dataset, train: Dataset, chosen: Sequence[int], scales: Sequence[float] | None) -> Dataset:
    """Return pixels of samples that are preprocessed as the training digits, times the roots of scales."""
    _, map_ = preprocess(train, "unit-rows")
    work = data.with_X(map_.apply(data.X)).columns(list(chosen))
    return work if scales is None else work.with_X(work.X * np.sqrt(np.asarray(scales)))


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
