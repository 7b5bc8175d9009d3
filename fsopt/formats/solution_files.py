"""Solution files of other software, as they state their answers: by name, or in the order of the model file."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from fsopt.answers.results import Status
from fsopt.answers.saved import numbers
from fsopt.errors import FileError
from fsopt.formats.stated import Stated, status_of

CODES: Mapping[range, Status] = {
    range(100): Status.OPTIMAL,
    range(200, 300): Status.INFEASIBLE,
    range(300, 400): Status.UNBOUNDED,
}
"""Codes of AMPL."""
ADDED = ("quadobjvar", "qmatrixvar", "nlobjvar")
"""Variables by which SCIP states a nonlinear objective."""
DAMAGED = (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError, ElementTree.ParseError)
"""What readers raise for a damaged file."""
LETTERS = {"o": Status.OPTIMAL, "n": Status.INFEASIBLE}
"""Letters of a raw solution file; any other one claims a feasible point and no more."""
NAME = slice(7, 19)
VALUE = slice(22, 36)
MULTIPLIER = slice(65, None)
"""Places in a line of the report; a longer name is alone on the line before."""


def stated_in(text: str) -> Stated:
    """Return what a solution file states; its format is recognised from its content.

    Raises
    ------
    FileError : no known format, or a damaged file.
    """
    for begins, read in FORMATS:
        if begins.search(text):
            try:
                return read(text)
            except DAMAGED as error:
                reason = str(error).strip() or type(error).__name__
                raise FileError(f"the solution file is damaged: {reason[:100]}", "write it again") from error
    raise FileError(
        "the solution file has no format that is known",
        "give one of HiGHS, SCIP, CBC, GLPK, Gurobi, CPLEX, AMPL (.sol) or fsopt (.json)",
    )


def _highs(text: str) -> Stated:
    """Read HiGHS's raw style: sections of counted lines ``name value``."""
    lines = text.splitlines()
    found = Stated("HiGHS", status_of(lines[1]))
    part, place = "", 0
    stated = False
    seen: set[tuple[str, str]] = set()
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith(("# Primal", "# Dual")):
            part = line.split()[1].lower()
            stated = lines[place].strip() in (("Feasible", "Infeasible") if part == "primal" else ("Feasible",))
        elif line.startswith("# Basis"):
            break
        elif line.startswith("Objective "):
            found.objective = float(line.split()[1])
        elif line.startswith(("# Columns", "# Rows")):
            count = int(line.split()[2])
            if place + count > len(lines):
                raise ValueError(f"it ends before its {count} values")
            pairs = (entry.rsplit(maxsplit=1) for entry in lines[place : place + count])
            values = {name: float(value) for name, value in pairs} if stated else {}
            place += count
            if (part, line.split()[1]) in seen or len(values) < count * stated:
                raise ValueError(f"the {part} values, or the values of one name, come twice")
            seen.add((part, line.split()[1]))
            if stated and part == "primal" and line.startswith("# Columns"):
                found.values = values
            elif stated and part == "dual" and line.startswith("# Rows"):
                found.duals = values
    return found


def _highs_table(text: str) -> Stated:
    """Read HiGHS's pretty style: tables of which the columns are found by their headings."""
    found = Stated("HiGHS", Status.FEASIBLE)
    heading, table = "", ""
    parts: dict[str, dict[str, dict[str, str]]] = {"Columns": {}, "Rows": {}}
    for line in text.splitlines():
        if line.strip() in parts:
            table = line.strip()
        elif line.lstrip().startswith("Index"):
            heading = line
        elif line.startswith("Model status:"):
            found.status = status_of(line.partition(":")[2])
        elif line.startswith("Objective value:"):
            found.objective = float(line.partition(":")[2])
        elif line.strip() and table:
            # Numbers end where their headings do; the name is the rest of the line.
            ends = {word: heading.index(word) + len(word) for word in ("Upper", "Primal", "Dual")}
            name = line[heading.index("Name") :].strip()
            primal, dual = line[ends["Upper"] : ends["Primal"]], line[ends["Primal"] : ends["Dual"]]
            parts[table][name] = {"primal": primal.strip(), "dual": dual.strip()}
    found.values = {name: float(part["primal"]) for name, part in parts["Columns"].items()}
    duals = {name: part["dual"] for name, part in parts["Rows"].items()}
    found.duals = {name: float(v) for name, v in duals.items()} if duals and all(duals.values()) else None
    if found.objective is None:
        raise ValueError("it ends before the objective value")
    return found


def _scip(text: str) -> Stated:
    """Read SCIP's lines ``name value (obj:cost)``; zeros are left out."""
    found = Stated("SCIP", Status.FEASIBLE, sparse=True)
    values: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("solution status:"):
            found.status = status_of(line.partition(":")[2])
        elif line.startswith("objective value:"):
            found.objective = float(line.partition(":")[2])
        elif line.strip() and not line.startswith("no solution"):
            name, value = re.sub(r"\s*\(obj:[^)]*\)\s*$", "", line).rsplit(maxsplit=1)
            values[name] = float(value)
    found.values = {name: value for name, value in values.items() if name not in ADDED}
    return found


def _cbc(text: str) -> Stated:
    """Read CBC's lines ``place name value reduced cost``; variables of value 0 may be left out."""
    first, *lines = text.splitlines()
    words, _, objective = first.partition(" - objective value ")
    found = Stated("CBC", status_of(words), float(objective), sparse=True)
    # With "printingOptions all" the constraints come before the variables, and places begin again at 0.
    parts: list[dict[str, tuple[float, float]]] = [{}]
    last = -1
    for line in lines:
        if not line.strip():
            continue
        place, rest = line.removeprefix("**").strip().split(maxsplit=1)
        name, value, cost = rest.rsplit(maxsplit=2)
        if int(place) <= last:
            parts.append({})
        last = int(place)
        parts[-1][name] = (float(value), float(cost))
    found.values = {name: value for name, (value, _) in parts[-1].items()}
    if len(parts) == 2:
        found.duals = {name: cost for name, (_, cost) in parts[0].items()}
    return found


