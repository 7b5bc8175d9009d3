"""Export of models as files for other software, the same bytes on every run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import pyomo.environ as pyo

from fsopt.common.arguments import PATH, checked
from fsopt.common.files import expanded, whole_file
from fsopt.compiler.program import MODEL
from fsopt.errors import FileError
from fsopt.formats.algebraic import COMPANIONS, algebraic
from fsopt.formats.cbf import cbf

FORMATS: Mapping[str, Callable[[pyo.ConcreteModel, str], dict[str, bytes]]] = MappingProxyType(
    {".lp": algebraic, ".mps": algebraic, ".nl": algebraic, ".cbf": cbf}
)
"""Suffix -> function of a model and the suffix; it returns suffix -> content of each file."""


@checked(model=MODEL, path=PATH)
def export(model: pyo.ConcreteModel, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a model in the format of a suffix.

    ======  =================================================================================================
    suffix  holds
    ======  =================================================================================================
    .lp     linear and quadratic terms, convex or not, integers; names, ``w[0]`` as ``w(0)``
    .mps    as .lp
    .nl     all but linear matrix inequalities; names go to files .row and .col beside it
    .cbf    linear rows, second-order cones, convex quadratics, linear matrix inequalities, integers; names in
            comments
    ======  =================================================================================================

    Any other format is Pyomo's own, ``model.write``.

    Parameters
    ----------
    model : pyo.ConcreteModel
        Any Pyomo model.
    path : str | os.PathLike[str]
        Ends in one of the suffixes above.

    Returns
    -------
    tuple of Path
        The files, each complete or absent, byte-identical for the same model.

    Raises
    ------
    FileError : an unknown suffix, a model that the format cannot hold (with the name of the constraint, before a file
        is written), or a path that cannot be written.
    """
    target = expanded(path, "write")
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        raise FileError(
            f"cannot export to '{target.name}': unknown format '{suffix}'", f"use one of {', '.join(FORMATS)}"
        )
    targets = {suffix: target} | {s: target.with_suffix(s) for s in COMPANIONS.get(suffix, ())}
    contents = FORMATS[suffix](model, suffix)
    with ExitStack() as stack:  # the files take their places together, when all of them are complete
        for s, content in contents.items():
            stack.enter_context(whole_file(targets[s])).write_bytes(content)
    return tuple(targets.values())
