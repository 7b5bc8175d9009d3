"""Exact feature selection: method best-subset, the loop gbd and peers on data set one and real data sets.

``python benchmarks/exact.py run --suite set1 --limit 60`` appends one line of JSON for each answer to the store,
``docs/results/exact.jsonl``; ``python benchmarks/exact.py report`` writes the tables, ``docs/results/exact.md``, as the
build of the site does. What the store has of a suite, instance, method and limit is not computed again.

Suites: ``set1``, the 90 instances of ``gbd_set1.csv`` (folder of named instances, ``FSOPT_SHARED``, by default
../shared), or with ``--root`` fresh ones of the same law at the same C; ``real``, standardised data sets at C = 1
(``FSOPT_SHARED``/data, and wdbc); ``many``, the five best features of all data sets there at C = 1; ``set2``, p = 1000
and n = 800 of the law of data set two. Every answer has one thread, but for ``best-subset-2`` (two processes), and the
tolerance 1e-4. ``best-subset-exact`` has the ends of the exact interval of ``fsopt check --exact`` in place of the
objective and bound. A peer that only selects is scored by the support vector machine on its selection. ``--cpu`` takes
the CPU seconds of the process for the clock, of methods that are one process: another program's work does not count.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

import fsopt
from fsopt.data import Dataset
from fsopt.data.drawn import gbd_set_one, gbd_set_two
from fsopt.linear.selections import WarmSvm
from fsopt.methods.preprocessing import preprocess

SHARED = Path(os.environ.get("FSOPT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TOLERANCE = 1e-4
REAL = (("wdbc", range(1, 30)), ("ionosphere", range(1, 34)), ("sonar", (1, 2, 3, 4, 5, 10)), ("colon", (2, 5)))
LARGEST = 10**7
"""Entries of the data sets of suite ``many``."""


@dataclass(frozen=True)
class Instance:
    """A problem: preprocessed data, the largest number of features m, and the penalty weight c."""

    name: str
    data: Dataset
    m: int
    c: float


@dataclass(frozen=True)
class Row:
    """An answer; ``bound`` is None for a heuristic."""

    suite: str
    instance: str
    n: int
    p: int
    m: int
    c: float
    method: str
    limit: float | None
    clock: str
    objective: float | None
    bound: float | None
    wall: float
    cpu: float | None
    nodes: int | None = None
    first: float | None = None


# -- instances --------------------------------------------------------------------------------------------


def set_one(root: int | None, only: str) -> Iterator[Instance]:
    """Yield the named instances, or fresh ones; ``only`` selects keys p,n,k by their beginning, several by blanks."""
    with (SHARED / "instances" / "gbd_set1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        key = f"{row['n_features']},{row['n_samples']},{row['k']}"
        if only and not any(key == part or key.startswith(part + ",") for part in only.split()):
            continue
        p, n, k = (int(v) for v in key.split(","))
        drawn = gbd_set_one(p, n, k) if root is None else gbd_set_one(p, n, k, root)
        yield Instance(key if root is None else f"{key} root {root}", drawn.train, len(drawn.support), float(row["c"]))


def set_two(only: str) -> Iterator[Instance]:
    drawn = gbd_set_two(5, 0, p=1000, n=800)
    yield Instance("1000,800,0", drawn.train, 5, 0.03)


def real(only: str) -> Iterator[Instance]:
    for name, sizes in REAL:
        if only and not any(part == name or part.startswith(f"{name}-") for part in only.split()):
            continue
        path = SHARED / "data" / f"{name}.csv.gz"
        data = fsopt.load_dataset(str(path) if path.is_file() else name)
        work = preprocess(data, "standard")[0]
        for m in sizes:
            if not only or f"{name}-{m}" in only.split() or name in only.split():
                yield Instance(f"{name}-{m}", work, m, 1.0)


def many(only: str) -> Iterator[Instance]:
    for path in sorted((SHARED / "data").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if only and name not in only.split():
            continue
        try:
            data = fsopt.load_dataset(path, missing="mean")
        except fsopt.FsoptError as error:
            print(f"{name}: {error}")
            continue
        if data.n * data.p <= LARGEST:
            yield Instance(name, preprocess(data, "standard")[0], min(5, data.p // 2), 1.0)


# -- methods ----------------------------------------------------------------------------------------------

Answer = tuple[float | None, float | None, int | None, float | None]


def scored(one: Instance, support: Any) -> Answer:
    """Return the value of a selection."""
    selection = np.zeros(one.data.p, dtype=bool)
    selection[list(support)] = True
    found = WarmSvm(one.data, one.c).solve(selection)
    return (None if found is None else found[1]), None, None, None


def best_subset_fit(one: Instance, limit: float | None, jobs: int) -> fsopt.Fit:
    given: dict[str, Any] = {"m": one.m, "c": one.c, "scale": "none", "tolerance": TOLERANCE, "jobs": jobs}
    return fsopt.fit("best-subset", one.data, time_limit=limit, **given)


def best_subset_exact(one: Instance, limit: float) -> Answer:
    """The ends of the interval that rational arithmetic proves, none where it proves none; its seconds count."""
    fit = best_subset_fit(one, limit, 1)
    found = fsopt.verify(fit, one.data, exact=True)
    if found.word != "verified exactly":
        return None, None, None, None
    lower, upper = (float(end) for end in found.claims[0].plain()["interval"])
    return upper, lower, fit.history[-1]["nodes"], None


def best_subset(one: Instance, limit: float | None, jobs: int = 1) -> Answer:
    fit = best_subset_fit(one, limit, jobs)
    first = next(h["elapsed"] for h in fit.history if np.isfinite(h["objective"]))
    return fit.objective, fit.bound, fit.history[-1]["nodes"], first


def gbd(one: Instance, limit: float) -> Answer:
    settings: dict[str, Any] = {"tolerance": TOLERANCE, "max_cuts": 100_000, "scale": "none"}
    fit = fsopt.fit("gbd", one.data, m=one.m, c=one.c, time_limit=limit, **settings)
    return fit.objective, fit.bound, None, None


def rfe(one: Instance, limit: float) -> Answer:
    return scored(one, fsopt.fit("rfe", one.data, m=one.m, c=one.c, scale="none", time_limit=limit).support)


def swap(one: Instance, limit: float) -> Answer:
    """Exchange two features of the selection of rfe while a better one is found, to a local optimum."""
    end, machines = time.perf_counter() + limit, WarmSvm(one.data, one.c)
    support = fsopt.fit("rfe", one.data, m=one.m, c=one.c, scale="none", time_limit=limit).support
    chosen = np.zeros(one.data.p, dtype=bool)
    chosen[list(support)] = True
    with threadpool_limits(1):
        found = machines.solve(chosen)
        best, improved = np.inf if found is None else found[1], True
        while improved:
            improved = False
            for i in np.flatnonzero(chosen):
                for j in np.flatnonzero(~chosen):
                    if time.perf_counter() > end:
                        return best, None, None, None
                    trial = chosen.copy()
                    trial[[i, j]] = False, True
                    found = machines.solve(trial)
                    if found is not None and found[1] < best * (1 - 1e-9):
                        best, chosen, improved = found[1], trial, True
                        break
    return best, None, None, None


def forward(one: Instance, limit: float) -> Answer:
    """Forward selection: the feature whose machine is best is taken, one after another."""
    end, machines = time.perf_counter() + limit, WarmSvm(one.data, one.c)
    chosen = np.zeros(one.data.p, dtype=bool)
    with threadpool_limits(1):
        while chosen.sum() < one.m:
            best = (np.inf, -1)
            for j in np.flatnonzero(~chosen):
                if time.perf_counter() > end:
                    return (*scored(one, np.flatnonzero(chosen)),)
                trial = chosen.copy()
                trial[j] = True
                found = machines.solve(trial)
                if found is not None and found[1] < best[0]:
                    best = (found[1], int(j))
            chosen[best[1]] = True
    return scored(one, np.flatnonzero(chosen))


def l1_path(one: Instance, limit: float) -> Answer:
    """The one-norm machine on a path of its penalty weight; the best refit of at most m features."""
    from sklearn.svm import LinearSVC

    end, best = time.perf_counter() + limit, None
    for c in np.geomspace(1e-4, 1e2, 40):
        if time.perf_counter() > end:
            break
        machine = LinearSVC(penalty="l1", dual=False, C=c, max_iter=5000, random_state=0)
        support = np.flatnonzero(machine.fit(one.data.X, one.data.y).coef_[0])
        if len(support) > one.m:
            break
        value = scored(one, support)[0]
        if value is not None and (best is None or value < best):
            best = value
    return best, None, None, None


def single_model(
    slug: str, solver: str, options: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[Instance, float], Answer]:
    """Return the method that gives one mixed-integer program to a solver; its value is that of its selection."""

    def method(one: Instance, limit: float) -> Answer:
        started = time.perf_counter()
        params: dict[str, Any] = {"m": one.m, "c": one.c}
        if slug == "fsp-m-bigm":
            params["value"] = (rfe(one, limit)[0] or np.inf) * (1 + 1e-6)
        model = fsopt.build(slug, one.data, **params)
        left = max(limit - (time.perf_counter() - started), 1.0)
        result = fsopt.solve(model, solver, time_limit=left, options={"mip_gap": TOLERANCE, "threads": 1, **options})
        if result.point is None:
            return None, result.bound, None, None
        support = [j for j, sigma in model.sigma.items() if sigma.value is not None and sigma.value > 0.5]
        return scored(one, support)[0], result.bound, None, None

    return method


def abess(one: Instance, limit: float) -> Answer:
    """Best-subset logistic regression of the package abess, refitted; ImportError where it is not installed."""
    from abess import LogisticRegression

    model = LogisticRegression(support_size=one.m).fit(one.data.X, one.data.y > 0)
    return scored(one, np.flatnonzero(model.coef_.ravel()))


METHODS: dict[str, Callable[[Instance, float], Answer]] = {
    "best-subset": best_subset,
    "best-subset-2": partial(best_subset, jobs=2),
    "best-subset-exact": best_subset_exact,
    "gbd": gbd,
    "rfe": rfe,
    "swap": swap,
    "forward": forward,
    "l1-path": l1_path,
    "abess": abess,
    "bigm-scip": single_model("fsp-m-bigm", "scip"),
    "perspective-scip": single_model("fsp-m-perspective", "scip"),
    "perspective-gurobi": single_model("fsp-m-perspective", "gurobi"),
}


def run(given: argparse.Namespace) -> None:
    """Append the answers of a suite to the store."""
    lines = given.store.read_text(encoding="utf-8").splitlines() if given.store.is_file() else []
    done = {(r["suite"], r["instance"], r["method"], r["limit"], r["clock"]) for r in map(json.loads, lines)}
    instances = {
        "set1": lambda: set_one(given.root, given.only),
        "real": lambda: real(given.only),
        "many": lambda: many(given.only),
        "set2": lambda: set_two(given.only),
    }[given.suite]()
    for one in instances:
        for name in given.methods.split(","):
            if (given.suite, one.name, name, given.limit, "cpu" if given.cpu else "wall") in done:
                continue
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                objective, bound, nodes, first = METHODS[name](one, given.limit)
            except (fsopt.FsoptError, ImportError, OverflowError) as error:  # abess refuses constant features
                print(f"{one.name} {name}: {error}")
                continue
            # The CPU time of other processes is not known here.
            seconds = time.perf_counter() - wall, None if name == "best-subset-2" else time.process_time() - cpu
            row = Row(
                given.suite,
                one.name,
                one.data.n,
                one.data.p,
                one.m,
                one.c,
                name,
                given.limit,
                "cpu" if given.cpu else "wall",
                None if objective is None else float(objective),
                None if bound is None else float(bound),
                *seconds,
                nodes,
                first,
            )
            with given.store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
            print(f"{one.name} {name}: {row.objective} {row.bound} {seconds[0]:.1f} s", flush=True)


# -- report -----------------------------------------------------------------------------------------------


def gap(row: dict[str, Any]) -> float | None:
    if row["objective"] is None or row["bound"] is None:
        return None
    return float((row["objective"] - row["bound"]) / max(1.0, abs(row["objective"])))


def limited(row: dict[str, Any]) -> str:
    """Return the limit of an answer, and of which clock."""
    return "none" if row["limit"] is None else f"{row['limit']:g} {row['clock']}"


def closed(row: dict[str, Any]) -> bool:
    return (gap(row) or 0.0) <= 1.0001 * TOLERANCE and gap(row) is not None


def report(given: argparse.Namespace) -> None:
    """Write the tables of a store."""
    rows = [json.loads(line) for line in given.store.read_text(encoding="utf-8").splitlines()]
    text = ["# Exact feature selection: measured", ""]
    text += [
        "For the choice between exact selection and heuristics: seconds, nodes and gaps of `best-subset` beside SCIP",
        "on two formulations and beside selections without a bound.",
        "Made by `python benchmarks/exact.py report` from `docs/results/exact.jsonl`; the docstring of that file",
        "says what the suites are. A table has the instances that other methods answered, too; the picture has all.",
        "Tolerance 1e-4, one thread for each answer (`best-subset-2`: two processes), on",
        "2 virtual cores shared with other work: a limit in CPU seconds means the same on any day. Gap:",
        "(objective - bound) / max(1, objective). `best-subset-exact`: the ends of the interval that",
        "`fsopt check --exact` proves, rounded outward. `gbd` is the cut loop of the paper.",
        "On data set one `best-subset` ran with",
        "numba, on a slower processor than that of the other rows: ten million additions of Python take 1.0 s.",
        "",
    ]
    picture(rows, given.output.with_name("exact-proofs.svg"))
    text += [
        ":::{figure} exact-proofs.svg",
        ":alt: Seconds of the proofs against the number of features of real data sets, and shares of proved instances",
        "",
        "Left: seconds of two processes for each largest number of features M; open: the limit came before the proof,",
        "with the gap that was left. Right: share of the instances of data set one that are proved within so many",
        "seconds, CPU seconds of one process for 20 and 50 features, seconds of two processes for 100.",
        ":::",
        "",
    ]
    text += set_one_table(rows)
    for suite, title in (
        ("real", "Real data, standardised, C = 1"),
        ("set1", "Peers on data set one"),
    ):
        text += peer_table([r for r in rows if r["suite"] == suite], title)
    text += value_table([r for r in rows if r["suite"] == "many"])
    given.output.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the seconds of proofs of real data sets against M, and the share of data set one proved within seconds."""
    matplotlib.rcParams["svg.hashsalt"] = "fsopt"
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, marker, color in zip(REAL, "osD^", ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=True):
        own = [r for r in rows if (r["suite"], r["method"]) == ("real", "best-subset-2")]
        best = {r["m"]: r for r in own if r["instance"] == f"{name[0]}-{r['m']}"}  # the last, of the longest limit
        for proved, fill in ((True, color), (False, "none")):
            at = [m for m in sorted(best) if closed(best[m]) == proved]
            seconds = [max(best[m]["wall"], 0.02) for m in at]
            left.plot(at, seconds, marker, color=color, mfc=fill, ms=5, label=name[0] if proved else None)
        for m in (m for m in best if not closed(best[m])):
            left.annotate(f"{gap(best[m]):.0%}", (m, best[m]["wall"]), (4, 4), textcoords="offset points", fontsize=8)
    left.set(yscale="log", ylim=(0.01, 5000), xlabel="largest number of features M", ylabel="seconds")
    left.legend(fontsize=8)
    for p, method, style in ((20, "best-subset", "-"), (50, "best-subset", "--"), (100, "best-subset-2", ":")):
        own = [r for r in rows if (r["suite"], r["method"], r["p"]) == ("set1", method, p)]
        seconds = sorted(r[r["clock"]] for r in own if closed(r))
        share = np.arange(1, len(seconds) + 1) / len(own)
        right.step(seconds, share, style, where="post", color="#333333", label=f"{p} features, {len(own)} instances")
    right.set(xscale="log", ylim=(0, 1.03), xlabel="seconds", ylabel="share proved")
    figure.legend(*right.get_legend_handles_labels(), fontsize=8, loc="outside lower right", ncols=3)
    figure.savefig(path, metadata={"Date": None})


