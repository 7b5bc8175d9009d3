r"""SDPA's sparse format, read by SDPA, CSDP, SCIP-SDP, DSDP and others.

.. math:: \min\ c'x \quad\text{s.t.}\quad \sum_j x_j F_j - F_0 \succeq 0

Linear constraints and bounds are one diagonal block; an equation is two of its rows. A second-order cone
:math:`\|y\| \le t` is the arrow matrix with t on its diagonal and y in its first row. A rotated cone
:math:`y'y \le 2fg` is the arrow matrix with the diagonal (2f, g, ..., g) and y in its first row, which is positive
semidefinite iff f, g >= 0 and :math:`2fg \ge y'y` (Schur complement). A linear matrix inequality is the block of its
matrix of variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyomo.environ as pyo

from fsopt.compiler import compile_model
from fsopt.errors import FileError
from fsopt.formats.cbf import comment
from fsopt.formats.conic import conic_model
from fsopt.formats.form import Affine, ConeRows, ConicModel

Entry = tuple[int, int, int, int, float]
"""Matrix (0 is F_0), block, row, column, value, as the format counts them."""
CONSTANT = "constant"


def sdpa(model: pyo.ConcreteModel, suffix: str = ".dat-s") -> dict[str, bytes]:
    """Return suffix -> content of the file, in the model's own units.

    The format only minimises: a maximisation is written as its negative, and a comment says so. It has no mark of its
    end: a comment states the number of entries, so that a cut is seen when fsopt reads the file. The format has no
    constant in the objective: a constant becomes the cost of a variable that two rows fix at 1.

    Raises
    ------
    FileError : integer variables, a nonconvex quadratic, another nonlinear term, or a number that is not finite.
    """
    program = compile_model(model)
    if program.integer.any():
        name = program.variables[int(program.integer.argmax())].name
        raise FileError(
            f"cannot export '{model.name}' to {suffix}, which has no integer variables: '{name}' is one", "use .cbf"
        )
    form = _with_constant(conic_model(program, suffix))
    turn = -1.0 if form.maximise else 1.0
    diagonal = list(_diagonal(form))
    blocks = [cone for cone in form.cones if cone.kind in ("Q", "QR", "PSD")]
    entries = [e for k, row in enumerate(diagonal, start=1) for e in _row(row, 1, k, k)]
    first = 1 + bool(diagonal)
    for block, cone in enumerate(blocks, start=first):
        entries += _matrix(cone, block) if cone.kind == "PSD" else _arrow(cone, block)
    sizes = ([-len(diagonal)] if diagonal else []) + [_size(cone) for cone in blocks]
    costs = [turn * form.objective.form.get(j, 0.0) + 0.0 for j in range(len(form.names))]
    lines = [
        *_comments(form),
        f'"{len(entries)} entries',
        str(len(costs)),
        str(len(sizes)),
        " ".join(map(str, sizes)),
        " ".join(map(repr, costs)),
    ]
    lines += [f"{k} {b} {i} {j} {v!r}" for k, b, i, j, v in sorted(entries)]
    return {suffix: ("\n".join(lines) + "\n").encode("ascii")}


def _with_constant(form: ConicModel) -> ConicModel:
    constant = form.objective.constant
    if not constant:
        return form
    j = len(form.names)
    objective = Affine({**form.objective.form, j: constant}, 0.0, form.objective.name)
    one = ConeRows("L=", (Affine({j: 1.0}, -1.0, CONSTANT),))
    return replace(
        form, names=(*form.names, CONSTANT), kinds=(*form.kinds, "F"), objective=objective, cones=(*form.cones, one)
    )


def _comments(form: ConicModel) -> list[str]:
    sense = "maximisation, written as the minimisation of its negative" if form.maximise else "minimisation"
    names = (f'"variable {j}: {name}' for j, name in enumerate(form.names, start=1))
    return [comment(text) for text in (f'"model {form.name}, {sense}', *names)]


def _diagonal(form: ConicModel) -> Iterator[Affine]:
    """Yield the nonnegative rows of the diagonal block."""
    signs = {"L+": (1.0,), "L-": (-1.0,), "L=": (1.0, -1.0), "F": ()}
    columns = (ConeRows(kind, (Affine({j: 1.0}, 0.0, form.names[j]),)) for j, kind in enumerate(form.kinds))
    for cone in (*columns, *form.cones):
        for sign in signs.get(cone.kind, ()):
            for row in cone.rows:
                yield _times(row, sign)


def _times(row: Affine, factor: float) -> Affine:
    return Affine({j: factor * v for j, v in row.form.items()}, factor * row.constant, row.name)


def _row(row: Affine, block: int, i: int, j: int) -> Iterator[Entry]:
    if row.constant:
        yield 0, block, i, j, -row.constant
    for column, value in row.form.items():
        yield column + 1, block, i, j, value


def _size(cone: ConeRows) -> int:
    return cone.order if cone.kind == "PSD" else len(cone.rows) - (cone.kind == "QR")


def _matrix(cone: ConeRows, block: int) -> Iterator[Entry]:
    for i, j, entry in cone.triangle():
        yield from _row(entry, block, i + 1, j + 1)


def _arrow(cone: ConeRows, block: int) -> Iterator[Entry]:
    head, *tail = cone.rows
    corner = head
    if cone.kind == "QR":
        corner = _times(head, 2.0)
        head, *tail = tail
    yield from _row(corner, block, 1, 1)
    for k, row in enumerate(tail, start=2):
        yield from _row(row, block, 1, k)
        yield from _row(head, block, k, k)
