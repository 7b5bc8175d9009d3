"""Methods side by side at the same worst-case accuracy (Yang & Ju, Table 3 and Figures 5 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.figures import new_figure
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.methods.registry import METHODS
from fsopt.models.blocks import number
from fsopt.papers.mpm.pairs import PSF, SCORES, TSA, Pair, accuracy_limit, pairs_of, scores_on
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class MethodScores:
    """One method on all pairs; arrays have one entry for each pair.

    Attributes
    ----------
    method, params : registry name, and parameters without delta.
    delta : worst-case accuracy that was given; nan for a method without this parameter.
    limits : alpha* of the training data.
    n_features, psf, accuracy, mcc, iterations : as in :class:`fsopt.papers.mpm.pairs.PairScores`.
    """

    method: str
    params: Mapping[str, Any]
    delta: Vector
    limits: Vector
    n_features: Vector
    psf: Vector
    accuracy: Vector
    mcc: Vector
    iterations: Vector


def compare_methods(
    data: Dataset | Sequence[Pair],
    methods: Mapping[str, Mapping[str, Any]],
    *,
    delta: float = 0.9,
    shares: bool = True,
    folds: int = 10,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
) -> tuple[MethodScores, ...]:
    """Measure methods on the same pairs at the same worst-case accuracy.

    Parameters
    ----------
    data, folds, seed, jobs, solver : as in :func:`fsopt.papers.mpm.surfaces.mpm_surface`.
    methods : registry name -> parameters, for example ``{"l1-mpm": {}, "l0-mpm": {"alpha": 5.0}}``.
    delta, shares : as in :func:`fsopt.papers.mpm.surfaces.mpm_surface`, for the methods with this parameter.

    Raises
    ------
    UnknownNameError : an unknown method.
    ParameterError : a delta outside (0, 1), no pairs, too many folds.
    InfeasibleError : delta > alpha* of a pair.
    FsoptError : a fit failed; the message names its parameters.

    Notes
    -----
    Yang & Ju, Table 3 and Figures 5 and 9.
    """
    asked = number("compare_methods", "delta", delta)
    takes = {name: "delta" in METHODS[name].parameters for name in methods}

    def scores_of(pair: Pair) -> Matrix:
        rows = []
        for name, params in methods.items():
            limit = accuracy_limit(pair[0], params)
            own = asked * limit if shares else asked
            given = {"delta": own} if takes[name] else {}
            scores = scores_on(pair, name, {**given, **params}, solver)
            rows.append([given.get("delta", np.nan), limit, *astuple(scores)])
        return np.array(rows)

    measured = np.array(side_by_side(scores_of, zip(pairs_of(data, folds, seed)), jobs))
    names = ("delta", "limits", *SCORES)
    return tuple(
        MethodScores(method=name, params=dict(methods[name]), **{k: measured[:, i, j] for j, k in enumerate(names)})
        for i, name in enumerate(methods)
    )


def plot_repetitions(methods: Sequence[MethodScores]) -> Figure:
    """Return Figure 9: accuracy and percentage of selected features of each method, pair by pair."""
    figure = new_figure(2)
    for scores in methods:
        repetition = np.arange(1, len(scores.accuracy) + 1)
        for axes, values in zip(figure.axes, (100 * scores.accuracy, scores.psf), strict=True):
            axes.plot(repetition, values, marker="o", markersize=4, label=scores.method)
    for axes, title in zip(figure.axes, (TSA, PSF), strict=True):
        axes.set(title=title, xlabel="repetition", xticks=repetition)
    figure.axes[1].set_yscale("log")
    figure.axes[1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
