"""Yang & Ju: Table 2 with Figures 2 to 4, L0-MPM over alpha and delta on 200 samples of Spam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset
from fsopt.errors import DataError
from fsopt.papers.mpm.pairs import pairs_of
from fsopt.papers.mpm.readings import CHOSEN, PRINTED_DELTA, folds_of, load_set, protocol
from fsopt.papers.mpm.surfaces import MpmSurface, mpm_surface
from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings, numbers_of, printed
from fsopt.papers.verdicts import ERRATUM, LEFT_OUT, NO_DATA, READING, TableCell, cell, deviations, missing

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
