"""The formats that Pyomo writes: .lp, .mps and .nl."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.label import cpxlp_label_from_name
from pyomo.mpec import Complementarity
from pyomo.mpec.plugins.mpec4 import MPEC4_Transformation

from fsopt.compiler import Program, compile_model
from fsopt.compiler.cones import blocks
from fsopt.errors import FileError, foreign
from fsopt.formats.conic import refuse_kinds

COMPANIONS: Mapping[str, tuple[str, ...]] = {".nl": (".row", ".col")}
"""Further files of a format: an .nl file has no names, they are in files beside it."""
COMMENT = re.compile(rb"[ \t]*#[^\n]*")
"""A comment in an .nl file, which has no other use of this sign: names are in the files beside it."""


def algebraic(model: pyo.ConcreteModel, suffix: str) -> dict[str, bytes]:
    """Return suffix -> content of the files of a model, ``suffix`` first.

    Three parts of Pyomo's text are changed because some readers refuse them: in an .lp file ``x ^ 2`` becomes ``x^2``
    (SCIP), in an .mps file a column that occurs in quadratic terms only gets a line (Gurobi), and an .nl file loses its
    comments (CasADi).

    Raises
    ------
    FileError : the format cannot hold the model; none of these formats can hold a linear matrix inequality.
    """
    program = compile_model(model)
    refuse_kinds(program, suffix, (Complementarity.__name__,) if suffix == ".nl" else ())
    _refuse(program, suffix)
    failed = f"cannot export '{model.name}' to {suffix}"
    labels: dict[str, Any] = {"symbolic_solver_labels": True} if suffix == ".nl" else {"labeler": _label}
    try:
        # Some formats contain the stem of the file's name: a fixed stem gives the same bytes for every target.
        with (
            foreign("Pyomo", failed, "use another format, .nl holds the most", FileError),
            tempfile.TemporaryDirectory() as folder,
        ):
            source = Path(folder) / f"model{suffix}"
            _with_pairs(model).write(str(source), io_options=labels)
            contents = {s: source.with_suffix(s).read_bytes() for s in (suffix, *COMPANIONS.get(suffix, ()))}
    except OSError as error:
        raise FileError(
            f"{failed}: {error.strerror or error}",
            "free space in the folder of temporary files, or set TMPDIR to another one",
        ) from error
    if suffix == ".lp":
        contents[suffix] = contents[suffix].replace(b" ^ 2", b"^2")
    if suffix == ".nl":
        contents[suffix] = COMMENT.sub(b"", contents[suffix])
    if suffix == ".mps":
        contents[suffix] = _every_column(contents[suffix].decode()).encode()
    return contents


def _every_column(text: str) -> str:
    """Return the text of an .mps file with a zero cost for each column that has bounds and no entry."""
    lines = text.splitlines()
    start = {word: lines.index(word) for word in ("ROWS", "COLUMNS", "RHS", "BOUNDS")}
    objective = next(line.split()[1] for line in lines[start["ROWS"] : start["COLUMNS"]] if line.startswith(" N "))
    present = {line.split()[0] for line in lines[start["COLUMNS"] + 1 : start["RHS"]]}
    bounded = dict.fromkeys(line.split()[2] for line in lines[start["BOUNDS"] + 1 :] if " BOUND " in line)
    added = [f"     {name} {objective} 0" for name in bounded if name not in present]
    return "\n".join([*lines[: start["RHS"]], *added, *lines[start["RHS"] :]]) + "\n"


def _label(part: Any) -> str:
    """Return the name of a part in .lp and .mps: ``w(0)`` for ``w[0]``."""
    return str(cpxlp_label_from_name(part.name))


def _with_pairs(model: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """Return the model, or where it has complementarities a copy in which each is of two new variables, for .nl."""
    if next(model.component_data_objects(Complementarity, active=True, descend_into=True), None) is None:
        return model
    copy = model.clone()
    failed = f"cannot export '{model.name}' to .nl, which has complementarities of two inequalities"
    for component in [*copy.component_objects(Complementarity, active=True, descend_into=True)]:
        for one in component.values():
            if one.active:
                # Without free variables: a variable with bounds of its own would be complementary at these instead.
                with foreign("Pyomo", f"{failed}: '{one.name}'", "state it as complements(a >= 0, b >= 0)", FileError):
                    MPEC4_Transformation().to_common_form(one, {})
                    if getattr(one.c, "_complementarity", 1) == 0:
                        raise ValueError("its first side has two bounds")
        component.parent_block().reclassify_component_type(component, pyo.Block)
    return copy


def _refuse(program: Program, suffix: str) -> None:
    """Raise FileError for what the format has no place for, with its name."""
    failed = f"cannot export '{program.model.name}' to {suffix}"
    matrices = [block.name for block in blocks(program.model)]
    if matrices:  # Pyomo would write it without its cone
        more = f" (and {len(matrices) - 1} more)" if len(matrices) > 1 else ""
        raise FileError(f"{failed}, which has no linear matrix inequalities: '{matrices[0]}'{more} is one", "use .cbf")
    if not program.n:
        raise FileError(f"{failed}: it has no variables", "give it one")
    if suffix == ".nl":
        return
    if program.objective is None:
        raise FileError(f"{failed}: it has no objective", "give it one, Objective(expr=0.0) for any feasible point")
    names = [program.objective_name] if program.objective_terms else []
    names += [row.constraint.name for row in program.general if row.terms.nonlinear]
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileError(
            f"{failed}, which holds quadratic terms at most: in '{names[0]}'{more} {dict(program.nonconic)[names[0]]}",
            "use .nl",
        )
