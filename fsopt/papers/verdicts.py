"""Verdicts: what a number of ours says about a printed one, and how likely any answer would have passed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

EQUAL = "equal"
NOISE = "within noise"
NOT_TESTABLE = "not testable"
READING = "our reading"
DIFFERS = "differs"
ERRATUM = "erratum"
ODD = "odd"
NOT_COUNTED = "not counted"
NO_DATA = "no data"
NO_NUMBER = "no number"
LEFT_OUT = "left out"
VERDICTS: Mapping[str, str] = {
    EQUAL: "agrees to the printed digits",
    NOISE: "the difference is within twice its standard deviation, which the notes state",
    NOT_TESTABLE: "agrees, as more than a fifth of all possible answers would",
    READING: "differs, and another choice that the paper leaves open was tried and agrees: the cell names it",
    DIFFERS: "differs, and neither an erratum nor a choice that was tried explains it",
    ERRATUM: "the printed number can be shown false: no run of the paper's own protocol gives it, as the cell says",
    ODD: "looks false, as the cell says, but a run that the paper's words allow can give it",
    NOT_COUNTED: "says nothing of the methods: a size of a data file, a number that follows from the print, or a "
    "second reading of a cell that is counted",
    NO_DATA: "the data are not available",
    NO_NUMBER: "the paper prints no number, or the text copy of it has none",
    LEFT_OUT: "not computed in this run: a limit, or `--quick`",
}
"""Verdict -> meaning, in the order of reports."""
COUNTED = tuple(verdict for verdict in VERDICTS if verdict not in (NOT_COUNTED, NO_NUMBER))
"""Those on printed numbers that say something of the methods, agreements first."""
LIKELY = 0.2
"""Agreement that a random answer would have with a larger chance is no evidence."""
RANDOM_TABLES = 1000
"""Tables of our numbers in another order within each column, beside which the number of agreements is shown."""
BETTER = 0.05
"""A table counts as reproduced where at most this share of the random tables has as many agreements."""
ROUNDING = 1e-9
"""Relative rounding error of half a unit of the last digit."""


@dataclass(frozen=True)
class TableCell:
    """One number of a table.

    Attributes
    ----------
    row, column : its place.
    ours, spread : our number and its standard deviation, None where there is none.
    printed : the paper's with all its digits, None where there is none.
    verdict : a key of :data:`VERDICTS`.
    why : the erratum, the choice, or the reason of a missing number.
    accepted : the largest difference that is an agreement; None where none is, or without a comparison.
    chance : that an answer drawn uniformly from the possible ones would have been accepted; None without a comparison.
    possible : ends of the interval of the possible ones, None without a comparison and where ours is the print.
    """

    row: str
    column: str
    ours: float | None
    printed: str | None
    verdict: str
    why: str = ""
    spread: float | None = None
    accepted: float | None = None
    chance: float | None = None
    possible: tuple[float, float] | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the printed number."""
        return None if self.ours is None or self.printed is None else self.ours - float(self.printed)

    def uncounted(self, why: str) -> TableCell:
        """Return the cell as one that says nothing of the methods, for a reason."""
        return replace(self, verdict=NOT_COUNTED, why=why)


def cell(
    place: tuple[str, str],
    ours: float | None,
    print_: str | None,
    *,
    possible: tuple[float, float],
    noise: float = 0.0,
    tried: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    otherwise: tuple[str, str] = (DIFFERS, ""),
    spread: float | None = None,
) -> TableCell:
    """Return a cell with its verdict: digits come first, then noise, then the other choices that were tried.

    Parameters
    ----------
    place : row and column.
    ours, print_ : the two numbers, the printed one as text; nan is none.
    possible : ends of the interval of possible answers, from which the chance of an agreement is taken.
    noise : largest difference that counts as noise, for example of :func:`deviations`.
    tried : another choice that the paper leaves open -> our number with it, and its noise.
    otherwise : verdict and reason where none of these agrees; what an erratum explains, no choice does.
    spread : standard deviation of ours.
    """
    own = None if ours is None or math.isnan(ours) else float(ours)
    if print_ is None:
        return TableCell(*place, own, None, NO_NUMBER, spread=spread)
    verdict, why = otherwise
    if own is None:
        return TableCell(*place, None, print_, *(otherwise if verdict != DIFFERS else (LEFT_OUT, "not computed")))
    found, accepted, likely = _agreement(own, print_, noise, possible)
    agreed = {name: _agreement(number, print_, own_noise, possible)[0] for name, (number, own_noise) in tried.items()}
    others = [name for name, reached in agreed.items() if reached in (EQUAL, NOISE)]
    if found is not None:
        verdict, why = found, ""
    elif verdict == DIFFERS and others:
        verdict, why = READING, f"it agrees with {others[0]}"
    return TableCell(*place, own, print_, verdict, why, spread, accepted, likely, possible)


