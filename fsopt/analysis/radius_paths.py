"""GMEB over a grid of its two radii: error rates and numbers of features as surfaces (Peleg & Meir, Figure 1)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.answers.questions import Answer
from fsopt.common.arguments import LIST, TEXT, WHOLE, checked, optional
from fsopt.common.figures import new_figure
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import error_rate
from fsopt.data.splits import check_features, stratified_folds, train_and_test
from fsopt.drivers.run import Run, drained, within
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.formulations import ROUTES, dual_answer
from fsopt.methods.gmeb.gmeb import choose_route, settle
from fsopt.methods.gmeb.unit_rms import unit_rms
from fsopt.methods.selection import SelectionRule
from fsopt.models.gmeb.gmeb import build_gmeb_dual
from fsopt.models.gmeb.norm import GmebNorm, radius
from fsopt.solvers.base import Session
from fsopt.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RADII = tuple(np.linspace(1.0, 10.0, 7).tolist())
"""The values of each radius in the paper (section 6.2)."""
SURFACES = ("objective", "bound", "n_features", "train_error", "test_error", "intercept")
"""Fields of :class:`RadiusPath` with one number for each pair of radii, found on one data set."""

RATES = ("n_features", "train_error", "test_error", "cv_error", "cv_features")
"""Fields with one number for each pair of radii that measure its classifier; nan where they were not asked for."""
MOST_TICKS = 8
"""Of each axis of the surfaces: labels of five characters beside each other do not touch."""


@dataclass(frozen=True)
class RadiusPath(Answer):
    """The classifiers of a grid of radii; all surfaces are (k, l), one row for each R+ and one column for each R-.

    Attributes
    ----------
    r_plus, r_minus : (k,) and (l,) radii, ascending.
    objective, bound : of (15) on all samples; ``certified`` where the certificate holds.
    n_features : number of features that the selection rule selects.
    train_error : share of training samples that are misclassified.
    test_error : the same on the test data; nan without.
    cv_error, cv_features : means over the folds; nan without.
    coef, intercept : (k, l, p) and (k, l), for raw features.
    seconds : of the whole grid.
    """

    r_plus: Vector
    r_minus: Vector
    objective: Matrix
    bound: Matrix
    certified: Mask
    n_features: Matrix
    train_error: Matrix
    test_error: Matrix
    cv_error: Matrix
    cv_features: Matrix
    coef: Matrix
    intercept: Matrix
    seconds: float

    @property
    def error(self) -> Matrix:
        """The error rates to choose by: of cross-validation, else on the test data, else on the training data."""
        known = (s for s in (self.cv_error, self.test_error, self.train_error) if not np.isnan(s).any())
        return next(known)

    @property
    def best(self) -> tuple[int, int]:
        """The indices of the smallest error rate; among equal ones those of the smallest R+, then the smallest R-."""
        # Means of the same error rates, added in another order, differ in their last digits.
        i, j = np.unravel_index(int(np.argmin(np.round(self.error, 12))), self.error.shape)
        return int(i), int(j)

    @property
    def heading(self) -> dict[str, Any]:
        """The best pair of radii with its error rate, and the seconds."""
        i, j = self.best
        found = {"r_plus": self.r_plus[i], "r_minus": self.r_minus[j], "error": self.error[i, j]}
        return {**{name: float(value) for name, value in found.items()}, "seconds": self.seconds}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each pair of radii, with the entries of all surfaces."""
        names = ("objective", "bound", "certified", *RATES)
        return [
            {
                "r_plus": float(self.r_plus[i]),
                "r_minus": float(self.r_minus[j]),
                **{name: getattr(self, name)[i, j].item() for name in names},
            }
            for i, j in np.ndindex(self.objective.shape)
        ]

    def plot(self) -> Figure:
        """Return the two surfaces of Figure 1, error rate and number of features, with the best radii starred.

        Every pair of radii has a cell of one size, whatever their distances: radii may grow geometrically, to inf.
        """
        features = self.n_features if np.isnan(self.cv_features).any() else self.cv_features
        figure = new_figure(2)
        i, j = self.best
        star: dict[str, Any] = {"marker": "*", "markersize": 16, "color": "white", "markeredgecolor": "black"}
        for axes, values, title in zip(
            figure.axes, (100 * self.error, features), ("error, %", "selected features"), strict=True
        ):
            image = axes.pcolormesh(values, cmap="viridis")
            figure.colorbar(image, ax=axes)
            axes.plot(j + 0.5, i + 0.5, **star)
            axes.set(title=title, xlabel="$R_-$", ylabel="$R_+$")
            for along, radii in ((axes.xaxis, self.r_minus), (axes.yaxis, self.r_plus)):
                few = np.arange(0, len(radii), -(-len(radii) // MOST_TICKS))
                along.set_ticks(few + 0.5, [f"{radii[k]:.3g}" for k in few])
        return figure


@dataclass(frozen=True)
class GridTask:
    """A grid of radii and the settings of its fits: the argument of every process."""

    r_plus: Vector
    r_minus: Vector
    scale: str
    run: Run
    rule: SelectionRule


@checked(
    grid=LIST,
    test=optional(DATASET),
    folds=WHOLE,
    seed=WHOLE,
    jobs=WHOLE,
    scale=TEXT,
    rule=TEXT,
    units=TEXT,
    solver=optional(TEXT),
)
def radius_path(
    data: Given,
    grid: Sequence[float] | tuple[Sequence[float], Sequence[float]] = RADII,
    *,
    test: Dataset | None = None,
    folds: int = 0,
    seed: int = 0,
    jobs: int = 1,
    scale: str = "center",
    rule: str = "relative",
    units: str = "raw",
    epsilon: float = 0.01,
    solver: str | None = None,
) -> RadiusPath:
    """Solve GMEB for every pair of radii, each data set compiled once.

    Parameters
    ----------
    data : Given
        The training data, in raw units: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    grid : Sequence[float] | tuple[Sequence[float], Sequence[float]]
        Values of both radii, or a pair (values of R+, values of R-); by default the seven from 1 to 10 in the paper.
    test : Dataset, optional
        Data on which ``test_error`` is measured.
    folds, seed : int, default 0
        Stratified, shuffled cross-validation over the whole grid; 0 folds for none.
    jobs : int, default 1
        Processes over which the folds are spread.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``, by the statistics of the training samples.
    rule, units, epsilon : float or str
        The selection rule, by default that of the paper, as in :func:`fsopt.methods.selection.select_by_size`.
    solver : str, optional
        Of the cone programs, or of the linear programs on the route by cuts; None for the preferred one.

    Returns
    -------
    RadiusPath
        Errors, numbers of features and classifiers on the grid, and the best pair of radii.

    Raises
    ------
    ParameterError : an empty grid, a radius that is not a positive number, too many folds, an unknown rule.

    Notes
    -----
    Peleg & Meir, sections 6.2 and 6.4.1. Solvers run on one thread where there is more than one process.
    """
    started, data = time.perf_counter(), dataset_of(data)
    if test is not None:
        check_features(data, test, "test")
    plus, minus = _radii(grid)
    run = Run(solver, options=None if jobs == 1 else {"threads": 1})
    task = GridTask(plus, minus, scale, run, SelectionRule(rule, units, epsilon))
    splits: list[tuple[Dataset, Dataset | None]] = [(data, test)]
    if folds:
        splits += [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]
    whole, *parts = side_by_side(_solve_grid, ((*split, task) for split in splits), jobs)
    nothing = np.full((len(plus), len(minus)), np.nan)
    return RadiusPath(
        r_plus=plus,
        r_minus=minus,
        **whole,
        cv_error=np.mean([p["test_error"] for p in parts], axis=0) if parts else nothing,
        cv_features=np.mean([p["n_features"] for p in parts], axis=0) if parts else nothing,
        seconds=time.perf_counter() - started,
    )


def _radii(grid: Any) -> tuple[Vector, Vector]:
    """Return the ascending values of R+ and R-."""
    pair = grid if len(grid) == 2 and all(np.ndim(g) == 1 for g in grid) else (grid, grid)
    plus, minus = (
        np.unique([radius("radius_path", name, value) for value in values])
        for name, values in zip(("r_plus", "r_minus"), pair, strict=True)
    )
    if not len(plus) or not len(minus):
        raise ParameterError("the grid of radii is empty", "give values of R+ and R-, for example (1.0, 3.0, 10.0)")
    return plus, minus


def _solve_grid(data: Dataset, test: Dataset | None, task: GridTask) -> dict[str, Any]:
    """Return the surfaces of one data set: the fields of :class:`RadiusPath` that are not means over folds."""
    columns = unit_rms(data, task.scale)
    route = choose_route("auto", task.run, columns.work)
    session: Session | None = None
    shape = (len(task.r_plus), len(task.r_minus))
    out: dict[str, Any] = {name: np.full(shape, np.nan) for name in SURFACES}
    out |= {"certified": np.zeros(shape, dtype=bool), "coef": np.zeros((*shape, data.p))}
    for i, j in np.ndindex(shape):
        norm = GmebNorm.of(columns.work, float(task.r_plus[i]), float(task.r_minus[j]))
        if route == "dual" and len(norm.ends) == 2:
            session = _moved(session, columns.work, norm, task.run)
            answer = dual_answer(session)
        else:
            answer = drained(within(ROUTES[route](columns.work, norm, task.run)))
        found, _ = drained(settle(columns.work, norm, answer, task.run, cuts=route == "theta-cuts"))
        coef = columns.full(found.w) / columns.map_.scale
        intercept = found.b - float(coef @ columns.map_.shift)
        out["objective"][i, j] = found.certificate.objective
        out["bound"][i, j] = found.certificate.bound
        out["certified"][i, j] = found.certificate.ok
        out["coef"][i, j] = coef
        out["intercept"][i, j] = intercept
        out["n_features"][i, j] = len(task.rule.select(coef, data.X.std(axis=0)))
        out["train_error"][i, j] = error_rate(data.X @ coef + intercept, data.y)
        if test is not None:
            out["test_error"][i, j] = error_rate(test.X @ coef + intercept, test.y)
    return out


def _moved(session: Session | None, data: Dataset, norm: GmebNorm, run: Run) -> Session:
    """Return a session on (16) at these radii: the given one, updated in place, or a new one."""
    if session is None:
        return run.open(build_gmeb_dual(data, r_plus=norm.r_plus, r_minus=norm.r_minus))
    session.model.r_plus.set_value(norm.r_plus)
    session.model.r_minus.set_value(norm.r_minus)
    session.update(session.model.objective)
    return session
