"""The second shelf of the library: 20 instances of realistic size, compressed, with the best known value and a bound.

``python -m tools.realistic`` writes ``models/realistic`` anew; the data sets sonar and colon are those
of the folder in ``FSOPT_DATA``. It takes some minutes: each route to an instance gets ``SECONDS``. Names of instances
on the command line are those that are written.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsopt.common.files import whole_file, write_text
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.data import Dataset, load_dataset
from fsopt.data.drawn import gbd_set_one
from fsopt.errors import ParameterError
from fsopt.formats.writers import export
from fsopt.methods.preprocessing import preprocess
from fsopt.models.registry import build
from fsopt.verifier.verify import canonical
from tools import optima
from tools.best_known import beaten, best_known, solu
from tools.pages import LEAK, table

SECONDS = 45.0
LARGEST = 2_000_000
"""Bytes of a packed file; the proof of a large search is left out."""
INDEX, SOLU = "index.json", "realistic.solu"
SET_ONE = "set-one"


@dataclass(frozen=True)
class Realistic:
    """An instance: model, data set, parameters, format, the solver of the first route (None: preferred), and
    the seconds of the exact search.
    """

    slug: str
    data: str
    suffix: str
    params: Mapping[str, Any] = field(default_factory=dict)
    solver: str | None = None
    search: float = SECONDS

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
    Realistic("fsp-m-bigm", "sonar", ".mps", {"m": 5, "c": 1.0}, "scip", 900.0),
    Realistic("onsvm", "colon", ".mps", {"c": 1.0}),
    Realistic("fsv-step", "colon", ".mps", {"lam": 0.05}),
    Realistic("fsp-m-bigm", SET_ONE, ".mps", {"m": 3, "c": 32.0}, "scip"),
)
"""In the order of the page."""


def data_of(name: str) -> Dataset:
    """Return a standardised data set: wdbc, one of the folder in FSOPT_DATA, or the first synthetic set of Aytug."""
    return preprocess(raw_data(name), "standard")[0]


def raw_data(name: str) -> Dataset:
    """Return the data set as it is."""
    return gbd_set_one(20, 500, 0).train if name == SET_ONE else load_dataset(name)


def write_shelf(folder: Path, pages: Path, names: Sequence[str] = ()) -> tuple[Path, ...]:
    """Write the shelf.

    Parameters
    ----------
    folder : made if it does not exist.
    pages : folder of the records of exact searches, ``docs/results``.
    names : of the instances that are solved again; the facts of the others stay. None are all of them.

    Raises
    ------
    FileError : a file cannot be written.
    DataError : a data set is missing.
    ParameterError : a page of the project has a better value or bound: nothing is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / INDEX
    before = {r["name"]: r for r in json.loads(index.read_text("utf-8"))["instances"]} if names else {}
    contents: dict[str, bytes] = {}
    rows = []
    for entry in INSTANCES:
        if names and entry.name not in names:
            rows.append(before[entry.name])
            continue
        files, facts = written(entry, folder)
        contents |= files
        rows.append(facts)
    worse = beaten(rows, pages)
    if worse:
        raise ParameterError(f"the shelf is not published: {'; '.join(worse)}", "give the routes more seconds")
    for name, content in contents.items():
        with whole_file(folder / name) as place:
            place.write_bytes(content)
    write_text(index, json.dumps({"instances": rows}, indent=1) + "\n")
    write_text(folder / SOLU, solu(rows))
    write_text(folder / "README.md", page(rows))
    return tuple(folder / name for name in (*contents, INDEX, SOLU, "README.md"))


def written(entry: Realistic, folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return name -> content of the file, the best known point and the proof of an instance, packed; and its facts."""
    data = data_of(entry.data)
    model = build(entry.slug, data, **entry.params)
    program = compile_model(model)
    best = folder / f"{entry.name}.best.json.gz"
    stored = optima.point_of(program, json.loads(gzip.decompress(best.read_bytes()))) if best.is_file() else None
    built, limits = (entry.slug, entry.params), (SECONDS, entry.search)
    known = best_known(model, raw_data(entry.data), built, entry.solver, limits, stored)
    with tempfile.TemporaryDirectory() as temporary:
        plain = Path(temporary) / f"{entry.name}{entry.suffix}"
        export(model, plain)
        contents = {plain.name: plain.read_bytes()}
    contents[f"{entry.name}.best.json"] = json.dumps(optima.record(program, known.result)).encode()
    if known.proof is not None and known.proof["claims"]:
        contents[f"{entry.name}.proof.json"] = canonical(known.proof).encode()
    packed = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in contents.items()}
    files = {name: content for name, content in packed.items() if len(content) <= LARGEST}
    facts = {
        "name": entry.name,
        "model": entry.slug,
        "class": program_class(program),
        "data": {"name": entry.data, "n": data.n, "p": data.p, "scale": "standard"},
        "parameters": dict(entry.params),
        "size": {"columns": program.n, "integer": int(program.integer.sum()), "rows": int(program.A.shape[0])},
        "sense": "maximise" if program.sign < 0 else "minimise",
        "best": known.result.objective,
        "bound": known.bound,
        "solver": known.result.solver,
        "proved_by": known.proved_by,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    return files, facts


def page(rows: list[dict[str, Any]]) -> str:
    """Return the README of the shelf."""
    head = (
        "# Instances of realistic size\n\nPrograms on the Wisconsin breast cancer data, sonar, the colon tumour data "
        "and the first synthetic set of Aytug (20 features, 500 samples), features standardised. The best known value "
        "is that of the point in `NAME.best.json.gz`; a gap to the bound is open. `NAME.proof.json.gz` proves the "
        "bound, for `fsopt-verify` and `fsopt check --exact`. Names of variables and constraints "
        "are those of the builders (`fsopt show MODEL`)."
    )
    listed = [
        (
            f"[{r['name']}]({next(f for f in r['sha256'] if '.json' not in f)})",
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
    foot = (
        f"`{INDEX}` has parameters, all digits and checksums, `{SOLU}` values and bounds in the form of MIPLIB. "
        "Written by `python -m tools.realistic`."
    )
    return "\n\n".join([head, table(headings, listed), LEAK, foot]) + "\n"


def main() -> None:
    """Write the shelf into models/realistic: all of it, or the instances named on the command line."""
    for path in write_shelf(Path("models/realistic"), Path("docs/results"), sys.argv[1:]):
        print(path)


if __name__ == "__main__":
    main()
