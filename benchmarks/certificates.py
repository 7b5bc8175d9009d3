"""Claims and missing proofs on small LPs and QPs whose optimum is known exactly, and false claims that are planted.

``python -m benchmarks.certificates RECORDS [PROGRAMS]`` solves PROGRAMS (400) programs, each as it is and with five
changes that noise, units or careless modelling bring, by six solvers. It appends a record for each program to RECORDS
(JSON lines), goes on where it ended, and prints: answers, false claims, right answers without a proof, and all others,
by solver and by change; planted false claims, and how many are confirmed. A quarter of an hour of one processor.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from claims import CLAIMS, contradiction, planted, solved, unproved
from program_changes import CHANGES
from small_programs import Small, drawn

import fsopt

SOLVERS = ("highs", "clarabel", "scip", "ipopt", "piqp", "scs", "proxqp")
"""Six for LPs, and six for QPs."""
JUDGED = ("false", "unproved", "other")
CHANGED = ("scaled-rows", "scaled-columns", "noise", "epsilon-bounds", "loose-bounds")


def record(number: int) -> dict[str, Any]:
    """Return the answers to a program and its changes, and what became of the planted claims."""
    kind = ("LP", "QP")[number % 2]
    base = drawn(kind, number)
    programs = {"none": base} | {
        name: CHANGES[name](base, np.random.default_rng([number, k])).program for k, name in enumerate(CHANGED)
    }
    answers, claims = [], []
    for change, program in programs.items():
        for solver in SOLVERS:
            result = solved(program, solver)
            if result is not None:
                judged, said = judgement(program, result)
                answers.append({"change": change, "solver": solver, "judged": judged, "said": said})
    for change in ("none", CHANGED[number % len(CHANGED)]):
        found = planted(programs[change], np.random.default_rng([number, len(claims)]))
        claims += [{"change": change, "kind": claim.kind, "accepted": claim.accepted} for claim in found]
    truths = {change: program.truth for change, program in programs.items()}
    return {"number": number, "kind": kind, "truths": truths, "answers": answers, "planted": claims}


def judgement(program: Small, result: fsopt.SolveResult) -> tuple[str, str]:
    """Return whether an answer is right, false, without a proof (``unproved``) or another one, and what it says."""
    wrong = contradiction(program, result)
    if wrong or result.status in CLAIMS:
        return "false" if wrong else "right", wrong or str(result.status)
    return "unproved" if unproved(program, result) else "other", f"{result.status} {result.objective}"


def tables(records: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the tables."""
    answers = [answer for one in records for answer in one["answers"]]
    for key in ("solver", "change"):
        yield f"{key:24}{'answers':>9}{'false':>9}{'unproved':>9}{'other':>9}"
        for name in [*dict.fromkeys(answer[key] for answer in answers), "all"]:
            found = Counter(answer["judged"] for answer in answers if name in (answer[key], "all"))
            yield f"{name:24}" + "".join(f"{v:9}" for v in (found.total(), *map(found.get, JUDGED, (0, 0, 0))))
    claims = [claim for one in records for claim in one["planted"]]
    for key in ("kind", "change"):
        yield f"{'planted, by ' + key:32}{'claims':>9}{'accepted':>9}"
        for name in [*dict.fromkeys(claim[key] for claim in claims), "all"]:
            found = [claim["accepted"] for claim in claims if name in (claim[key], "all")]
            yield f"{name:32}{len(found):9}{sum(found):9}"


def main(path: Path, programs: int) -> None:
    """Append the records of the programs that are not there yet, and print the tables."""
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    started, done = time.process_time(), {one["number"] for one in records}
    for number in range(programs):
        if number not in done:
            records.append(record(number))
            with path.open("a") as stream:
                stream.write(json.dumps(records[-1]) + "\n")
    print("\n".join(tables(records)))
    print(f"{time.process_time() - started:.0f} seconds of the processor")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 400)
