"""Few cuts of few digits: they close every leaf, prove no less than the search, and nothing that is false.

Packed evidence: what it is not large enough, or too large for, is refused before it fills the memory.
"""

import base64
import json
import zlib

import numpy as np
import pytest
from scipy.optimize import linprog
from selection_cases import DEEP, KINDS, NOISE, allowed_values, drawn, problem_of, solved
from support import blobs, sampled

import fsopt
from fsopt.data.losses import LOSSES
from fsopt.methods.gbd.proofs import evidence_of
from fsopt.search.branch_and_benders import evidence
from fsopt.search.branch_and_benders.covering import Leaves, cover
from fsopt.search.branch_and_benders.cuts import bounds, valid_grid
from fsopt.search.branch_and_benders.evidence import unpacked, verify
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.tree import PEG
from fsopt.verifier.selections import SelectionToCheck


def shrunk(problem):
    """Return the packed evidence of a search, its multipliers, and the exact lower bound and evidence of its proof."""
    held = solved(problem).point["evidence"]
    stream, cuts = unpacked(problem, held)
    program, part = evidence_of(problem, stream, cuts, None)
    return held, np.array([grid for grid, _ in cuts]), SelectionToCheck(program).proved(part)[0], part


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", sampled(range(3), 1))
def test_the_exact_bound_is_that_of_the_search_and_below_every_selection(seed, kind, loss):
    data, c, limits = drawn(kind, seed)
    problem = problem_of(data, c, limits, loss)
    held, _, lower, _ = shrunk(problem)
    best = min(allowed_values(data, c, limits, loss).values(), default=np.inf)
    assert float(lower) <= best + 1e-6 * max(1.0, abs(best))
    if best < np.inf:
        replayed = verify(problem, held).bound
        assert float(lower) >= replayed - 1e-9 * max(1.0, abs(replayed))


def test_fewer_cuts_of_fewer_digits_prove_as_much():
    problem = problem_of(DEEP, 1.0, {"m": 5})
    held, grids, lower, part = shrunk(problem)
    assert float(lower) >= verify(problem, held).bound - 1e-9
    assert len(part["cuts"]) < len(grids)
    assert len(json.dumps(part["cuts"])) < 0.5 * len(json.dumps(grids.tolist()))
    for steps, grid, _ in part["cuts"]:
        assert valid_grid(np.array(grid), problem.y, steps)


@pytest.mark.parametrize("main", [True, False])
def test_the_bounds_of_pairs_of_cuts_and_nodes_are_those_of_linear_programming(main):
    rng = np.random.default_rng(0)
    problem = problem_of(NOISE, 1.0, {"costs": [0.0, *rng.integers(0, 5, 13).tolist()], "budget": 9.0} if main else {})
    k, p = 30, problem.p
    weight, right = problem.knapsack
    gains, constants = rng.normal(size=(k, p)), rng.normal(size=k)
    state = rng.integers(0, 6, (k, p))
    state[(state == 0) & (np.cumsum((state == 0) * weight, axis=1) > right)] = 1
    inside, free = state == 0, state > 1
    found = bounds(problem, (constants, gains), inside, free)
    for value, constant, gain, chosen, open_ in zip(found, constants, gains, inside, free, strict=True):
        limits = list(zip(chosen.astype(float), (chosen | open_).astype(float), strict=True))
        least = constant + linprog(-gain, A_ub=[weight], b_ub=[right], bounds=limits).fun
        # Below the smallest weight nothing is selected, of which a linear program takes a part.
        assert least - 1e-7 <= value <= (np.inf if right - weight @ chosen < weight.min() else least + 1e-7)


