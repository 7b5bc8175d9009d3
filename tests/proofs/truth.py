"""Whether the claims of a proof file are true, by solvers and enumeration: nothing of the checkers is used."""

import itertools
import json
import math
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import clarabel
import numpy as np
import scipy.sparse as sp
from selection_cases import exact_value

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
    P = np.zeros(n)
    for j, v in held["quadratic"]:
        P[j] += value(v)
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
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sp.diags(P, format="csc"), c, sp.csc_matrix(np.array(A)), np.array(b), cones, settings
    ).solve()
    return str(found.status), found.obj_val + value(held["c0"])


def optimum(program, costs=None):
    """Return status and optimal value of the minimisation form of a program."""
    return _optimum(json.dumps(program), None if costs is None else tuple(costs))


MOST = 500
"""Points of integers that are enumerated."""


def whole_optimum(program):
    """Return the optimum at whole numbers by enumeration, infinite without a point.

    None for too many of them, or where the solver ends without an answer: its last point is none of the program.
    """
    ends = [(program["lb"][j], program["ub"][j]) for j in program["integer"]]
    if any(end is None for pair in ends for end in pair):
        return None
    ranges = [range(math.ceil(rational(lo)), math.floor(rational(hi)) + 1) for lo, hi in ends]
    if math.prod(map(len, ranges)) > MOST:
        return None
    best = math.inf
    for values in itertools.product(*ranges):
        fixed = {**program, "lb": program["lb"].copy(), "ub": program["ub"].copy()}
        for j, v in zip(program["integer"], values, strict=True):
            fixed["lb"][j] = fixed["ub"][j] = v
        status, found = optimum(fixed)
        if "Infeasible" not in status and "Solved" not in status:
            return None
        best = min(best, found) if "Solved" in status else best
    return best


def half_planes(program):
    """Return the rows and bounds of a program in two variables as u x + v y >= w, exactly."""
    lines = []
    for columns, values, lo, hi in program["rows"]:
        row = [Fraction(0), Fraction(0)]
        for j, v in zip(columns, values, strict=True):
            row[j] += rational(v)
        lines += [(*row, rational(lo))] if lo is not None else []
        lines += [(-row[0], -row[1], -rational(hi))] if hi is not None else []
    for j in range(2):
        unit = (Fraction(1 - j), Fraction(j))
        lines += [(*unit, rational(program["lb"][j]))] if program["lb"][j] is not None else []
        lines += [(-unit[0], -unit[1], -rational(program["ub"][j]))] if program["ub"][j] is not None else []
    return lines


def feasible(program):
    """Return whether a program in two variables has a feasible point, by Fourier and Motzkin's elimination of both."""
    lines = half_planes(program)
    for place in (0, 1):
        rest = [line for line in lines if not line[place]]
        low, high = ([line for line in lines if sign * line[place] > 0] for sign in (1, -1))
        for a, b in itertools.product(low, high):
            rest.append(tuple(u / a[place] - v / b[place] for u, v in zip(a, b, strict=True)))
        lines = rest
    return all(w <= 0 for _, _, w in lines)


def vertices(program):
    """Return the exact optimum of a linear program in two variables, by its vertices."""
    lines, found = half_planes(program), []
    for (a, b, e), (c, d, f) in itertools.combinations(lines, 2):
        if a * d - b * c:
            x, y = (e * d - b * f) / (a * d - b * c), (a * f - e * c) / (a * d - b * c)
            if all(u * x + v * y >= w for u, v, w in lines):
                found.append(rational(program["c"][0]) * x + rational(program["c"][1]) * y)
    return min(found) + rational(program["c0"])


def selections(problem, left_out=()):
    """Return the smallest value of all allowed selections but some, infinity where there are none."""
    return _selections(json.dumps(problem), json.dumps(sorted(map(sorted, left_out))))


@cache
def _selections(text, others):
    problem, others = json.loads(text), [set(s) for s in json.loads(others)]
    p = len(problem["columns"])
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
    sigma = np.isin(np.arange(len(columns)), chosen)
    return exact_value(data, sigma, value(problem["c"]), problem["loss"])


def steps(part):
    """Return the best step of the linearised objective at the point of a part, and its value at the point."""
    program, x = part["program"], [value(v) for v in part["point"]]
    costs = [value(v) for v in program["c"]]
    for f, k, columns in part["slopes"]:
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0.0)
        slope = value(f) * value(k) * math.exp(-value(k) * abs(t))
        pair = columns if t >= 0 else columns[::-1]
        costs[pair[0]] = slope
        if len(pair) == 2:
            costs[pair[1]] = 2 * value(f) * value(k) - slope
    status, best = optimum(program, costs)
    return status, best, sum(c * v for c, v in zip(costs, x, strict=True)) + value(program["c0"])


def false_claim(proof):
    """Return why a claim of a confirmed proof file is false; None where all are true of the programs in the file."""
    for claim, part in zip(proof["statement"]["claims"], proof["proof"], strict=True):
        reason = _false(claim, part)
        if reason:
            return f"{claim['status']} {claim['program']}: {reason}"
    return None


def _false(claim, part):
    lower, upper = (None if claim[end] is None else value(claim[end]) for end in ("lower", "upper"))
    if claim["sense"] == "max":
        lower, upper = (None if end is None else -end for end in (upper, lower))
    status = claim["status"]
    if part["kind"] == "tree":
        low = high = whole_optimum(part["program"])
        if low is None or status == "infeasible":
            return f"a point has the value {low}" if low is not None and low < math.inf else None
    elif status == "infeasible":
        return "there is a feasible point" if feasible(part["program"]) else None
    elif part["kind"] == "selection":
        best = selections(part["problem"], claim["left_out"])
        if status == "exhausted":
            return None if best == math.inf else f"another selection has the value {best}"
        low = high = best
    elif part["kind"] == "stationary":
        found, low, high = steps(part)
        if "Solved" not in found:
            return found
    else:
        found, low = optimum(part["program"])
        if "Solved" not in found and not (part["program"]["integer"] or lower is None):
            return found
        high = low
        if len(part["program"]["c"]) == 2 and not part["program"]["cones"]:
            exact = vertices(part["program"])
            ends = [None if claim[end] is None else rational(claim[end]) for end in ("lower", "upper")]
            wrong = (ends[0] is not None and ends[0] > exact) or (ends[1] is not None and ends[1] < exact)
            if wrong:
                return f"the exact optimum is {exact}"
    if lower is not None and lower > low + TOLERANCE * max(1.0, abs(low)):
        return f"the lower end is {lower}, the optimum {low}"
    if upper is not None and upper < high - TOLERANCE * max(1.0, abs(high)):
        return f"the upper end is {upper}, the optimum {high}"
    return None
