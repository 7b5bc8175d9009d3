"""Tight proofs and claims next to them: the verifier accepts what is proved, and nothing more."""

import copy
from fractions import Fraction
from functools import reduce
from operator import getitem

import pytest
from proof_files import proved, refusal, refused
from support import blobs

from fsopt.methods.registry import fit
from fsopt.verification.verify import exactly
from fsopt.verifier.grammar import written

VERTEX = {
    "statement": {
        "status": "optimal",
        "sense": "min",
        "lower": "1/2",
        "upper": "1/2",
        "gap": "0",
        "left_out": [],
        "about": "minimise, 2 variables, 2 constraints",
        "program": "",
        "origin": None,
    },
    "program": {
        "sense": "min",
        "c": [1, 1],
        "c0": 0,
        "quadratic": [],
        "concave": [],
        "rows": [[[0, 1], [3, 1], 1, None], [[0, 1], [1, 3], 1, None]],
        "lb": [0, 0],
        "ub": [None, None],
        "cones": [],
        "matrices": [],
        "integer": [],
    },
    "evidence": {
        "point": [[0, "1/4"], [1, "1/4"]],
        "shift": [],
        "nodes": [["leaf", 0]],
        "duals": [{"multipliers": [[0, ["1/4"]], [1, ["1/4"]]], "curve": []}],
    },
}
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
    return exactly(fit(name, data, **params), data).claims[0].part


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


@pytest.mark.parametrize(("end", "value"), [("lower", Fraction(1, 2) + TINY), ("upper", Fraction(1, 2) - TINY)])
def test_a_claim_next_to_the_optimum_is_refuted(end, value):
    assert not refused(VERTEX)
    assert refused(stated(VERTEX, **{end: str(value)}))


@pytest.mark.parametrize("path", [("duals", 0, "multipliers", 0, 1, 0), ("point", 0, 1)])
@pytest.mark.parametrize("by", [TINY, -TINY])
def test_evidence_next_to_the_right_one_does_not_support_the_exact_claim(path, by):
    assert refused(changed(VERTEX, ("evidence", *path), written(Fraction(1, 4) + by)))


def test_a_statement_is_about_the_program_of_its_digest():
    from fsopt.verifier import verify

    claim = stated(VERTEX, program=verify.digest(VERTEX["program"]))
    assert verify.verdict([claim])[0] == 0
    other = changed(claim, ("program", "c", 0), 2)
    assert verify.verdict([other])[:2] == (1, OTHER)


def test_the_sense_is_that_of_the_program():
    """The maximum of -x - y is -1/2, and its minimum has no bound."""
    program = {**VERTEX["program"], "sense": "max", "c": [-1, -1]}
    words = {"sense": "max", "about": "maximise, 2 variables, 2 constraints"}
    claim = stated({**VERTEX, "program": program}, lower="-1/2", upper="-1/2", **words)
    assert not refused(claim)
    assert refused(changed(claim, ("program", "sense"), "min"))
    assert refused(changed(VERTEX, ("program", "sense"), "max"))
    # A point of a maximisation shows a value from below, and says nothing of all others.
    alone = stated({**claim, "evidence": {**claim["evidence"], "nodes": []}}, gap=None)
    assert not refused(stated(alone, status="feasible", upper=None))
    for status in ("bounded", "feasible"):
        assert refused(stated(alone, status=status, lower=None, upper="-1/2"))
    assert refused(stated(alone, status="bounded", upper=None))


def test_a_program_has_one_bound_whose_multipliers_are_there():
    for nodes in ([["leaf", 1]], [["leaf", -1]], [["leaf", 0]] * 2, [["split", 0, 1], ["leaf", 0], ["leaf", 0]]):
        assert refused(changed(VERTEX, ("evidence", "nodes"), nodes)), nodes


NOTHING = {"lower": None, "upper": None}


def test_the_status_must_be_that_of_the_evidence(bases):
    for claim in (
        stated(bases[1], status="optimal"),
        stated(VERTEX, status="stationary"),
        stated(VERTEX, status="infeasible", **NOTHING),
        stated(bases[2], status="infeasible", **NOTHING),
        {**stated(VERTEX, status="infeasible", **NOTHING), "evidence": {**VERTEX["evidence"], "nodes": []}},
    ):
        assert refused(claim), claim["statement"]


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
    "evidence": {
        "point": [[0, -1], [1, 1]],
        "shift": [[1, "1/100000"]],
        "nodes": [["leaf", 0]],
        "duals": [{"multipliers": [], "curve": []}],
    },
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
