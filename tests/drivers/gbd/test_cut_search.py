"""The search over the selections that cuts leave below a cutoff, against brute force."""

import numpy as np
import pytest
from support import blobs, keeps

from fsopt.drivers.gbd import cut_search
from fsopt.drivers.gbd.cut_search import CutSearch
from fsopt.models.gbd.selection_constraints import SelectionConstraints

SELECTIONS = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
RULES = {
    "m": {"m": 3},
    "all": {"m": 6},
    "budget": {"costs": [1.0, 2.5, 0.0, 4.0, 1.5, 3.0], "budget": 5.5},
    "include": {"m": 3, "include": [5], "exclude": [0]},
    "implies": {"m": 4, "implies": [[0, 3], [3, 5], [4, 1]]},
    "conflicts": {"m": 4, "conflicts": [[0, 1, 2], [3, 4]], "implies": [[5, 0]]},
    "free": {},
}


@pytest.mark.parametrize(("seed", "weights"), [(0, 0.0), (1, 0.8), (2, 0.8)])
@pytest.mark.parametrize("rules", RULES)
def test_the_search_confirms_a_bound_exactly_where_no_selection_is_below_it(seed, rules, weights):
    rng, p = np.random.default_rng(seed), 6
    data = blobs(20, p, seed=seed)
    constants, gains = rng.uniform(5, 9, 7), rng.exponential(1.0, (7, p)) - weights
    allowed = np.array([s for s in SELECTIONS if keeps(s, **RULES[rules])])
    best = (constants[:, None] - gains @ allowed.T).max(axis=0).min()
    constraints = SelectionConstraints.of("test", data, **RULES[rules]).inequalities()
    search = CutSearch(constants, gains, *constraints)
    found = search.below(best + 1e-6, max_nodes=10**6)
    assert keeps(found.selection, **RULES[rules])
    assert (constants - gains @ found.selection).max() <= best + 1e-6
    assert found.bound <= best + 1e-12
    assert not found.complete
    none = search.below(best - 1e-9, max_nodes=10**6)
    assert none[:2] == (None, best - 1e-9)
    assert none.complete


