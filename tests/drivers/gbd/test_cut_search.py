"""The search over the selections that cuts leave below a cutoff, against brute force."""

import numpy as np
import pytest
from support import blobs, keeps

from fsopt.drivers.gbd.cut_search import selection_below
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


@pytest.mark.parametrize(("seed", "weights", "chunk"), [(0, 0.0, 1), (1, 0.8, 5), (2, 0.8, 1), (0, 0.0, 1000)])
@pytest.mark.parametrize("rules", RULES)
def test_the_search_confirms_a_bound_exactly_where_no_selection_is_below_it(seed, rules, weights, chunk):
    rng, p = np.random.default_rng(seed), 6
    data = blobs(20, p, seed=seed)
    constants, gains = rng.uniform(5, 9, 7), rng.exponential(1.0, (7, p)) - weights
    allowed = np.array([s for s in SELECTIONS if keeps(s, **RULES[rules])])
    best = (constants[:, None] - gains @ allowed.T).max(axis=0).min()
    constraints = SelectionConstraints.of("test", data, **RULES[rules]).inequalities()
    found = selection_below(best + 1e-6, constants, gains, *constraints, chunk=chunk, max_nodes=10**6)
    assert keeps(found.selection, **RULES[rules])
    assert (constants - gains @ found.selection).max() <= best + 1e-6
    assert found.bound <= best
    assert not found.complete
    none = selection_below(best - 1e-9, constants, gains, *constraints, chunk=chunk, max_nodes=10**6)
    assert none[:2] == (None, best - 1e-9)
    assert none.complete


def test_every_allowed_selection_is_found_once_its_rivals_are_cut_off():
    """Selections are found one by one and forbidden by a cut: all allowed ones come, each once."""
    rng, p = np.random.default_rng(0), 6
    costs = rng.integers(1, 5, p).astype(float)
    constants, gains, found = np.zeros(1), rng.exponential(1.0, (1, p)), []
    constraints = (costs[None], np.array([costs.sum() // 2]))
    while True:
        sigma = selection_below(1.0, constants, gains, *constraints, chunk=3, max_nodes=10**6).selection
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
    found = selection_below(3.0, *cuts, np.ones((1, 12)), np.array([6.0]), chunk=8, max_nodes=20)
    assert found.selection is None
    assert not found.complete
    assert found.bound < 3.0


def test_a_limit_that_is_met_up_to_rounding_is_met():
    """.1 + .2 is more than .3 in floating point; both features together are below the cutoff, neither alone is."""
    cut = np.array([1.0]), np.array([[1.0, 1.0]])
    limit = np.array([[0.1, 0.2]])
    found = selection_below(-0.5, *cut, limit, np.array([0.3]), chunk=4, max_nodes=100)
    assert found.selection is not None
    assert found.selection.tolist() == [1.0, 1.0]
    above = selection_below(-0.5, *cut, limit, np.array([0.2999]), chunk=4, max_nodes=100)
    assert above.selection is None
