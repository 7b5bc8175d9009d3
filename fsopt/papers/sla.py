"""The numerical tests of paper 3 (section 5): Table 1, the feature selection example, SLA beside other solvers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from fsopt.data import Dataset, load_dataset, load_samples
from fsopt.data.hyperplanes import plane_errors
from fsopt.data.table import Table, to_dataset
from fsopt.drivers.pmm import pmm
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import fit
from fsopt.models.registry import build
from fsopt.models.sla.misclass_step import build_misclass_step
from fsopt.results import Fit, Status
from fsopt.solvers.base import solve
from fsopt.typing import Vector


@dataclass(frozen=True)
class Printed:
    """A row of Table 1: rows of A and of B, features, training correctness in percent, mean number of programs."""

    m: int
    k: int
    n: int
    pmm: float
    sla: float
    linear_programs: float


TABLE_ONE: Mapping[str, Printed] = MappingProxyType(
    {
        "wpbc24": Printed(28, 119, 32, 95.92, 93.2, 3.0),
        "wbcd": Printed(239, 443, 9, 98.57, 97.6, 5.7),
        "cleveland": Printed(216, 81, 14, 91.43, 89.3, 4.3),
        "ionosphere": Printed(225, 126, 34, 98.42, 97.0, 4.0),
        "bupa": Printed(145, 200, 6, 74.85, 71.4, 5.5),
        "pima": Printed(268, 500, 8, 80.55, 78.3, 6.5),
        "tictactoe": Printed(626, 332, 9, 69.12, 66.6, 3.3),
        "votes": Printed(168, 267, 16, 98.82, 96.9, 3.4),
    }
)
"""Names of data files -> what the paper prints; its two Star/Galaxy sets are not to be had."""


@dataclass(frozen=True)
class TableRow:
    """A row of Table 1, ours beside the printed one.

    Attributes
    ----------
    data : name of the data set.
    m, k, n : rows with y = +1, rows with y = -1, features.
    sla, linear_programs, seconds : training correctness in percent, programs and seconds, means over the runs.
    best : least number of errors of a run.
    pmm, pmm_seconds : training correctness in percent and seconds of PMM.
    printed : the paper's row.
    """

    data: str
    m: int
    k: int
    n: int
    sla: float
    linear_programs: float
    seconds: float
    best: int
    pmm: float
    pmm_seconds: float
    printed: Printed


def load_table_data(name: str) -> Dataset:
    """Return a data set of Table 1 from the folder of data sets: its complete rows.

    Votes keeps all rows, coded 1, -1 and unknown 0. Tic-tac-toe stays as the file codes it, blank between the two
    players, where a plane is right on 98 percent; the paper does not say how it coded, and other orders of the three
    give 65 and 75, so that its row is not comparable.
    """
    if name != "votes":
        return load_dataset(name, missing="drop")
    table = load_samples(name)
    return to_dataset(Table(np.nan_to_num(2.0 * table.X - 1.0), table.labels, table.features), name, None)


def table_one(
    sets: Mapping[str, Dataset], *, runs: int = 10, seed: int = 0, solver: str | None = None
) -> list[TableRow]:
    """Return rows of Table 1: misclassification minimisation by SLA and by PMM on all rows of each data set.

    Parameters
    ----------
    sets : names in ``TABLE_ONE`` -> data, for example of :func:`load_table_data`.
    runs : >= 1 runs of SLA, the first from zero, the others from random errors; the paper has ten, and does not say
        from which distribution they start.
    seed : of the random starts.
    solver : for the linear programs.

    Notes
    -----
    The counts of the files differ from the paper's for wbcd (one row), wpbc24 and cleveland; see ``printed``.
    """
    return [_row(name, data, runs, seed, solver) for name, data in sets.items()]


def _row(name: str, data: Dataset, runs: int, seed: int, solver: str | None) -> TableRow:
    work, _ = preprocess(data, "standard")
    started = time.perf_counter()
    model = build_misclass_step(work)
    terms = ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), 5.0)
    result = sla(model, terms, n_starts=runs, seed=seed, solver=solver)
    seconds = (time.perf_counter() - started) / runs
    errors = np.array([plane_errors(work, run["w"], -run["gamma"]) for run in result.point["starts"]])
    other = pmm(work, solver=solver)
    assert other.objective is not None
    return TableRow(
        name, len(data.positive), len(data.negative), data.p,
        float(100 - 100 * errors.mean() / data.n), result.iterations / len(errors), seconds, int(errors.min()),
        float(100 - 100 * other.objective / data.n), sum(other.seconds.values()), TABLE_ONE[name],
    )  # fmt: skip


@dataclass(frozen=True)
class SmoothRow:
    """What one solver made of (20) or (21) from one start.

    Attributes
    ----------
    model, solver : ``misclass`` or ``fsv``, and ``sla`` or the name of a solver of nonlinear programs.
    status, objective, seconds : as it ended; nan where it found no point.
    errors, n_nonzero : rows on the wrong side of its plane or on it, and weights above 1e-6.
    """

    model: str
    solver: str
    status: str
    objective: float
    errors: int
    n_nonzero: int
    seconds: float


def compare_smooth(
    data: Dataset,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    solvers: Sequence[str] = ("ipopt", "scip"),
    time_limit: float = 60.0,
) -> list[SmoothRow]:
    """Solve (20) and (21) by SLA and by solvers of nonlinear programs, all from w = 0, gamma = 0.

    SLA starts from errors 0 (its first program is the one with equal costs), the others from the errors 1 of that
    plane, which cost the same as each other. SCIP's answer is global where its status is ``optimal``.

    Parameters
    ----------
    data : preprocessed.
    lam, alpha : of (21), and of both.
    solvers : registry names.
    time_limit : seconds for each solve.
    """
    rows = []
    problems: dict[str, dict[str, Any]] = {"misclass": {"alpha": alpha}, "fsv": {"lam": lam, "alpha": alpha}}
    for name, params in problems.items():
        own = fit(name, data, scale="none", time_limit=time_limit, **params)
        rows.append(
            _smooth(name, "sla", own.status, own.objective, data, own.coef, own.intercept, own.seconds["total"])
        )
        for solver in solvers:
            model = build(name, data, **params)
            result = solve(model, solver, time_limit=time_limit)
            w, b = np.array([v.value for v in model.w.values()]), -float(model.gamma.value)
            spent = result.seconds["solve"]
            rows.append(_smooth(name, solver, result.status, result.objective, data, w, b, spent))
    return rows


def _smooth(
    model: str, solver: str, status: Status, objective: float | None, data: Dataset, w: Vector, b: float, seconds: float
) -> SmoothRow:
    value = float("nan") if objective is None else objective
    return SmoothRow(model, solver, status, value, plane_errors(data, w, b), int(np.sum(np.abs(w) > 1e-6)), seconds)


def feature_example(data: Dataset, *, lam: float = 0.05, seed: int = 0, solver: str | None = None) -> Fit:
    """Run the paper's example of feature selection: two columns of noise, uniform on [0, 10], are added and dropped.

    Parameters
    ----------
    data : the 683 complete rows of WBCD, in its own units.
    lam : in [0, 1], weight of feature suppression.
    seed : of the noise.
    solver : for the linear programs.

    Returns
    -------
    Fit
        Of ``fsv`` on the columns as they are. The paper keeps features 1, 2, 6, 8 after 6 programs and is right on
        97.1 percent.
    """
    noise = np.random.default_rng(seed).uniform(0.0, 10.0, (data.n, 2))
    wider = Dataset(np.hstack([data.X, noise]), data.y, (*data.features, "noise1", "noise2"), name=data.name)
    return fit("fsv", wider, lam=lam, scale="none", solver=solver)
