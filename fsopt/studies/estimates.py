"""The order in which the units of a study are run, and the estimate of the time that those which are left take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from fsopt.studies.methods import study_spec
from fsopt.studies.store import Row
from fsopt.studies.units import Unit

SHORTEST = 0.01
"""Seconds that a unit takes at least: those beside its fit."""


def in_order(units: Sequence[Unit], places: Iterable[int]) -> list[int]:
    """Return places of units in the order in which these are run.

    One of each method on each data set goes first, by which the rest is estimated. Methods with a loop take longest and
    go before the others, so that no process waits for one of them at the end.
    """
    found = sorted(places, key=lambda place: not study_spec(units[place].method).driver)
    first: dict[tuple[str, str, str | None], int] = {}
    for place in found:
        first.setdefault(kind_of(units[place]), place)
    ahead = frozenset(first.values())
    return [*first.values(), *(place for place in found if place not in ahead)]


def kind_of(unit: Unit) -> tuple[str, str, str | None]:
    """Return what units of about the same time have in common: data, method and solver."""
    return unit.digest, unit.method, unit.solver


class Rest:
    """The estimate of the seconds that units which are left take."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self.left = Counter(map(kind_of, units))
        self.taken: dict[tuple[str, str, str | None], list[float]] = {}

    def seconds(self, unit: Unit, row: Row, elapsed: float) -> float | None:
        """Return the estimate after a unit has ended; None where no unit of a kind that is left has.

        A unit is taken to need the mean of its kind. All of them passed in ``elapsed`` seconds, side by side.
        """
        kind = kind_of(unit)
        self.left[kind] -= 1
        self.taken.setdefault(kind, []).append(max(row.get("seconds") or 0.0, SHORTEST))
        if any(number and one not in self.taken for one, number in self.left.items()):
            return None
        work = sum(number * fmean(self.taken[one]) for one, number in self.left.items() if number)
        return elapsed / sum(map(sum, self.taken.values())) * work
