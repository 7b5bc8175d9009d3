"""The conic form of a model, the common source of the conic formats: affine rows in cones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

from fsopt.compiler import Program
from fsopt.compiler.unsupported import STATE, TRANSFORMATIONS
from fsopt.errors import FileError


@dataclass(frozen=True)
class Affine:
    """An affine row ``sum_j form[j] x_j + constant``, and the name of its origin."""

    form: dict[int, float]
    constant: float
    name: str


@dataclass(frozen=True)
class ConeRows:
    """Rows in a cone of a kind.

    The kinds are ``L=`` (rows equal to 0), ``L+`` (>= 0), ``L-`` (<= 0), ``Q`` (the first row is an upper bound of the
    norm of the others), ``QR`` (twice the product of the first two, both >= 0, is an upper bound of the squared norm of
    the others), and ``PSD`` (the upper triangle, column by column, of a positive semidefinite matrix).
    """

    kind: str
    rows: tuple[Affine, ...]

    @property
    def order(self) -> int:
        """Order of the matrix of a ``PSD`` cone."""
        return isqrt(8 * len(self.rows) + 1) // 2

    def triangle(self) -> Iterator[tuple[int, int, Affine]]:
        """Yield row and column, row <= column, from 0, and entry of the matrix of a ``PSD`` cone."""
        places = ((i, j) for j in range(self.order) for i in range(j + 1))
        yield from ((i, j, entry) for (i, j), entry in zip(places, self.rows, strict=True))


@dataclass(frozen=True)
class ConicModel:
    """Variables, a linear objective in the model's sense, and rows in cones.

    A variable is of the kind ``F`` (free), ``L+``, ``L-`` or ``L=``. Linear constraints and bounds are cones of one row
    each, in the model's order, before all other cones.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    integer: tuple[int, ...]
    objective: Affine
    maximise: bool
    cones: tuple[ConeRows, ...]


def refuse_kinds(program: Program, suffix: str, able: Sequence[str] = ()) -> None:
    """Raise FileError for a part of ``Program.unsupported`` of a kind that is not held by the format of a suffix."""
    for kind, name in program.unsupported.items():
        if kind not in able:
            raise FileError(
                f"cannot export '{program.model.name}' to {suffix}: it has a part of the kind {kind} ('{name}')",
                TRANSFORMATIONS.get(kind, STATE),
            )