def set_one_table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the summary of data sets one and two by method, limit and number of features."""
    groups: dict[tuple[str, str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        if row["suite"] in ("set1", "set2") and row["method"] in ("best-subset", "best-subset-2", "gbd"):
            source = "set two" if row["suite"] == "set2" else "fresh" if "root" in row["instance"] else "named"
            groups.setdefault((row["method"], source, limited(row), row["p"]), []).append(row)
    text = [
        "## Data sets one and two",
        "",
        "| method | instances | limit, s | p | answers | closed | mean open gap | median s | largest s |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (method, source, limit, p), found in sorted(groups.items()):
        opened = [gap(r) or 0.0 for r in found if not closed(r)]
        wall = sorted(r[r["clock"]] for r in found)
        mean = f"{np.mean(opened):.2%}" if opened else "-"
        text.append(
            f"| {method} | {source} | {limit} | {p} | {len(found)} | {len(found) - len(opened)} | {mean} "
            f"| {np.median(wall):.2f} | {wall[-1]:.1f} |"
        )
    return [*text, ""]


def value_table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the gaps of best-subset and the objective values of heuristics, a row for each data set."""
    others = list(dict.fromkeys(r["method"] for r in rows if r["method"] != "best-subset"))
    text = [
        "## All data sets, m = 5 (half of fewer than ten features), C = 1",
        "",
        f"| data | m | best-subset | bound | gap | CPU s | {' | '.join(others)} |",
        "| --- |" + " ---: |" * (5 + len(others)),
    ]
    for r in (r for r in rows if r["method"] == "best-subset"):
        found = {o["method"]: o["objective"] for o in rows if o["instance"] == r["instance"]}
        values = ["-" if found.get(name) is None else f"{found[name]:.4f}" for name in others]
        shown = "closed" if closed(r) else f"{gap(r):.2%}"
        cells = [r["instance"], str(r["m"]), f"{r['objective']:.4f}", f"{r['bound']:.4f}", shown, f"{r['cpu']:.1f}"]
        text.append(f"| {' | '.join([*cells, *values])} |")
    return [*text, ""]


