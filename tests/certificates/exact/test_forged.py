"""One number of a tight proof changed, a thousand times: no false claim is accepted, and both checkers agree on all."""

import copy
import random
from fractions import Fraction
from math import isfinite, nextafter

import numpy as np
import pytest
from integer_programs import random_program
from proof_files import checked, ends, found, refused
from scipy.optimize import linprog
from support import blobs, sampled

import fsopt
from fsopt.certificates.exact.claims import claim_of_pair, claim_of_tree
from fsopt.certificates.exact.encoding import decoded, encoded
from fsopt.certificates.exact.intervals import pair_of
from fsopt.certificates.exact.proofs import relative_width
from fsopt.compiler import compile_model
from fsopt.library.instances import build_instance
from fsopt.methods.registry import fit
from fsopt.solvers.base import solve
from fsopt.verification.exact_checking import exactly

CHANGES = 125
GROUPS = ("program", "problem", "point", "dual", "alpha", "mu", "tree", "claim", "slopes")
VERTEX = {
    "kind": "convex",
    "program": {
        "c": [1, 1],
        "c0": 0,
        "quadratic": [],
        "rows": [[[0, 1], [3, 1], 1, None], [[0, 1], [1, 3], 1, None]],
        "lb": [0, 0],
        "ub": [None, None],
        "cones": [],
        "matrices": [],
        "integer": [],
    },
    "point": [0.25, 0.25],
    "dual": {"rows": [0.25, 0.25], "cones": [], "matrices": [], "curve": []},
    "claim": {"status": "optimal", "lower": 0.5, "upper": 0.5, "gap": 0, "left_out": []},
}
"""A linear program whose optimum is 1/2: any claim of more, or of less, is false."""


def tight(part):
    """Return a part that claims exactly what its evidence proves."""
    part = copy.deepcopy(part)
    below, above = ends(part)
    part["claim"] |= {"lower": encoded(below), "upper": encoded(above), "gap": encoded(relative_width(below, above))}
    assert checked(part) == (below, above)
    return part


def of_instance(slug):
    model = build_instance(slug)
    result = solve(model)
    return claim_of_pair(slug, "optimal", pair_of(compile_model(model), result.point.x, result.point), 1e-6).part


def of_method(name, **params):
    data = blobs(n=24, p=5, seed=3, gap=0.4)
    return exactly(fit(name, data, **params), data).claims[0].part


@pytest.fixture(scope="module")
def bases():
    slugs = ("onsvm", "svm", "gmeb-dual", "gmeb-sdp", "mpm")
    fits = (of_method("fsv", lam=0.3), of_method("best-subset", m=2), of_method("l0-mpm"))
    return [VERTEX, *(tight(of_instance(slug)) for slug in slugs), *(tight(part) for part in fits)]


