"""The tree of branch and Benders replayed exactly, against brute force and against forged trees."""

import copy
import itertools
import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from proof_files import checked, ends, refused
from scipy.optimize import linprog
from selection_cases import allowed_values
from support import blobs

import fsopt
from fsopt.algorithms.branch_and_benders import evidence
from fsopt.certificates.exact import selection
from fsopt.certificates.exact.proofs import confirmed
from fsopt.errors import FileError, NotShownError
from fsopt.verification.exact_checking import exactly
from fsopt.verifier import verify

PROBLEMS = {
    "cardinality": {"m": 2},
    "budget": {"costs": [3.0, 1.0, 2.0, 1.5, 1.0], "budget": 4.0},
    "rules": {"m": 3, "implies": [[0, 3]], "conflicts": [[1, 2]], "exclude": [4]},
}


@pytest.fixture(scope="module", params=PROBLEMS)
def proved(request):
    data = blobs(n=26, p=5, seed=4, gap=0.4)
    found = fsopt.fit("best-subset", data, **PROBLEMS[request.param])
    return data, found, exactly(found, data), PROBLEMS[request.param]


def test_brute_force_agrees_with_the_exact_interval(proved):
    data, found, check, params = proved
    (claim,) = check.claims
    assert check.verified, claim.reason
    work = data.with_X(found.preprocessing.apply(data.X))
    best = min(allowed_values(work, 1.0, params).values())
    assert float(claim.lower) - 1e-6 <= best <= float(claim.upper) + 1e-6
    assert claim.width <= Fraction(1, 10**6)


def test_both_checkers_find_the_same_ends(proved):
    part = json.loads(json.dumps(proved[2].claims[0].part))
    assert ends(part) == selection.proved_ends(part)
    assert checked(part) == confirmed(part)


def test_a_leaf_that_is_left_out_or_a_wrong_node_is_refuted(proved):
    part = proved[2].claims[0].part
    trees = (
        [],
        [["empty"]],
        [["leaf", 0]],
        [["branch", 0], ["empty"], *part["tree"]],
        [["branch", 7], ["leaf", 0], ["leaf", 0]],
        [*part["tree"], ["leaf", 0]],
        [["x"]],
    )
    for tree in trees:
        forged = copy.deepcopy(part) | {"tree": tree}
        assert refused(forged), tree


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("not free at its node", {"tree": [["branch", 0], ["branch", 0]]}),
        ("not free at its node", {"tree": [["branch", 0], ["leaf", 0], ["branch", 0]]}),
        ("penalty weight", {"problem": {"c": 0}}),
    ],
)
def test_what_makes_no_proof_is_refused_by_both_with_a_reason(proved, reason, change):
    """A node branches on no feature that is decided, outside in its first child and inside in the second one."""
    part = proved[2].claims[0].part
    part = {**part, **change, "problem": {**part["problem"], **change.get("problem", {})}}
    with pytest.raises((NotShownError, ValueError), match=reason):
        selection.proved_ends(part)
    with pytest.raises(verify.Refuted, match=reason):
        checked(part)


def test_multipliers_of_no_steps_are_out_of_bounds(proved):
    part = proved[2].claims[0].part
    part = {**part, "steps": 0, "alpha": [[0] * len(grid) for grid in part["alpha"]]}
    with pytest.raises(NotShownError, match="out of bounds"):
        selection.proved_ends(part)


@pytest.mark.parametrize("seed", range(6))
def test_a_feature_is_decided_where_one_constraint_forbids_its_other_value(seed):
    """Against enumeration: until no constraint alone, of small integers, forbids a value of a free feature."""
    rng = np.random.default_rng(seed)
    R, r = rng.integers(-1, 3, (3, 5)).tolist(), rng.integers(0, 3, 3).tolist()
    R, r = [[Fraction(v) for v in row] for row in R], [Fraction(v) for v in r]
    problem = SimpleNamespace(p=5, R=R, r=r)
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
        assert selection.Problem.decided(problem, node, set(), set()) == expected
        assert verify.Selection.decided(problem, node, set(), set()) == expected


@pytest.mark.parametrize("change", ["balance", "bounds", "weight", "fixed", "sign"])
def test_damaged_evidence_is_refuted(proved, change):
    forged = copy.deepcopy(proved[2].claims[0].part)
    if change == "balance":
        forged["alpha"][0][0] += 1 if forged["alpha"][0][0] == 0 else -1
    elif change == "bounds":
        forged["alpha"][0][0] = -1
    elif change == "weight":
        forged["point"]["w"] = [v + 1.0 for v in forged["point"]["w"]]
    elif change == "fixed":
        forged["problem"]["inside"] = [-1]
    else:
        forged["problem"]["main"] = 0
        forged["problem"]["R"][0][0] = -1.0
    assert refused(forged)


def test_a_forgotten_cut_is_made_again_from_its_relaxation(proved):
    data, found, check, _ = proved
    held = found.details["evidence"]
    stream = evidence._array(held["tree"], np.int32)
    places = [k for k in range(len(stream) - 1) if stream[k] == -2 and stream[k + 1] >= 0]
    if not places:
        pytest.skip("the tree has no leaf of its own")
    stream = stream.copy()
    stream[places[0] + 1] = -1
    forgotten = {**held, "tree": evidence._text(stream)}
    again = exactly(replace(found, details={**found.details, "evidence": forgotten}), data)
    assert again.claims[0].holds
    assert abs(again.claims[0].lower - check.claims[0].lower) < Fraction(1, 10**5)


def test_a_node_that_pegs_fewer_than_no_features_is_refused(proved):
    data, found, _, _ = proved
    held = found.details["evidence"]
    stream = np.append(np.array([-1, 0, -3], dtype=np.int32), evidence._array(held["tree"], np.int32))
    forged = {**held, "tree": evidence._text(stream)}
    with pytest.raises(FileError, match="the tree ends early"):
        exactly(replace(found, details={**found.details, "evidence": forged}), data)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_a_cut_on_a_node_is_that_of_linear_programming(seed):
    rng = np.random.default_rng(seed)
    weight, gains = rng.uniform(0.0, 2.0, 7) * (rng.random(7) < 0.8), rng.normal(size=7)
    problem = SimpleNamespace(p=7, main=0, R=[[Fraction(v) for v in weight]], r=[Fraction(float(weight[0]) + 1.5)])
    inside, outside = frozenset({0}), frozenset({3})
    bounds = [(float(j in inside), float(j not in outside)) for j in range(7)]
    least = 4.0 + linprog(-gains, A_ub=[weight], b_ub=[weight[0] + 1.5], bounds=bounds).fun
    near = selection._near_bound(problem, (4.0, gains, 1e-14), (inside, outside))
    exact = selection._exact_bound(problem, (Fraction(4), [Fraction(v) for v in gains]), (inside, outside))
    assert near <= exact
    assert near == pytest.approx(least, abs=1e-9)
    assert float(exact) == pytest.approx(least, abs=1e-9)
    problem.main = None
    least = 4.0 - gains[0] - gains[[1, 2, 4, 5, 6]].clip(0.0).sum()
    assert selection._near_bound(problem, (4.0, gains, 1e-14), (inside, outside)) == pytest.approx(least, abs=1e-12)
