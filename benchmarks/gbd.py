"""GBD on data set one of Aytug, and beside one mixed-integer quadratic program in SCIP.

``python benchmarks/gbd.py --instances 0-9 --limit 60``. One thread, samples of norm 1 as they are, tolerance 1e-4.

First table: p = 20, n = 500, each instance at C = 1 and at the C of smallest validation error (``gbd_set1.csv`` in the
folder of named instances, ``FSOPT_SHARED``, by default ../shared; without the file only C = 1). Columns: cuts, seconds,
optimality gap, whether the gap was closed within ``--cuts`` cuts and ``--limit`` seconds, and the overhead of the loop,
without the building of the models, relative to the seconds of its solvers and its search. With ``--master highs`` the
master is solved as an integer program. Second table: p = 20 and fewer samples, GBD and ``fsp-m-bigm`` in SCIP in turn;
the value of RFE bounds the weights of the latter. A time at the limit is a lower bound, marked >=. The exit code is 1
if the lower bound of one of them is above the objective value of the other.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.answers.fits import Fit
from fsopt.data import Dataset, gbd_set_one

TOLERANCE = 1e-4
SHARED = Path(os.environ.get("FSOPT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ONE_THREAD = {"threads": 1}


def validated_weights(p: int, n: int) -> dict[int, float]:
    """Return instance -> penalty weight C in the file of named instances; nothing without the file."""
    path = SHARED / "instances" / "gbd_set1.csv"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {int(r["k"]): float(r["c"]) for r in rows if (int(r["n_features"]), int(r["n_samples"])) == (p, n)}


def run(data: Dataset, m: int, c: float, given: argparse.Namespace) -> Fit:
    settings = {"max_cuts": given.cuts, "master_solver": given.master, "tolerance": TOLERANCE, "scale": "none"}
    return fsopt.fit("gbd", data, m=m, c=c, time_limit=given.limit, **settings)


def gap(fit: Fit) -> float:
    return (fit.objective - fit.bound) / max(1.0, abs(fit.objective))


def overhead(fit: Fit, data: Dataset, m: int, c: float) -> float:
    """Return the overhead of the loop relative to its solvers, without building and first translation."""
    started = time.perf_counter()
    fsopt.build("fsp-master", data, m=m)
    fsopt.build("fsp-sub", data, c=c)
    before = time.perf_counter() - started + fit.seconds["translate"]
    return (fit.seconds["total"] - before - fit.seconds["solve"]) / fit.seconds["solve"]


def set_one(instances: range, given: argparse.Namespace, console: Console) -> None:
    table = Table("k", "M", "C", "cuts", "seconds", "objective", "gap", "proved", "loop / solver")
    own = validated_weights(20, 500)
    proved: dict[str, list[bool]] = {"1": [], "file": []}
    extra: list[float] = []
    for k in instances:
        data, _, _, support, _ = gbd_set_one(20, 500, k)
        for name, c in (("1", 1.0), *([("file", own[k])] if k in own else [])):
            fit = run(data, len(support), c, given)
            proved[name].append(gap(fit) <= TOLERANCE)
            extra.append(overhead(fit, data, len(support), c))
            size = [str(k), str(len(support)), f"{c:g}", str(len(fit.details["alphas"]))]
            answer = [f"{fit.seconds['total']:.2f}", f"{fit.objective:.6g}", f"{gap(fit):.1e}"]
            table.add_row(*size, *answer, "yes" if proved[name][-1] else "no", f"{extra[-1]:.2f}")
    console.print(table)
    for name, hits in proved.items():
        if hits:
            console.print(f"C = {name}: {sum(hits)} of {len(hits)} proved to {TOLERANCE:g}")
    console.print(f"loop / solver: median {median(extra):.2f}, from {min(extra):.2f} to {max(extra):.2f}\n")


def single_model(data: Dataset, m: int, c: float, limit: float) -> tuple[float, float, float]:
    """Return objective, bound and seconds of the big-M model in SCIP; the seconds include those of RFE."""
    started = time.perf_counter()
    first = fsopt.fit("rfe", data, m=m, c=c, scale="none", options=ONE_THREAD)
    model = fsopt.build("fsp-m-bigm", data, m=m, c=c, value=first.objective * (1 + 1e-6))
    result = fsopt.solve(model, "scip", time_limit=limit, options={"mip_gap": TOLERANCE})
    seconds = time.perf_counter() - started
    objective = first.objective if result.objective is None else result.objective
    return objective, float("-inf") if result.bound is None else result.bound, seconds


def beside_scip(sizes: list[tuple[int, int]], given: argparse.Namespace, console: Console) -> bool:
    """Print the second table; return whether a bound contradicts the other answer."""
    table = Table("n, k", "C", "GBD s", "gap", "SCIP s", "gap", "SCIP / GBD", "values apart")
    wrong = False
    for n, k in sizes:
        data, _, _, support, _ = gbd_set_one(20, n, k)
        for c in (1.0, 8.0):
            fit = run(data, len(support), c, given)
            objective, bound, seconds = single_model(data, len(support), c, given.limit)
            other = (objective - bound) / max(1.0, abs(objective))
            slack = 2 * TOLERANCE * max(1.0, fit.objective)
            wrong |= fit.bound > objective + slack or bound > fit.objective + slack
            mine = fit.seconds["total"]
            marks = ["" if g <= TOLERANCE else ">= " for g in (gap(fit), other)]
            ratio = "-" if marks[0] else f"{marks[1]}{seconds / mine:.1f}"
            gbd_cells = [f"{marks[0]}{mine:.2f}", f"{gap(fit):.1e}"]
            scip_cells = [f"{marks[1]}{seconds:.2f}", f"{other:.1e}"]
            apart = f"{objective - fit.objective:.1e}"
            table.add_row(f"{n}, {k}", f"{c:g}", *gbd_cells, *scip_cells, ratio, apart)
    console.print(table)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", default="0-9", help="numbers of instances, first-last")
    parser.add_argument("--cuts", type=int, default=250)
    parser.add_argument("--master", default="highs", help="highs, scip or gurobi")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each answer")
    given = parser.parse_args()
    first, last = (int(k) for k in given.instances.split("-"))
    console = Console()
    if not validated_weights(20, 500):
        console.print(f"no named instances at {SHARED} (set FSOPT_SHARED): only C = 1")
    set_one(range(first, last + 1), given, console)
    sizes = [(n, k) for n in (100, 200) for k in (0, 4, 8) if first <= k <= last]
    raise SystemExit(int(beside_scip(sizes, given, console)))


if __name__ == "__main__":
    main()
