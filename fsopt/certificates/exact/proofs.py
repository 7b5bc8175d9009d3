"""Proofs as plain data, the format of docs/exact.md: written from points in rational numbers, and confirmed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fsopt.certificates.exact.cones import Cone
from fsopt.certificates.exact.encoding import Part, decoded, encoded, encoded_quotient
from fsopt.certificates.exact.exponentials import exponential
from fsopt.certificates.exact.forms import ZERO, Form, rounded
from fsopt.certificates.exact.intervals import bound_of, value_at
from fsopt.certificates.exact.program import ExactProgram, Matrix
from fsopt.certificates.exact.repair import violated
from fsopt.certificates.exact.selection import proved_ends
from fsopt.certificates.exact.trees import proved_leaves, without_objective
from fsopt.errors import NotShownError, reading

Interval: TypeAlias = tuple[Fraction | None, Fraction | None]
Slope: TypeAlias = tuple[Fraction, Fraction, tuple[int, ...]]
"""Weight f, steepness k and the columns of a concave term ``f (1 - exp(-k t))``: ``t = x_a``, or ``|x_a - x_b|``."""


LARGEST_GAP = Fraction(1, 1000)
"""The largest relative width of the interval of what is called optimal or stationary."""


def claim_of(status: str, lower: Fraction | None, upper: Fraction | None, gap: Fraction | None) -> dict[str, Any]:
    """Return a claim on the minimisation form, its ends rounded outward to short numbers.

    Parameters
    ----------
    gap : relative to the larger end, the claimed width of the interval of an optimum or a stationary point.
    """
    return {
        "status": status,
        "lower": encoded(None if lower is None else rounded(lower, up=False)),
        "upper": encoded(None if upper is None else rounded(upper, up=True)),
        "gap": encoded(gap) if status in ("optimal", "stationary") else None,
        "left_out": [],
    }


def relative_width(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the width of an interval, relative to its larger end or 1."""
    return (upper - lower) / max(Fraction(1), abs(upper), abs(lower))


def program_data(program: ExactProgram) -> dict[str, Any]:
    """Return a program as plain data."""
    rows = zip(program.rows, program.lo, program.hi, strict=True)
    return {
        "c": [encoded(v) for v in program.c],
        "c0": encoded(program.c0),
        "quadratic": [[j, encoded(program.P[j])] for j in program.curved],
        "rows": [[list(f.columns), _values(f), encoded(lo), encoded(hi)] for f, lo, hi in rows],
        "lb": [encoded(v) for v in program.lb],
        "ub": [encoded(v) for v in program.ub],
        "cones": [
            {"weights": [encoded(w) for w in k.weights], "forms": [_form(f) for f in k.forms]} for k in program.cones
        ],
        "matrices": [{"order": m.order, "entries": [_form(f) for f in m.entries]} for m in program.matrices],
        "integer": np.flatnonzero(program.integer).tolist(),
    }


def dual_data(program: ExactProgram, dual: Sequence[Fraction]) -> dict[str, Any]:
    """Return a dual point as plain data."""
    rest = iter([encoded(v) for v in dual])
    return {
        "rows": _take(rest, len(program.rows)),
        "cones": [_take(rest, len(k.forms)) for k in program.cones],
        "matrices": [_take(rest, len(m.entries)) for m in program.matrices],
        "curve": list(rest),
    }


def _take(values: Iterator[Any], count: int) -> list[Any]:
    return [next(values) for _ in range(count)]


def _values(form: Form) -> list[Any]:
    return [encoded_quotient(v, form.denominator) for v in form.values]


def _form(form: Form) -> list[Any]:
    return [list(form.columns), _values(form), encoded(form.offset)]


