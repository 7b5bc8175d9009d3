"""The pseudo-Boolean problem of a bound has no solution at the bound and one above the optimum, by enumeration.

Its proof is read by a small checker of sums and of reverse unit propagation along the hints.
"""

import itertools
import re
from fractions import Fraction

import pytest
from support import blobs

import fsopt
from fsopt.certificates.exact.pseudo_boolean import below, opb, pbp
from fsopt.errors import NotShownError
from fsopt.verification.exact_checking import exactly

DATA = blobs(n=26, p=5, seed=4, gap=0.4)
WIDE = blobs(n=30, p=9, seed=2, gap=0.2)
PROBLEMS = {
    "cardinality": (DATA, {"m": 2}),
    "budget": (DATA, {"costs": [3.0, 1.0, 2.0, 1.5, 1.0], "budget": 4.0}),
    "rules": (DATA, {"m": 3, "implies": [[0, 3]], "conflicts": [[1, 2]], "exclude": [4]}),
    "logistic": (DATA, {"m": 2, "loss": "logistic"}),
    "a larger tree": (WIDE, {"m": 3}),
    "a budget that is no cardinality": (WIDE, {"costs": [1.0, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5], "budget": 7.0}),
}


def claim_of(name):
    data, parameters = PROBLEMS[name]
    (claim,) = exactly(fsopt.fit("best-subset", data, **parameters), data).claims
    return claim


def read(text):
    """Return the number of variables and the constraints, as (variable -> coefficient, right), of an OPB problem."""
    (head, *lines) = text.splitlines()
    p, count = map(int, re.fullmatch(r"\* #variable= (\d+) #constraint= (\d+)", head).groups())
    rows = []
    for line in lines:
        terms, right = re.fullmatch(r"((?:[+-]\d+ x\d+ )+)>= (-?\d+) ;", line).groups()
        rows.append(({int(j): int(v) for v, j in re.findall(r"([+-]\d+) x(\d+)", terms)}, int(right)))
    assert len(rows) == count
    return p, rows


def solvable(text):
    """Return whether an OPB problem has a solution, read by its grammar and enumerated."""
    p, rows = read(text)
    points = itertools.product((0, 1), repeat=p)
    return any(all(sum(v * s[j - 1] for j, v in form.items()) >= right for form, right in rows) for s in points)


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_selection_costs_less_than_the_bound_and_one_less_than_more(name):
    claim = claim_of(name)
    assert not solvable(opb(claim.part, below(claim.lower)))
    assert solvable(opb(claim.part, claim.upper + Fraction(1, 10**6) * max(1, claim.upper)))


def test_a_proof_of_another_kind_has_no_such_form():
    (claim,) = exactly(fsopt.fit("svm", DATA), DATA).claims
    for write in (opb, pbp):
        with pytest.raises(NotShownError, match="no pseudo-Boolean form"):
            write(claim.part, claim.lower)


def contradicted(rows):
    """Return whether unit propagation of the constraints ends in one without a solution."""
    known = {}
    while True:
        before = len(known)
        for form, right in rows:
            free = {j: v for j, v in form.items() if j not in known}
            slack = sum(max(v, 0) for v in free.values()) + sum(form[j] * known.get(j, 0) for j in form) - right
            if slack < 0:
                return True
            known |= {j: int(v > 0) for j, v in free.items() if abs(v) > slack}
        if len(known) == before:
            return False


def parsed_clause(text):
    terms = re.findall(r"1 (~?)x(\d+)", text)
    return {int(j): -1 if sign else 1 for sign, j in terms}, 1 - sum(bool(sign) for sign, _ in terms)


def refutes(problem, proof):
    """Return whether each line of a proof follows from those before it that stand, the last from nothing."""
    _, rows = read(problem)
    held = dict(enumerate(rows, start=1))
    (head, first, *lines), number = proof.splitlines(), len(rows)
    assert (head, first) == ("pseudo-Boolean proof version 3.0", f"f {number};")
    assert lines[-3::2] == ["output NONE;", "end pseudo-Boolean proof;"]
    for line in lines[:-3]:
        word, rest = line.rstrip(";").split(" ", 1)
        if word == "del":
            for k in rest.removeprefix("id ").split():
                del held[int(k)]
            continue
        number += 1
        if word == "pol":
            cut, own, main, share = re.fullmatch(r"(\d+)(?: (\d+) \*)? (\d+) (\d+) \* \+", rest).groups()
            pairs = [(held[int(cut)], int(own or 1)), (held[int(main)], int(share))]
            form = {j: sum(k * f.get(j, 0) for (f, _), k in pairs) for j in {j for (f, _), _ in pairs for j in f}}
            held[number] = (form, sum(k * right for (_, right), k in pairs))
        else:
            text, hints = rest.split(" : ")
            form, right = parsed_clause(text)
            assumed = ({j: -v for j, v in form.items()}, 1 - right)
            if not contradicted([assumed, *(held[int(k)] for k in hints.split() if k != "~")]):
                return False
            held[number] = (form, right)
    return lines[-2] == f"conclusion UNSAT : {number};" and held[number] == ({}, 1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_tree_refutes_the_problem_step_by_step(name):
    claim = claim_of(name)
    problem, proof = opb(claim.part, below(claim.lower)), pbp(claim.part, below(claim.lower))
    assert refutes(problem, proof)
    above = opb(claim.part, claim.upper + Fraction(1, 10**6) * max(1, claim.upper))
    assert not refutes(above, proof)


def test_a_tree_does_not_close_above_the_optimum():
    claim = claim_of("a larger tree")
    with pytest.raises(NotShownError, match="does not close"):
        pbp(claim.part, claim.upper + 1)
