"""Whether the claims of a proof file are true, by solvers and enumeration: nothing of the checkers is used."""

import itertools
import json
import math
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import clarabel
import numpy as np
from exact_optima import inequalities, minimum
from support import conic_optimum, exact_value

TOLERANCE = 1e-6


def rational(number):
    """Return a number of a file exactly."""
    if isinstance(number, str):
        top, _, bottom = number.partition("/")
        return Fraction(int(top, 16), int(bottom or "1", 16))
    return Fraction(number)


def value(number):
    """Return a number of a file as a double."""
    return float(rational(number))


def _affine(columns, values, constant, n):
    row = np.zeros(n)
    np.add.at(row, columns, [value(v) for v in values])
    return row, value(constant)


@cache
def _optimum(text, costs):
    """Return status and optimal value of a program, by Clarabel; other costs where they are given."""
    held = json.loads(text)
    n = len(held["c"])
    c = np.array([value(v) for v in held["c"]]) if costs is None else np.array(costs)
    P = matrix_of(held)
    if np.linalg.eigvalsh(P).min(initial=0.0) < -CURVED * max(1.0, np.abs(P).max()):
        return "a bound of a program that is not convex", math.nan
    zero, one, blocks = [], [], []
    limits = [(_affine(k, v, 0, n)[0], lo, hi) for k, v, lo, hi in held["rows"]]
    limits += [(np.eye(n)[j], lo, hi) for j, (lo, hi) in enumerate(zip(held["lb"], held["ub"], strict=True))]
    for row, lo, hi in limits:
        if lo is not None and hi is not None and value(lo) == value(hi):
            zero.append((row, value(lo)))
            continue
        if lo is not None:
            one.append((-row, -value(lo)))
        if hi is not None:
            one.append((row, value(hi)))
    for cone in held["cones"]:
        (l, l0), (r, r0), *tails = (_affine(*f, n) for f in cone["forms"])
        entries = [(l + r, l0 + r0), (l - r, l0 - r0)]
        for w, (t, t0) in zip(cone["weights"], tails, strict=True):
            entries.append((2 * math.sqrt(value(w)) * t, 2 * math.sqrt(value(w)) * t0))
        blocks.append((entries, clarabel.SecondOrderConeT(len(entries))))
    for matrix in held["matrices"]:
        places = [i == j for j in range(matrix["order"]) for i in range(j + 1)]
        forms = [_affine(*f, n) for f in matrix["entries"]]
        scaled = [
            (f * (1 if d else math.sqrt(2)), f0 * (1 if d else math.sqrt(2)))
            for d, (f, f0) in zip(places, forms, strict=True)
        ]
        blocks.append((scaled, clarabel.PSDTriangleConeT(matrix["order"])))
    A = [row for row, _ in zero + one] + [-row for entries, _ in blocks for row, _ in entries]
    b = [right for _, right in zero + one] + [right for entries, _ in blocks for _, right in entries]
    cones = [clarabel.ZeroConeT(len(zero)), clarabel.NonnegativeConeT(len(one)), *(cone for _, cone in blocks)]
    found = conic_optimum(np.triu(P), c, np.array(A), b, cones, 1e-10)
    return str(found.status), found.obj_val + value(held["c0"])


CURVED = 1e-12
"""Eigenvalues, relative to the largest entry, that rounding alone makes negative."""


def matrix_of(program):
    """Return the matrix of the quadratic objective."""
    P = np.zeros((len(program["c"]),) * 2)
    for i, j, v in program["quadratic"]:
        P[i, j] += value(v)
        P[j, i] += value(v) if i != j else 0.0
    return P


def minimised(program):
    """Return a program in minimisation form: the negative of a maximum."""
    if program["sense"] == "min":
        return program
    entries = [[i, j, _negative(v)] for i, j, v in program["quadratic"]]
    costs = [_negative(v) for v in program["c"]]
    return {**program, "sense": "min", "c": costs, "c0": _negative(program["c0"]), "quadratic": entries}


def _negative(number):
    exact = -rational(number)
    return f"{exact.numerator:x}/{exact.denominator:x}"


def optimum(program, costs=None):
    """Return status and optimal value of the minimisation form of a program."""
    return _optimum(json.dumps(program), None if costs is None else tuple(costs))


def exact(program):
    """Return the exact optimum of a linear program, infinite where it has no point or no bound."""
    c, rows = np.array([rational(v) for v in program["c"]]), program["rows"]
    A = np.full((len(rows), len(c)), Fraction(0))
    for row, (columns, values, _, _) in zip(A, rows, strict=True):
        for j, v in zip(columns, values, strict=True):
            row[j] += rational(v)
    sides = [row[2] for row in rows], [row[3] for row in rows], program["lb"], program["ub"]
    infinite = (-math.inf, math.inf) * 2
    ends = [[none if v is None else rational(v) for v in side] for none, side in zip(infinite, sides, strict=True)]
    found = minimum(c, 0 * np.outer(c, c), *inequalities(A, *ends))
    return {"infeasible": math.inf, "unbounded": -math.inf}.get(found, found) + rational(program["c0"])


