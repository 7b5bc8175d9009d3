"""Changes the code at one place after another, and names the changes that no test notices: ``make mutants``.

cosmic-ray finds and makes the changes, in copies of the checkout. A seeded sample of places is drawn from the shelves
in TESTS, one change at each. First coverage records which test runs which line. A change is then tested by the tests
that run its statement, the quickest first, up to the first failure; a change of what runs at import by the tests of
its shelf. Changes of annotations are left out. A change that no test can notice is in ``equivalent.toml``, with the
reason. The exit status is 1 if another one survives.
"""

from __future__ import annotations

import ast
import compileall
import difflib
import os
import random
import shutil
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from py_compile import PycInvalidationMode

# One thread for each process, before numpy is imported.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec
from recording import Lines, Seconds, branched, passed, record

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
WARM = ("pandas", "pyomo.environ", "scipy.optimize", "scipy.sparse.linalg", "sklearn.svm")
"""Packages that take long to import."""


def main() -> None:
    """Draw the changes, test them, and print each with its outcome."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="changes to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    os.chdir(ROOT)
    outcomes: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(asked.jobs, get_context("fork"), _copy, (folder,)) as pool,
    ):
        recording = pool.submit(_recorded)
        chosen = sample(asked.count, asked.seed)
        where = [statement(str(change.module_path), change.start_pos[0]) for change in chosen]
        seconds, lines_run = recording.result()
        print(f"{len(seconds)} tests, recorded in {sum(seconds.values()):.0f} s", flush=True)
        tests = [tests_of(*each, seconds, lines_run) for each in zip(chosen, where, strict=True)]
        for change, (outcome, lines) in zip(chosen, pool.map(_changed, chosen, tests), strict=True):
            found = "equivalent" if outcome == "survived" and lines in known() else outcome
            outcomes[found] += 1
            print(f"{found}: {change.module_path}:{change.start_pos[0]} {change.definition_name or ''}", flush=True)
            if found == "survived":
                print(*(f"    {line}" for line in lines[1:]), sep="\n", flush=True)
    noticed = outcomes["killed"] + outcomes["ended"]
    total = noticed + outcomes["survived"]
    print(
        f"{noticed} of {total} changes were noticed, {outcomes['ended']} of them by the limits of time and memory; "
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


def tests_of(change: MutationSpec, where: tuple[set[int], bool], seconds: Seconds, lines: Lines) -> Seconds:
    """Return the tests of a change in a statement, the quickest first."""
    path, (own, at_import) = str(change.module_path), where
    if at_import:
        names = {n for n in seconds if n.startswith(tuple(f"tests/{place}" for place in TESTS[Path(path).parts[1]]))}
    else:
        names = {name for line in own for name in lines[path].get(line, ())}
    return {name: seconds[name] for name in sorted(names & set(seconds), key=seconds.__getitem__)}


def statement(path: str, line: int) -> tuple[set[int], bool]:
    """Return the lines of the statement at a line, without those of statements in it, and whether it runs at import."""
    around = [node for node in statements(path) if line in lines_of(node)]
    inner = [node for node in ast.walk(around[-1]) if isinstance(node, ast.stmt)][1:]
    in_function = any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in around[:-1])
    return set(lines_of(around[-1])).difference(*map(lines_of, inner)), not in_function


@cache
def statements(path: str) -> list[ast.stmt]:
    """Return the statements of a module, each before those in it."""
    return [node for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))) if isinstance(node, ast.stmt)]


def lines_of(node: ast.stmt) -> range:
    """Return the lines of a statement and of its decorators."""
    return range(min(n.lineno for n in (node, *getattr(node, "decorator_list", ()))), node.end_lineno + 1)


def _copy(folder: str) -> None:
    """Make a copy of the checkout, work in it, and import what takes long."""
    own = Path(folder, str(os.getpid()))
    shutil.copytree(ROOT, own, ignore=shutil.ignore_patterns(".*", "__pycache__", "_build"))
    os.chdir(own)
    os.environ["PYTHONPATH"] = str(own)
    sys.path.insert(0, str(own))
    compileall.compile_dir(own / "fsopt", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    for name in WARM:
        import_module(name)


def _recorded() -> tuple[Seconds, Lines]:
    """Return the tests and the lines that each runs."""
    places = dict.fromkeys(f"tests/{place}" for places in TESTS.values() for place in places)
    found: tuple[Seconds, Lines] | None = branched(record, places, [f"fsopt/{shelf}" for shelf in TESTS])
    if found is None:
        sys.exit(f"{Path('output').read_text(errors='replace')}\nthe tests fail without any change")
    return found


def _changed(change: MutationSpec, tests: Seconds) -> tuple[str, list[str]]:
    """Return the outcome of a change in the working folder, with its module and its old and new lines."""
    operator = get_operator(change.operator_name)(**change.operator_args)
    with use_mutation(change.module_path, operator, change.occurrence) as (before, after):
        result = branched(passed, tests, limit=900.0 + 10.0 * sum(tests.values())) if tests else True
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    changed = [f"{line[0]} {line[1:].strip()}" for line in lines if line[:3] not in ("---", "+++", "@@ ")]
    return {True: "survived", False: "killed", None: "ended"}[result], [str(change.module_path), *changed]


if __name__ == "__main__":
    main()
