"""Tight proofs and claims next to them: the verifier accepts what is proved, and nothing more."""

import copy
import itertools
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from types import SimpleNamespace

import numpy as np
import pytest
from proof_files import proved, refusal, refused
from pyomo_models import POSITIVE, model_of
from scipy.optimize import linprog
from support import blobs

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.exact.claims import claim_of_pair, pair_of
from fsopt.compiler import compile_model
from fsopt.methods.registry import fit
from fsopt.search.branch_and_benders import evidence
from fsopt.search.branch_and_benders.tree import FORGOTTEN, LEAF, PEG, marks_of
from fsopt.verifier.selections import UNIT, SelectionToCheck

LINEAR = model_of(lambda x, y: x + y, lambda x, y: 3 * x + y >= 1, lambda x, y: x + 3 * y >= 1, bounds=[POSITIVE] * 2)
QUARTERS = np.full(2, 0.25)
PAIR = pair_of(compile_model(LINEAR), QUARTERS, Point(QUARTERS, QUARTERS, np.zeros(0)))
VERTEX = claim_of_pair("", "optimal", PAIR, 1e-6).part
"""A linear program whose optimum is 1/2: any claim of more, or of less, is false."""
TINY = Fraction(1, 2**60)
OTHER = "the statement is not the one that follows from program and evidence"


def changed(claim, path, value):
    """Return a copy of a claim with another value at a path."""
    claim = copy.deepcopy(claim)
    reduce(getitem, path[:-1], claim)[path[-1]] = value
    return claim


def stated(claim, **parts):
    """Return a claim with another statement."""
    return {**claim, "statement": {**claim["statement"], **parts}}


def of_method(name, **params):
    data = blobs(n=12, p=3, seed=3, gap=0.4)
    return fsopt.verify(fit(name, data, **params), data, exact=True).claims[0].part


@pytest.fixture(scope="module")
def bases():
    return [VERTEX, of_method("fsv", lam=0.3), of_method("best-subset", m=2), of_method("gmeb")]


def test_the_statement_that_follows_is_accepted_and_no_other(bases):
    for base in bases:
        assert not refused(base)
        low, high = proved(base)
        for lower, upper in ((low + TINY, high), (low, high - TINY), (low - TINY, high), (low, None), (None, high)):
            ends = {"lower": None if lower is None else str(lower), "upper": None if upper is None else str(upper)}
            assert refused(stated(base, **ends)), (base["statement"]["status"], lower, upper)


def test_the_sense_is_that_of_the_program():
    """The maximum of -x - y is -1/2, and its minimum has no bound."""
    program = {**VERTEX["program"], "sense": "max", "c": [-1, -1]}
    words = {"sense": "max", "about": "maximise, 2 variables, 2 constraints"}
    claim = stated({**VERTEX, "program": program}, lower="-1/2", upper="-1/2", **words)
    assert not refused(claim)
    assert refused(changed(claim, ("program", "sense"), "min"))
    assert refused(changed(VERTEX, ("program", "sense"), "max"))
    # A point of a maximisation shows a value from below, and says nothing of all others.
    alone = stated({**claim, "evidence": {**claim["evidence"], "dual": None}}, gap=None)
    assert not refused(stated(alone, status="feasible", upper=None))
    for status in ("bounded", "feasible"):
        assert refused(stated(alone, status=status, lower=None, upper="-1/2"))
    assert refused(stated(alone, status="bounded", upper=None))


SHIFTED = {
    **VERTEX,
    "program": {
        **VERTEX["program"],
        "c": [0, 0],
        "quadratic": [[0, 0, 1], [0, 1, 1], [1, 1, "fffff/100000"]],
        "rows": [],
        "lb": [-1, -1],
        "ub": [1, 1],
    },
    "evidence": {"point": [[0, -1], [1, 1]], "shift": [[1, "1/100000"]], "dual": {"multipliers": [], "curve": []}},
    "statement": {
        **VERTEX["statement"],
        "lower": "-1/2097152",
        "upper": "-1/2097152",
        "about": "minimise, 2 variables, 0 constraints",
    },
}
"""min (x + y)^2 / 2 - 2^-21 y^2 over a square: at (-1, 1), and by the secant of the concave part, -2^-21."""


