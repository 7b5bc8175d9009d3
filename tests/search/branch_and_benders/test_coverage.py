"""The coverage bound: below every selection of a node, nearly the exact one, in trees and proofs, and none forged."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from forgery.engine import changed
from proof_files import proved, refusal
from proof_files import written as written_file
from selection_cases import KINDS, allowed_values, below, limits_of, problem_of, random_nodes
from support import exact_value, sampled

import fsopt
from fsopt.methods.gbd.proofs import selection_program
from fsopt.search.branch_and_benders.coverage import Coverage
from fsopt.search.branch_and_benders.cuts import bound, bound_value
from fsopt.search.branch_and_benders.evidence import replayed, unpacked
from fsopt.search.branch_and_benders.tree import COVERED, FORGOTTEN, LEAF, PEG, marks_of
from fsopt.verification.verify import check_proof
from fsopt.verifier.coverage import UNIT
from fsopt.verifier.rationals import Refuted, written
from fsopt.verifier.selections import SelectionToCheck

BOUNDS = {"groups": [[0, 1]], "positive": [2]}


def words(n, p, seed, density=0.15, gap=1.0):
    """Return sparse samples whose numbers are positive for even seeds, and a few features that tell the classes."""
    rng = np.random.default_rng([seed, 5])
    X = sp.random(n, p, density, format="csc", random_state=rng)
    X.data = (0.2 + np.abs(rng.standard_normal(X.nnz))) * (rng.choice([-1.0, 1.0], X.nnz) if seed % 2 else 1.0)
    score = gap * np.asarray(X[:, :2].sum(axis=1)).ravel() + rng.normal(size=n) * 0.3
    y = np.where(score > np.quantile(score, rng.choice([0.3, 0.5, 0.8])), 1.0, -1.0)
    return fsopt.Dataset(sp.csr_array(X), y)


def least(values, at):
    """Return the smallest value of the selections below a node, infinite without one."""
    return min(below(values, at).values(), default=np.inf)


def checker_of(problem):
    checker, k = SelectionToCheck(selection_program(problem)), problem.main
    checker.weight, checker.right = ([0] * problem.p, 0) if k is None else (checker.R[k], checker.r[k])
    return checker


def exact_bound(checker, found, node=(frozenset(), frozenset()), rules=None):
    """Return the bound of a coverage cut on a node in rational arithmetic, with its own rules or others."""
    own = [(int(part), Fraction(low)) for part, low in found.rules.tolist()]
    checker.cuts = [checker.covered(list(map(Fraction, found.ends)), own if rules is None else rules)]
    return checker.closed(0, node) / UNIT


@pytest.mark.parametrize(("seed", "kind"), sampled([(s, k) for s in range(40) for k in range(len(KINDS))], 6, 0))
def test_it_bounds_every_selection_of_a_node_and_the_verifier_finds_no_less(seed, kind):
    """Denser samples are touched twice, so that harm counts, by selections of both kinds."""
    rng = np.random.default_rng([seed, kind])
    data = words(int(rng.integers(16, 60)), 6, seed, density=(0.15, 0.25)[kind % 2], gap=float(seed % 4 > 0))
    c = float(rng.choice([0.3, 1.0, 4.0, 20.0]))
    limits = limits_of(KINDS[kind], 6, rng)
    problem, values = problem_of(data, c, limits), allowed_values(data.with_X(data.X.toarray()), c, limits)
    if not (found := Coverage.of(problem)).ends:
        return
    checker, smallest = checker_of(problem), min(values.values(), default=np.inf)
    for _ in range(4):  # any shares and thresholds are valid
        other = [(int(rng.integers(9)), Fraction(float(rng.exponential(c)))) for _ in found.rules]
        assert exact_bound(checker, found, rules=other) <= smallest * (1 + 1e-8)
    assert exact_bound(checker, found, rules=[]) <= exact_bound(checker, found)
    for at in [problem.root(), *random_nodes(problem, rng, 6)]:
        here, best = bound(problem, found.cut, at), least(values, at)
        sides = (frozenset(np.flatnonzero(s).tolist()) for s in (at.inside, at.outside))
        if (node := checker.decided(tuple(sides), set(), set())) is None:
            continue
        exact = exact_bound(checker, found, node)
        assert here.value <= exact + 1e-300
        assert exact <= best * (1.0 + 1e-8) + 1e-8
        for j in np.flatnonzero(at.free).tolist():
            for one, selected in ((here.if_selected, True), (here.if_not, False)):
                assert one[j] <= least(values, at.decided(j, selected=selected)) * (1.0 + 1e-8) + 1e-8


@pytest.mark.parametrize("seed", sampled(range(6), 3))
def test_groups_and_bounds_on_weights_leave_it_valid(seed):
    data = words(40, 6, seed)
    fit = fsopt.fit("best-subset", data, m=2, c=4.0, scale="none", **BOUNDS)
    dense, lower = data.with_X(data.X.toarray()), np.array([-np.inf, -np.inf, 0.0, -np.inf, -np.inf, -np.inf])
    groups = [(0, 1), (2,), (3,), (4,), (5,)]
    pairs = [{*a, *b} for a in groups for b in groups]
    best = min(exact_value(dense, np.isin(np.arange(6), list(s)), 4.0, lower=lower) for s in pairs)
    assert fit.objective == pytest.approx(best, rel=1e-6)
    assert fit.bound <= best * (1 + 1e-9)
    assert fsopt.verify(fit, data, exact=True).verified


@pytest.mark.parametrize("form", ["dense", "weighted", "squared-hinge", "logistic"])
def test_it_is_not_used_where_it_is_not_proved(form):
    data, loss = words(40, 6, 1), form if form in ("squared-hinge", "logistic") else "hinge"
    if form == "dense":
        data = data.with_X(data.X.toarray())
    if form == "weighted":
        data = fsopt.Dataset(data.X, data.y, weights=np.ones(40))
    assert Coverage.of(problem_of(words(40, 6, 1), 1.0, {"m": 2})).ends
    assert not Coverage.of(problem_of(data, 1.0, {"m": 2}, loss)).ends


@pytest.fixture(scope="module")
def covered():
    """A fit whose tree has leaves that coverage closes, its data, and its claim."""
    data = words(100, 40, 8, density=0.04, gap=0.0)
    fit = fsopt.fit("best-subset", data, m=3, c=5.0, scale="none")
    return fit, data, fsopt.verify(fit, data, exact=True).claims[0].part


def test_a_tree_has_leaves_that_coverage_closes_and_its_proof_is_confirmed(covered):
    fit, data, claim = covered
    problem, held = problem_of(data, 5.0, {"m": 3}), fit.details["evidence"]
    names = {name for mark, name, _ in marks_of(unpacked(problem, held)[0]) if mark in (LEAF, PEG)}
    assert COVERED in names
    assert FORGOTTEN not in names
    assert replayed(problem, held).bound == pytest.approx(fit.bound, rel=1e-9)
    tree, cuts = claim["evidence"]["tree"], claim["evidence"]["cuts"]
    names = {k for mark, *rest in tree if mark in ("leaf", "peg") for k in np.ravel(rest[0]).tolist()}
    assert {len(cuts[k]) for k in names} == {2, 3}
    assert fit.status == "optimal"
    assert not refusal(claim)
    low, high = proved(claim)
    assert float(low) == pytest.approx(fit.bound, rel=1e-6)
    assert float(low) <= fit.objective <= float(high) * (1 + 1e-9)
    dense = fsopt.fit("best-subset", data.with_X(data.X.toarray()), m=3, c=5.0, scale="none")
    assert dense.objective == pytest.approx(fit.objective, rel=1e-6)


def test_no_forged_intercepts_rules_losses_or_features_prove_more(covered):
    claim, rng, refused = covered[2], np.random.default_rng(0), 0
    cuts = claim["evidence"]["cuts"]
    for _ in range(60):
        forged = [*cuts[:-1], changed(cuts[-1], rng, cuts[0])[1]]
        other = {**claim, "evidence": {**claim["evidence"], "cuts": forged}}
        if refusal(other):
            refused += 1
        else:  # another list may prove the same: the smallest bound is another leaf's
            assert proved(other)[0] <= proved(claim)[0]
    assert refused > 9
    columns = [[[0, 1], [1]], [[1, 0], [1, 1]], [[0, 150], [1, 1]], [[0], [1], [2]], [[0.0], [1]], [[-1], [1]]]
    others = [{"loss": loss} for loss in ("squared-hinge", "logistic")]
    for change in (*others, *({"columns": [one, *claim["program"]["columns"][1:]]} for one in columns)):
        assert refusal({**claim, "program": {**claim["program"], **change}})
    assert refusal({**claim, "statement": {**claim["statement"], "lower": claim["statement"]["upper"]}})


def test_a_tree_of_coverage_alone_and_no_intercepts_that_leave_some_out():
    problem = problem_of(words(40, 6, 1), 1.0, {"m": 2})
    checker, found = SelectionToCheck(selection_program(problem)), Coverage.of(problem)
    cut = [[written(Fraction(end)) for end in found.ends], []]
    low, high, _ = checker.proved({
        "cuts": [cut], "main": 0, "tree": [["leaf", 0]], "point": {"w": [], "b": 1, "selected": []},
    })  # fmt: skip
    assert bound_value(problem, found.cut, problem.root()) <= low <= high
    for ends in ((), (-1,), (-1, 1, 1), (1, -1), (Fraction(-1, 2), 1), (-1, Fraction(1, 2))):
        with pytest.raises(Refuted):
            checker.covered(list(map(Fraction, ends)), [])


@pytest.mark.parametrize("name", ["best-subset", "svm"])
def test_a_proof_of_sparse_data_is_compared_with_them(name, tmp_path):
    data = words(40, 6, 2)
    fit = fsopt.fit(name, data, **({"m": 2} if name == "best-subset" else {}))
    path = written_file(tmp_path / "proof.json", fsopt.verify(fit, data, exact=True).proof())
    assert check_proof(path, data)["reason"] == ""
    assert "other ones" in check_proof(path, words(40, 6, 4))["reason"]
