"""Yang & Ju: Table 2 with Figures 2 to 4, L0-MPM over alpha and delta on 200 samples of Spam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.trained import fingerprint
from fsopt.common.figures import new_figure
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.errors import DataError, ParameterError
from fsopt.models.blocks import number
from fsopt.papers.mpm.readings import (
    CHOSEN,
    PRINTED_DELTA,
    PSF,
    SCORES,
    TSA,
    Pair,
    accuracy_limit,
    folds_of,
    load_set,
    pairs_of,
    protocol,
    scores_on,
)
from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings, numbers_of, printed
from fsopt.papers.verdicts import ERRATUM, LEFT_OUT, NO_DATA, READING, TableCell, cell, deviations, missing
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
    n_features, psf, accuracy, mcc : as in :class:`fsopt.papers.mpm.readings.PairScores`.
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


MEANING = (READING, "the 200 samples of Spam, and the meaning of delta where 0.9 is infeasible, are open")
INFEASIBLE = (ERRATUM, "delta = 0.9 is above the largest feasible worst-case accuracy")
SHARES = (
    f"delta is that share of the largest feasible one of each training part, the printed {PRINTED_DELTA} being the "
    "share of the reading and the others in proportion; the printed 0.9 itself has no answer, an erratum of the paper"
)


def l0mpm_table2(settings: RunSettings) -> Reproduction:
    """Return Table 2 and Figures 2 to 4."""
    table = printed("l0mpm-table2")
    try:
        data = load_set("spambase", settings.seed)
    except DataError as error:
        return Reproduction(
            tuple(c for a in table["rows"] for c in missing(a, numbers_of(table, a), NO_DATA, error.message))
        )
    rows = ("0.5", "5") if settings.quick else tuple(table["rows"])
    key = {"data": fingerprint(data), "folds": folds_of(settings), "rows": rows, **CHOSEN}
    numbers = settings.part("l0mpm-table2", partial(_numbers, data, rows, settings), **key)
    arrays: dict[str, Any] = {name: np.array(value) for name, value in numbers.items()}
    surface = MpmSurface(**arrays)
    notes = (
        f"{table['place']}; {protocol(settings)}",
        SHARES,
        "noise: two standard deviations of the mean over our folds, as the paper prints no spread; possible are 0 to "
        f"{data.p} features",
    )
    return Reproduction(tuple(_cells(surface, table, data.p)), notes, {"fig2-3-4": surface.plot()})


def _numbers(data: Dataset, rows: Sequence[str], settings: RunSettings) -> dict[str, Any]:
    """Return the surface of L0-MPM as lists, rows being the values of alpha."""
    surface = mpm_surface(
        pairs_of(data, folds_of(settings), settings.seed),
        [_share(column) for column in printed("l0mpm-table2")["columns"]],
        [float(alpha) for alpha in rows],
        params={"scale": "none", "ridge": CHOSEN["ridge"], "tolerance": CHOSEN["epsilon"]},
        jobs=settings.jobs,
    )
    return {name: np.asarray(value).tolist() for name, value in vars(surface).items()}


def _share(column: str) -> float:
    """Return the share of the largest feasible delta for a printed one."""
    return float(column) / PRINTED_DELTA * float(CHOSEN["share"])


def _cells(surface: MpmSurface, table: Mapping[str, Any], p: int) -> list[TableCell]:
    """Return the mean numbers of features beside the printed ones."""
    cells = []
    for alpha in table["rows"]:
        for column, value in numbers_of(table, alpha).items():
            if float(alpha) not in surface.alphas:
                cells.append(TableCell(alpha, column, None, value, LEFT_OUT, "--quick"))
                continue
            at = (surface.deltas.tolist().index(_share(column)), surface.alphas.tolist().index(float(alpha)))
            ours, spread = float(surface.n_features[at]), float(surface.n_features_sd[at])
            reason = INFEASIBLE if float(column) > surface.limits.max() else MEANING
            rest: dict[str, Any] = {"possible": (0.0, float(p)), "otherwise": reason, "spread": spread}
            noise = deviations((spread, len(surface.limits)))
            cells.append(cell((alpha, column), ours, value, noise=noise, **rest))
    return cells


SPECS = (
    Experiment("l0mpm-table2", "mpm", "features over alpha and delta; figures 2-4", l0mpm_table2, 0.4, ("spambase",)),
)
