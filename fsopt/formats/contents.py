"""What a model file says, in numbers: so a reader of an answer sees whether a part of the file is missing in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.expressions import read
from fsopt.compiler.lmi import blocks
from fsopt.compiler.rows import read_row


def contents(model: pyo.ConcreteModel, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the sizes of the model of a file, and the digest of the file.

    Parameters
    ----------
    model : of :func:`fsopt.read_model`.
    path : of the file, packed or not.

    Returns
    -------
    dict
        Numbers of ``constraints``, ``variables``, ``nonzeros`` (coefficients of linear terms that are not 0, those of
        the objective included), ``nonlinear`` (terms of any other kind), ``integers``, ``sets`` (special ordered ones)
        and ``matrices`` (linear matrix inequalities); ``sha256`` of the bytes of the file.
    """
    variables = list(model.x.values())
    column = {id(v): j for j, v in enumerate(model.component_data_objects(pyo.Var, descend_into=True))}
    forms = [read_row(row, column).terms for row in model.row.values()] + [read(model.objective.expr, column)]
    linear = [sum(map(bool, t.values)) + sum(np.count_nonzero(dot.coefs) for _, dot in t.dots) for t in forms]
    return {
        "constraints": len(model.row),
        "variables": len(variables),
        "nonzeros": int(sum(linear)),
        "nonlinear": sum(len(t.quadratic) + len(t.nonlinear) for t in forms),
        "integers": sum(v.is_integer() for v in variables),
        "sets": sum(1 for _ in model.component_data_objects(pyo.SOSConstraint)),
        "matrices": len(blocks(model)),
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
    }


def told(sizes: Mapping[str, Any]) -> str:
    """Return the sizes that are not 0 as one line."""
    numbers = [f"{value} {name}" for name, value in sizes.items() if value and name != "sha256"]
    return ", ".join([*numbers, f"sha256 {str(sizes['sha256'])[:12]}"])
