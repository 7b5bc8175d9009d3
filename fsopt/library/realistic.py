"""The second shelf of the library: 20 instances of realistic size, compressed, with the best known value and a bound.

``python -m fsopt.library.realistic`` writes ``models/realistic`` anew; the data sets sonar and colon are those
of the folder in ``FSOPT_DATA``. It takes some minutes: branch and bound gets ``SECONDS`` for each instance.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsopt.answers.certificate import Kind
from fsopt.answers.results import SolveResult
from fsopt.common.files import whole_file, write_text
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.data import Dataset, load_dataset
from fsopt.data.synthetic.gbd import gbd_set_one
from fsopt.formats.writers import export
from fsopt.library import optima
from fsopt.library.pages import LEAK, table
from fsopt.methods.preprocessing import preprocess
from fsopt.models.registry import build
from fsopt.solvers.base import solve

SECONDS = 45.0
INDEX = "index.json"
SET_ONE = "set-one"


@dataclass(frozen=True)
class Realistic:
    """An instance: model, data set, parameters, format, and the solver whose answer is recorded (None: preferred)."""

    slug: str
    data: str
    suffix: str
    params: Mapping[str, Any] = field(default_factory=dict)
    solver: str | None = None

    @property
    def name(self) -> str:
        """Name of its files."""
        return f"{self.slug}-{self.data}"


INSTANCES = (
    Realistic("rlp", "wdbc", ".mps"),
    Realistic("onsvm", "wdbc", ".mps", {"c": 1.0}),
    Realistic("fsv-step", "wdbc", ".mps", {"lam": 0.05}),
    Realistic("gmeb-cuts", "wdbc", ".mps", {"r_plus": 3.0, "r_minus": 3.0}),
    Realistic("svm", "wdbc", ".mps", {"c": 1.0}),
    Realistic("svm-dual", "wdbc", ".mps", {"c": 1.0}),
    Realistic("gmeb-primal", "wdbc", ".cbf", {"r_plus": 3.0, "r_minus": 3.0}),
    Realistic("gmeb-dual", "wdbc", ".cbf", {"r_plus": 3.0, "r_minus": 3.0}),
    Realistic("rsvm", "wdbc", ".cbf"),
    Realistic("mpm", "wdbc", ".cbf"),
    Realistic("misclass-milp", "wdbc", ".mps"),
    Realistic("fsp-m-bigm", "wdbc", ".mps", {"m": 5, "c": 1.0}, "scip"),
    Realistic("onsvm", "sonar", ".mps", {"c": 1.0}),
    Realistic("svm", "sonar", ".mps", {"c": 1.0}),
    Realistic("gmeb-dual", "sonar", ".cbf", {"r_plus": 3.0, "r_minus": 3.0}),
    Realistic("fsv-exact", "sonar", ".mps", {"lam": 0.1}),
    Realistic("fsp-m-bigm", "sonar", ".mps", {"m": 5, "c": 1.0}, "scip"),
    Realistic("onsvm", "colon", ".mps", {"c": 1.0}),
    Realistic("fsv-step", "colon", ".mps", {"lam": 0.05}),
    Realistic("fsp-m-bigm", SET_ONE, ".mps", {"m": 3, "c": 32.0}, "scip"),
)
"""In the order of the page."""


def data_of(name: str) -> Dataset:
    """Return a standardised data set: wdbc, one of the folder in FSOPT_DATA, or the first synthetic set of Aytug."""
    raw = gbd_set_one(20, 500, 0).train if name == SET_ONE else load_dataset(name)
    return preprocess(raw, "standard")[0]


def write_shelf(folder: Path) -> tuple[Path, ...]:
    """Write the shelf; raises FileError, or DataError where a data set is missing.

    Parameters
    ----------
    folder : made if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    rows = []
    for entry in INSTANCES:
        files, facts = write_one(entry, folder)
        written += files
        rows.append(facts)
    write_text(folder / INDEX, json.dumps({"instances": rows}, indent=1) + "\n")
    write_text(folder / "README.md", page(rows))
    return (*written, folder / INDEX, folder / "README.md")


def write_one(entry: Realistic, folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """Write the file and the best known point of an instance; return them, and its facts."""
    data = data_of(entry.data)
    model = build(entry.slug, data, **entry.params)
    program = compile_model(model)
    result = solve(model, entry.solver, time_limit=SECONDS)
    with tempfile.TemporaryDirectory() as temporary:
        plain = Path(temporary) / f"{entry.name}{entry.suffix}"
        export(model, plain)
        contents = {plain.name: plain.read_bytes()}
    contents[f"{entry.name}.best.json"] = json.dumps(optima.record(program, result)).encode()
    files = []
    for name, content in contents.items():
        target = folder / f"{name}.gz"
        with whole_file(target) as place:
            place.write_bytes(gzip.compress(content, mtime=0))
        files.append(target)
    facts = {
        "name": entry.name,
        "model": entry.slug,
        "class": program_class(program),
        "data": {"name": entry.data, "n": data.n, "p": data.p, "scale": "standard"},
        "parameters": dict(entry.params),
        "size": {"columns": program.n, "integer": int(program.integer.sum()), "rows": int(program.A.shape[0])},
        "sense": "maximise" if program.sign < 0 else "minimise",
        "best": result.objective,
        "bound": result.bound,
        "solver": result.solver,
        "proved_by": proved_by(result),
        "sha256": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }
    return files, facts


def proved_by(result: SolveResult) -> str:
    """Return who proved the bound: fsopt by a dual point, or the search of a solver, which is not repeated."""
    certificate = result.certificate
    if certificate is None or result.bound is None:
        return "nobody"
    if certificate.kind is Kind.CONVEX:
        return f"a dual point of {result.solver}, whose value fsopt recomputed"
    ended = "complete" if result.status == "optimal" else f"ended after {SECONDS:g} seconds"
    return f"the search of {result.solver}, {ended}"


def page(rows: list[dict[str, Any]]) -> str:
    """Return the README of the shelf."""
    head = (
        "# Instances of realistic size\n\nPrograms on the Wisconsin breast cancer data, sonar, the colon tumour data "
        "and the first synthetic set of Aytug (20 features, 500 samples), features standardised. The best known value "
        "is that of the point in `NAME.best.json.gz`; a gap to the bound is open. Names of variables and constraints "
        "are those of the builders (`fsopt show MODEL`)."
    )
    listed = [
        (
            f"[{r['name']}]({next(f for f in r['sha256'] if '.best.' not in f)})",
            r["class"],
            r["size"]["columns"],
            r["size"]["integer"],
            r["size"]["rows"],
            f"{r['best']:.8g}",
            "-" if r["bound"] is None else f"{r['bound']:.8g}",
            r["proved_by"],
        )
        for r in rows
    ]
    headings = ("instance", "class", "variables", "integer", "constraints", "best known", "bound", "proved by")
    foot = f"`{INDEX}` has parameters, all digits and checksums. Written by `python -m fsopt.library.realistic`."
    return "\n\n".join([head, table(headings, listed), LEAK, foot]) + "\n"


def main() -> None:
    """Write the shelf into models/realistic, or into the folder named on the command line."""
    for path in write_shelf(Path(sys.argv[1] if len(sys.argv) > 1 else "models/realistic")):
        print(path)


if __name__ == "__main__":
    main()
