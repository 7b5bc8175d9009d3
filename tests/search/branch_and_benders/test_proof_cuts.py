"""Few cuts of few digits: they close every leaf, prove no less than the search, and nothing that is false."""

import base64
import itertools
import json
import zlib
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from selection_cases import KINDS, NOISE, allowed_values, below, drawn, problem_of, random_nodes, solved
from support import blobs, sampled

from fsopt.data.hyperplanes import LOSSES
from fsopt.methods.gbd.proofs import evidence_of
from fsopt.search.branch_and_benders import evidence, proof_cuts
from fsopt.search.branch_and_benders.cuts import GRID, Pool, bound, bounds, make_cut, on_grid, valid_grid
from fsopt.search.branch_and_benders.evidence import replayed, unpacked
from fsopt.search.branch_and_benders.problem import largest_on_grid
from fsopt.search.branch_and_benders.tree import PEG
from fsopt.verifier.selections import SelectionToCheck


def shrunk(problem):
    """Return the packed evidence of a search, its multipliers, and the exact lower bound and evidence of its proof."""
    held = solved(problem).point["evidence"]
    stream, cuts = unpacked(problem, held)
    program, part = evidence_of(problem, stream, cuts, None)
    return held, np.array([grid for grid, _ in cuts]), SelectionToCheck(program).proved(part)[0], part


@pytest.mark.parametrize(("seed", "kind", "loss"), sampled(itertools.product(range(3), KINDS, LOSSES), 12, 0))
def test_the_exact_bound_is_that_of_the_search_and_below_every_selection(seed, kind, loss):
    data, c, limits = drawn(kind, seed)
    problem = problem_of(data, c, limits, loss)
    held, _, lower, _ = shrunk(problem)
    best = min(allowed_values(data, c, limits, loss).values(), default=np.inf)
    assert float(lower) <= best + 1e-6 * max(1.0, abs(best))
    if best < np.inf:
        again = replayed(problem, held).bound
        assert float(lower) >= again - 1e-9 * max(1.0, abs(again))


def test_fewer_cuts_of_fewer_digits_prove_as_much(monkeypatch):
    problem, covered, used = problem_of(NOISE, 1.0, {"m": 5}), proof_cuts._covered, []
    monkeypatch.setattr(proof_cuts, "_covered", lambda *own: used.append(covered(*own)) or used[-1])
    held, grids, lower, part = shrunk(problem)
    assert len(part["cuts"]) == len(np.unique(used[1])) <= len(np.unique(used[0])) < len(grids)
    assert all(one[0] <= other[0] for one, other in itertools.pairwise(part["cuts"]))
    assert float(lower) >= replayed(problem, held).bound - 1e-9
    assert len(json.dumps(part["cuts"])) < 0.5 * len(json.dumps(grids.tolist()))
    assert all(valid_grid(np.array(grid), problem.y, steps) for steps, grid, _ in part["cuts"])


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


DAMAGE = {
    "too large": {part: lambda raw: bytes(2**20) for part in ("tree", "alpha", "mu")},
    r"ends early|incomplete|truncated|size|reshape": {part: lambda raw: raw[:-5] for part in ("tree", "alpha", "mu")},
    "multipliers of cut 0 are not dual feasible": {
        "mu": lambda raw: (-1.0 - np.abs(np.frombuffer(raw))).tobytes(),
        "alpha": lambda raw: (-1 - np.frombuffer(raw, dtype=np.int32)).tobytes(),
    },
    # of three numbers less three a reader would never come to an end
    "the tree ends early": {"tree": lambda raw: np.array([PEG, 0, -3], dtype=np.int32).tobytes() + raw},
}


@pytest.mark.parametrize("message", DAMAGE)
def test_damaged_or_forged_parts_are_refused(message, monkeypatch):
    problem = problem_of(blobs(30, 8, seed=1, gap=0.2), 1.0, {"m": 2})
    packed = solved(problem).point["evidence"]
    assert 0 < evidence.LARGEST < 2**30  # zlib takes 0 for no limit
    monkeypatch.setattr(evidence, "LARGEST", 2**16)
    assert evidence.replayed(problem, packed).bound > 0.0
    for part, change in DAMAGE[message].items():
        raw = change(zlib.decompress(base64.b64decode(packed[part])))
        with pytest.raises(ValueError, match=message):
            evidence.replayed(problem, {**packed, part: base64.b64encode(zlib.compress(raw)).decode()})
    cut = base64.b64decode(packed["tree"])[:-5]
    for text in ("%%%", *(base64.b64encode(raw).decode() for raw in (b"no stream", cut))):
        with pytest.raises(ValueError, match=r"base64|header|or ends early"):
            evidence.replayed(problem, {**packed, "tree": text})
    for value in (np.nan, np.inf):
        mu = evidence._text(np.full_like(evidence._array(packed["mu"], float), value))
        with pytest.raises(ValueError, match="not dual feasible"):
            evidence.replayed(problem, {**packed, "mu": mu})
    packed["alpha"] = evidence._text(0 * evidence._array(packed["alpha"], np.int32))
    assert evidence.replayed(problem, packed).bound <= 0.0


def random_cut(problem, rng, name=0):
    alpha = rng.uniform(-0.2, 1.2, problem.n) * problem.c * rng.uniform(0.0, 1.0)
    return make_cut(problem, name, on_grid(problem, alpha), rng.exponential(1.0, len(problem.r)))


def test_multipliers_on_the_grid_are_below_their_own_bounds():
    """Bounds next below multiples of the step, which doubles round to these."""
    c = np.append(np.nextafter(3.0 * np.arange(1, 400) / GRID, 0.0), 3.0)
    tops = largest_on_grid(c)
    assert all(3 * int(top) <= Fraction(limit) * GRID for top, limit in zip(tops, c, strict=True))
    assert np.all(tops >= c / 3.0 * GRID - 1.001)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_cut_bounds_every_selection_of_a_node_and_decides_no_feature_wrongly(kind, seed):
    data, c, limits = drawn(kind, seed)
    problem, values = problem_of(data, c, limits), allowed_values(data, c, limits)
    rng = np.random.default_rng(seed)
    for at in random_nodes(problem, rng, 8):
        cut, here = random_cut(problem, rng), below(values, at)
        if not here:
            continue
        found = bound(problem, cut, at)
        slack = 1e-9 * max(values.values())
        assert found.value <= min(here.values()) + slack
        for j in np.flatnonzero(at.free):
            for chosen, claimed in ((1, found.if_selected[j]), (0, found.if_not[j])):
                assert claimed >= found.value - slack
                assert claimed <= min((v for s, v in here.items() if s[j] == chosen), default=np.inf) + slack


@pytest.mark.parametrize("limits", [{"m": 3}, {"costs": [1.0, 2.0, 3.0, 1.5, 2.5, 0.0], "budget": 4.0}, {"lam": 1.0}])
def test_the_pool_returns_the_cut_of_the_largest_bound(limits):
    problem = problem_of(blobs(30, 6, seed=2), 2.0, limits)
    rng, pool = np.random.default_rng(5), Pool(problem)
    cuts = [random_cut(problem, rng, name) for name in range(10)]
    for cut in cuts:
        pool.add(cut)
    for at in random_nodes(problem, rng, 10):
        largest = max(bound(problem, cut, at).value for cut in cuts)
        assert bound(problem, pool.best(at), at).value == pytest.approx(largest, rel=1e-9, abs=1e-9)