def test_every_allowed_selection_is_found_once_its_rivals_are_cut_off():
    """Selections are found one by one and forbidden by a cut: all allowed ones come, each once."""
    rng, p = np.random.default_rng(0), 6
    costs = rng.integers(1, 5, p).astype(float)
    constants, gains, found = np.zeros(1), rng.exponential(1.0, (1, p)), []
    constraints = (costs[None], np.array([costs.sum() // 2]))
    while True:
        sigma = CutSearch(constants, gains, *constraints).below(1.0, max_nodes=10**6).selection
        if sigma is None:
            break
        found.append(tuple(sigma.astype(int)))
        # A cut that is 1 at sigma, and 100 lower for each feature that differs.
        constants = np.append(constants, 1.0 - 100.0 * sigma.sum())
        gains = np.vstack([gains, 100.0 - 200.0 * sigma])
    allowed = {tuple(s) for s in SELECTIONS if costs @ s <= costs.sum() // 2}
    assert len(found) == len(set(found))
    assert set(found) == allowed


def test_a_search_that_is_too_large_says_so():
    rng = np.random.default_rng(0)
    cuts = (np.full(8, 9.0), rng.exponential(1.0, (8, 12)))
    found = CutSearch(*cuts, np.ones((1, 12)), np.array([6.0])).below(3.0, max_nodes=10)
    assert found.selection is None
    assert not found.complete
    assert found.bound < 3.0


def test_a_limit_that_is_met_up_to_rounding_is_met():
    """.1 + .2 is more than .3 in floating point; both features together are below the cutoff, neither alone is."""
    cut = np.array([1.0]), np.array([[1.0, 1.0]])
    limit = np.array([[0.1, 0.2]])
    found = CutSearch(*cut, limit, np.array([0.3])).below(-0.5, max_nodes=100)
    assert found.selection is not None
    assert found.selection.tolist() == [1.0, 1.0]
    above = CutSearch(*cut, limit, np.array([0.2999])).below(-0.5, max_nodes=100)
    assert above.selection is None


@pytest.mark.parametrize("costs", [[0.1, 0.3, 0.1, 0.1], [2.5, 0.3, 2.5, 1.0], [0.7, 0.1, 0.2, 0.1]])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_a_budget_for_all_features_allows_all_whatever_their_differences_round_to(costs, order):
    """.6 - .1 - .3 - .1 - .1 is below 0 in floating point; all features together are below the cutoff, no three are."""
    gains = np.array([[1.3, 1.2, 1.1, 1.0]])[:, order]
    for budget in (sum(costs), 10.0):
        found = CutSearch(np.array([1.0]), gains, np.array([costs]), np.array([budget])).below(-3.55, max_nodes=100)
        assert found.selection is not None
        assert found.selection.tolist() == [1.0] * 4


def test_tiny_costs_need_no_more_room_than_the_features():
    cuts = np.array([1.0]), np.array([[1.3, 1.2, 1.1]])
    search = CutSearch(*cuts, np.full((1, 3), 1e-30), np.array([10.0]))
    assert len(search.capacities) == 4
    assert search.below(-2.5, max_nodes=100).selection.tolist() == [1.0, 1.0, 1.0]
    assert search.below(-2.7, max_nodes=100).complete


@pytest.mark.parametrize("seed", range(60))
def test_with_any_costs_the_search_finds_what_enumeration_finds(seed):
    rng = np.random.default_rng(seed)
    p, s, scale = rng.integers(1, 7), rng.integers(1, 9), 10.0 ** rng.integers(-6, 7)
    costs = rng.choice([0.0, 0.1, 0.2, 0.3, 1.0, 2.5, 7.0], p)
    budget = rng.uniform(0.0, 1.2) * costs.sum()
    constants, gains = scale * rng.uniform(-3, 9, s), scale * (rng.exponential(1.0, (s, p)) - 0.3)
    every = np.array(np.meshgrid(*[[0.0, 1.0]] * p)).reshape(p, -1).T
    allowed = every[every @ costs <= budget + 1e-9 * max(1.0, budget)]
    least = (constants[:, None] - gains @ allowed.T).max(axis=0).min()
    search = CutSearch(constants, gains, costs[None], np.array([budget]))
    for level in (least + 1e-9 * scale, least + scale):
        found = search.below(level, max_nodes=10**6)
        assert costs @ found.selection <= budget + 2e-9 * max(1.0, budget)
        assert (constants - gains @ found.selection).max() < level + 1e-10 * scale
        assert found.bound <= least + 1e-10 * scale
    assert search.below(least - 1e-9 * scale, max_nodes=10**6).complete


def test_a_selection_that_takes_no_further_feature_is_found_without_deciding_the_others():
    gains = np.zeros((2, 3000))
    gains[0, [5, 7]] = gains[1, [9, 7]] = 2.0, 3.0
    cuts = np.array([7.0, 5.0]), gains
    found = CutSearch(*cuts, np.ones((1, 3000)), np.array([2.0])).below(2.5, max_nodes=100)
    assert np.flatnonzero(found.selection).tolist() == [5, 7]
    free = np.ones((1, 3000))
    free[0, 2999] = 0.0
    gains[:, 2999] = 1e-3
    level = 2.0 - 5e-4
    assert CutSearch(*cuts, np.ones((1, 3000)), np.array([2.0])).below(level, max_nodes=10**6).selection is None
    taken = CutSearch(*cuts, free, np.array([2.0])).below(level, max_nodes=10**6).selection
    assert np.flatnonzero(taken).tolist() == [5, 7, 2999]


def drawn(p=14, s=12, costs=None, seed=3):
    """Return cuts and one constraint, of equal costs or drawn ones."""
    rng = np.random.default_rng(seed)
    constants, gains = rng.uniform(5, 9, s), rng.exponential(1.0, (s, p))
    costs = np.ones(p) if costs is None else rng.uniform(0.5, 2.0, p)
    return constants, gains, costs[None], np.array([0.4 * costs.sum()])


@pytest.mark.parametrize("costs", [None, "drawn"])
def test_compiled_nodes_are_the_nodes_in_numpy(monkeypatch, costs):
    pytest.importorskip("numba")
    cuts = drawn(costs=costs)
    runs = []
    for first in (10**9, 0):
        monkeypatch.setattr(cut_search, "COMPILED_FROM", first)
        search = CutSearch(*cuts)
        runs.append([search.below(level, max_nodes=n) for level in np.linspace(1.0, 6.0, 41) for n in (30, 10**5)])
    assert {found.selection is None for found in runs[0]} == {True, False}
    for ours, other in zip(*runs, strict=True):
        assert ours[1:] == other[1:]
        assert np.array_equal(ours.selection, other.selection)


@pytest.mark.parametrize("first", [10**9, 0])
def test_a_table_has_the_sums_of_the_largest_gains_of_the_features_that_are_left(monkeypatch, first):
    monkeypatch.setattr(cut_search, "COMPILED_FROM", first)
    constants, gains, R, _ = drawn(p=23)
    gains[:, ::4] = gains[:, :1] - 1.0
    search = CutSearch(constants, gains, R, np.array([5.0]))
    for depth in (0, 3, 4, 17, 2, 9, 10, 23, 22, 0):
        search.rules.slot[depth] = -1
        search.made = 0
        search._make(depth)
        left = np.maximum(gains[:, search.order[depth:]], 0.0)
        falling = -np.sort(-np.pad(left, ((0, 0), (0, 5))), axis=1)
        sums = np.array([falling[:, :q].sum(axis=1) for q in range(6)])
        assert search.rules.tables[search.rules.slot[depth]] == pytest.approx(sums, rel=1e-13)


@pytest.mark.parametrize("costs", [None, "drawn"])
def test_a_search_without_room_for_its_tables_finds_the_same(monkeypatch, costs):
    cuts = drawn(costs=costs)
    whole = CutSearch(*cuts)
    monkeypatch.setattr(cut_search, "TABLE_ENTRIES", 1)
    small = CutSearch(*cuts)
    assert len(small.rules.tables) == 1
    for level in np.linspace(1.0, 6.0, 11):
        ours, other = (search.below(level, max_nodes=10**5) for search in (whole, small))
        assert ours[1:] == other[1:]
        assert np.array_equal(ours.selection, other.selection)