def peer_table(rows: list[dict[str, Any]], title: str) -> list[str]:
    """Return the answers of all methods side by side, for the instances that others than best-subset answered."""
    instances = [
        name
        for name in dict.fromkeys(r["instance"] for r in rows)
        if any(not r["method"].startswith(("best-subset", "gbd")) for r in rows if r["instance"] == name)
    ]
    text = [
        f"## {title}",
        "",
        "| instance | m | method | limit, s | objective | bound | gap | CPU s | wall s | nodes |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in instances:
        for r in (r for r in rows if r["instance"] == name):
            value = "none" if r["objective"] is None else f"{r['objective']:.4f}"
            bound = "-" if r["bound"] is None or not np.isfinite(r["bound"]) else f"{r['bound']:.4f}"
            shown = "-" if gap(r) is None else "closed" if closed(r) else f"{gap(r):.2%}"
            text.append(
                f"| {name} | {r['m']} | {r['method']} | {limited(r)} | {value} | {bound} | {shown} "
                f"| {'-' if r['cpu'] is None else format(r['cpu'], '.1f')} | {r['wall']:.1f} | {r['nodes'] or '-'} |"
            )
    return [*text, ""] if instances else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("--store", type=Path, default=Path("docs/results/exact.jsonl"))
    parser.add_argument("--output", type=Path, default=Path("docs/results/exact.md"))
    parser.add_argument("--suite", choices=("set1", "real", "many", "set2"), default="set1")
    parser.add_argument("--methods", default="best-subset", help=", ".join(METHODS))
    parser.add_argument("--only", default="", help="instances, or beginnings of their keys")
    parser.add_argument("--root", type=int, help="of fresh instances")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each answer, 0 for no limit")
    parser.add_argument("--cpu", action="store_true", help="limit CPU seconds, for machines with other work")
    given = parser.parse_args()
    given.limit = given.limit or None
    if given.cpu:
        time.perf_counter = time.process_time
    (run if given.command == "run" else report)(given)


if __name__ == "__main__":
    main()
