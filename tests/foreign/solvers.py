"""Whether a solver that others wrote finds a solution of an OPB problem: ``python solvers.py NAME problem.opb``.

It runs in an environment of its own, without fsopt, and prints ``sat``, ``unsat`` or ``unknown``, and the seconds of
the processor.
"""

import re
import sys
import time
from pathlib import Path

SECONDS = 300


def rows_of(text):
    """Return terms (coefficient, variable) and right-hand side of each constraint of an OPB problem."""
    rows = []
    for line in text.splitlines()[1:]:
        left, right = line.rstrip(" ;").split(">=")
        rows.append(([(int(v), j) for v, j in re.findall(r"([+-]\d+) (x\d+)", left)], int(right)))
    return rows


def by_cp_sat(rows, names):
    """Return the answer of CP-SAT."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = {name: model.NewBoolVar(name) for name in names}
    for terms, right in rows:
        model.Add(sum(v * x[j] for v, j in terms) >= right)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    return {"INFEASIBLE": "unsat", "OPTIMAL": "sat", "FEASIBLE": "sat"}.get(solver.StatusName(solver.Solve(model)))


def by_z3(rows, names):
    """Return the answer of z3."""
    import z3

    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    x = {name: z3.Bool(name) for name in names}
    for terms, right in rows:
        solver.add(z3.Sum([z3.If(x[j], v, 0) for v, j in terms]) >= right)
    return str(solver.check())


def by_exact(rows, names):
    """Return the answer of Exact."""
    from exact import Exact

    solver = Exact()
    for name in names:
        solver.addVariable(name, 0, 1)
    for terms, right in rows:
        solver.addConstraint(terms, True, right)
    return {"UNSAT": "unsat", "SAT": "sat"}.get(solver.runFull(False, SECONDS))


SOLVERS = {"CP-SAT": by_cp_sat, "z3": by_z3, "Exact": by_exact}


def main(name, path):
    """Print the answer of a solver."""
    rows = rows_of(Path(path).read_text())
    names = sorted({j for terms, _ in rows for _, j in terms})
    started = time.process_time()
    answer = SOLVERS[name](rows, names)
    print(answer or "unknown", f"{time.process_time() - started:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
