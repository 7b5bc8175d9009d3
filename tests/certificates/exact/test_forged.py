"""Tight proofs and claims next to them: both checkers accept what is proved, and nothing more."""

import copy
from fractions import Fraction
from functools import reduce
from math import nextafter
from operator import getitem

import numpy as np
import pytest
from integer_programs import random_program
from proof_files import checked, ends, found, refused
from support import blobs

import fsopt
from fsopt.certificates.exact.claims import claim_of_tree
from fsopt.certificates.exact.encoding import decoded, encoded
from fsopt.certificates.exact.proofs import relative_width
from fsopt.compiler import compile_model
from fsopt.methods.registry import fit
from fsopt.verification.exact_checking import exactly

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
    part = copy.deepcopy(part)
    below, above = ends(part)
    part["claim"] |= {"lower": encoded(below), "upper": encoded(above), "gap": encoded(relative_width(below, above))}
    assert checked(part) == (below, above)
    return part


def of_method(name, **params):
    data = blobs(n=12, p=3, seed=3, gap=0.4)
    return tight(exactly(fit(name, data, **params), data).claims[0].part)


@pytest.fixture(scope="module")
def bases():
    return [VERTEX, of_method("fsv", lam=0.3), of_method("best-subset", m=2), of_method("gmeb")]


def test_a_claim_is_accepted_where_its_interval_contains_the_proved_one_and_its_gap_is_that_wide(bases):
    tiny = Fraction(1, 2**60)
    for base in bases:
        known = [decoded(base["claim"][name]) for name in ("lower", "upper", "gap")]
        for change, right in (
            ((0, 0, 0), True),
            ((tiny, 0, 0), False),
            ((0, -tiny, 0), False),
            ((0, 0, -tiny), False),
            ((-tiny, tiny, 4 * tiny), True),
            ((-tiny, tiny, 0), False),
            ((0, 0, Fraction(1, 1000) - known[2]), True),
            ((0, 0, Fraction(1, 1000) - known[2] + tiny), False),
        ):
            named = zip(("lower", "upper", "gap"), known, change, strict=True)
            part = base | {"claim": base["claim"] | {name: encoded(v + by) for name, v, by in named}}
            assert (not refused(part)) == right, (base["kind"], change)


@pytest.mark.parametrize(("end", "towards"), [("lower", np.inf), ("upper", -np.inf)])
def test_a_claim_one_unit_in_the_last_place_beyond_the_optimum_is_refuted(end, towards):
    part = copy.deepcopy(VERTEX)
    assert found(part) == found(part, "fsopt") == (Fraction(1, 2), Fraction(1, 2))
    part["claim"][end] = nextafter(0.5, towards)
    assert refused(part)


def at(path):
    """Return a copy of the vertex proof, and what holds the number at a path."""
    part = copy.deepcopy(VERTEX)
    return part, reduce(getitem, path[:-1], part)


@pytest.mark.parametrize("path", [("dual", "rows", 0), ("point", 0)])
@pytest.mark.parametrize("towards", [np.inf, -np.inf])
def test_evidence_one_unit_away_does_not_support_the_exact_claim(path, towards):
    part, place = at(path)
    place[path[-1]] = nextafter(place[path[-1]], towards)
    assert refused(part)


def test_the_multipliers_of_a_leaf_have_a_place_counted_from_the_front():
    model = random_program(23, "MILP")[0]
    result = fsopt.prove(model)
    part = claim_of_tree("tree", compile_model(model), result.tree, result.point.x, "optimal").part
    assert found(part) == found(part, "fsopt") is not None
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
        assert refused(part), change


def test_a_cost_above_the_slope_of_its_exponential_or_a_column_in_two_terms_is_refused(bases):
    stationary = next(part for part in bases if part["kind"] == "stationary")
    (weight, steepness, columns), *rest = stationary["slopes"]
    for slopes in ([[0.99 * weight, steepness, columns], *rest], [*stationary["slopes"], stationary["slopes"][0]]):
        assert refused(stationary | {"slopes": slopes})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True, "1/0", "x", [], {}])
@pytest.mark.parametrize("path", [("point", 0), ("program", "c", 0), ("dual", "rows", 1), ("claim", "upper")])
def test_what_is_no_number_is_refused_by_both(path, value):
    part, place = at(path)
    place[path[-1]] = value
    assert refused(part)