def selections(problem, left_out=()):
    """Return the smallest value of all allowed selections but some, infinity where there are none."""
    return _selections(json.dumps(problem), json.dumps(sorted(map(sorted, left_out))))


@cache
def _selections(text, others):
    problem, others = json.loads(text), [set(s) for s in json.loads(others)]
    p = len(problem["lam"])
    best = math.inf
    for size in range(p + 1):
        for chosen in itertools.combinations(range(p), size):
            sums = [sum((rational(row[j]) for j in chosen), Fraction(0)) for row in problem["R"]]
            fits = all(left <= rational(r) for left, r in zip(sums, problem["r"], strict=True))
            fits &= set(problem["inside"]) <= set(chosen) and not set(problem["outside"]) & set(chosen)
            if fits and set(chosen) not in others:
                weights = sum(value(problem["lam"][j]) for j in chosen)
                best = min(best, _machine(problem, chosen) + weights)
    return best


def _machine(problem, chosen):
    """Return the optimum of the classifier on some features."""
    columns = [[value(v) for v in column] for column in problem["columns"]]
    y = np.array(problem["y"])
    data = SimpleNamespace(X=np.array(columns).reshape(-1, len(y)).T, y=y, n=len(y), weights=None)
    ends = (("lower", -math.inf), ("upper", math.inf))
    bounds = [[none if v is None else value(v) for v in problem[name]] for name, none in ends]
    sigma = np.isin(problem["groups"], chosen)
    return exact_value(data, sigma, value(problem["c"]), problem["loss"], *bounds)


def steps(program, point):
    """Return the best step of the linearised objective at a point, and its value at the point."""
    x = [0.0] * len(program["c"])
    for j, v in point:
        x[j] = value(v)
    costs = [value(v) for v in program["c"]]
    for f, k, columns in program["concave"]:
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0.0)
        slope = value(f) * value(k) * math.exp(-value(k) * abs(t))
        pair = columns if t >= 0 else columns[::-1]
        costs[pair[0]] += slope
        if len(pair) == 2:
            costs[pair[1]] += 2 * value(f) * value(k) - slope
    status, best = optimum(program, costs)
    return status, best, sum(c * v for c, v in zip(costs, x, strict=True)) + value(program["c0"])


def false_claim(proof):
    """Return why a claim of a confirmed proof file is false; None where all are true of the programs in the file."""
    for claim in proof["claims"]:
        reason = _false(claim["statement"], claim["program"], claim["evidence"])
        if reason:
            return f"{claim['statement']['status']}: {reason}"
    return None


def _false(statement, program, evidence):
    lower, upper = (None if statement[end] is None else Fraction(statement[end]) for end in ("lower", "upper"))
    status = statement["status"]
    if status == "optimal" and upper - lower > Fraction(1, 1000) * max(1, abs(lower), abs(upper)):
        return "an optimum is known to 1/1000"
    if "loss" in program:
        best = selections(program, statement["left_out"])
        if status == "infeasible":
            return None if best == math.inf else f"another selection has the value {best}"
        return _outside(lower, upper, best, best)
    if program["sense"] == "max":
        lower, upper = (None if end is None else -end for end in (upper, lower))
    if (status == "feasible" and lower is not None) or (status == "bounded" and upper is not None):
        return "a point bounds no others, and a bound is none of a point"
    program = minimised(program)
    if program["concave"]:
        found, low, high = steps(program, evidence["point"])
        return found if "Solved" not in found else _outside(lower, upper, low, high)
    if program["integer"]:  # no point of it is below its relaxation
        return _outside(None, upper, -math.inf, optimum(program)[1])
    small = len(program["c"]) == 2 and not program["cones"]
    if status == "infeasible":
        return "there is a feasible point" if small and exact(program) < math.inf else None
    found, best = optimum(program)
    if "Solved" not in found:
        nothing = "PrimalInfeasible" in found and status == "bounded"  # of no point every bound is true
        return None if lower is None or nothing else found
    if small and not program["quadratic"]:
        least = exact(program)
        if (lower is not None and lower > least) or (upper is not None and upper < least):
            return f"the exact optimum is {least}"
    return _outside(lower, upper, best, best)


def _outside(lower, upper, low, high):
    """Return whether the ends of an interval are beyond true numbers."""
    if lower is not None and float(lower) > low + TOLERANCE * max(1.0, abs(low)):
        return f"the lower end is {float(lower)}, the optimum {low}"
    if upper is not None and float(upper) < high - TOLERANCE * max(1.0, abs(high)):
        return f"the upper end is {float(upper)}, the optimum {high}"
    return None
