"""Proof trees of the library's integer programs beside SCIP: leaves, bounds, seconds of the processor on one thread.

``python -m benchmarks.trees [SECONDS] [NAME ...]`` appends a record for each integer program of ``models`` and
``models/realistic``, or for those named, to ``docs/results/trees.jsonl``, and writes the tables of
``docs/howto/prove-an-integer-program.md`` anew from the latest records. SCIP and the search each get SECONDS, 600 by
default. The search begins with the better point of SCIP's and the published one. FSOPT_DATA is the folder with sonar.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyomo.environ as pyo

import fsopt
from fsopt.answers.results import Point, SolveResult
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.models.registry import MODELS
from tools import optima
from tools.best_known import better
from tools.instances import build_instance, solvable
from tools.pages import table
from tools.realistic import INSTANCES, data_of

ROOT = Path(__file__).parents[1]
RECORDS, PAGE = ROOT / "docs" / "results" / "trees.jsonl", ROOT / "docs" / "howto" / "prove-an-integer-program.md"
SHELVES = ("library", "realistic")


def programs() -> Iterator[tuple[str, str, Callable[[], pyo.ConcreteModel]]]:
    """Yield name, shelf and builder of each instance."""
    for slug in MODELS:
        yield slug, "library", lambda slug=slug: solvable(build_instance(slug))
    for one in INSTANCES:
        yield one.name, "realistic", lambda one=one: fsopt.build(one.slug, data_of(one.data), **one.params)


def row(name: str, shelf: str, model: pyo.ConcreteModel, seconds: float) -> dict[str, Any]:
    """Return the record of an instance."""
    program = compile_model(model)
    started = time.process_time()
    scip = fsopt.solve(model, "scip", time_limit=seconds, options={"timing/clocktype": 1})
    alone, started = time.process_time() - started, time.process_time()
    published = ROOT / "models" / "realistic" / f"{name}.best.json.gz"
    result = scip
    if published.is_file():
        point = optima.point_of(program, json.loads(gzip.decompress(published.read_bytes())))
        result = better(program, scip, Point(point))
    proved = fsopt.prove(model, result, time_limit=seconds)
    found = {"instance": name, "shelf": shelf, "class": program_class(program), "integers": int(program.integer.sum())}
    return found | {
        "limit": seconds,
        "scip": {"status": scip.status, "objective": scip.objective, "bound": scip.bound, "cpu": alone},
        **_facts(proved),
        "cpu": time.process_time() - started,
        "verified": fsopt.verify(proved, model).verified,
    }


def _facts(proved: SolveResult) -> dict[str, Any]:
    tree = proved.tree
    return {
        "status": proved.status,
        "objective": proved.objective,
        "bound": proved.bound,
        "leaves": None if tree is None else tree.leaves,
        "relaxations": proved.iterations,
    }


def write_page() -> None:
    """Write the tables of the latest records into the page, one for each shelf."""
    latest = {r["instance"]: r for r in map(json.loads, RECORDS.read_text(encoding="utf-8").splitlines())}
    headings = ("instance", "class", "integers", "value", "bound", "leaves", "relaxations", "seconds", "SCIP's bound")
    text = PAGE.read_text(encoding="utf-8")
    for shelf in SHELVES:
        cells = [_cells(r) for r in latest.values() if r["shelf"] == shelf]
        before, _, rest = text.partition(f"<!-- trees of {shelf} -->\n\n")
        after = rest[rest.index("\n\n") :]
        text = f"{before}<!-- trees of {shelf} -->\n\n{table((*headings, 'its seconds'), cells)}{after}"
    PAGE.write_text(text, encoding="utf-8")


def _cells(r: dict[str, Any]) -> tuple[str, ...]:
    size, own = (r["instance"], r["class"], str(r["integers"])), (f"{r['leaves']:,}", f"{r['relaxations']:,}")
    scip = r["scip"]
    return (*size, f"{r['objective']:.8g}", _bound(r), *own, f"{r['cpu']:.3g}", _bound(scip), f"{scip['cpu']:.3g}")


def _bound(r: dict[str, Any]) -> str:
    return "closed" if r["status"] == "optimal" else f"{r['bound']:.6g}"


def main() -> None:
    """Measure, and write the page."""
    time.perf_counter = time.process_time  # limits count seconds of the processor, whatever else the machine does
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    for name, shelf, built in programs():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model = built()
        if not compile_model(model).integer.any():
            continue
        with RECORDS.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row(name, shelf, model, seconds)) + "\n")
    write_page()


if __name__ == "__main__":
    main()
