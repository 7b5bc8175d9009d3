"""What a solution file states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fsopt.answers.results import Status

Values: TypeAlias = Mapping[str, float] | Sequence[float]
"""Values by name, or in the order of the model file."""
STATUSES: Mapping[str, Status] = {
    "optimal": Status.OPTIMAL,
    "integer optimal": Status.OPTIMAL,
    "optimal solution found": Status.OPTIMAL,
    "mip_optimal": Status.OPTIMAL,
    "integeroptimal": Status.OPTIMAL,
    "integer optimal solution": Status.OPTIMAL,
    "stationary": Status.STATIONARY,
    "infeasible": Status.INFEASIBLE,
    "integer infeasible": Status.INFEASIBLE,
    "infeasible (final)": Status.INFEASIBLE,
    "integer empty": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "integer unbounded": Status.UNBOUNDED,
}
"""What the programs write -> the claim; any other word claims a feasible point and no more."""


@dataclass
class Stated:
    """The content of a solution file.

    Attributes
    ----------
    software : that wrote it.
    status : its claim.
    objective : None where it states none.
    values, duals : of variables and constraints; ``duals`` None where the file has none.
    sparse : whether a variable of value 0 may be left out.
    order : suffix of the model files in whose order the values are, where no other kind has that order.
    evidence : the points ``evidence``, ``ray`` and ``direction`` of fsopt's own files, as plain data.
    """

    software: str
    status: Status
    objective: float | None = None
    values: Values = field(default_factory=dict)
    duals: Values | None = None
    sparse: bool = False
    order: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def status_of(words: str) -> Status:
    """Return the claim of the words of a program."""
    return STATUSES.get(words.strip().lower(), Status.FEASIBLE)