def read_program(held: Mapping[str, Any]) -> ExactProgram:
    """Return the program of :func:`program_data`; raises KeyError, TypeError or ValueError where it is damaged."""
    n = len(held["c"])
    P = [ZERO] * n
    for j, v in held["quadratic"]:
        P[j] = decoded(v)
    integer = np.zeros(n, dtype=bool)
    integer[held["integer"]] = True
    program = ExactProgram(
        P=tuple(P),
        c=tuple(decoded(v) for v in held["c"]),
        c0=decoded(held["c0"]),
        rows=tuple(Form.of(columns, [decoded(v) for v in values]) for columns, values, _, _ in held["rows"]),
        lo=tuple(_limit(lo) for _, _, lo, _ in held["rows"]),
        hi=tuple(_limit(hi) for _, _, _, hi in held["rows"]),
        lb=tuple(_limit(v) for v in held["lb"]),
        ub=tuple(_limit(v) for v in held["ub"]),
        cones=tuple(_read_cone(k) for k in held["cones"]),
        matrices=tuple(Matrix(m["order"], tuple(_read_form(f) for f in m["entries"])) for m in held["matrices"]),
        integer=integer,
    )
    forms = [
        *program.rows,
        *(f for k in program.cones for f in k.forms),
        *(f for m in program.matrices for f in m.entries),
    ]
    if any(not 0 <= j < n for f in forms for j in f.columns) or any(
        len(set(f.columns)) < len(f.columns) for f in forms
    ):
        raise ValueError("the columns of a form are damaged")
    if not n or len(held["lb"]) != n or len(held["ub"]) != n:
        raise ValueError("it is empty, or has other numbers of bounds")
    if any(P[j] <= 0 for j, _ in held["quadratic"]) or len({j for j, _ in held["quadratic"]}) < len(held["quadratic"]):
        raise ValueError("the objective is not convex, or a column of its quadratic part stands twice")
    return program


def _read_form(held: Sequence[Any]) -> Form:
    return Form.of(held[0], [decoded(v) for v in held[1]], decoded(held[2]))


def _read_cone(held: Mapping[str, Any]) -> Cone:
    left, right, *tails = (_read_form(f) for f in held["forms"])
    weights = tuple(decoded(w) for w in held["weights"])
    if len(weights) != len(tails) or not all(w > 0 for w in weights):
        raise ValueError("the weights of a cone are damaged")
    return Cone(tuple(tails), weights, left, right)


def _limit(value: Any) -> Fraction | None:
    return None if value is None else decoded(value)


def read_dual(program: ExactProgram, held: Mapping[str, Any]) -> list[Fraction]:
    """Return the dual variables of :func:`dual_data`."""
    cones, matrices = held["cones"], held["matrices"]
    if [len(k) for k in cones] != [len(k.forms) for k in program.cones] or len(held["rows"]) != len(program.rows):
        raise ValueError("a dual point has another length")
    dual = [decoded(v) for part in (held["rows"], *cones, *matrices, held["curve"]) for v in part]
    if len(dual) != program.dual_size:
        raise ValueError("a dual point has another length")
    return dual


def proved_bound(program: ExactProgram, held: Mapping[str, Any]) -> Fraction:
    """Return the bound of a saved dual point; raises NotShownError where it is not feasible."""
    dual = read_dual(program, held)
    wrong = violated(program.duals, dual)
    if wrong is not None:
        raise NotShownError(f"the dual point violates one {wrong}")
    return bound_of(program, dual)


def proved_value(program: ExactProgram, held: Sequence[Any]) -> Fraction:
    """Return the value of a saved point; raises NotShownError where it is not feasible."""
    x = [decoded(v) for v in held]
    if len(x) != program.n:
        raise ValueError("a point has another length")
    if any(x[j].denominator != 1 for j in np.flatnonzero(program.integer)):
        raise NotShownError("an integer of the point is not whole")
    wrong = violated(program.points, x)
    if wrong is not None:
        raise NotShownError(f"the point violates one {wrong}")
    return value_at(program, x)


def proved_ray(program: ExactProgram, held: Mapping[str, Any]) -> None:
    """Raise NotShownError unless a saved ray proves that a program has no feasible point."""
    if proved_bound(without_objective(program), {**held, "curve": []}) <= 0:
        raise NotShownError("the ray proves no infeasibility")


def slope_costs(slope: Slope, x: Sequence[Fraction]) -> list[tuple[int, Fraction, Fraction]]:
    r"""Return column, and bounds on its cost in the linearisation at x, of the columns of a concave term.

    The term :math:`f(1 - e^{-kt})` with :math:`t = x_a` has the cost :math:`f k e^{-kt}`. With
    :math:`t = |x_a - x_b|` it is :math:`fkt` less a convex function: the larger of the two has that cost, the other one
    :math:`2fk` less it.
    """
    weight, steepness, columns = slope
    t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0)
    low, high = (weight * steepness * v for v in exponential(steepness * abs(t)))
    twice = 2 * weight * steepness
    ordered = columns if t >= 0 else columns[::-1]
    costs = ((low, high), (twice - high, twice - low))
    return [(j, *cost) for j, cost in zip(ordered, costs, strict=False)]


