"""Minimax probability machines over worst-case accuracies and steepnesses, and side by side (paper 2, section 4).

A data set is cut into stratified folds; or one gives pairs (training data, test data), for example the repetitions
of section 4.2 from :func:`synthetic_pairs`. alpha* is that of each pair's training data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.data import Dataset, mpm_synthetic
from fsopt.errors import FsoptError, ParameterError
from fsopt.methods.mpm.space import Space
from fsopt.methods.registry import fit, method_spec
from fsopt.models.blocks import number
from fsopt.studies.figures import new_figure
from fsopt.studies.folds import fold_rows
from fsopt.typing import Matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Pair = tuple[Dataset, Dataset]


PSF, TSA = "selected features, %", "accuracy, %"
DELTAS = (0.1, 0.3, 0.5, 0.7, 0.9)


ALPHAS = (0.1, 0.5, 1.0, 5.0, 10.0, 50.0)
"""The paper's values (Table 2)."""


@dataclass(frozen=True)
class MpmSurface:
    """L0-MPM over a grid; surfaces are (k, l), rows by delta and columns by alpha, means over the pairs.

    Attributes
    ----------
    deltas, alphas : (k,) and (l,), ascending.
    shares : whether ``deltas`` are shares of alpha*, else they are worst-case accuracies.
    limits : alpha* of the training data of each pair.
    feasible : (k,) share of the pairs on which delta <= alpha*; where it is not 1 the surfaces are nan.
    n_features, iterations : selected features, and steps of DCA.
    psf : selected features in percent of all.
    accuracy, mcc : on the test data of the pairs (the paper's TSA and MCC), in [0, 1] and [-1, 1].
    """

    deltas: Matrix
    alphas: Matrix
    shares: bool
    limits: Matrix
    feasible: Matrix
    n_features: Matrix
    psf: Matrix
    accuracy: Matrix
    mcc: Matrix
    iterations: Matrix

    def plot(self) -> Figure:
        """Return Figures 2, 3 and 4: features and accuracy against alpha, and accuracy against delta."""
        figure = new_figure(3)
        delta = r"$\delta/\alpha^*$" if self.shares else r"$\delta$"
        for axes, values, title in zip(figure.axes, (self.psf, 100 * self.accuracy), (PSF, TSA), strict=False):
            for i in np.flatnonzero(self.feasible == 1):
                axes.plot(self.alphas, values[i], marker="o", markersize=4, label=f"{delta} = {self.deltas[i]:g}")
            axes.set(title=title, xlabel=r"$\alpha$", xscale="log")
        last = figure.axes[2]
        for j, alpha in enumerate(self.alphas):
            last.plot(self.deltas, 100 * self.accuracy[:, j], marker="o", markersize=4, label=rf"$\alpha$ = {alpha:g}")
        last.set(title=TSA, xlabel=delta)
        for axes in figure.axes[1:]:
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        return figure


