"""The routes of GMEB on larger data, each beside the solve that is its smallest part.

``python benchmarks/gmeb.py --repeat 3``. CPU seconds, one thread, in turn, A B A B:

* ``dual``: the whole fit (preprocessing, model, translation, solve, certificate) beside Clarabel on the same arrays;
* ``theta-cuts`` with an inactive radius: the whole loop beside one ONSVM program in HiGHS with the equivalent C.

The last column is the peak memory of the process so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import clarabel
import numpy as np
from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.methods.gmeb.gmeb import dual_norm_terms
from fsopt.methods.preprocessing import unit_rms
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.solvers.conic import ConicForm


def data(n: int, p: int) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    return Dataset(rng.standard_normal((n, p)) + 0.5 * y[:, None] * (np.arange(p) < 5), y)


def bare_clarabel(source: Dataset) -> float:
    """Return Clarabel's seconds, its own setup included, on the arrays of the dual that the fit solves."""
    work = unit_rms(source, "center").work
    form = ConicForm(compile_model(fsopt.build("gmeb-dual", work)))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    cones = [clarabel.ZeroConeT(form.equalities), clarabel.NonnegativeConeT(form.inequalities)]
    cones += [clarabel.SecondOrderConeT(int(k)) for k in form.program.cones.sizes]
    arrays = (form.hessian(), form.linear(), form.matrix(), form.right_hand_side())
    return seconds(lambda: clarabel.DefaultSolver(*arrays, cones, settings).solve())


def dual(source: Dataset) -> float:
    return seconds(lambda: fsopt.fit("gmeb", source, route="dual", options={"threads": 1}))


def cuts(source: Dataset) -> float:
    """Return the seconds of the route by cuts with R- inactive, the building of the model included."""
    work = unit_rms(source, "center").work
    return seconds(lambda: theta_cuts(work, fsopt.build("gmeb-cuts", work, r_minus=30.0)))


def one_onsvm(source: Dataset) -> float:
    """Return the seconds of one ONSVM, model included, whose weights have the largest norm under R+ (Remark 16)."""
    work = unit_rms(source, "center").work
    norm = GmebNorm.of(work, 3.0, np.inf)
    found = theta_cuts(work, fsopt.build("gmeb-cuts", work, r_minus=np.inf))
    unit = dual_norm_terms(work, norm, found.point["mu"])[0].max()
    scaled = work.with_X(work.X / norm.weights(1.0))
    return seconds(lambda: fsopt.solve(fsopt.build("onsvm", scaled, c=1.0 / unit), "highs"))


def seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="append the seconds of each round to this file (JSON lines)")
    args = parser.parse_args()
    cases = [
        ("dual", (62, 2000), dual, bare_clarabel, np.inf),
        ("dual", (500, 1000), dual, bare_clarabel, 1.2),
        ("theta-cuts", (500, 30), cuts, one_onsvm, 2.0),
        ("theta-cuts", (300, 200), cuts, one_onsvm, 2.0),
    ]
    table = Table("route", "n x p", "fsopt s", "bare s", "fsopt / bare", "asked", "peak GB")
    missed = False
    for route, (n, p), ours, theirs, limit in cases:
        source = data(n, p)
        mine, bare = zip(*((ours(source), theirs(source)) for _ in range(args.repeat)), strict=True)
        ratios = [a / b for a, b in zip(mine, bare, strict=True)]
        missed |= median(ratios) > limit
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        if args.output:
            beside = "Clarabel alone" if route == "dual" else "one ONSVM in HiGHS"
            row = {"group": "routes", "case": f"gmeb, {route}", "data": f"{n} x {p}", "beside": beside}
            with args.output.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**row, "fsopt": mine, "other": bare}) + "\n")
        medians = [f"{median(mine):.2f}", f"{median(bare):.2f}"]
        asked = "-" if limit == np.inf else f"<= {limit}"
        table.add_row(route, f"{n} x {p}", *medians, spread, asked, f"{peak:.2f}")
    Console().print(table)
    raise SystemExit(int(missed))


if __name__ == "__main__":
    main()
