"""The instance library: one small instance of every registered model, as files with their known optimum.

``python -m tools.instances`` writes the folder ``models`` anew: the same bytes on every run, and on every
processor but for the last digits of the covariance factors of the MPMs and of the ends of exact intervals.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import WORD
from fsopt.answers.results import SolveResult
from fsopt.certificates.exact.claims import VERIFIED
from fsopt.common.files import write_text
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import classify, program_class
from fsopt.data import Dataset
from fsopt.errors import FileError
from fsopt.formats.writers import export
from fsopt.models.draws import GRID, instance_data
from fsopt.models.registry import MODELS, build
from fsopt.models.sla.hyperplane import without_complementarities
from fsopt.models.spec import ModelSpec
from fsopt.solvers.base import solve
from fsopt.verification.verify import claim_of_result
from fsopt.verifier.rationals import decimal
from tools import pages
from tools.optima import write_optimum

LAW = (
    "samples alternate between the classes +1 and -1; values are independent normal with variance 1, and mean "
    "+gap or -gap (the sign of the label) in the first two features, 0 in the others; then rounded to multiples "
    f"of 1/{GRID}, so that sums and products of the data have no rounding error"
)
DIGITS = 8
"""Digits of the optimum, on which solvers agree."""
TOLERANCE = 1e-6
"""Largest difference of a reader's optimum, relative, and absolute near 0."""
LIMIT = 100_000
"""Bytes per file."""
CERTIFIERS = {"LP": "highs", "MILP": "highs", "MPEC": "highs", "QP": "clarabel", "SOCP": "clarabel", "SDP": "clarabel"}
"""Problem class -> solver of the core install whose certified optimum is recorded; else the preferred one."""
EXACT = {"tolerance": 1e-10}
"""Options of the certifiers, so that 8 digits of the optimum are right."""
LINEAR = (".lp", ".mps", ".nl")
SUFFIXES = {
    "SOCP": (*LINEAR, ".cbf"),
    "SDP": (".cbf",),
    "MISOCP": (*LINEAR, ".cbf"),
    "MPEC": (".nl",),
}
"""Problem class -> formats of its instances, ``LINEAR`` for the others; a format that refuses a model is left out."""


def instance_parameters(slug: str) -> dict[str, Any]:
    """Return every parameter of a model's instance that has a value, the defaults written out."""
    spec = MODELS[slug]
    defaults = {k: v for k, v in spec.parameters.items() if v is not inspect.Parameter.empty}
    return {k: v for k, v in {**defaults, **spec.instance.params}.items() if v is not None}


def build_instance(slug: str) -> pyo.ConcreteModel:
    """Return the model of the library's instance of a slug."""
    return build(slug, instance_data(slug), **instance_parameters(slug))


def solvable(model: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """Return the model itself; of an MPEC, which no solver takes, the equivalent mixed-integer program."""
    return without_complementarities(model) if classify(model) == "MPEC" else model


def write_library(folder: Path) -> tuple[Path, ...]:
    """Write the instance of every registered model, and the index.

    Parameters
    ----------
    folder : of the library, made if it does not exist; folders of other models are left alone.

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
    """Write the folder of one model; return its files and the facts for its pages."""
    folder.mkdir(exist_ok=True)
    data = instance_data(slug)
    model = build_instance(slug)
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
    solved = solvable(model)
    result = _solved(slug, kind, solved)
    facts = _facts(MODELS[slug], kind, data, program) | _optimum(result, program)
    facts["optimum"] |= exact_ends(solved, result)
    facts["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    for name, text in (("instance.toml", _toml(facts)), ("README.md", pages.page(MODELS[slug].builder, model, facts))):
        write_text(folder / name, text)
        files.append(folder / name)
    files += write_optimum(folder, slug, solved, result)
    large = [path.name for path in files if path.stat().st_size >= LIMIT]
    if large:
        raise FileError(
            f"the instance of '{slug}' has files of {LIMIT} bytes or more: {', '.join(large)}",
            "choose a smaller instance in the entry of the model",
        )
    return files, facts


def _csv(data: Dataset) -> str:
    rows = [[*data.features, "label"]]
    rows += [[*map(repr, x), f"{y:+.0f}"] for x, y in zip(data.X.tolist(), data.y.tolist(), strict=True)]
    return "".join(",".join(row) + "\n" for row in rows)


def _facts(spec: ModelSpec, kind: str, data: Dataset, program: Program) -> dict[str, Any]:
    entry = spec.instance
    source = {"equation": spec.equation} if spec.paper is None else {"paper": spec.paper, "equation": spec.equation}
    return {
        "slug": spec.slug,
        "class": kind,
        **source,
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


def _solved(slug: str, kind: str, model: pyo.ConcreteModel) -> SolveResult:
    """Return the certified optimum; raises FileError where there is none."""
    solver = CERTIFIERS.get(kind)
    result = solve(model, solver, options=EXACT if solver else None)
    if result.objective is None or result.status != "optimal":
        raise FileError(
            f"the instance of '{slug}' has no certified optimum: the status of {result.solver} is {result.status}",
            "choose another instance in the entry of the model",
        )
    return result


def _optimum(result: SolveResult, program: Program) -> dict[str, Any]:
    """Return the optimum to 8 digits, on which solvers agree, and its certificate."""
    assert result.objective is not None
    assert result.certificate is not None
    sense = "maximise" if program.sign < 0 else "minimise"
    value = float(f"{result.objective:.{DIGITS}g}")
    certificate = {"solver": result.solver, "certificate": result.certificate.kind}
    if result.certificate.bound_source:
        certificate["bound"] = result.certificate.bound_source.removeprefix(WORD)
    return {"optimum": {"objective": value, "sense": sense, "tolerance": TOLERANCE, **certificate}}


def exact_ends(model: pyo.ConcreteModel, result: SolveResult) -> dict[str, str]:
    """Return the ends ``lower`` and ``upper`` of the exact interval as fractions, and the reason where one is missing.

    They are rounded outward to as many digits as the optimum has; where the optimum lies on such a number, another
    processor may write the next one.
    """
    claim = claim_of_result(compile_model(model), replace(result, objective=None, bound=None))
    reason, _, nothing = claim.reason.partition(": the statement stays")
    found = {}
    for name, end in (("lower", claim.lower), ("upper", claim.upper)):
        if end is not None:
            found[name] = str(Fraction(decimal(end, up=name == "upper", digits=DIGITS)))
    return found | {"exact": VERIFIED if claim.holds else f"no interval: {reason}" if nothing else reason}


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
