"""GMEB over a grid of its two radii: errors and numbers of features as surfaces (paper 1, Figure 1)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.gmeb import choose_route, settle
from fsopt.methods.gmeb.routes import ROUTES, dual_answer
from fsopt.methods.gmeb.unit_columns import unit_columns
from fsopt.methods.selection import check_rule, select_by_size
from fsopt.models.gmeb.gmeb_dual import build_gmeb_dual
from fsopt.models.gmeb.moments import radius
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.solvers.base import Session
from fsopt.studies.figures import new_figure
from fsopt.studies.folds import fold_rows
from fsopt.typing import Mask, Matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GRID = tuple(np.linspace(1.0, 10.0, 7).tolist())
"""The paper's values of each radius (section 6.2)."""


@dataclass(frozen=True)
class GmebPath:
    """The classifiers of a grid of radii; all surfaces are (k, l), rows by R+ and columns by R-.

    Attributes
    ----------
    r_plus, r_minus : (k,) and (l,) radii, ascending.
    objective, bound : of (15) on all rows; ``certified`` where the certificate holds.
    n_features : number of features that the selection rule keeps.
    train_error : share of rows that are misclassified.
    test_error : the same on the test data; nan without.
    cv_error, cv_features : means over the folds; nan without.
    coef, intercept : (k, l, p) and (k, l), for raw columns.
    seconds : of the whole grid.
    """

    r_plus: Matrix
    r_minus: Matrix
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
        """The surface to choose by: of cross-validation, else of the test data, else of the training data."""
        known = (s for s in (self.cv_error, self.test_error, self.train_error) if not np.isnan(s).any())
        return next(known)

    @property
    def best(self) -> tuple[int, int]:
        """The place of the least error; among ties that of the smallest R+, then of the smallest R-."""
        i, j = np.unravel_index(int(np.argmin(np.round(self.error, 12))), self.error.shape)
        return int(i), int(j)

    def plot(self) -> Figure:
        """Return the two surfaces of Figure 1, error and number of features, with the best place starred."""
        features = self.n_features if np.isnan(self.cv_features).any() else self.cv_features
        figure = new_figure(2)
        for axes, values, title in zip(
            figure.axes, (100 * self.error, features), ("error, %", "selected features"), strict=True
        ):
            image = axes.pcolormesh(self.r_minus, self.r_plus, values, shading="nearest", cmap="viridis")
            figure.colorbar(image, ax=axes)
            i, j = self.best
            axes.plot(
                self.r_minus[j], self.r_plus[i], marker="*", markersize=16, color="white", markeredgecolor="black"
            )
            axes.set(title=title, xlabel="$R_-$", ylabel="$R_+$")
        return figure


def gmeb_path(
    data: Dataset,
    grid: Sequence[float] | tuple[Sequence[float], Sequence[float]] = GRID,
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
) -> GmebPath:
    """Solve GMEB for every pair of radii, each data set compiled once.

    Parameters
    ----------
    data : the training data, in raw units.
    grid : values of both radii, or a pair (values of R+, values of R-); 7 from 1 to 10 by default, the paper's.
    test : data to measure ``test_error`` on.
    folds, seed : stratified, shuffled cross-validation over the whole grid; 0 folds for none.
    jobs : processes to spread the folds over.
    scale : ``center`` (default), ``standard`` or ``none``, by the statistics of the rows trained on.
    rule, units, epsilon : the selection rule, the paper's by default, see :func:`fsopt.methods.selection.select_by_size`.
    solver : of the cones, or of linear programs for the route by cuts; None for the preferred one.

    Returns
    -------
    GmebPath

    Raises
    ------
    ParameterError : an empty grid, a radius that is not a positive number, too many folds, an unknown rule.

    Notes
    -----
    Paper 1, sections 6.2 and 6.4.1. Solvers run on one thread.
    """
    from joblib import Parallel, delayed

    started = time.perf_counter()
    plus, minus = _radii(grid)
    check_rule(rule, units, epsilon)
    run = Run(solver, options=None if jobs == 1 else {"threads": 1})
    rest = (plus, minus, scale, run, {"rule": rule, "units": units, "epsilon": epsilon})
    pieces: list[tuple[Dataset, Dataset | None]] = [(data, test)]
    if folds:
        rows = fold_rows(data, folds, seed)
        pieces += [(data.rows(np.setdiff1d(np.arange(data.n), out)), data.rows(out)) for out in rows]
    whole, *parts = Parallel(n_jobs=jobs)(delayed(_solve_grid)(*piece, *rest) for piece in pieces)
    nothing = np.full((len(plus), len(minus)), np.nan)
    return GmebPath(
        r_plus=plus,
        r_minus=minus,
        **whole,
        cv_error=np.mean([p["test_error"] for p in parts], axis=0) if parts else nothing,
        cv_features=np.mean([p["n_features"] for p in parts], axis=0) if parts else nothing,
        seconds=time.perf_counter() - started,
    )