@dataclass(frozen=True)
class Machine:
    """One method on all pairs; arrays have one entry for each pair.

    Attributes
    ----------
    method, params : what was run, without delta.
    delta : worst-case accuracy asked for; nan for a method without this parameter.
    limits : alpha* of the training data.
    n_features, psf : selected features, and these in percent of all.
    accuracy, mcc : on the test data.
    iterations : of the method's loop; nan for a method that is one solve.
    """

    method: str
    params: Mapping[str, Any]
    delta: Matrix
    limits: Matrix
    n_features: Matrix
    psf: Matrix
    accuracy: Matrix
    mcc: Matrix
    iterations: Matrix


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
    data : a data set, cut into stratified folds, or pairs (training data, test data).
    deltas : in (0, 1). Shares of alpha* of each pair's training data by default; see ``shares``.
    alphas : > 0, steepnesses of the approximation.
    shares : False takes ``deltas`` as worst-case accuracies, which some data cannot have.
    params : further parameters of the method ``l0-mpm``.
    folds, seed : of the split of a data set.
    jobs : processes to spread the pairs over.
    solver : as in :func:`fsopt.fit`.

    Raises
    ------
    ParameterError : an empty grid, a delta outside (0, 1), alpha <= 0, no pairs, too many folds.
    FsoptError : of a fit that failed, with the parameters it failed at.

    Notes
    -----
    Paper 2, Table 2 and Figures 2 to 4 and 8. The translation of a model takes a small part of a fit, so each place
    of the grid is a fit of its own.
    """
    if not len(deltas) or not len(alphas):
        raise ParameterError("the grid is empty", "give deltas and alphas, for example (0.5, 0.9) and (1.0, 5.0)")
    delta = np.unique([number("mpm_surface", "delta", d, low=0.0, high=1.0, strict=True) for d in deltas])
    alpha = np.unique([number("mpm_surface", "alpha", a, low=0.0, strict=True) for a in alphas])
    rest = dict(params or {})

    def grid_of(pair: Pair) -> tuple[float, Matrix]:
        limit = _limit(pair, rest)
        out = np.full((len(delta), len(alpha), len(_MEASURES)), np.nan)
        for i, d in enumerate(delta * limit if shares else delta):
            if d <= limit:
                for j, a in enumerate(alpha):
                    out[i, j] = _measure("l0-mpm", pair, {"delta": float(d), "alpha": float(a), **rest}, solver)
        return limit, out

    limits, grids = zip(*_over(_pairs(data, folds, seed), grid_of, jobs), strict=True)
    means = np.mean(grids, axis=0)
    return MpmSurface(
        deltas=delta,
        alphas=alpha,
        shares=shares,
        limits=np.array(limits),
        feasible=np.mean(~np.isnan(grids)[:, :, 0, 0], axis=0),
        **{name: means[:, :, k] for k, name in enumerate(_MEASURES)},
    )


def compare_machines(
    data: Dataset | Sequence[Pair],
    methods: Mapping[str, Mapping[str, Any]],
    *,
    delta: float = 0.9,
    shares: bool = True,
    folds: int = 10,
    seed: int = 0,
    jobs: int = 1,
    solver: str | None = None,
) -> tuple[Machine, ...]:
    """Measure methods on the same pairs at the same worst-case accuracy.

    Parameters
    ----------
    data, folds, seed, jobs, solver : as in :func:`mpm_surface`.
    methods : registry name -> parameters, for example ``{"l1-mpm": {}, "l0-mpm": {"alpha": 5.0}}``.
    delta, shares : as in :func:`mpm_surface`, given to the methods that have this parameter.

    Raises
    ------
    UnknownNameError : an unknown method.
    ParameterError : a delta outside (0, 1), no pairs, too many folds.
    InfeasibleError : delta > alpha* of a pair.
    FsoptError : of a fit that failed, with the parameters it failed at.

    Notes
    -----
    Paper 2, Table 3 and Figures 5 and 9.
    """
    asked = number("compare_machines", "delta", delta, low=0.0, high=1.0, strict=True)
    takes = {name: "delta" in method_spec(name).parameters for name in methods}

    def row_of(pair: Pair) -> Matrix:
        rows = []
        for name, params in methods.items():
            limit = _limit(pair, params)
            d = asked * limit if shares else asked
            given = {"delta": d} if takes[name] else {}
            rows.append([given.get("delta", np.nan), limit, *_measure(name, pair, {**given, **params}, solver)])
        return np.array(rows)

    measured = np.array(_over(_pairs(data, folds, seed), row_of, jobs))
    names = ("delta", "limits", *_MEASURES)
    return tuple(
        Machine(method=name, params=dict(methods[name]), **{k: measured[:, i, j] for j, k in enumerate(names)})
        for i, name in enumerate(methods)
    )


def synthetic_pairs(
    repetitions: int = 10, *, n: int = 50, n_test: int = 1000, p: int = 1000, seed: int = 0, literal: bool = False
) -> list[Pair]:
    """Return draws of the synthetic data of section 4.2, each with fresh rows to test on.

    Parameters
    ----------
    repetitions : number of pairs, 10 in the paper.
    n, n_test : rows to train on, 50 in the paper, and to test on.
    p, literal : as in :func:`fsopt.data.mpm_synthetic`.
    seed : the pairs have the seeds ``seed``, ``seed + 1``, ...

    Raises
    ------
    ParameterError, DataError : as :func:`fsopt.data.mpm_synthetic`.
    """
    drawn = (mpm_synthetic(n + n_test, seed + k, p, literal) for k in range(repetitions))
    return [(both.rows(np.arange(n)), both.rows(np.arange(n, n + n_test))) for both in drawn]


_SPACE = ("unbiased", "ridge", "kernel", "width", "degree")


_MEASURES = ("n_features", "psf", "accuracy", "mcc", "iterations")


def _pairs(data: Dataset | Sequence[Pair], folds: int, seed: int) -> Sequence[Pair]:
    """Return the pairs (training data, test data)."""
    if isinstance(data, Dataset):
        tests = fold_rows(data, folds, seed)
        return [(data.rows(np.setdiff1d(np.arange(data.n), test)), data.rows(test)) for test in tests]
    if not len(data):
        raise ParameterError("there are no pairs of data", "give a data set, or pairs (training data, test data)")
    return data


def _over(pairs: Sequence[Pair], function: Callable[[Pair], Any], jobs: int) -> list[Any]:
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(function)(pair) for pair in pairs))


def _limit(pair: Pair, params: Mapping[str, Any]) -> float:
    """Return alpha* of the training data in the space that the method would work in."""
    options = {name: params[name] for name in _SPACE if name in params}
    return Space.of(pair[0], params.get("scale", "standard"), **options).limit.alpha


def _measure(method: str, pair: Pair, params: Mapping[str, Any], solver: str | None) -> list[float]:
    """Return the measures of one method on one pair."""
    train, test = pair
    try:
        fitted = fit(method, train, solver=solver, **params)
    except FsoptError as error:
        raise type(error)(f"{error.message} ('{method}' at {dict(params)})", error.hint) from error
    scores, count = fitted.scores(test), len(fitted.support)
    iterations = float(fitted.iterations) if fitted.history else np.nan
    return [float(count), 100.0 * count / len(fitted.coef), scores["accuracy"], scores["mcc"], iterations]
