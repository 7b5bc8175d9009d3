"""What the package answers today, to compare with what it answers after a change.

``python -m tools.oracle save FILE`` writes three groups of answers as JSON, each with its CPU seconds: ``fits``, every
method on wdbc, bupa and sonar with its verification; ``models``, every model by every installed solver of its class on
the instance of the solvers' comparison; ``pairs``, models of realistic size on wdbc. ``python -m tools.oracle compare A
B`` prints each difference of file B from file A as a table; its exit status is 1 where B claims less, or another value.
bupa and sonar are those of the folder in FSOPT_DATA. Names of groups after FILE restrict ``save`` to these.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import fsopt
from fsopt.common.files import write_text
from fsopt.errors import FsoptError
from fsopt.models.draws import build_trial
from tools.conformance import build_realistic

DATA = ("wdbc", "bupa", "sonar")
SECONDS, SECONDS_OF_A_PAIR = 30.0, 10.0
"""Time limits of a fit, or of a trial instance, and of an instance of realistic size."""
REALISTIC = (
    "gmeb-dual",
    "gmeb-primal",
    "svm",
    "svm-dual",
    "onsvm",
    "rlp",
    "l1-mpm",
    "mpm",
    "fsp-sub",
    "fsp-sub-dual",
    "rsvm",
    "s-mpm",
    "svm-norm",
    "fsv-step",
    "misclass-step",
)
SOLVERS_OF_PAIRS = ("highs", "clarabel", "scs", "ipopt", "scip", "piqp", "osqp", "qoco")
CLOSE = 1e-5
"""Relative difference of two values that is no difference: ten times the tolerance of a solver."""

Row = dict[str, Any]


def fits() -> dict[str, Callable[[], Row]]:
    """Return ``method data`` -> the call, with the parameters of comparisons, and the exact verification beside it."""
    return {f"{name} {data}": partial(fitted, name, data) for name in fsopt.METHODS for data in DATA}


def fitted(name: str, data_name: str) -> Row:
    """Return the answer of a method on a data set."""
    data, spec = fsopt.load_dataset(data_name), fsopt.METHODS[name]
    given: dict[str, Any] = {**spec.compare(data.p)}
    if spec.resumable:
        given["time_limit"] = SECONDS
    fit = fsopt.fit(name, data, **given)
    found = fsopt.verify(fit, data, exact=True)
    return answer(fit) | {"selection": list(fit.support), "verified": found.numerically, "exact": found.verified}


def models() -> dict[str, Callable[[], Row]]:
    """Return ``model solver`` -> the call, for every model and every installed solver of its class."""
    return {
        f"{slug} {name}": partial(solved, build_trial, slug, name, SECONDS)
        for slug, model in fsopt.MODELS.items()
        for name, solver in fsopt.SOLVERS.items()
        if model.problem_class in solver.classes and solver.available
    }


def pairs() -> dict[str, Callable[[], Row]]:
    """Return ``model solver`` -> the call, for models of realistic size."""
    return {
        f"{slug} {name}": partial(solved, build_realistic, slug, name, SECONDS_OF_A_PAIR)
        for slug in REALISTIC
        for name in SOLVERS_OF_PAIRS
        if fsopt.MODELS[slug].problem_class in fsopt.SOLVERS[name].classes and fsopt.SOLVERS[name].available
    }


def solved(build: Callable[[str], Any], slug: str, solver: str, seconds: float) -> Row:
    """Return the answer of a solver to an instance of a model."""
    return answer(fsopt.solve(build(slug), solver, time_limit=seconds))


def answer(found: Any) -> Row:
    """Return what a result or a fit says."""
    return {"status": str(found.status.value), "objective": found.objective, "bound": found.bound}


def row_of(call: Callable[[], Row]) -> Row:
    """Return the row of a call with its CPU seconds; an error is a row, too."""
    begun = time.process_time()
    try:
        row = call()
    except FsoptError as error:
        row = {"status": "refused", "error": str(error)}
    return row | {"seconds": round(time.process_time() - begun, 3)}


GROUPS = {"fits": fits, "models": models, "pairs": pairs}


def save(path: str, *groups: str) -> None:
    """Write the answers of some groups, or of all, to a file."""
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, Row]] = {}
    for group in groups or GROUPS:
        found[group] = {}
        for key, call in GROUPS[group]().items():
            found[group][key] = row_of(call)
            print(group, key, *found[group][key].values(), file=sys.stderr)
    write_text(Path(path), json.dumps(found, indent=1) + "\n")


STRENGTH = {"optimal": 3, "infeasible": 3, "unbounded": 3, "stationary": 2, "feasible": 1, "none": 0, "refused": -1}


def less(a: Row, b: Row) -> bool:
    """Return whether the second row claims less than the first, or another value."""
    weaker = STRENGTH[b["status"]] < STRENGTH[a["status"]] or any(
        a.get(k) and not b.get(k) for k in ("verified", "exact")
    )
    both = a["status"] == b["status"] == "optimal"
    return weaker or (both and not close(a["objective"], b["objective"]))


def close(a: float | None, b: float | None) -> bool:
    """Return whether two values are the same up to ``CLOSE``."""
    if a is None or b is None:
        return a is b
    return a == b or abs(a - b) <= CLOSE * max(1.0, abs(a), abs(b))


def changed(a: Row, b: Row) -> list[str]:
    """Return the names of the fields in which two rows differ."""
    words = ("status", "selection", "verified", "exact")
    return [k for k in words if a.get(k) != b.get(k)] + [
        k for k in ("objective", "bound") if not close(a.get(k), b.get(k))
    ]


def compare(first: str, second: str) -> bool:
    """Print the differences of two files; return whether the second claims nothing less."""
    a, b = (json.loads(Path(path).read_text("utf-8")) for path in (first, second))
    ok = True
    for group in a:
        shared = [key for key in a[group] if key in b.get(group, {})]
        print(f"\n## {group}: {len(shared)} shared, {len(a[group]) - len(shared)} gone, {new(a, b, group)} new")
        print(
            f"optimal {count(a[group], shared)} -> {count(b[group], shared)}, CPU s {cpu(a[group], shared):.1f} -> "
            f"{cpu(b[group], shared):.1f}\n"
        )
        print("| answer | field | before | after |\n| --- | --- | --- | --- |")
        for key in shared:
            before, after = a[group][key], b[group][key]
            for k in changed(before, after):
                print(f"| {key} | {k} | {before.get(k)} | {after.get(k)} |")
            ok = ok and not less(before, after)
    return ok


def new(a: Mapping[str, Any], b: Mapping[str, Any], group: str) -> int:
    """Return the number of answers of the second file alone."""
    return len(set(b.get(group, {})) - set(a[group]))


def count(rows: Mapping[str, Row], keys: list[str]) -> int:
    """Return the number of optimal answers."""
    return sum(rows[key]["status"] == "optimal" for key in keys)


def cpu(rows: Mapping[str, Row], keys: list[str]) -> float:
    """Return the sum of CPU seconds."""
    return float(sum(rows[key]["seconds"] for key in keys))


def main(verb: str, *words: str) -> int:
    """Run ``save FILE [GROUP ...]`` or ``compare A B``; return the exit status."""
    if verb == "save":
        save(*words)
        return 0
    return 0 if compare(*words) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
