"""Linear programs too large to solve at once: column and constraint generation beside the whole program in HiGHS.

``python benchmarks/generation.py --limit 120``. CPU seconds, one thread, two Gaussian classes that differ in 10
features, C = 1, models and certificates included: the one-norm support vector machine, then SLA, whose steps are such
programs. The whole program is stopped after ``--limit`` seconds of solving, and its time is then a lower bound. Asked
of the one-norm support vector machine at the two largest sizes: verified to 1e-6, and at least 5 times faster.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.run import Run
from fsopt.methods import large_programs

ASKED = 5.0
SIZES = [(n, 50) for n in (1_000, 3_000, 10_000, 30_000, 100_000)]
SIZES += [(100, p) for p in (1_000, 3_000, 10_000, 50_000)]
LARGEST = ((100_000, 50), (100, 50_000))
STEPS = (("misclass", 30_000, 50), ("fsv", 30_000, 50), ("fsv", 100, 20_000))


def data(n: int, p: int) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return Dataset(rng.standard_normal((n, p)) + 0.5 * y[:, None] * (np.arange(p) < 10), y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("-o", "--output", type=Path, help="append the seconds of each pair to this file (JSON lines)")
    args = parser.parse_args()
    limit = args.limit
    console, missed = Console(width=120), False
    table = Table("n x p", "rounds", "objective", "gap", "generated s", "whole s", "whole / generated", "asked")
    for n, p in SIZES:
        source = data(n, p)
        started = time.process_time()
        ours = column_generation(source, np.ones(n), np.ones(p), run=Run(options={"threads": 1}))
        mine = time.process_time() - started
        started = time.process_time()
        whole = fsopt.solve(fsopt.build("onsvm", source), "highs", time_limit=limit, options={"threads": 1})
        other, ended = time.process_time() - started, whole.status is Status.OPTIMAL
        if ended and args.output:
            append(args.output, "onsvm", source, mine, other)
        asked = (n, p) in LARGEST
        proved = ours.status is Status.OPTIMAL and ours.certificate is not None
        agree = not ended or abs(whole.objective - ours.objective) <= 1e-6 * max(1.0, abs(whole.objective))
        missed |= asked and not (proved and agree and other >= ASKED * mine)
        mark = "" if ended else ">= "
        answer = [str(ours.iterations), f"{ours.objective:.8g}", f"{ours.certificate.worst:.1e}"]
        seconds = [f"{mine:.2f}", f"{mark}{other:.2f}", f"{mark}{other / mine:.1f}"]
        table.add_row(f"{n} x {p}", *answer, *seconds, f">= {ASKED:g}" if asked else "-")
        console.print(f"{n} x {p}: {mine:.2f} s generated, {mark}{other:.2f} s whole ({whole.status})")
    console.print(table)
    console.print(steps(console, limit, args.output))
    raise SystemExit(int(missed))


def append(path: Path, case: str, source: Dataset, mine: float, other: float) -> None:
    """Append a line with the seconds of the generated and of the whole program."""
    row = {"group": "generation", "case": case, "data": f"{source.n} x {source.p}", "beside": "the whole program"}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**row, "fsopt": [mine], "other": [other]}) + "\n")


def steps(console: Console, limit: float, output: Path | None) -> Table:
    """Return SLA with column and constraint generation beside SLA on one model that is solved again, warm."""
    table = Table("method", "n x p", "steps", "f generated", "f whole", "generated s", "whole s", "whole / generated")
    for method, n, p in STEPS:
        seconds, fits = [], []
        for generated in (True, False):
            started = time.process_time()
            with patch.object(large_programs, "LARGE", 0 if generated else np.inf):
                fits.append(fsopt.fit(method, data(n, p), time_limit=limit, options={"threads": 1}))
            seconds.append(time.process_time() - started)
        ended = fits[1].status is Status.STATIONARY
        if ended and output:
            append(output, f"SLA, {method}", data(n, p), *seconds)
        mark = "" if ended else ">= "
        values = [f"{fit.objective:.8g}" for fit in fits]
        times = [f"{seconds[0]:.2f}", f"{mark}{seconds[1]:.2f}", f"{mark}{seconds[1] / seconds[0]:.1f}"]
        table.add_row(method, f"{n} x {p}", str(fits[0].iterations), *values, *times)
        console.print(f"{method} {n} x {p}: {fits[0].status}, {seconds[0]:.2f} s; {mark}{seconds[1]:.2f} s")
    return table


if __name__ == "__main__":
    main()
