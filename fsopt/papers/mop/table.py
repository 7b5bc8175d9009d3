"""Table 1 of Bi (section 7): MOPFS beside all pixels and three filters, on odd against even digits of MNIST."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.common.figures import new_figure
from fsopt.data import Dataset
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import ParameterError
from fsopt.methods.registry import fit
from fsopt.papers.mop.digits import SIDE, Digits
from fsopt.papers.reproduction import printed
from fsopt.studies.tuning import tune

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
"""h / l of the capacities that are tried for the final support vector machine; the paper has the range 0.05 to 0.5."""
PENALTY_WEIGHT = 1e-2
"""Our penalty weight c of MOPFS: ``0 < c << RW``, as in the paper; with 0 a few more pixels stay."""
SUPPORT = 1e-6
"""Multipliers above this make a support vector."""
FILTERS = ("pearson", "fisher", "ks")
"""Each selects as many pixels as MOPFS."""


@dataclass(frozen=True)
class Printed:
    """A row of Table 1: h/l, features, support vectors, training and test error."""

    h_over_l: float
    n_features: int
    n_support_vectors: int
    train_error: float
    test_error: float


TABLE_ONE: Mapping[int, Mapping[str, Printed]] = MappingProxyType(
    {
        int(size): MappingProxyType({method: Printed(*row) for method, row in rows.items()})
        for size, rows in printed("mop-table1")["rows"].items()
    }
)
"""l -> method -> printed row; the paper has 571 pixels that are not constant, these digits have 501 and 579."""


@dataclass(frozen=True)
class MnistRow:
    """A row of Table 1.

    Attributes
    ----------
    method : ``rsvm`` on all pixels, ``mopfs``, a filter, or ``vs-ssvm``.
    h_over_l, w_cap : of the final support vector machine: those of smallest validation error, the smallest of equal
        ones.
    n_features, n_support_vectors : pixels; multipliers above 1e-6.
    train_error, valid_error, test_error : shares of misclassified digits, of the final support vector machine.
    selection : the fit that selected the pixels; for ``rsvm``, of all pixels.
    classifier : the final support vector machine, on the reduced data.
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
    selection: Fit
    classifier: Fit
    seconds: float


def mnist_table(
    digits: Digits,
    *,
    share: float = 0.1,
    shares: Sequence[float] = SHARES,
    c: float = PENALTY_WEIGHT,
    scaling: str = "local",
    progress: Callable[[str], None] | None = None,
) -> tuple[MnistRow, ...]:
    r"""Return Table 1: each method selects pixels, then the SVM (13) is trained on the reduced data.

    The capacity W of this final support vector machine is the one of smallest validation error, over the same shares
    h / l for all methods: :math:`W = (l\,h/l - 1)/R` with R the largest squared norm of a reduced sample. The data
    reduced by MOPFS are the selected pixels times the roots of their scales, :math:`x \to \sqrt{S} x`; each filter
    selects as many pixels as MOPFS.

    Parameters
    ----------
    digits : from :func:`fsopt.papers.mop.digits.mnist_digits`.
    share : h / l at which MOPFS selects; the best value in the paper is 0.1, W = 49 for 500 digits.
    shares : h / l to try for the final support vector machine, each above 1 / l.
    c, scaling : of the method ``mopfs``.
    progress : called with one line of text for each method.

    Raises
    ------
    ParameterError : no share, or one that leaves no capacity.

    Notes
    -----
    Bi, section 7. The paper does not say whether the final support vector machine gets the pixels scaled: our reading.
    """
    if not shares or min(share, *shares) * digits.train.n <= 1.0:
        raise ParameterError("there must be shares h / l, each above 1 / l", "for example 0.05, 0.1 and 0.2")
    rows: list[MnistRow] = []
    cap = share * digits.train.n - 1.0
    given: dict[str, dict[str, Any]] = {"rsvm": {"w_cap": cap}, "mopfs": {"w_cap": cap, "c": c, "scaling": scaling}}
    given["vs-ssvm"] = {"w_cap": cap}
    for name in ("rsvm", "mopfs", *FILTERS, "vs-ssvm"):
        started = time.perf_counter()
        params = {"m": rows[1].n_features} if name in FILTERS else given[name]
        selection = fit(name, digits.train, **params)
        rows.append(_row(digits, name, selection, sorted(shares), started))
        if progress is not None:
            progress(f"{name}: {rows[-1].n_features} pixels, test error {rows[-1].test_error:.4f}")
    return tuple(rows)


def _row(digits: Digits, name: str, selection: Fit, shares: Sequence[float], started: float) -> MnistRow:
    """Return the row of a selection, with the SVM on its pixels at the share of smallest validation error."""
    train, valid, test = (reduced(part, selection) for part in (digits.train, digits.valid, digits.test))
    radius = float((train.X**2).sum(axis=1).max())
    caps = [(share * train.n - 1.0) / radius for share in shares]
    tuned = tune("rsvm", train, [{"w_cap": cap, "scale": "none"} for cap in caps], validation=valid)
    classifier, cap = tuned.fit, tuned.params["w_cap"]
    return MnistRow(
        method=name,
        h_over_l=shares[caps.index(cap)],
        w_cap=cap,
        n_features=train.p,
        n_support_vectors=int(np.sum(np.asarray(classifier.details["alpha"]) > SUPPORT)),
        train_error=error_rate(classifier.decision_function(train.X), train.y),
        valid_error=tuned.error,
        test_error=error_rate(classifier.decision_function(test.X), test.y),
        selection=selection,
        classifier=classifier,
        seconds=time.perf_counter() - started,
    )


def reduced(data: Dataset, selection: Fit) -> Dataset:
    """Return the selected pixels of a fit, preprocessed as in the fit, times the roots of its scales if it has any."""
    chosen = list(selection.details.get("chosen", selection.support))
    work = data.with_X(selection.preprocessing.apply(data.X)).columns(chosen)
    scales = selection.details.get("scales")
    return work if scales is None else work.with_X(work.X * np.sqrt(np.asarray(scales)[chosen]))


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
