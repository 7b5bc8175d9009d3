"""Changes the code at one place after another, and names the changes that no test notices: ``make mutants``.

cosmic-ray finds and makes the changes, in copies of the checkout. A seeded sample of places is drawn from the shelves
in TESTS, one change at each; a change is tested by the tests of its module's folder, which end at the first failure or
at the time limit. Changes of annotations are left out. A change that no test can notice is in ``equivalent.toml``, with
the reason. The exit status is 1 if another one survives.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "certificates": ("certificates",),
    "verification": ("verification", "methods/test_verification.py", "methods/test_saved.py", "corruption"),
    "verifier": ("certificates/exact", "proofs"),
    "algorithms": ("algorithms",),
    "drivers": ("drivers",),
}
"""Shelf of the package -> tests of its modules; those in the folder or of the name of a module come first."""


def main() -> None:
    """Draw the changes, test them, and print each with its outcome."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="changes to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for the tests of a change")
    asked = parser.parse_args()
    os.chdir(ROOT)
    chosen = sample(asked.count, asked.seed)
    outcomes: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(asked.jobs, initializer=_copy, initargs=(folder,)) as pool,
    ):
        limits = [asked.limit] * len(chosen)
        for shelf, passed in zip(TESTS, pool.map(_unchanged, TESTS, limits), strict=False):
            if not passed:
                sys.exit(f"the tests of {shelf} fail, or take more than {asked.limit:g} s, without any change")
        for change, (outcome, lines) in zip(chosen, pool.map(_changed, chosen, limits), strict=True):
            found = "equivalent" if outcome == "survived" and lines in known() else outcome
            outcomes[found] += 1
            print(f"{found}: {change.module_path}:{change.start_pos[0]} {change.definition_name or ''}", flush=True)
            if found == "survived":
                print(*(f"    {line}" for line in lines[1:]), sep="\n", flush=True)
    noticed = outcomes["killed"] + outcomes["timeout"]
    total = noticed + outcomes["survived"]
    print(
        f"{noticed} of {total} changes were noticed, {outcomes['timeout']} of them by the time limit; "
        f"{outcomes['equivalent']} more are equivalent"
    )
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


def tests_of(path: Path) -> list[str]:
    """Return the tests of a module, the nearest first."""
    own = [Path("tests", *path.parts[1:-1]), *sorted(Path("tests").rglob(f"test_{path.stem}.py"))]
    places = [*(p for p in reversed(own) if p.exists()), *(Path("tests", p) for p in TESTS[path.parts[1]])]
    return list(dict.fromkeys(map(str, places)))


def _copy(folder: str) -> None:
    """Make a copy of the checkout, and work in it."""
    own = Path(folder, str(os.getpid()))
    shutil.copytree(ROOT, own, ignore=shutil.ignore_patterns(".*", "__pycache__", "_build"))
    os.chdir(own)
    os.environ["PYTHONPATH"] = str(own)


def _unchanged(shelf: str, limit: float) -> bool:
    """Return whether the tests of a shelf pass without a change."""
    return run_tests(command([f"tests/{place}" for place in TESTS[shelf]]), limit)[0] == TestOutcome.SURVIVED


def _changed(change: MutationSpec, limit: float) -> tuple[str, list[str]]:
    """Return the outcome of a change in the working folder, with its module and its old and new lines."""
    result = mutate_and_test([change], command(tests_of(change.module_path)), limit)
    lines = [line for line in (result.diff or "").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    outcome = "timeout" if result.output == "timeout" else str(result.test_outcome.value)
    return outcome, [str(change.module_path), *(f"{line[0]} {line[1:].strip()}" for line in lines)]


def command(tests: Sequence[str]) -> str:
    """Return the command that runs tests up to the first failure."""
    return f"{sys.executable} -m pytest -q -x -p no:cacheprovider -m 'not slow' {' '.join(tests)}"


if __name__ == "__main__":
    main()
