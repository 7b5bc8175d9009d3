"""Option ``--limits`` of ``show``: the largest worst-case accuracy that data allow a minimax probability machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsopt.cli.layouts import load
from fsopt.cli.output import print_json, remark, show, table
from fsopt.data.tables.layout import Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.data import Dataset

PRINTED = 0.9
"""The delta of the experiments of Yang & Ju."""


def print_limits(model: str, data: str | None, layout: Layout, folds: int, seed: int, json: bool) -> None:
    """Print the largest delta that is feasible for a model: on all samples and on each training fold."""
    from fsopt.answers.records import plain
    from fsopt.data.splits import stratified_folds, train_and_test
    from fsopt.data.weights import refuse_weights
    from fsopt.models.registry import MODELS

    entry = MODELS[model]
    if entry.paper != "mpm" or "delta" not in entry.parameters:
        raise ParameterError(f"'{model}' has no worst-case accuracy delta", "--limits is for l1-mpm and l0-mpm")
    if data is None:
        raise ParameterError("--limits needs a data set", "give --data, for example wdbc")
    source = load(data, layout)
    refuse_weights("the minimax probability machine", source.weights, "leave out --weights and --class-weight")
    rows = [_row("all", source)]
    for k, fold in enumerate(stratified_folds(source, folds, seed) if folds else [], start=1):
        rows.append(_row(f"fold {k}", train_and_test(source, fold)[0]))
    record = {
        "data": data,
        "n": source.n,
        "p": source.p,
        "folds": folds,
        "seed": seed,
        "paper_delta": PRINTED,
        "largest_delta": min(row["alpha"] for row in rows),
        "rows": rows,
    }
    print_json(plain(record)) if json else _print(record)
    if any(row["separating"] for row in rows):
        remark(
            "warning: singular covariances separate the means: every delta is feasible and promises nothing about "
            "new data; a ridge > 0 makes kappa* finite"
        )
    elif any(min(row["ranks"]) < source.p for row in rows):
        remark("warning: a covariance is singular: a ridge > 0 makes it regular")


def _row(name: str, data: Dataset) -> dict[str, Any]:
    """Return kappa*, alpha* and the ranks of both covariances of training data."""
    import numpy as np

    from fsopt.methods.mpm.feature_space import FeatureSpace

    space = FeatureSpace.of(data, scale="standard")  # no limit depends on the scale
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
    heads = ("training samples", ">n", ">kappa*", ">alpha*", ">rank +1", ">rank -1")
    rows = [(r["rows"], r["n"], f"{r['kappa']:.4f}", f"{r['alpha']:.4f}", *r["ranks"]) for r in record["rows"]]
    show(table(f"{record['data']}: {record['n']} samples, {record['p']} features", heads, rows))
    word = "feasible" if record["largest_delta"] >= PRINTED else "infeasible"
    show(f"largest delta for all of these: {record['largest_delta']:.4f}; the paper's {PRINTED:g} is {word}")