def _radii(grid: Any) -> tuple[Matrix, Matrix]:
    """Return the ascending values of R+ and R-."""
    pair = grid if len(grid) == 2 and all(np.ndim(g) == 1 for g in grid) else (grid, grid)
    plus, minus = (
        np.unique([radius("gmeb_path", name, value) for value in values])
        for name, values in zip(("r_plus", "r_minus"), pair, strict=True)
    )
    if not len(plus) or not len(minus):
        raise ParameterError("the grid of radii is empty", "give values of R+ and R-, for example (1.0, 3.0, 10.0)")
    return plus, minus


def _solve_grid(
    data: Dataset, test: Dataset | None, plus: Matrix, minus: Matrix, scale: str, run: Run, rule: dict[str, Any]
) -> dict[str, Any]:
    """Return the surfaces of one data set."""
    columns = unit_columns(data, scale)
    route = choose_route("auto", run)
    session: Session | None = None
    shape, deviation = (len(plus), len(minus)), data.X.std(axis=0)
    out: dict[str, Any] = {k: np.full(shape, np.nan) for k in _SURFACES}
    out |= {"certified": np.zeros(shape, dtype=bool), "coef": np.zeros((*shape, data.p))}
    for at in np.ndindex(shape):
        norm = GmebNorm.of(columns.work, float(plus[at[0]]), float(minus[at[1]]))
        if route == "dual" and len(norm.ends) == 2:
            session = _moved(session, columns.work, norm, run)
            answer = dual_answer(session, run)
        else:
            answer = ROUTES[route](columns.work, norm, run)
        found, _ = settle(columns.work, norm, answer, run, cuts=route == "theta-cuts")
        coef = columns.full(found.w) / columns.map_.scale
        intercept = found.b - float(coef @ columns.map_.shift)
        values = {
            "objective": found.certificate.objective, "bound": found.certificate.bound, "coef": coef,
            "certified": found.certificate.ok, "intercept": intercept,
            "n_features": len(select_by_size(coef, deviation, **rule)), "train_error": _error(data, coef, intercept),
        }  # fmt: skip
        if test is not None:
            values["test_error"] = _error(test, coef, intercept)
        for name, value in values.items():
            out[name][at] = value
    return out


_SURFACES = ("objective", "bound", "n_features", "train_error", "test_error", "intercept")


def _moved(session: Session | None, data: Dataset, norm: GmebNorm, run: Run) -> Session:
    """Return a session on (16) with these radii: the one there is, moved to them, or a new one."""
    if session is None:
        model = build_gmeb_dual(data, r_plus=norm.r_plus, r_minus=norm.r_minus)
        return Session(model, run.solver, options=run.options)
    session.model.r_plus.set_value(norm.r_plus)
    session.model.r_minus.set_value(norm.r_minus)
    session.update(session.model.objective)
    return session


def _error(data: Dataset, coef: Matrix, intercept: float) -> float:
    """Return the share of rows that sign(w'x + b) misclassifies, a score of 0 counted as -1."""
    return float(np.mean(np.where(data.X @ coef + intercept > 0, 1.0, -1.0) != data.y))
