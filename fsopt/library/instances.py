"""The instance library: one small instance of every registered model, as files with their known optimum.

``python -m fsopt.library.instances`` writes the folder ``models`` anew, the same bytes on every run.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import classify, program_class
from fsopt.data import Dataset
from fsopt.errors import FileError
from fsopt.files import write_text
from fsopt.formats.writers import export
from fsopt.library import pages
from fsopt.models.registry import MODELS, build, model_spec
from fsopt.models.sla.misclass_lpec import without_complementarities
from fsopt.models.spec import ModelSpec
from fsopt.solvers.base import solve

LAW = (
    "rows alternate between the classes +1 and -1; entries are independent normal with variance 1, and mean "
    "+gap or -gap (the label's sign) in the first two columns, 0 in the others; then rounded to multiples of "
    "1/64, so that sums and products of the data have no rounding error and the files are the same on every machine"
)


GRID = 64


TOLERANCE = 1e-6
"""Relative, with an absolute one of the same size near 0: what a reader's optimum may differ by."""


LIMIT = 100_000
"""Bytes per file."""


CERTIFIERS = {"LP": "highs", "MILP": "highs", "MPEC": "highs", "QP": "clarabel", "SOCP": "clarabel", "SDP": "clarabel"}
"""Problem class -> solver of the core install whose certified optimum is recorded; else the preferred one."""


EXACT = {"tolerance": 1e-10}


LINEAR = (".lp", ".mps", ".nl")


SUFFIXES = {"SOCP": (*LINEAR, ".cbf", ".dat-s"), "SDP": (".cbf", ".dat-s"), "MISOCP": (*LINEAR, ".cbf"), "MPEC": ()}
"""Problem class -> formats of its instances, ``LINEAR`` for the others; what a format refuses is left out."""


def instance_data(slug: str) -> Dataset:
    """Return the data of a model's instance, by the documented law."""
    entry = model_spec(slug).instance
    y = np.where(np.arange(entry.n) % 2 == 0, 1.0, -1.0)
    X = np.random.Generator(np.random.PCG64(entry.seed)).standard_normal((entry.n, entry.p))
    X[:, : min(2, entry.p)] += entry.gap * y[:, None]
    return Dataset(np.round(X * GRID) / GRID, y, name=f"{slug}-instance")


def instance_parameters(slug: str) -> dict[str, Any]:
    """Return every parameter of a model's instance that has a value, the defaults written out."""
    given = model_spec(slug).instance.params
    values = {**{k: v for k, v in model_spec(slug).parameters.items() if v is not inspect.Parameter.empty}, **given}
    return {k: v for k, v in values.items() if v is not None}


def build_instance(slug: str) -> pyo.ConcreteModel:
    """Return the model of the library's instance of a slug."""
    return build(slug, instance_data(slug), **instance_parameters(slug))


def solvable(model: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """Return the model itself, or the mixed-integer program that is solved in its place where no solver takes it."""
    return without_complementarities(model) if classify(model) == "MPEC" else model


def write_library(folder: Path) -> tuple[Path, ...]:
    """Write the instance of every registered model, and the index.

    Parameters
    ----------
    folder : the library's, made if it is not there; folders of models that are gone are left alone.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    FileError : a place cannot be written, an instance has no certified optimum, or a file is too large.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    rows: list[dict[str, Any]] = []
    for slug in MODELS:
        files, facts = write_instance(slug, folder / slug)
        written += files
        rows.append(facts)
    write_text(folder / "README.md", pages.index(rows))
    return (*written, folder / "README.md")


def write_instance(slug: str, folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """Write one folder of the library; return its files and the facts that its pages state."""
    folder.mkdir(exist_ok=True)
    spec, data, model = MODELS[slug], instance_data(slug), build_instance(slug)
    table = folder / "data.csv"
    write_text(table, _csv(data))
    program = compile_model(model)
    kind = program_class(program)
    files = [table]
    for suffix in SUFFIXES.get(kind, LINEAR):
        try:
            files += export(model, folder / f"{slug}{suffix}")
        except FileError:
            if suffix == ".nl":
                raise
    facts = _facts(spec, kind, data, program) | _optimum(slug, kind, model)
    facts["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    for name, text in (("instance.toml", _toml(facts)), ("README.md", pages.page(spec.builder, model, facts))):
        write_text(folder / name, text)
        files.append(folder / name)
    large = [path.name for path in files if path.stat().st_size >= LIMIT]
    if large:
        raise FileError(f"the instance of '{slug}' has files of {LIMIT} bytes or more: {', '.join(large)}",
                        "choose a smaller one in fsopt.library.instances")  # fmt: skip
    return files, facts


def _csv(data: Dataset) -> str:
    rows = [[*data.features, "label"]]
    rows += [[*map(repr, x), f"{y:+.0f}"] for x, y in zip(data.X.tolist(), data.y.tolist(), strict=True)]
    return "".join(",".join(row) + "\n" for row in rows)


def _facts(spec: ModelSpec, kind: str, data: Dataset, program: Program) -> dict[str, Any]:
    entry = spec.instance
    return {
        "slug": spec.slug,
        "class": kind,
        "paper": spec.paper,
        "equation": spec.equation,
        "builder": f"{spec.builder.__module__}.{spec.builder.__name__}",
        "data": {"file": "data.csv", "n": data.n, "p": data.p, "gap": entry.gap, "seed": entry.seed, "law": LAW},
        "parameters": instance_parameters(spec.slug),
        "size": {
            "columns": program.n,
            "integer": int(program.integer.sum()),
            "rows": int(program.A.shape[0]),
            "nonzeros": int(program.A.count_nonzero()),
            "cones": len(program.cones),
        },
    }


def _optimum(slug: str, kind: str, model: pyo.ConcreteModel) -> dict[str, Any]:
    """Return the optimum to 8 digits, which solvers agree on, and what certifies it."""
    solver = CERTIFIERS.get(kind)
    result = solve(solvable(model), solver, options=EXACT if solver else None)
    if result.objective is None or result.certificate is None or result.status != "optimal":
        raise FileError(f"the instance of '{slug}' has no certified optimum: {result.solver} ends {result.status}",
                        "choose another one in fsopt.library.instances")  # fmt: skip
    sense = "maximise" if compile_model(model).sign < 0 else "minimise"
    value = float(f"{result.objective:.8g}")
    certificate = {"solver": result.solver, "certificate": result.certificate.kind}
    if result.certificate.bound_source:
        certificate["bound"] = result.certificate.bound_source
    return {"optimum": {"objective": value, "sense": sense, "tolerance": TOLERANCE, **certificate}}


def _toml(facts: Mapping[str, Any]) -> str:
    lines = [f"{k} = {_toml_value(v)}" for k, v in facts.items() if not isinstance(v, Mapping)]
    for name in ("data", "parameters", "size", "optimum", "files"):
        lines += ["", f"[{name}]", *(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in facts[name].items())]
    return "\n".join(lines) + "\n"


def _toml_key(key: str) -> str:
    return key if key.replace("_", "").isalnum() else json.dumps(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return f"[{', '.join(_toml_value(v) for v in value)}]"
    return repr(int(value) if isinstance(value, (int, np.integer)) else float(value))


def main() -> None:
    """Write the library into ./models, or into the folder named on the command line, and print its files."""
    for path in write_library(Path(sys.argv[1] if len(sys.argv) > 1 else "models")):
        print(path)


if __name__ == "__main__":
    main()
