"""Solution files of GLPK: ``glpsol --write`` with all digits, and the report of ``glpsol --output`` with six."""

from __future__ import annotations

import re

from fsopt.answers.results import Status
from fsopt.formats.stated import Stated, status_of

LETTERS = {"o": Status.OPTIMAL, "n": Status.INFEASIBLE}
"""Letters of a raw solution file; any other one claims a feasible point and no more."""
NAME = slice(7, 19)
VALUE = slice(22, 36)
MULTIPLIER = slice(65, None)
"""Places in a line of the report; a longer name is alone on the line before."""


def glpk_raw(text: str) -> Stated:
    """Read values and multipliers in the order of the model file."""
    found = Stated("GLPK", Status.FEASIBLE)
    rows: dict[int, list[str]] = {}
    columns: dict[int, list[str]] = {}
    count = (0, 0)
    ended = basic = False
    for kind, *words in (line.split() for line in text.splitlines() if line.strip()):
        if kind == "s":
            # A basic solution has a letter of its primal and one of its dual feasibility.
            basic = words[0] == "bas"
            found.status = Status.OPTIMAL if words[3:-1] == ["f", "f"] else LETTERS.get(words[3], Status.FEASIBLE)
            count, found.objective = (int(words[1]), int(words[2])), float(words[-1])
        elif kind in ("i", "j"):
            (rows if kind == "i" else columns)[int(words[0])] = words[1:]
        ended |= kind == "e"
    if not ended or (len(rows), len(columns)) != count:
        raise ValueError("it ends before all values are given")
    # Words of a basic solution: status, value, multiplier; of an integer one: value; of an interior one: both.
    at = 1 if basic else 0
    found.values = [float(columns[j][at]) for j in sorted(columns)]
    if rows and len(rows[1]) == at + 2:
        found.duals = [float(rows[i][at + 1]) for i in sorted(rows)]
    return found


def glpk_report(text: str) -> Stated:
    """Read the report, by name."""
    rows_text, middle, columns_text = text.partition("No. Column name")
    if not middle or "End of output" not in text:
        raise ValueError("it ends before all values are given")
    words, objective = (re.search(pattern, text) for pattern in (r"Status:\s*(.*)", r"Objective:.*=\s*(\S+)"))
    if words is None or objective is None:
        raise ValueError("it has no status and objective")
    found = Stated("GLPK", status_of(words[1]), float(objective[1]))
    found.values = {name: value for name, (value, _) in _table(columns_text).items()}
    if "Marginal" in rows_text:
        found.duals = {name: dual for name, (_, dual) in _table(rows_text).items()}
    return found


def _table(text: str) -> dict[str, tuple[float, float]]:
    """Return name -> value and multiplier."""
    found: dict[str, tuple[float, float]] = {}
    lines = text.partition("\n------ ")[2].split("\n\n")[0].splitlines()[1:]
    name = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        continued = following.strip() and not following[: NAME.stop].strip()
        if line[: NAME.start].strip():
            name = (line[NAME.start :] if continued else line[NAME]).strip()
        if not continued:
            multiplier = line[MULTIPLIER].strip().replace("< eps", "0")
            found[name] = (float(line[VALUE]), float(multiplier or 0.0))
    return found