def test_a_matrix_that_is_nearly_semidefinite_is_bounded_by_a_secant():
    assert proved(SHIFTED) == (Fraction(-1, 2**21), Fraction(-1, 2**21))
    assert not refused(SHIFTED)
    for path, value, reason in (
        (("evidence", "shift"), [], "not convex"),
        (("evidence", "shift", 0, 1), "1/100001", "not convex"),
        (("evidence", "shift", 0, 1), "-1/100000", "negative"),
        (("program", "ub", 1), None, "no bounds"),
        (("evidence", "shift", 0, 0), 2, "of no variable"),
        (("program", "ub", 1), 2, OTHER),
    ):
        assert reason in refusal(changed(SHIFTED, path, value)), path


PROBLEMS = {
    "cardinality": {"m": 2},
    "budget": {"costs": [3.0, 1.0, 2.0, 1.5, 1.0], "budget": 4.0},
    "rules": {"m": 3, "implies": [[0, 3]], "conflicts": [[1, 2]], "include": [4]},
}


@pytest.fixture(scope="module", params=PROBLEMS)
def searched(request):
    data = blobs(n=26, p=5, seed=4, gap=0.4)
    found = fsopt.fit("best-subset", data, **PROBLEMS[request.param])
    return data, found, fsopt.verify(found, data, exact=True), PROBLEMS[request.param]


def test_a_leaf_that_is_left_out_or_a_wrong_node_is_refuted(searched):
    part = searched[2].claims[0].part
    trees = (
        [],
        [["empty"]],
        [["leaf", 0]],
        [["branch", 0], ["empty"], *part["evidence"]["tree"]],
        [["branch", 7], ["leaf", 0], ["leaf", 0]],
        [["branch", 0], ["leaf", 0]],
        [["branch", 0], ["branch", 0]],
        [["peg", [0], [5], []], ["leaf", 0]],
        [["peg", [0], [], [5]], ["leaf", 0]],
        [["peg", [0, 0], [1, 0], []], ["leaf", 0]],
        [["peg", [0], [0], [1]], ["leaf", 0]],
        [["peg", [0, 0], [], [1]], ["leaf", 0]],
        [["known"]],
        [*part["evidence"]["tree"], ["leaf", 0]],
        [["x"]],
    )
    for tree in trees:
        assert refused({**part, "evidence": {**part["evidence"], "tree": tree}}), tree


@pytest.mark.parametrize("seed", range(6))
def test_a_feature_is_decided_where_one_constraint_forbids_its_other_value(seed):
    """Against enumeration: until no constraint alone, of small integers, forbids a value of a free feature."""
    rng = np.random.default_rng(seed)
    R, r = rng.integers(-1, 3, (3, 5)).tolist(), rng.integers(0, 3, 3).tolist()
    problem = SimpleNamespace(p=5, R=R, r=r, bits=2)
    for node in (frozenset(), frozenset()), (frozenset({0}), frozenset({4})), (frozenset({1, 2}), frozenset()):
        values = [{1} if j in node[0] else {0} if j in node[1] else {0, 1} for j in range(5)]
        before = None
        while values != before:
            before = values
            for row, right in zip(R, r, strict=True):
                kept = [s for s in itertools.product(*values) if np.dot(row, s) <= right]
                values = [{s[j] for s in kept} for j in range(5)]
        inside, outside = (frozenset(j for j in range(5) if values[j] == {v}) for v in (1, 0))
        expected = (inside, outside) if all(values) else None
        assert SelectionToCheck.decided(problem, node, set(), set()) == expected


