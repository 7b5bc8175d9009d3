"""Parts of a model that no array holds, and that a format may hold."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.compiler import Program
from fsopt.compiler.unsupported import STATE, TRANSFORMATIONS
from fsopt.errors import FileError


def refuse_kinds(program: Program, suffix: str, able: Sequence[str] = ()) -> None:
    """Raise FileError for a part of ``Program.unsupported`` of a kind that is not held by the format of a suffix."""
    for kind, name in program.unsupported.items():
        if kind not in able:
            raise FileError(
                f"cannot export '{program.model.name}' to {suffix}: it has a part of the kind {kind} ('{name}')",
                TRANSFORMATIONS.get(kind, STATE),
            )
