"""Bounds of the nonconvex models by ``fsopt.prove``, beside those of SCIP and Gurobi in the same time.

``python -m benchmarks.nonconvex [SECONDS] [DATA ...]`` appends a record for each model and data set to
``docs/results/nonconvex.jsonl``, and writes its table into ``docs/results/nonconvex.md`` anew: the value of the best
point that a local solver, the loop of the paper (fsv), the others and the search found, the bound of the root, and the
bounds after SECONDS. Features are standardised.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import fsopt
from fsopt.answers.results import Point, SolveResult
from fsopt.certificates.relaxations import relaxation_of
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.search.branch_and_bound.search import Search
from fsopt.typing import Vector

MODELS: dict[str, dict[str, Any]] = {
    "gmeb-nonconvex": {},
    "gmeb-penalised": {"c_plus": 0.25, "c_minus": 0.25},
    "mmop": {},
    "misclass": {},
    "fsv": {},
    "l0-mpm": {},
}
RESULTS = Path(__file__).parents[1] / "docs" / "results"
RECORDS, PAGE = RESULTS / "nonconvex.jsonl", RESULTS / "nonconvex.md"
OTHERS = ("scip", "gurobi")
LOCAL = "ipopt"


def standardised(name: str) -> Dataset:
    """Return a data set with features of mean 0 and deviation 1."""
    data = fsopt.load_dataset(name)
    deviation = data.X.std(axis=0)
    return Dataset((data.X - data.X.mean(axis=0)) / deviation, data.y)


def attempt(model: Any, solver: str, seconds: float) -> SolveResult | str:
    """Return the answer of a solver, or why there is none."""
    try:
        return fsopt.solve(model, solver=solver, time_limit=seconds)
    except fsopt.errors.FsoptError as error:
        return error.message


def row(slug: str, params: dict[str, Any], data: Dataset, name: str, seconds: float) -> dict[str, Any]:
    """Return the record of one model on one data set."""
    model = fsopt.build(slug, data, **params)
    program = compile_model(model)
    answers = {solver: attempt(model, solver, seconds) for solver in (LOCAL, *OTHERS)}
    solved = {s: a for s, a in answers.items() if isinstance(a, SolveResult)}
    points = [a for a in solved.values() if a.point is not None and a.status.solved]
    best = min(points, key=lambda a: a.objective, default=None)
    if slug == "fsv" and best is not None:
        best = dataclasses.replace(best, point=Point(by_the_loop(model, data)))
    found: dict[str, Any] = {"model": slug, "data": name, "seconds": seconds}
    for solver in OTHERS:
        a = answers[solver]
        found[solver] = a if isinstance(a, str) else {"status": a.status, "objective": a.objective, "bound": a.bound}
    started = time.process_time()
    search = Search(relaxation_of(program))
    search.offer(None if best is None else best.point.x)
    search.begin()
    found |= {"root": search.frontier.bound, "root seconds": time.process_time() - started}
    started = time.process_time()
    proved = fsopt.prove(model, best, time_limit=seconds)
    found |= {
        "objective": proved.objective,
        "bound": proved.bound,
        "leaves": None if proved.tree is None else proved.tree.leaves,
        "cpu": time.process_time() - started,
        "verified": fsopt.verify(proved, model).verified,
    }
    return found


def by_the_loop(model: Any, data: Dataset) -> Vector:
    """Return the point of ``fsv`` that successive linearization finds."""
    fit = fsopt.fit("fsv", data)
    program = compile_model(model)
    scores = data.X @ fit.coef + fit.intercept
    x = np.zeros(program.n)
    parts = (
        (model.w, fit.coef),
        (model.v, np.abs(fit.coef)),
        (model.y, np.maximum(1.0 - scores[data.y > 0], 0.0)),
        (model.z, np.maximum(1.0 + scores[data.y < 0], 0.0)),
        (model.gamma, [-fit.intercept]),
    )
    for component, values in parts:
        x[[program.column[id(v)] for v in component.values()]] = values
    return x


def number(value: float | None) -> str:
    """Return six digits of a value, 0 for a rounding error."""
    return "none" if value is None else f"{value:.6g}" if abs(value) > 1e-4 else "0"


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    columns = ("data", "model", "best value", "root", "bound", "leaves", "CPU seconds", "SCIP: value", "SCIP: bound")
    lines = [f"| {' | '.join(columns)} |", f"| {' | '.join(['---'] * len(columns))} |"]
    for r in rows:
        scip = r["scip"] if isinstance(r["scip"], dict) else {"objective": None, "bound": None}
        cells = [r["data"], f"`{r['model']}`", *(number(r[k]) for k in ("objective", "root", "bound"))]
        cells += [f"{r['leaves']:,}", f"{r['cpu']:.1f}", number(scip["objective"]), number(scip["bound"])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_page() -> None:
    """Write the table of the latest records into the page."""
    listed = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    latest = {(r["data"], r["model"]): r for r in listed}
    text = PAGE.read_text(encoding="utf-8").splitlines()
    kept = [k for k, line in enumerate(text) if line.startswith("| ")]
    text[kept[0] : kept[-1] + 1] = table(list(latest.values())).splitlines()
    PAGE.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    for data_name in sys.argv[2:] or ["wdbc", "sonar"]:
        for one, its in MODELS.items():
            record = row(one, its, standardised(data_name), data_name, limit)
            with RECORDS.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
    write_page()