def _agreement(
    ours: float, print_: str, noise: float, possible: tuple[float, float]
) -> tuple[str | None, float | None, float]:
    """Return the verdict of a number that agrees, None of another, the largest difference that does, and its chance."""
    largest = {EQUAL: half_unit(print_), NOISE: max(noise, half_unit(print_))}
    likely = {verdict: chance(float(print_), most, possible) for verdict, most in largest.items()}
    away = abs(ours - float(print_))
    reached = next((verdict for verdict, most in largest.items() if away <= most * (1.0 + ROUNDING)), None)
    accepted = max((most for verdict, most in largest.items() if likely[verdict] <= LIKELY), default=None)
    told = NOT_TESTABLE if reached is not None and likely[reached] > LIKELY else reached
    return told, accepted, likely[reached or NOISE]


def given(place: tuple[str, str], print_: str) -> TableCell:
    """Return the cell of a number that is taken from the print, or follows from it: it agrees whatever the truth is."""
    return TableCell(*place, float(print_), print_, NOT_COUNTED, "from the print", chance=1.0)


def half_unit(print_: str) -> float:
    """Return half a unit of the last digit of a printed number: 0.005 for 0.10."""
    return 0.5 * 10.0 ** -len(print_.partition(".")[2])


def chance(print_: float, accepted: float, possible: tuple[float, float]) -> float:
    """Return the share of the possible interval, with the print in it, that differs by no more than accepted."""
    low, high = min(possible[0], print_), max(possible[1], print_)
    return (min(high, print_ + accepted) - max(low, print_ - accepted)) / (high - low)


def deviations(*means: tuple[float, float]) -> float:
    r"""Return twice the standard deviation of a difference of means, :math:`2\sqrt{\sum s^2/n}`, of pairs (s, n)."""
    return 2.0 * math.sqrt(sum(s**2 / n for s, n in means))


def unprinted(
    row: str, values: Mapping[str, float], why: str = "", spreads: Mapping[str, float] = MappingProxyType({})
) -> list[TableCell]:
    """Return the cells of a row that the paper prints no numbers of, without those that are nan."""
    known = [column for column, value in values.items() if not math.isnan(value)]
    apart = {column: float(spread) for column, spread in spreads.items() if not math.isnan(spread)}
    return [TableCell(row, one, float(values[one]), None, NO_NUMBER, why, apart.get(one)) for one in known]


def ends(row: str, words: str, ours: Sequence[float | None], prints: Sequence[str]) -> list[TableCell]:
    """Return the cells of both ends of a range, in percent, of ours and of the text."""
    listed = zip(("from", "to"), ours, prints, strict=True)
    return [cell((row, f"{words}{end}"), own, value, possible=(0.0, 100.0)) for end, own, value in listed]


def missing(row: str, numbers: Mapping[str, str | None], verdict: str, why: str) -> list[TableCell]:
    """Return the cells of a row without our numbers."""
    return [TableCell(row, column, None, value, verdict, why) for column, value in numbers.items()]


def counts(cells: Sequence[TableCell]) -> dict[str, int]:
    """Return verdict -> number of cells, in the order of :data:`VERDICTS`."""
    found = [one.verdict for one in cells]
    return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}


def random_agreements(cells: Sequence[tuple[str, float, float, float | None]]) -> tuple[float, int, float] | None:
    """Return how many cells of random tables agree, on average and at most, and the share with as many as ours has.

    A random table has our numbers in another order within each column of several rows; None where there is none. A cell
    has column, ours, printed, and the largest difference that is an agreement, None where none is.
    """
    columns = [one[0] for one in cells]
    cells = [one for one in cells if columns.count(one[0]) > 1]
    if not cells:
        return None
    names, ours, printed, accepted = (np.array(part) for part in zip(*cells, strict=True))
    most = np.array([np.nan if one is None else one * (1.0 + ROUNDING) for one in accepted.tolist()])
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    rng, drawn = np.random.default_rng(0), ours.copy()
    found = []
    for _ in range(RANDOM_TABLES):
        for places in groups:
            drawn[places] = ours[rng.permutation(places)]
        found.append(int(np.sum(np.abs(drawn - printed) <= most)))
    ours_agree = int(np.sum(np.abs(ours - printed) <= most))
    as_many = sum(number >= ours_agree for number in found)
    return float(np.mean(found)), max(found), round((as_many + 1) / (RANDOM_TABLES + 1), 4)