def _gurobi(text: str) -> Stated:
    """Read Gurobi's lines ``name value``, zeros too; it claims no status."""
    found = Stated("Gurobi", Status.FEASIBLE)
    objective = re.search(r"(?m)^# Objective value = (\S+)", text)
    found.objective = None if objective is None else float(objective[1])
    pairs = (line.rsplit(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#"))
    found.values = {name: float(value) for name, value in pairs}
    return found


def _cplex(text: str) -> Stated:
    """Read CPLEX's XML."""
    root = ElementTree.fromstring(text)
    solution = root if root.tag == "CPLEXSolution" else root.find("CPLEXSolution")
    if solution is None or (header := solution.find("header")) is None:
        raise ValueError("it has no solution")
    found = Stated("CPLEX", status_of(header.get("solutionStatusString", "")))
    found.objective = float(header.get("objectiveValue", "nan"))
    found.values = {str(v.get("name")): float(str(v.get("value"))) for v in solution.iterfind("variables/variable")}
    duals = {str(c.get("name")): c.get("dual") for c in solution.iterfind("linearConstraints/constraint")}
    if duals and all(v is not None for v in duals.values()):
        found.duals = {name: float(str(v)) for name, v in duals.items()}
    return found


def _ampl(text: str) -> Stated:
    """Read AMPL's .sol: options, counts, multipliers and values in the order of the .nl file, and suffixes."""
    head, _, body = text.partition("\nOptions")
    lines = deque(line.strip() for line in body.splitlines() if line.strip())
    options = int(*_taken(lines, 1))
    _taken(lines, options - 2 if options > 4 else options)
    m, duals, n, values = map(int, _taken(lines, 4))
    if options > 4:
        float(*_taken(lines, 1))  # a tolerance of bounds, which two of the options announce
    if duals not in (0, m) or values not in (0, n):
        raise ValueError(f"it has {duals} multipliers of {m} constraints and {values} values of {n} variables")
    listed = [float(line) for line in _taken(lines, duals + values)]
    word, objective, code = (*_taken(lines, 1)[0].split(), "", "")[:3]
    if word != "objno" or int(objective) not in (-1, 0):
        raise ValueError("it has no code of the outcome of the first objective")
    while lines:
        _skip_suffix(lines, (n, m, 1, 1))
    status = next((s for codes, s in CODES.items() if int(code) in codes), Status.FEASIBLE)
    name = head.strip().split(":")[0][:40] or "AMPL"
    return Stated(f"AMPL ({name})", status, None, listed[duals:], listed[:duals] if duals == m else None, order=".nl")


def _taken(lines: deque[str], count: int) -> list[str]:
    """Return the next lines of a file, which are taken away."""
    if not 0 <= count <= len(lines):
        raise ValueError(f"it ends before {count} lines that it announces")
    return [lines.popleft() for _ in range(count)]


def _skip_suffix(lines: deque[str], ends: tuple[int, ...]) -> None:
    """Take away a suffix, which says nothing about the answer: a line of counts, its name, a table, and values."""
    word, *counts = lines.popleft().split()
    if word != "suffix" or len(counts) != 5:
        raise ValueError("it has other lines than those of suffixes after the code of the outcome")
    kind, values, _, _, table = map(int, counts)
    _taken(lines, 1 + table)
    for line in _taken(lines, values):
        place, value = line.split()
        float(value)
        if not 0 <= int(place) < ends[kind % 4]:
            raise ValueError(f"a suffix has the place {place}, of {ends[kind % 4]}")


def _json(text: str) -> Stated:
    """Read fsopt's own files: an optimum of the instance library, or an answer of ``fsopt solve FILE``."""
    record: Any = numbers(json.loads(text))
    if not isinstance(record, dict) or "variables" not in record:
        raise ValueError("it has no variables")
    objective = record.get("objective")
    duals = record.get("duals")
    return Stated(
        software=str(record.get("solver") or "fsopt"),
        status=Status(record.get("status", "feasible")),
        objective=None if objective is None else float(objective),
        values={str(name): float(value) for name, value in (record["variables"] or {}).items()},
        duals=None if not duals else {str(name): float(value) for name, value in duals.items()},
        evidence={name: record[name] for name in ("evidence", "ray", "direction") if record.get(name) is not None},
    )


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


FORMATS: Sequence[tuple[re.Pattern[str], Callable[[str], Stated]]] = (
    (re.compile(r"\A\s*\{"), _json),
    (re.compile(r"\A\s*(<\?xml|<CPLEXSolution)"), _cplex),
    (re.compile(r"\AModel status\b"), _highs),
    (re.compile(r"\A\s*Columns\n\s*Index\s+Status"), _highs_table),
    (re.compile(r"\A(solution status:|objective value:|no solution available)"), _scip),
    (re.compile(r"\A# (Solution for model|Objective value)"), _gurobi),
    (re.compile(r"\A[^\n]* - objective value "), _cbc),
    (re.compile(r"(?m)\A(c .*\n|c\n)*s (bas|mip|ipt) "), glpk_raw),
    (re.compile(r"\AProblem:"), glpk_report),
    (re.compile(r"(?m)^Options\s*$"), _ampl),
)
"""Beginning of a file -> its reader."""
