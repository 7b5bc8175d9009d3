"""L0-MPM over a grid of worst-case accuracies and steepnesses (Yang & Ju, Table 2 and Figures 2 to 4 and 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.figures import new_figure
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.papers.mpm.pairs import PSF, SCORES, TSA, Pair, accuracy_limit, pairs_of, scores_on
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DELTAS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Shares of alpha* that are tried by default."""
ALPHAS = (0.1, 0.5, 1.0, 5.0, 10.0, 50.0)
"""The steepnesses of the paper (Table 2)."""


@dataclass(frozen=True)
class MpmSurface:
    """L0-MPM over a grid; surfaces are (k, l), one row for each delta, one column for each alpha, means over the pairs.

    Attributes
    ----------
    deltas, alphas : (k,) and (l,), ascending.
    shares : whether ``deltas`` are shares of alpha*; else they are worst-case accuracies.
    limits : alpha* of the training data of each pair.
    feasible : (k,) share of the pairs with delta <= alpha*; where it is below 1 the surfaces are nan.
    n_features, psf, accuracy, mcc : as in :class:`fsopt.papers.mpm.pairs.PairScores`.
    iterations : steps of DCA.
    n_features_sd : (k, l) standard deviations of ``n_features`` over the pairs, 0 of one pair.
    """

    deltas: Vector
    alphas: Vector
    shares: bool
    limits: Vector
    feasible: Vector
    n_features: Matrix
    psf: Matrix
    accuracy: Matrix
    mcc: Matrix
    iterations: Matrix
    n_features_sd: Matrix

    def plot(self) -> Figure:
        """Return Figures 2, 3 and 4: features and accuracy against alpha, and accuracy against delta."""
        figure = new_figure(3)
        delta = r"$\delta/\alpha^*$" if self.shares else r"$\delta$"
        for axes, values, title in zip(figure.axes, (self.psf, 100 * self.accuracy), (PSF, TSA), strict=False):
            for i in np.flatnonzero(self.feasible == 1):
                axes.plot(self.alphas, values[i], marker="o", markersize=4, label=f"{delta} = {self.deltas[i]:g}")
            axes.set(title=title, xlabel=r"$\alpha$", xscale="log")
            axes.set_xticks(self.alphas, [f"{alpha:g}" for alpha in self.alphas])
            axes.minorticks_off()
        last = figure.axes[2]
        for j, alpha in enumerate(self.alphas):
            last.plot(self.deltas, 100 * self.accuracy[:, j], marker="o", markersize=4, label=rf"$\alpha$ = {alpha:g}")
        last.set(title=TSA, xlabel=delta)
        for axes in figure.axes[1:]:
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        return figure


def mpm_surface(
    data: Dataset | Sequence[Pair],
    deltas: Sequence[float] = DELTAS,
    alphas: Sequence[float] = ALPHAS,
    *,
    shares: bool = True,
    params: Mapping[str, Any] | None = None,
    folds: int = 10,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
) -> MpmSurface:
    """Run L0-MPM for every delta and alpha on every pair.

    Parameters
    ----------
    data : a data set, split into stratified folds, or pairs (training data, test data).
    deltas : in (0, 1). By default they are shares of alpha* of the training data of each pair; see ``shares``.
    alphas : > 0, steepnesses of the approximation.
    shares : False takes ``deltas`` as worst-case accuracies, which can be infeasible for some data.
    params : further parameters of the method ``l0-mpm``.
    folds, seed : of the split of a data set.
    jobs : processes over which the pairs are spread.
    solver : as in :func:`fsopt.fit`.

    Raises
    ------
    ParameterError : an empty grid, a delta outside (0, 1), alpha <= 0, no pairs, too many folds.
    FsoptError : a fit failed; the message names its parameters.

    Notes
    -----
    Yang & Ju, Table 2 and Figures 2 to 4 and 8. The translation of a model takes a small part of the seconds of a
    fit, so each point of the grid is a fit of its own.
    """
    if not len(deltas) or not len(alphas):
        raise ParameterError("the grid is empty", "give deltas and alphas, for example (0.5, 0.9) and (1.0, 5.0)")
    delta = np.unique([number("mpm_surface", "delta", d) for d in deltas])
    alpha = np.unique([number("mpm_surface", "alpha", a) for a in alphas])
    rest = dict(params or {})

    def grid_of(pair: Pair) -> tuple[float, Matrix]:
        limit = accuracy_limit(pair[0], rest)
        out = np.full((len(delta), len(alpha), len(SCORES)), np.nan)
        for i, d in enumerate(delta * limit if shares else delta):
            if d <= limit:
                for j, a in enumerate(alpha):
                    given = {"delta": float(d), "alpha": float(a), **rest}
                    out[i, j] = astuple(scores_on(pair, "l0-mpm", given, solver))
        return limit, out

    limits, grids = zip(*side_by_side(grid_of, zip(pairs_of(data, folds, seed)), jobs), strict=True)
    means, counts = np.mean(grids, axis=0), np.array(grids)[..., SCORES.index("n_features")]
    return MpmSurface(
        deltas=delta,
        alphas=alpha,
        shares=shares,
        limits=np.array(limits),
        feasible=np.mean(~np.isnan(grids)[:, :, 0, 0], axis=0),
        n_features_sd=counts.std(axis=0, ddof=min(1, len(counts) - 1)),
        **{name: means[:, :, k] for k, name in enumerate(SCORES)},
    )
