"""The formats that Pyomo writes: .lp, .mps, .nl and .gms, made to suit more readers than one."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyomo.environ as pyo
from pyomo.mpec import Complementarity

from fsopt.compiler import Program, compile_model
from fsopt.compiler.lmi import blocks
from fsopt.errors import FileError

COMPANIONS: Mapping[str, tuple[str, ...]] = {".nl": (".row", ".col")}
"""Further files that a format is written with: the names that an .nl file has no place for."""
QUADRATIC = (".lp", ".mps")
"""Formats that hold linear and quadratic terms and nothing else."""
OPTIONS: Mapping[str, Any] = {"symbolic_solver_labels": True}
REFUSALS = (ValueError, RuntimeError, NotImplementedError, KeyError, TypeError, AttributeError)
"""What Pyomo's writers raise about a model that they cannot write."""


def algebraic(model: pyo.ConcreteModel, suffix: str) -> dict[str, bytes]:
    """Return suffix -> content of the files of a model, ``suffix`` first.

    Two things that some readers refuse are changed in Pyomo's text: in an .lp file ``x ^ 2`` becomes ``x^2``
    (SCIP), and in an .mps file a column that occurs in quadratic terms only gets its line (Gurobi).

    Raises
    ------
    FileError : the format cannot hold the model, as none here can a linear matrix inequality.
    """
    _refuse_matrices(model, suffix)
    if next(model.component_data_objects(Complementarity, active=True, descend_into=True), None) is not None:
        raise FileError(
            f"cannot export '{model.name}' to {suffix}: it has complementarities",
            "export what Pyomo's mpec.simple_disjunction and gdp.bigm, or mpec.simple_nonlinear, make of it",
        )
    if suffix in QUADRATIC:
        _refuse_nonlinear(compile_model(model), suffix)
    # The stem goes into the file's text in some formats, so it is the same whatever the target is called.
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"model{suffix}"
        try:
            model.write(str(source), io_options=dict(OPTIONS))
        except REFUSALS as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise FileError(
                f"cannot export '{model.name}' to {suffix}: {reason}", "use another format, .nl holds the most"
            ) from error
        contents = {s: source.with_suffix(s).read_bytes() for s in (suffix, *COMPANIONS.get(suffix, ()))}
    if suffix == ".lp":
        contents[suffix] = contents[suffix].replace(b" ^ 2", b"^2")
    if suffix == ".mps":
        contents[suffix] = _every_column(contents[suffix].decode()).encode()
    return contents


def _every_column(text: str) -> str:
    """Return the text of an .mps file with a zero cost for each column that has bounds and no entry."""
    lines = text.splitlines()
    rows, columns, sides, bounds = (lines.index(word) for word in ("ROWS", "COLUMNS", "RHS", "BOUNDS"))
    objective = next(line.split()[1] for line in lines[rows:columns] if line.startswith(" N "))
    present = {line.split()[0] for line in lines[columns + 1 : sides]}
    bounded = dict.fromkeys(line.split()[2] for line in lines[bounds + 1 :] if " BOUND " in line)
    added = [f"     {name} {objective} 0" for name in bounded if name not in present]
    return "\n".join([*lines[:sides], *added, *lines[sides:]]) + "\n"


def _refuse_matrices(model: pyo.ConcreteModel, suffix: str) -> None:
    """Raise FileError if a block is a linear matrix inequality, which would be written without its cone."""
    names = [block.name for block in blocks(model)]
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileError(
            f"cannot export '{model.name}' to {suffix}, which has no linear matrix inequalities: "
            f"'{names[0]}'{more} is one",
            "use .cbf or .dat-s",
        )


def _refuse_nonlinear(program: Program, suffix: str) -> None:
    """Raise FileError if a term is neither linear nor quadratic, naming where it is."""
    reasons = dict(program.nonconic)
    names = [program.objective_name] if program.objective_terms else []
    names += [row.constraint.name for row in program.general if row.terms.nonlinear]
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileError(
            f"cannot export '{program.model.name}' to {suffix}, which holds quadratic terms at most: "
            f"in '{names[0]}'{more} {reasons[names[0]]}",
            "use .nl or .gms",
        )
