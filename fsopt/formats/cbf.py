"""The Conic Benchmark Format (version 3), read by MOSEK, SCIP-SDP, Hypatia, Pajarito and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import pyomo.environ as pyo

from fsopt.compiler import compile_model
from fsopt.formats.conic import Affine, ConeRows, ConicModel, conic_model

VERSION = 3
LINE = 500
"""Longest comment; the format allows lines of 512 characters."""


def cbf(model: pyo.ConcreteModel, suffix: str = ".cbf") -> dict[str, bytes]:
    """Return suffix -> content of the file, in the model's own units, sense and order.

    Variables are in the cones F, L+, L- and L=; other bounds are rows. A quadratic objective has a variable of its own
    at the end, bounded below by a rotated cone. A linear matrix inequality is a semidefinite constraint on the
    variables of its matrix. The format has no names: comments name the columns, rows and matrices. Nor has it a
    mark of its end: the last section is that of the constants, with 0 entries where all are 0, so that a cut is seen.

    Raises
    ------
    FileError : the model has a nonconvex quadratic, another nonlinear term, or a number that is not finite.
    """
    form = conic_model(compile_model(model), suffix)
    lines = [*_comments(form), "VER", str(VERSION), "", "OBJSENSE", "MAX" if form.maximise else "MIN", ""]
    lines += _cones("VAR", [(kind, 1) for kind in form.kinds])
    if form.integer:
        lines += ["INT", str(len(form.integer)), *map(str, form.integer), ""]
    matrices = [cone for cone in form.cones if cone.kind == "PSD"]
    lines += _coordinates("PSDCON", (str(cone.order) for cone in matrices))
    lines += _cones("CON", [(cone.kind, len(cone.rows)) for cone in form.cones if cone.kind != "PSD"])
    rows = _rows(form)
    lines += _coordinates("OBJACOORD", (f"{j} {v!r}" for j, v in sorted(form.objective.form.items())))
    if form.objective.constant or not (form.cones and form.objective.form):
        lines += ["OBJBCOORD", repr(form.objective.constant), ""]
    lines += _coordinates(
        "ACOORD", (f"{i} {j} {v!r}" for i, row in enumerate(rows) for j, v in sorted(row.form.items()))
    )
    shifts = [f"{i} {row.constant!r}" for i, row in enumerate(rows) if row.constant or not row.form]
    lines += _coordinates("BCOORD", shifts, bool(rows))
    entries = list(_entries(matrices))
    lines += _coordinates(
        "HCOORD", (f"{k} {c} {i} {j} {v!r}" for k, i, j, row in entries for c, v in sorted(row.form.items()))
    )
    constants = (f"{k} {i} {j} {row.constant!r}" for k, i, j, row in entries if row.constant)
    lines += _coordinates("DCOORD", constants, bool(matrices))
    return {suffix: "\n".join(lines).encode("ascii")}


def _rows(form: ConicModel) -> list[Affine]:
    return [row for cone in form.cones if cone.kind != "PSD" for row in cone.rows]


def _entries(matrices: Sequence[ConeRows]) -> Iterator[tuple[int, int, int, Affine]]:
    """Yield matrix, row, column and entry of the lower triangles; the format lists only these."""
    return ((k, i, j, entry) for k, cone in enumerate(matrices) for j, i, entry in cone.triangle())


def _comments(form: ConicModel) -> list[str]:
    matrices = [cone for cone in form.cones if cone.kind == "PSD"]
    texts = [
        f"# model {form.name}",
        *(f"# column {j}: {name}" for j, name in enumerate(form.names)),
        *(f"# row {i}: {row.name}" for i, row in enumerate(_rows(form))),
        *(f"# matrix {k}: {cone.rows[0].name}" for k, cone in enumerate(matrices)),
    ]
    return [comment(text) for text in texts]


def comment(text: str) -> str:
    """Return a text as one ASCII line, not longer than the longest line of the formats."""
    return text.encode("unicode_escape").decode("ascii")[:LINE]


def _cones(keyword: str, cones: Sequence[tuple[str, int]]) -> list[str]:
    """Return the lines of a list of cones (kind, number of rows), with neighbours of one linear kind as one cone."""
    listed: list[str] = []
    numbered = enumerate(cones)
    # A second-order cone is a group of its own, by its number; linear cones of one kind have the same key.
    for (kind, _), group in groupby(numbered, key=lambda c: (c[1][0], c[0] if c[1][0].startswith("Q") else -1)):
        listed.append(f"{kind} {sum(size for _, (_, size) in group)}")
    return [keyword, f"{sum(size for _, size in cones)} {len(listed)}", *listed, ""] if listed else []


def _coordinates(keyword: str, entries: Iterable[str], needed: bool = False) -> list[str]:
    """Return the lines of a section, none for one without entries that is not needed as the end of the file."""
    listed = list(entries)
    return [keyword, str(len(listed)), *listed, ""] if listed or needed else []