def test_a_cut_that_closes_the_leaves_of_another_replaces_it():
    problem = problem_of(NOISE, 1.0, {"m": 2})
    plus, minus = int(np.flatnonzero(problem.y > 0)[0]), int(np.flatnonzero(problem.y < 0)[0])
    grids = np.zeros((3, problem.n), dtype=np.int32)
    grids[1:, [plus, minus]] = [[5], [7]]
    outside = np.zeros((4, problem.p), dtype=bool)
    leaves = Leaves(outside, outside, np.array([0, 1, 1, 2]))
    found = cover(problem, grids, np.zeros((3, 1)), leaves)
    assert found.cut.tolist() == [0, 0, 0, 0]
    assert valid_grid(found.grids[0], problem.y, int(found.steps[0]))


@pytest.mark.parametrize("change", ["balance", "sign", "top"])
def test_multipliers_that_are_not_dual_feasible_are_refused(change):
    problem = problem_of(NOISE, 1.0, {"m": 2})
    grids = np.zeros((1, problem.n), dtype=np.int32)
    plus, minus = int(np.flatnonzero(problem.y > 0)[0]), int(np.flatnonzero(problem.y < 0)[0])
    grids[0, [plus, minus]] = {"balance": (2, 1), "sign": (-1, -1), "top": (2**30 + 1, 2**30 + 1)}[change]
    outside = np.zeros((1, problem.p), dtype=bool)
    with pytest.raises(ValueError, match="dual feasible"):
        cover(problem, grids, np.zeros((1, 1)), Leaves(outside, outside, np.array([0])))


@pytest.fixture(scope="module")
def held() -> tuple[SelectionProblem, dict]:
    data = blobs(30, 8, seed=1, gap=0.2)
    fit = fsopt.fit("best-subset", data, m=2, scale="none")
    work = SelectionProblem.of(data, 1.0, np.ones((1, 8)), np.array([2.0]), np.zeros(8))
    return work, dict(fit.details["evidence"])


def test_a_bomb_is_refused(held, monkeypatch):
    problem, packed = held
    assert 0 < evidence.LARGEST < 2**30  # zlib takes 0 for no limit
    assert evidence.verify(problem, packed).bound > 0.0
    monkeypatch.setattr(evidence, "LARGEST", 2**16)
    bomb = base64.b64encode(zlib.compress(bytes(2**20))).decode()
    for part in ("tree", "alpha", "mu"):
        with pytest.raises(ValueError, match="too large"):
            evidence.verify(problem, {**packed, part: bomb})


def test_a_part_that_ends_early_is_refused(held):
    problem, packed = held
    for part in ("tree", "alpha", "mu"):
        raw = base64.b64decode(packed[part])
        with pytest.raises(ValueError, match=r"ends early|incomplete|truncated|size|reshape"):
            evidence.verify(problem, {**packed, part: base64.b64encode(raw[:-5]).decode()})


def test_a_multiplier_of_a_constraint_that_is_no_number_or_negative_is_refused(held):
    problem, packed = held
    for value in (-1.0, np.nan, np.inf, -np.inf):
        mu = evidence._text(np.full(packed["cuts"], value))
        with pytest.raises(ValueError, match="multipliers of cut 0 are not dual feasible"):
            evidence.verify(problem, {**packed, "mu": mu})


def test_a_node_that_pegs_fewer_than_no_features_is_refused(held):
    """Of three numbers less three a reader would never come to an end."""
    problem, packed = held
    tree = evidence._array(packed["tree"], np.int32)
    for count in (-1, -3, -5):
        forged = np.append(np.array([PEG, 0, count], dtype=np.int32), tree)
        with pytest.raises(ValueError, match="features are pegged at a node"):
            evidence.verify(problem, {**packed, "tree": evidence._text(forged)})


def test_multipliers_that_are_not_feasible_or_prove_less_are_noticed(held):
    problem, packed = held
    grids = evidence._array(packed["alpha"], np.int32).reshape(packed["cuts"], problem.n)
    raised = grids.copy()
    raised[:, 0] = 2**30 - raised[:, 0]
    assert evidence.verify(problem, {**packed, "alpha": evidence._text(0 * grids)}).bound <= 0.0
    with pytest.raises(ValueError, match="not dual feasible"):
        evidence.verify(problem, {**packed, "alpha": evidence._text(raised)})
