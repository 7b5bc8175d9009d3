"""Changes the code at one place after another, and names the changes that no test notices: ``make mutants``.

cosmic-ray finds and makes the changes, in copies of the checkout. A seeded sample of places is drawn from the shelves
in TESTS, one change at each. Coverage records which test runs which line; a change is tested by those that run its
line, and if none of them fails by all tests of its shelf. Changes of annotations are left out. A change that no test
can notice is in ``equivalent.toml``, with the reason. The exit status is 1 if another one survives.
"""

from __future__ import annotations

import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec
from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "certificates": ("certificates",),
    "verification": ("verification", "methods/test_verification.py", "forgery/test_answers.py"),
    "verifier": ("certificates/exact", "forgery/test_proofs.py"),
    "linear": ("linear",),
    "search": ("search",),
    "drivers": ("drivers", "methods/test_forged.py"),
    "methods": ("methods",),
}
"""Shelf of the package -> tests of its modules."""
COMMAND = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-m", "not slow")
LIMIT = 1800.0
"""Seconds of the tests of a change: one without an end is noticed."""


def main() -> None:
    """Draw the changes, test them, and print each with its outcome."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="changes to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.chdir(ROOT)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(asked.jobs, None, _copy, (folder,)) as pool:
        changes = sample(asked.count, asked.seed)
        lines_run = pool.submit(_recorded, folder).result()
        tests = [sorted(lines_run.get((str(one.module_path), one.start_pos[0]), ())) for one in changes]
        for change, (noticed, lines) in zip(changes, pool.map(_changed, changes, tests), strict=True):
            found = "noticed" if noticed else "equivalent" if lines in known() else "survived"
            outcomes[found] += 1
            print(f"{found}: {change.module_path}:{change.start_pos[0]} {change.definition_name or ''}", flush=True)
            if found == "survived":
                print(*(f"    {line}" for line in lines[1:]), sep="\n", flush=True)
    print(*(f"{count} {found}" for found, count in outcomes.items()), sep=", ")
    sys.exit(bool(outcomes["survived"]))


def sample(count: int, seed: int) -> list[MutationSpec]:
    """Return changes at different places, of all places of the shelves the same ones for a seed."""
    places: dict[tuple[str, tuple[int, int]], list[MutationSpec]] = {}
    paths = [path for shelf in TESTS for path in sorted(Path("fsopt", shelf).rglob("*.py"))]
    left_out = {str(path): list(annotations(path)) for path in paths}
    with tempfile.TemporaryDirectory() as folder, use_db(str(Path(folder, "work.sqlite"))) as work:
        init(paths, work, {})
        for item in work.work_items:
            [change] = item.mutations
            path, start = str(change.module_path), tuple(change.start_pos)
            if not any(first <= start < last for first, last in left_out[path]):
                places.setdefault((path, start), []).append(change)
    rng = random.Random(seed)
    drawn = rng.sample(sorted(places), min(count, len(places)))
    return [rng.choice(sorted(places[p], key=lambda change: (change.operator_name, change.occurrence))) for p in drawn]


def annotations(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield begin and end of each annotation of a module, which is not evaluated."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if found is not None:
                yield (found.lineno, found.col_offset), (found.end_lineno, found.end_col_offset)


def known() -> list[list[str]]:
    """Return module, old and new lines of the changes that no test can notice."""
    with Path(__file__).with_name("equivalent.toml").open("rb") as file:
        return [[one["module"], f"- {one['was']}", f"+ {one['is']}"] for one in tomllib.load(file)["change"]]


def _copy(folder: str) -> None:
    """Make a copy of the checkout and work in it."""
    own = Path(folder, str(os.getpid()))
    shutil.copytree(ROOT, own, ignore=shutil.ignore_patterns(".*", "__pycache__", "_build"))
    os.chdir(own)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(own), os.environ.get("PYTHONPATH", "")])


def _recorded(folder: str) -> dict[tuple[str, int], set[str]]:
    """Return module and line -> the tests that run it; a fixture of many tests counts for its file."""
    os.environ["COVERAGE_FILE"] = str(Path(folder, "coverage"))
    places = dict.fromkeys(f"tests/{place}" for places in TESTS.values() for place in places)
    own = ("--cov=fsopt", "--cov-context=test", "--cov-report=")
    if subprocess.run([sys.executable, *COMMAND, *own, *places], check=False).returncode:
        sys.exit("the tests fail without any change")
    data = CoverageData(os.environ["COVERAGE_FILE"])
    data.read()
    return {
        (os.path.relpath(file), line): {
            name if phase == "run" else name.partition("::")[0]
            for name, _, phase in (context.rpartition("|") for context in contexts)
            if name
        }
        for file in data.measured_files()
        for line, contexts in data.contexts_by_lineno(file).items()
    }


def _changed(change: MutationSpec, tests: list[str]) -> tuple[bool, list[str]]:
    """Return whether a change in the working folder is noticed, with its module and its old and new lines."""
    operator = get_operator(change.operator_name)(**change.operator_args)
    shelf = [f"tests/{place}" for place in TESTS[Path(change.module_path).parts[1]]]
    with use_mutation(change.module_path, operator, change.occurrence) as (before, after):
        noticed = any(_fails(places) for places in (tests, shelf) if places)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    changed = [f"{line[0]} {line[1:].strip()}" for line in lines if line[:3] not in ("---", "+++", "@@ ")]
    return noticed, [str(change.module_path), *changed]


def _fails(places: list[str]) -> bool:
    command = [sys.executable, *COMMAND, *places]
    try:
        return bool(subprocess.run(command, check=False, capture_output=True, timeout=LIMIT).returncode)
    except subprocess.TimeoutExpired:
        return True


if __name__ == "__main__":
    main()
