"""Verb ``mpm-limits``: how much worst-case accuracy a data set allows a minimax probability machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import escape, print_json, remark, show, table

PRINTED = 0.9
"""The delta that paper 2 takes for its experiments."""


def mpm_limits(
    data: options.Data,
    label: options.Label = "label",
    missing: options.Missing = None,
    folds: Annotated[int, typer.Option("--folds", help="of the stratified cross-validation; 0 for all rows only")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="of the split into folds")] = 0,
    scale: Annotated[
        str, typer.Option("--scale", help="standard, center or none; no limit depends on it")
    ] = "standard",
    json: options.Json = False,
) -> None:
    """Print the largest delta that l1-mpm and l0-mpm can be asked for: on all rows and on each training fold."""
    import numpy as np

    from fsopt.saved import plain
    from fsopt.studies.folds import fold_rows

    source = options.load(data, label, missing)
    rows = [_row("all", source, scale)]
    for k, test in enumerate(fold_rows(source, folds, seed) if folds else [], start=1):
        rows.append(_row(f"fold {k}", source.rows(np.setdiff1d(np.arange(source.n), test)), scale))
    record = {
        "data": data, "n": source.n, "p": source.p, "folds": folds, "seed": seed, "scale": scale,
        "paper_delta": PRINTED, "largest_delta": min(row["alpha"] for row in rows), "rows": rows,
    }  # fmt: skip
    if json:
        print_json(plain(record))
    else:
        _print(record)
    if any(row["separating"] for row in rows):
        remark(
            "warning: singular covariances separate the means: every delta is feasible and promises nothing about "
            "new data; a ridge > 0 makes kappa* finite"
        )
    elif any(min(row["ranks"]) < source.p for row in rows):
        remark("warning: a covariance is singular: a ridge > 0 makes it regular")


def _row(name: str, data: Any, scale: str) -> dict[str, Any]:
    """Return kappa*, alpha* and the ranks of both covariances of some rows."""
    import numpy as np

    from fsopt.methods.mpm.feature_space import Space

    space = Space.of(data, scale)
    ranks = [int(np.linalg.matrix_rank(factor)) for factor in (space.moments.factor1, space.moments.factor2)]
    return {
        "rows": name,
        "n": data.n,
        "kappa": space.limit.kappa,
        "alpha": space.limit.alpha,
        "paper_delta_feasible": space.limit.alpha >= PRINTED,
        "ranks": ranks,
        "separating": bool(np.isinf(space.limit.kappa)),
    }


def _print(record: dict[str, Any]) -> None:
    heads = [("training rows", "left"), *((h, "right") for h in ("n", "kappa*", "alpha*", "rank +1", "rank -1"))]
    listing = table(f"{record['data']}: {record['n']} rows, {record['p']} features", heads)
    for row in record["rows"]:
        numbers = (f"{row['kappa']:.4f}", f"{row['alpha']:.4f}", *map(str, row["ranks"]))
        listing.add_row(escape(row["rows"]), str(row["n"]), *numbers)
    show(listing)
    word = "feasible" if record["largest_delta"] >= PRINTED else "infeasible"
    show(f"largest delta for all of these: {record['largest_delta']:.4f}; the paper's {PRINTED:g} is {word}")