@pytest.mark.parametrize(("kind", "digits"), [(LEAF, 5), (PEG, 3)])
def test_a_forgotten_cut_is_made_again_from_its_relaxation(kind, digits, searched):
    """For a peg from one for each feature."""
    data, found, check, _ = searched
    held = found.details["evidence"]
    marks = list(marks_of(evidence._array(held["tree"], np.int32).tolist()))
    changed = [(mark, FORGOTTEN if mark == kind else name, features) for mark, name, features in marks]
    stream = [k for mark, name, features in changed for k in (mark, name, len(features), *features)]
    forgotten = {**held, "tree": evidence._text(np.array(stream, dtype=np.int32))}
    again = fsopt.verify(replace(found, details={**found.details, "evidence": forgotten}), data, exact=True)
    assert again.claims[0].holds
    assert abs(again.claims[0].lower - check.claims[0].lower) < Fraction(1, 10**digits)


SHAPED = {"m": 1, "groups": {"pair": [0, 1]}, "include": ["pair"], "negative": [0], "upper": {1: 0.125}}
SHAPED_DATA = blobs(n=24, p=4, seed=2, gap=0.5)


@pytest.fixture(scope="module")
def shaped():
    fit = fsopt.fit("best-subset", SHAPED_DATA, scale="none", lower={"x3": -0.25}, **SHAPED)
    found = fsopt.verify(fit, SHAPED_DATA, exact=True)
    assert found.verified
    return found.claims[0].part


@pytest.mark.parametrize(
    ("reason", "part", "change"),
    [
        ("groups or bounds", "program", {"groups": [0, 0, 2, 2]}),
        ("groups or bounds", "program", {"groups": [0, 1, 2]}),
        ("groups or bounds", "program", {"groups": [0, 1, 2, 3]}),
        ("groups or bounds", "program", {"lower": [None] * 3}),
        ("do not admit 0", "program", {"lower": [0, 1, None, None]}),
        ("do not admit 0", "program", {"upper": [0, "1/8", -1, None]}),
        ("a feature of the point is out of range", "evidence", {"point": {"w": [[7, 1]], "b": 0, "selected": [0]}}),
        ("outside its bounds", "evidence", {"point": {"w": [[0, 1]], "b": 0, "selected": [0]}}),
        ("outside its bounds", "evidence", {"point": {"w": [[1, 1]], "b": 0, "selected": [0]}}),
        ("outside the selection", "evidence", {"point": {"w": [[2, "-1/8"]], "b": 0, "selected": [0]}}),
        ("violates a constraint", "evidence", {"point": {"w": [], "b": 0, "selected": [0, 1]}}),
    ],
)
def test_forged_groups_and_bounds_are_refused_with_a_reason(shaped, reason, part, change):
    assert reason in refusal({**shaped, part: {**shaped[part], **change}})


@pytest.mark.parametrize("seed", range(8))
def test_the_bounds_of_a_cut_are_those_of_linear_programming(seed):
    """On a node, and with each feature that is not decided selected or not; above it only where nothing else fits."""
    rng = np.random.default_rng(seed)
    weight, gains = rng.integers(0, 9, 7) * (seed % 4 > 0), rng.normal(size=7)
    problem = SelectionToCheck.__new__(SelectionToCheck)
    problem.p, problem.weight, problem.right, problem.bits = 7, weight.tolist(), int(weight[0]) + 11, 70
    cut = problem.ordered(4 * UNIT, [int(np.ceil(v * UNIT)) for v in gains])
    others = [(-1, 1), *((j, side) for j in (1, 2, 4, 5, 6) for side in (0, 1))]
    for (j, side), bound in zip(others, problem.bounds_on(cut, (frozenset({0}), frozenset({3})), others), strict=True):
        fixed = {0: 1.0, 3: 0.0, j: 1.0 - side}
        shape = {
            "A_ub": [weight],
            "b_ub": [problem.right],
            "bounds": [(fixed.get(k, 0), fixed.get(k, 1)) for k in range(7)],
        }
        relaxed, best = (4.0 + linprog(-gains, integrality=whole, **shape).fun for whole in (0, 1))
        fits = problem.right - weight[0] - (weight[j] if side == 0 else 0) >= weight.min()
        assert relaxed - 1e-9 <= bound / UNIT <= (relaxed if fits else best) + 1e-9