def numbers_in(value, path=()):
    """Yield the path of every number of plain data; a text is one where it can be read as one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("name", "status", "kind"):
                yield from numbers_in(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from numbers_in(inner, (*path, place))
    elif isinstance(value, (int, float)) or (isinstance(value, str) and "/" in value):
        yield path


def changed(value, rng):
    """Return another number: one unit in the last place away, or far away."""
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    if isinstance(value, float):
        far = (value * (1 + 1e-9), value * (1 - 1e-9), -value, value + 1.0, 0.0, 1.5 * value)
        near = (nextafter(value, np.inf), nextafter(value, -np.inf))
        return rng.choice((*near, *near, *near, *far))
    exact = decoded(value)
    tiny = Fraction(1, exact.denominator * 2)
    found = rng.choice((exact + tiny, exact - tiny, -exact, Fraction(nextafter(float(exact), np.inf))))
    return f"{found.numerator:x}/{found.denominator:x}"


def forged(part, rng):
    """Return a part with one number changed, and the group of this number."""
    paths = list(numbers_in(part))
    group = rng.choice([g for g in GROUPS if any(path[0] == g for path in paths)])
    path = rng.choice([p for p in paths if p[0] == group])
    out = copy.deepcopy(part)
    place = out
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = changed(place[path[-1]], rng)
    return out, group


def by_verify(part):
    return found(part)


def by_fsopt(part):
    return found(part, "fsopt")


@pytest.mark.parametrize("seed", sampled(range(20, 28), 1))
def test_no_false_claim_is_accepted_and_both_checkers_agree(seed, bases):
    rng = random.Random(seed)
    accepted, refuted = 0, 0
    for k in range(CHANGES):
        base = bases[k % len(bases)]
        part, group = forged(base, rng)
        first, second = by_verify(part), by_fsopt(part)
        assert first == second, (group, part["kind"])
        accepted, refuted = accepted + (first is not None), refuted + (first is None)
        if group == "claim":
            below, above = ends(base)
            lower, upper, gap = (decoded(part["claim"][k]) for k in ("lower", "upper", "gap"))
            true = lower <= below and above <= upper and lower <= upper
            true &= relative_width(lower, upper) <= gap <= Fraction(1, 1000)
            assert (first is not None) == true
        if first is not None and base is VERTEX:
            assert first[0] <= optimum(part["program"]) <= first[1]
    assert refuted > CHANGES / 2
    assert accepted > CHANGES / 50


def optimum(program):
    """Return the optimum of the changed linear program: a vertex, in rational numbers."""
    rows = [[Fraction(0), Fraction(0), None] for _ in program["rows"]]
    for row, (columns, values, lo, _) in zip(rows, program["rows"], strict=True):
        for j, v in zip(columns, values, strict=True):
            row[j] += Fraction(v)
        row[2] = lo
    A = np.array([[float(v) for v in row[:2]] for row in rows])
    found = linprog(
        [float(v) for v in program["c"]],
        A_ub=-A,
        b_ub=[-float(row[2]) for row in rows],
        bounds=[(float(lo), None) for lo in program["lb"]],
        method="highs-ds",
    )
    assert isfinite(found.fun)
    lines = [(row[0], row[1], Fraction(row[2])) for row in rows]
    lines += [
        (Fraction(1), Fraction(0), Fraction(program["lb"][0])),
        (Fraction(0), Fraction(1), Fraction(program["lb"][1])),
    ]
    values = []
    for i, (a, b, e) in enumerate(lines):
        for c, d, f in lines[:i]:
            if a * d - b * c:
                x, y = (e * d - b * f) / (a * d - b * c), (a * f - e * c) / (a * d - b * c)
                if all(u * x + v * y >= w for u, v, w in lines):
                    values.append(Fraction(program["c"][0]) * x + Fraction(program["c"][1]) * y)
    best = min(values) + Fraction(program["c0"])
    assert abs(float(best) - float(program["c0"]) - found.fun) < 1e-6
    return best


@pytest.mark.parametrize(("end", "towards"), [("lower", np.inf), ("upper", -np.inf)])
def test_a_claim_one_unit_in_the_last_place_beyond_the_optimum_is_refuted(end, towards):
    part = copy.deepcopy(VERTEX)
    assert by_verify(part) == by_fsopt(part) == (Fraction(1, 2), Fraction(1, 2))
    part["claim"][end] = nextafter(0.5, towards)
    assert by_verify(part) is None
    assert by_fsopt(part) is None


@pytest.mark.parametrize("path", [("dual", "rows", 0), ("point", 0)])
@pytest.mark.parametrize("towards", [np.inf, -np.inf])
def test_evidence_one_unit_away_does_not_support_the_exact_claim(path, towards):
    part = copy.deepcopy(VERTEX)
    place = part
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = nextafter(place[path[-1]], towards)
    assert by_verify(part) is None
    assert by_fsopt(part) is None


def test_the_multipliers_of_a_leaf_have_a_place_counted_from_the_front():
    model = random_program(23, "MILP")[0]
    result = fsopt.prove(model)
    part = claim_of_tree("tree", compile_model(model), result.tree, result.point.x, "optimal").part
    assert by_verify(part) == by_fsopt(part) is not None
    for k, (mark, place, *_) in enumerate(part["nodes"]):
        if mark in ("leaf", "empty"):
            held = part["duals" if mark == "leaf" else "rays"]
            nodes = [*part["nodes"][:k], [mark, place - len(held)], *part["nodes"][k + 1 :]]
            assert refused(part | {"nodes": nodes})


def test_the_status_must_be_that_of_the_evidence(bases):
    stationary = next(part for part in bases if part["kind"] == "stationary")
    nothing = {"lower": None, "upper": None, "gap": None}
    for known, change in (
        (stationary, {"status": "optimal"}),
        (VERTEX, {"status": "stationary"}),
        (VERTEX, {"status": "infeasible", **nothing}),
        (VERTEX, {"status": "exhausted", **nothing}),
    ):
        part = copy.deepcopy(known)
        part["claim"] |= change
        assert by_verify(part) is None, change
        assert by_fsopt(part) is None, change


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True, "1/0", "x", [], {}])
@pytest.mark.parametrize("path", [("point", 0), ("program", "c", 0), ("dual", "rows", 1), ("claim", "upper")])
def test_what_is_no_number_is_refused_by_both(path, value):
    part = copy.deepcopy(VERTEX)
    place = part
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert by_verify(part) is None
    assert by_fsopt(part) is None
