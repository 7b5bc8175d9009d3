"""Programs and evidence as plain data, and proof files: as in docs/exact.md, read by :mod:`fsopt.verifier`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.records import plain
from fsopt.answers.trained import fingerprint
from fsopt.certificates.exact.linear import Form
from fsopt.certificates.exact.program import CONE, MATRIX, ROW, ExactProgram, times
from fsopt.data import Dataset
from fsopt.errors import NotShownError
from fsopt.verifier import verify
from fsopt.verifier.rationals import Refuted, written

Part: TypeAlias = dict[str, Any]
"""A program, or the evidence of a claim, as plain data."""
Slope: TypeAlias = tuple[Fraction, Fraction, tuple[int, ...]]
"""Weight f, steepness k and the columns of a concave term ``f (1 - exp(-k t))``: ``t = x_a``, or ``|x_a - x_b|``."""


@dataclass(frozen=True)
class About:
    """From what a program is built: a model with all its parameters, and the part of the data.

    Attributes
    ----------
    program : slug of a model, or ``selection``; empty for a program of no model.
    parameters : of the program, defaults included.
    columns : features of it, by place; None for all.
    units : of its features after preprocessing: ``given``, or ``rms`` where each feature that is not constant has a
        root mean square of 1, and the others are left out.
    """

    program: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[int] | None = None
    units: str = "given"


@dataclass(frozen=True)
class Header:
    """The data of an answer, before the preprocessing ``scale``, and the models that functions of the user changed."""

    data: Dataset
    scale: str
    changed: Sequence[str] = ()

    def origin(self, about: About) -> dict[str, Any] | None:
        """Return from what a program is built as plain data, all of which its builder reads; None for no model."""
        if not about.program:
            return None
        return {
            "model": about.program,
            "parameters": plain(about.parameters),
            "scale": self.scale,
            "columns": None if about.columns is None else list(about.columns),
            "units": about.units,
            "changed": sorted(self.changed),
            "data": fingerprint(self.data),
        }


def proof_file(parts: Sequence[Part | None], abouts: Sequence[About], header: Header | None) -> dict[str, Any]:
    """Return the plain data of a proof file, without the parts that have no evidence; no header for no data set."""
    claims = []
    for part, about in zip(parts, abouts, strict=True):
        if part is not None:
            origin = None if header is None else header.origin(about)
            claims.append({**part, "statement": {**part["statement"], "origin": origin}})
    return {"format": verify.FORMAT, "claims": claims}


def statement(program: Part, evidence: Part) -> Part:
    """Return what the verifier finds that evidence proves, without an origin; NotShownError for nothing."""
    try:
        return verify.statement(program, evidence)
    except (Refuted, ValueError) as error:  # a text of more digits than Python writes, too
        raise NotShownError(str(error)) from error


def program_data(program: ExactProgram, concave: Sequence[Slope] = ()) -> Part:
    """Return a program as plain data, in its own sense; with concave terms it is their linearisation at 0."""
    sign, curved = program.sign, {j for _, _, columns in concave for j in columns}
    rows, cones, matrices = (
        [(list(map(_form, forms)), rule) for kind, forms, rule in program.constraints if kind == one]
        for one in (ROW, CONE, MATRIX)
    )
    return {
        "sense": "max" if sign < 0 else "min",
        "c": [0 if j in curved else written(sign * v) for j, v in enumerate(program.c)],
        "c0": written(sign * program.c0),
        "quadratic": [[i, j, written(sign * v)] for (i, j), v in sorted(program.P.items())],
        "concave": [[written(f), written(k), list(columns)] for f, k, columns in concave],
        "rows": [[*forms[0][:2], *map(written, limits)] for forms, limits in rows],
        "lb": [written(v) for v in program.lb],
        "ub": [written(v) for v in program.ub],
        "cones": [{"weights": list(map(written, weights)), "forms": forms} for forms, weights in cones],
        "matrices": [{"order": order, "entries": forms} for forms, order in matrices],
        "integer": np.flatnonzero(program.integer).tolist(),
    }


def evidence_data(
    program: ExactProgram, point: Sequence[Fraction] | None, dual: Sequence[Fraction] | None, *, empty: bool = False
) -> Part:
    """Return the evidence of a program: a point, and a dual point, perhaps one that shows the program empty."""
    bounded, data = dual is not None and not empty, None
    if dual is not None:
        rest = iter(dual)
        parts = [[k * next(rest) for k in times(*constraint)] for constraint in program.constraints]
        data = {
            "multipliers": [[i, [written(v) for v in part]] for i, part in enumerate(parts) if any(part)],
            "curve": [[j, written(v)] for j, v in zip(program.curved, rest, strict=True) if v],
        }
    return {
        "point": None if point is None else [[j, written(v)] for j, v in enumerate(point) if v],
        "shift": [[j, written(v)] for j, v in sorted(program.shift.items())] if bounded else None,
        "dual": data,
    }


def _form(form: Form) -> list[Any]:
    pairs = sorted(zip(form.columns, form.coefficients, strict=True))
    return [[j for j, _ in pairs], [written(v) for _, v in pairs], written(form.offset)]
