"""Optima of selections checked by solvers that others wrote: ``make foreign``.

Each problem of ``fsopt.certificates.exact.pseudo_boolean`` has no solution at the proved bound, and one above the
optimum; CP-SAT and z3 have to say so.
"""

import re
import sys
import time
from fractions import Fraction

import z3
from ortools.sat.python import cp_model

import fsopt
from fsopt.certificates.exact.pseudo_boolean import opb

CASES = [("wdbc", 2), ("wdbc", 3), ("wdbc", 5)]
"""Data set and largest number of features."""
SECONDS = 300


def rows_of(text):
    """Return terms (coefficient, variable) and right-hand side of each constraint of an OPB problem."""
    rows = []
    for line in text.splitlines()[1:]:
        left, right = line.rstrip(" ;").split(">=")
        rows.append(([(int(v), int(j)) for v, j in re.findall(r"([+-]\d+) x(\d+)", left)], int(right)))
    return rows


def by_cp_sat(rows):
    """Return whether CP-SAT finds a solution; None where its time is up."""
    model = cp_model.CpModel()
    x = {j: model.NewBoolVar(str(j)) for terms, _ in rows for _, j in terms}
    for terms, right in rows:
        model.Add(sum(v * x[j] for v, j in terms) >= right)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    return {"INFEASIBLE": False, "OPTIMAL": True, "FEASIBLE": True}.get(solver.StatusName(solver.Solve(model)))


def by_z3(rows):
    """Return whether z3 finds a solution; None where its time is up."""
    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    for terms, right in rows:
        solver.add(z3.Sum([z3.If(z3.Bool(str(j)), v, 0) for v, j in terms]) >= right)
    return {"unsat": False, "sat": True}.get(str(solver.check()))


def main():
    """Print what each solver finds of each problem, and end with 1 where one contradicts a proof."""
    wrong = 0
    for name, m in CASES:
        data = fsopt.load_dataset(name)
        found = fsopt.verify(fsopt.fit("best-subset", data, m=m), data, exact=True)
        claim = found.exact.claims[0]
        small = Fraction(1, 10**6) * max(1, claim.upper)
        for end, expected in ((claim.lower - small, False), (claim.upper + small, True)):
            rows = rows_of(opb(claim.part, end))
            for solver in (by_cp_sat, by_z3):
                started = time.process_time()
                answer = solver(rows)
                wrong += answer is not None and answer != expected
                word = {True: "a selection", False: "no selection", None: "no answer"}[answer]
                spent = time.process_time() - started
                told = f"{solver.__name__}: {word} below {float(end):.9g}, {spent:.1f} s"
                print(f"{name} m={m}, {len(rows)} constraints, {told}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
