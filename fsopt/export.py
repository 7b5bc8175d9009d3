"""Models as files for other software: .lp, .mps, .nl and .gms, the same bytes on every run."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyomo.environ as pyo

from fsopt.errors import FileError
from fsopt.files import whole_file

FORMATS: dict[str, dict[str, Any]] = {
    ".lp": {"symbolic_solver_labels": True},
    ".mps": {"symbolic_solver_labels": True},
    ".nl": {"symbolic_solver_labels": True},
    ".gms": {"symbolic_solver_labels": True},
}
"""Suffix -> options of Pyomo's writer; names in the file are those of the model's components."""
COMPANIONS = {".nl": (".row", ".col")}
"""Further files that a format is written with: the names that an .nl file has no place for."""


def export(model: pyo.ConcreteModel, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a model in the format that the suffix names.

    Parameters
    ----------
    model : any Pyomo model.
    path : ends in .lp, .mps, .nl or .gms; with .nl, the names go to files .row and .col beside it.

    Returns
    -------
    tuple of Path
        The files written, each whole or not at all, byte-identical for the same model.

    Raises
    ------
    FileError : an unknown suffix, or a place that cannot be written.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        raise FileError(
            f"cannot export to '{target.name}': unknown format '{suffix}'", f"use one of {', '.join(FORMATS)}"
        )
    targets = [target, *(target.with_suffix(s) for s in COMPANIONS.get(suffix, ()))]
    # The stem goes into the file's text in some formats, so it is the same whatever the target is called.
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"model{suffix}"
        with whole_file(target) as temporary:
            model.write(str(source), io_options=FORMATS[suffix])
            shutil.copyfile(source, temporary)
        for companion in targets[1:]:
            with whole_file(companion) as temporary:
                shutil.copyfile(source.with_suffix(companion.suffix), temporary)
    return tuple(targets)
