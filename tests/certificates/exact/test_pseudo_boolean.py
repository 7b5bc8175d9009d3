"""The pseudo-Boolean problem of a bound has no solution at the bound and one above the optimum, by enumeration."""

import itertools
import re
from fractions import Fraction

import pytest
from support import blobs

import fsopt
from fsopt.certificates.exact.pseudo_boolean import opb
from fsopt.errors import NotShownError
from fsopt.verification.exact_checking import exactly

DATA = blobs(n=26, p=5, seed=4, gap=0.4)
PROBLEMS = {
    "cardinality": {"m": 2},
    "budget": {"costs": [3.0, 1.0, 2.0, 1.5, 1.0], "budget": 4.0},
    "rules": {"m": 3, "implies": [[0, 3]], "conflicts": [[1, 2]], "exclude": [4]},
    "logistic": {"m": 2, "loss": "logistic"},
}


def solvable(text):
    """Return whether an OPB problem has a solution, read by its grammar and enumerated."""
    (head, *lines) = text.splitlines()
    p, count = map(int, re.fullmatch(r"\* #variable= (\d+) #constraint= (\d+)", head).groups())
    rows = []
    for line in lines:
        terms, right = re.fullmatch(r"((?:[+-]\d+ x\d+ )+)>= (-?\d+) ;", line).groups()
        rows.append(([(int(v), int(j) - 1) for v, j in re.findall(r"([+-]\d+) x(\d+)", terms)], int(right)))
    assert len(rows) == count
    return any(
        all(sum(v * s[j] for v, j in terms) >= right for terms, right in rows)
        for s in itertools.product((0, 1), repeat=p)
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_selection_costs_less_than_the_bound_and_one_less_than_more(name):
    (claim,) = exactly(fsopt.fit("best-subset", DATA, **PROBLEMS[name]), DATA).claims
    small = Fraction(1, 10**6) * max(1, claim.upper)
    assert not solvable(opb(claim.part, claim.lower - small))
    assert solvable(opb(claim.part, claim.upper + small))


def test_a_proof_of_another_kind_has_no_such_form():
    (claim,) = exactly(fsopt.fit("svm", DATA), DATA).claims
    with pytest.raises(NotShownError, match="no pseudo-Boolean form"):
        opb(claim.part, claim.lower)