def _stationary(part: Part, program: ExactProgram) -> tuple[Fraction, Fraction]:
    """Return what a step can reach at least, and the linearised objective at the point at most."""
    x = [decoded(v) for v in part["point"]]
    above = proved_value(program, part["point"])
    curved = [j for _, _, columns in part["slopes"] for j in columns]
    if program.curved:
        raise NotShownError("the terms are not those of a linear program")
    if len(set(curved)) < len(curved):
        raise NotShownError("a column is in two concave terms")
    for f, k, columns in part["slopes"]:
        slope = (decoded(f), decoded(k), tuple(columns))
        if slope[0] < 0 or slope[1] <= 0 or len(columns) not in (1, 2):
            raise NotShownError("a slope is damaged")
        for j, low, high in slope_costs(slope, x):
            if program.lb[j] != 0 or program.c[j] > low:
                raise NotShownError("a cost is above the slope of its exponential")
            above += (high - program.c[j]) * x[j]
    return proved_bound(program, part["dual"]), above


def _ends(part: Part) -> Interval:
    """Return the bounds that the evidence of a part proves."""
    if part["kind"] == "selection":
        return proved_ends(part)
    program = read_program(part["program"])
    if part["kind"] == "stationary":
        return _stationary(part, program)
    if part["kind"] == "infeasible":
        proved_ray(program, part["ray"])
        return None, None
    if part["kind"] not in ("convex", "tree"):
        raise ValueError(f"its kind is {part['kind']!r}")
    above = None if part["point"] is None else proved_value(program, part["point"])
    if part["kind"] == "tree":
        return proved_leaves(part, program, proved_bound), above
    return None if part["dual"] is None else proved_bound(program, part["dual"]), above


FIRST = ("stationary", "infeasible")
"""Statuses with a kind of proof of their own; a tree without a point may prove the second, too."""
GIVEN: Mapping[str, tuple[tuple[bool, bool, bool], ...]] = {
    "optimal": ((True, True, True),),
    "stationary": ((True, True, True),),
    "feasible": ((True, True, False), (False, True, False)),
    "bounded": ((True, False, False),),
    "infeasible": ((False, False, False),),
    "exhausted": ((False, False, False),),
}
"""Status -> whether a claim has a lower end, an upper end and a gap."""


def confirmed(part: Part) -> Interval:
    """Return the interval that a part claims, after its evidence was looked at in rational numbers.

    Raises
    ------
    NotShownError : a number of the evidence does not support the claim.
    FileError : the part is damaged.
    """
    with reading("proof"):
        claim, kind = part["claim"], part["kind"]
        status = claim["status"]
        without = kind == "tree" and status == "infeasible" and part["point"] is None
        if any((kind == name or (without and name == status)) != (status == name) for name in FIRST):
            raise NotShownError("the status is not that of the evidence")
        if claim["left_out"] and (kind != "selection" or status not in ("bounded", "exhausted")):
            raise NotShownError("a claim on the optimum leaves no selection out")
        lower, upper, gap = (_limit(claim[name]) for name in ("lower", "upper", "gap"))
        if (lower is not None, upper is not None, gap is not None) not in GIVEN.get(status, ()):
            raise NotShownError("the numbers of the claim are not those of its status")
        below, above = _ends(part)
        if without and below is not None:
            raise NotShownError("a leaf may have a point")
        if status == "exhausted" and (kind != "selection" or below is not None):
            raise NotShownError("there are other selections")
        if lower is not None and (below is None or lower > below):
            raise NotShownError("the claimed bound is above the proved one")
        if upper is not None and (above is None or above > upper):
            raise NotShownError("the claimed value is below the proved one")
        if lower is not None and upper is not None and lower > upper:
            raise NotShownError("the ends of the interval are in the wrong order")
        if lower is not None and upper is not None and gap is not None:
            if relative_width(lower, upper) > gap:
                raise NotShownError("the interval is wider than the claimed gap")
            if gap > LARGEST_GAP:
                raise NotShownError("the claimed gap is above 1/1000, the largest of what is called optimal")
        return lower, upper
