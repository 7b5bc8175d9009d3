"""Methods ``gbd`` and ``gbd-lambda`` (paper 4): the support vector machine that is best on few features."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.drivers.gbd import gbd
from fsopt.methods.common import Plane, Run, make_fit, preprocess
from fsopt.methods.gbd_space import split
from fsopt.models.blocks import number
from fsopt.models.fsp import build_fsp_master, build_fsp_sub
from fsopt.models.limits import Feature
from fsopt.results import Fit

THRESHOLD = 1e-6


@dataclass(frozen=True)
class _Loop:
    """The settings of the loop, as in :func:`fsopt.drivers.gbd.gbd`, and of the rows that are held out."""

    c: float
    start: str | ArrayLike
    root_cuts: int
    stabilisation: str
    master_solver: str | None
    tolerance: float
    max_cuts: int
    validation: float | None
    patience: int | None
    seed: int
    scale: str


def fit_gbd(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    costs: Sequence[float] | None = None,
    budget: float | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    c: float = 1.0,
    start: str | Sequence[float] = "all",
    root_cuts: int = 0,
    stabilisation: str = "in-out",
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    scale: str = "standard",
) -> Fit:
    r"""Fit the support vector machine that is best with a limited number of features (GBD-M).

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
              \beta'\sigma \le B, \ \text{and rules between features}

    Parameters
    ----------
    m : largest number of features; 5 (or all, where there are fewer) if no limit is given.
    costs, budget : prices of the features and the budget, instead of m.
    include, exclude : features that must be, and must not be, selected, by place (from 0) or name.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.
    c : > 0, price of a unit of hinge loss.
    start, root_cuts, stabilisation, master_solver, tolerance, max_cuts : as in :func:`fsopt.drivers.gbd.gbd`.
    validation : share in (0, 1) of each class that is held out: the answer is then the machine of the iterate with the
        fewest errors there, not the one of least F.
    patience : iterations without fewer errors there after which the loop stops.
    seed : of the rows that are held out.
    scale : ``standard`` (default), ``center`` or ``none``, by statistics of the training rows.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final machine and ``bound`` the master's, in preprocessed units, on the
        training rows; ``optimal`` where they meet, else ``feasible`` with the gap between them.

    Raises
    ------
    ParameterError : a parameter out of range, or limits that no selection keeps.

    Notes
    -----
    Paper 4, GBD-M, (5)-(11) and Table 1.
    """
    limits = {
        "m": m, "costs": costs, "budget": budget, "include": include, "exclude": exclude, "implies": implies,
        "conflicts": conflicts,
    }  # fmt: skip
    loop = _Loop(
        c, start, root_cuts, stabilisation, master_solver, tolerance, max_cuts, validation, patience, seed, scale
    )
    return _fit(data, run, loop, limits)


def fit_gbd_lambda(
    data: Dataset,
    run: Run,
    *,
    lam: float | Sequence[float] = 1.0,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    c: float = 1.0,
    start: str | Sequence[float] = "all",
    root_cuts: int = 0,
    stabilisation: str = "in-out",
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    scale: str = "standard",
) -> Fit:
    r"""Fit the support vector machine that is best where each feature has a price (GBD-lambda).

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    Parameters
    ----------
    lam : >= 0, price of each feature, or p prices. Not every number of features is the best one at some price.
    include, exclude, implies, conflicts, c : as in :func:`fit_gbd`.
    start, root_cuts, stabilisation, master_solver, tolerance, max_cuts : as in :func:`fsopt.drivers.gbd.gbd`.
    validation, patience, seed, scale : as in :func:`fit_gbd`.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final machine and ``bound`` the master's; ``optimal``
        where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, or limits that no selection keeps.

    Notes
    -----
    Paper 4, GBD-lambda, (12)-(15). The printed closed form for sigma solves a master of one cut; with more it is an
    MILP.
    """
    limits = {"lam": lam, "include": include, "exclude": exclude, "implies": implies, "conflicts": conflicts}
    loop = _Loop(
        c, start, root_cuts, stabilisation, master_solver, tolerance, max_cuts, validation, patience, seed, scale
    )
    return _fit(data, run, loop, limits)


def _fit(data: Dataset, run: Run, loop: _Loop, limits: Mapping[str, Any]) -> Fit:
    """Run the loop on the training rows and return its machine."""
    started = time.perf_counter()
    c = number("gbd", "c", loop.c, low=0.0, strict=True)
    rows, held = split(data, loop.validation, loop.seed)
    work, map_ = preprocess(data.rows(rows) if len(held) else data, loop.scale)
    validation = None
    if len(held):
        validation = data.rows(held)
        validation = validation.with_X(map_.apply(validation.X))
    master: pyo.ConcreteModel = build_fsp_master(work, **limits)
    result = gbd(
        work, master, build_fsp_sub(work, c=c), c=c, master_solver=loop.master_solver, sub_solver=run.solver,
        start=loop.start, root_cuts=loop.root_cuts, stabilisation=loop.stabilisation, tolerance=loop.tolerance,
        max_cuts=loop.max_cuts, validation=validation, patience=loop.patience, time_limit=run.time_limit,
        options=run.options, progress=run.progress, checkpoint=run.checkpoint, resume=run.resume,
    )  # fmt: skip
    w, sigma = result.point["w"], result.point["sigma"]
    assert result.objective is not None
    details: dict[str, Any] = {"alphas": result.point["alphas"], "c": c, "sigma": sigma}
    chosen = tuple(np.flatnonzero((sigma > 0.5) & (np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0))).tolist())
    return make_fit(
        data, map_, Plane(w, result.point["b"], chosen), objective=result.objective, outcome=result,
        started=started, details=details,
    )  # fmt: skip
