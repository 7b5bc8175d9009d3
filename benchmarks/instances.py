"""A folder of model files: what fsopt says of each, beside HiGHS, SCIP and Gurobi called directly.

``python -m benchmarks.instances FOLDER [SECONDS]`` takes every .mps, .lp, .nl and .cbf below FOLDER, packed as .gz or
not, with SECONDS (10) for each solve, and prints a row for each, and totals:

* status and value of fsopt, and the value of each peer that reads the format, or why it has none (a size limit);
* the verdict: ``right``; ``false``, a certified claim, or the value of a certified optimum, that a peer contradicts;
  ``lost``, no claim where a peer has an optimum; ``refused``, with the reason; ``unknown``, where no peer ends;
* duals: whether HiGHS's own solution file, with its multipliers, is verified as an optimum;
* trips: exports that were read again and have the same value, of those of formats that hold the model;
* moved: saved answers of which one value was moved and that were refused, of those made.

The exit is 1 if a verdict is ``false``, an export another program, or a moved answer verified.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyomo.environ as pyo

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError, FsoptError
from fsopt.formats.reading import READERS, model_suffix
from fsopt.formats.solutions import solution_record
from fsopt.formats.writers import FORMATS
from fsopt.solvers.highs import silent
from fsopt.verification.foreign import unrounded

CLOSE = 1e-5
"""Relative difference of values that are the same, as solvers stop within 1e-6."""
MOVES = 3
"""Values of an answer that are moved, one at a time, by a hundredth of 1 + |x|."""
LINE = "{file:32.32}{status:>11}{value:>14}{highs:>14}{scip:>14}{gurobi:>14}{verdict:>9}{duals:>7}{trips:>7}{moved:>7}"
Peer = Callable[[Path, float], tuple[str, float | None]]


@dataclass
class Row:
    """What was found out about a file: peers by name with status and value, counts of the good ones and of all."""

    file: str
    status: str = "-"
    value: float | None = None
    peers: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    verdict: str = "unknown"
    note: str = ""
    duals: bool | None = None
    trips: tuple[int, int] = (0, 0)
    moved: tuple[int, int] = (0, 0)


def highs(path: Path, seconds: float, solution: Path | None = None) -> tuple[str, float | None]:
    import highspy

    h = silent()
    h.setOptionValue("time_limit", seconds)
    if h.readModel(str(path)) == highspy.HighsStatus.kError:
        return "not read", None
    h.run()
    word = h.modelStatusToString(h.getModelStatus()).lower()
    if word == "optimal" and solution is not None:
        h.writeSolution(str(solution), 0)
    return word, h.getInfo().objective_function_value if word == "optimal" else None


def scip(path: Path, seconds: float) -> tuple[str, float | None]:
    import pyscipopt

    m = pyscipopt.Model()
    m.hideOutput()
    m.setParam("limits/time", seconds)
    m.readProblem(str(path))
    m.optimize()
    return m.getStatus(), m.getObjVal() if m.getStatus() == "optimal" else None


def gurobi(path: Path, seconds: float) -> tuple[str, float | None]:
    import gurobipy

    with gurobipy.Env(params={"OutputFlag": 0}) as env:
        try:
            m = gurobipy.read(str(path), env=env)
            m.Params.TimeLimit = seconds
            m.optimize()
        except gurobipy.GurobiError as error:
            large = error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED
            return "too large" if large else "not read", None
        words = {
            gurobipy.GRB.OPTIMAL: "optimal",
            gurobipy.GRB.INFEASIBLE: "infeasible",
            gurobipy.GRB.UNBOUNDED: "unbounded",
        }
        word = words.get(m.Status, "ended")
        return word, m.ObjVal if word == "optimal" else None


PEERS: dict[str, tuple[Peer, tuple[str, ...]]] = {
    "highs": (highs, (".mps", ".lp")),
    "scip": (scip, (".mps", ".lp", ".nl")),
    "gurobi": (gurobi, (".mps", ".lp")),
}
"""Name -> function, and the formats that it reads."""


def asked(path: Path, suffix: str, seconds: float) -> dict[str, tuple[str, float | None]]:
    """Return the answers of the peers that read a format."""
    found: dict[str, tuple[str, float | None]] = {}
    for name, (peer, formats) in PEERS.items():
        if suffix in formats:
            try:
                found[name] = peer(path, seconds)
            except Exception as error:  # of the peer, also where it is missing: no verdict on fsopt
                found[name] = type(error).__name__, None
    return found


def close(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= CLOSE * max(1.0, abs(one), abs(other))


def verdict(result: fsopt.SolveResult, peers: dict[str, tuple[str, float | None]], sense: float) -> tuple[str, str]:
    """Return the verdict on an answer, and its reason; the sense is 1 for a minimum, -1 for a maximum."""
    optima = {name: value for name, (word, value) in peers.items() if word == "optimal" and value is not None}
    ended = {name: word for name, (word, _) in peers.items() if word in ("optimal", "infeasible", "unbounded")}
    word = str(result.status)
    if word in ("optimal", "infeasible", "unbounded"):
        against = [name for name, other in ended.items() if other != word]
        against += [name for name, value in optima.items() if word == "optimal" and not close(value, result.objective)]
        return ("false", f"contradicted by {', '.join(against)}") if against else ("right" if ended else "unknown", "")
    if result.objective is not None and result.certificate is not None and result.certificate.ok:
        better = [n for n, v in optima.items() if sense * (v - result.objective) > CLOSE * max(1.0, abs(v))]
        if better:
            return "false", f"a feasible value beyond the optimum of {', '.join(better)}"
    return ("lost", f"{word} ({result.stop}): {result.message}") if optima else ("unknown", "")


def trips(
    model: pyo.ConcreteModel, result: fsopt.SolveResult, folder: Path, seconds: float
) -> tuple[tuple[int, int], str]:
    """Return how many exports have the value of the model, how many there are, and what the first other one has."""
    good, made, note = 0, 0, ""
    for suffix in (suffix for suffix in FORMATS if suffix in READERS):
        try:
            path = fsopt.export(model, folder / f"trip{suffix}")[0]
        except FileError:
            continue
        made += 1
        try:
            again = fsopt.solve(fsopt.read_model(path), time_limit=seconds)
            same = again.objective is None or again.status != result.status or close(again.objective, result.objective)
        except FsoptError as error:
            again, same = error, False
        good += same
        note = note if same else note or f"its {suffix} has {getattr(again, 'objective', again)}"
    return (good, made), note


def moved(path: Path, model: pyo.ConcreteModel, result: fsopt.SolveResult, folder: Path) -> tuple[int, int]:
    """Return how many answers with one value moved are refused, and how many were made."""
    program = compile_model(model)
    record = solution_record(model, result, str(path))
    costly = [j for j, v in enumerate(record["variables"]) if abs(program.c[j]) > 1e-3 and not program.P[j].nnz]
    refused = 0
    for j in costly[:MOVES]:
        name = list(record["variables"])[j]
        value = record["variables"][name]
        changed = record | {"variables": record["variables"] | {name: value + 0.01 * (1.0 + abs(value))}}
        (folder / "moved.json").write_text(json.dumps(changed))
        answer = fsopt.read_solution(folder / "moved.json", model)
        refused += not fsopt.verify(answer, model).verified
    return refused, len(costly[:MOVES])


def row_of(path: Path, name: str, seconds: float) -> Row:
    """Return what is found out about a file."""
    row, suffix = Row(name), str(model_suffix(path))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plain = path
        if path.suffix == ".gz":  # SCIP and Gurobi may be built without zlib
            plain = folder / path.stem
            plain.write_bytes(gzip.decompress(path.read_bytes()))
        row.peers = asked(plain, suffix, seconds)
        try:
            model = fsopt.read_model(path)
            result = fsopt.solve(model, time_limit=seconds)
        except FsoptError as error:
            row.verdict, row.note = "refused", str(error)
            return row
        row.status, row.value = str(result.status), result.objective
        row.verdict, row.note = verdict(result, row.peers, compile_model(model).sign)
        if row.status == "optimal":
            row.trips, other = trips(model, result, folder, seconds)
            row.note = row.note or other
            row.moved = moved(path, model, result, folder)
        ended = row.peers.get("highs", ("", None))[0] == "optimal" and not compile_model(model).discrete
        if ended and highs(plain, seconds, folder / "highs.sol")[0] == "optimal":
            answer = fsopt.read_solution(folder / "highs.sol", model)
            row.duals = fsopt.verify(unrounded(model, answer), model).verified
    return row


def table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table and the totals."""
    head = ("file", "status", "value", *PEERS, "verdict", "duals", "trips", "moved")
    yield LINE.format(**{name: name for name in head})
    for row in rows:
        values = {n: f"{v:.7g}" if v is not None else word[:13] for n, (word, v) in row.peers.items()}
        yield LINE.format(
            file=row.file,
            status=row.status,
            value="-" if row.value is None else f"{row.value:.7g}",
            verdict=row.verdict,
            duals="-" if row.duals is None else "yes" if row.duals else "no",
            trips="{}/{}".format(*row.trips),
            moved="{}/{}".format(*row.moved),
            **{name: values.get(name, "-") for name in PEERS},
        )
    yield from (f"{row.file}: {row.verdict}: {row.note}" for row in rows if row.note)
    found = Counter(row.verdict for row in rows)
    yield ", ".join([f"{len(rows)} files", *(f"{count} {word}" for word, count in sorted(found.items()))])
    for name in ("trips", "moved"):
        good, made = (sum(getattr(row, name)[k] for row in rows) for k in (0, 1))
        yield f"{name}: {good} of {made}"
    judged = [row.duals for row in rows if row.duals is not None]
    yield f"duals: {sum(judged)} of {len(judged)}"


def main(folder: Path, seconds: float = 10.0) -> int:
    """Print the table of a folder and return the exit code."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and model_suffix(path) is not None)
    rows = [row_of(path, str(path.relative_to(folder)), seconds) for path in files]
    print("\n".join(table(rows)))
    whole = all(good == made for row in rows for good, made in (row.trips, row.moved))
    return int(not whole or any(row.verdict == "false" for row in rows))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(float, sys.argv[2:3])))
