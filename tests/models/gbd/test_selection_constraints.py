"""Constraints on selections of features: which selections they allow, in the models and by themselves."""

import itertools
import re
from functools import partial

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, keeps

import fsopt
from fsopt.errors import ParameterError
from fsopt.models.gbd.feature_lists import feature_groups, weight_bounds
from fsopt.models.gbd.selection_constraints import SelectionConstraints, feature_weights

DATA = blobs(14, 6, seed=9)
COSTS = [1.0, 2.0, 0.5, 3.0, 1.5, 1.0]
NAMED = fsopt.Dataset(DATA.X, DATA.y, features=["age", "size", "mass", "tone", "rate", "7"])
ALL = [np.array(s) for s in itertools.product([0.0, 1.0], repeat=6)]


def random_limits(seed):
    rng = np.random.default_rng(seed)

    def some(k):
        return rng.choice(6, size=k, replace=False).tolist()

    rules = {
        "include": some(rng.integers(0, 3)),
        "exclude": some(rng.integers(0, 3)),
        "implies": [some(2) for _ in range(rng.integers(0, 5))],
        "conflicts": [some(rng.integers(2, 4)) for _ in range(rng.integers(0, 3))],
    }
    return rules | ({}, {"m": int(rng.integers(1, 4))}, {"costs": COSTS, "budget": 2.5})[seed % 3]


def test_model_and_violation_allow_what_the_rules_allow_and_contradictions_are_refused() -> None:
    refused = 0
    for rules in map(random_limits, range(120)):
        allowed = [s for s in ALL if keeps(s, **rules)]
        if not allowed:
            refused += 1
            with pytest.raises(ParameterError, match="no selection satisfies the constraints of 'test'"):
                SelectionConstraints.of("test", DATA, **rules)
            continue
        constraints = SelectionConstraints.of("test", DATA, **rules)
        model = pyo.ConcreteModel()
        model.sigma = pyo.Var(range(6), within=pyo.Binary)
        constraints.add_to(model)
        for s in ALL:
            model.sigma.set_values(dict(enumerate(s.tolist())))
            fulfilled = all(c.slack() >= 0 for c in model.component_data_objects(pyo.Constraint))
            assert fulfilled == keeps(s, **rules) == (constraints.violation(s) <= 0), (rules, s)
        smallest = np.zeros(6)
        smallest[list(constraints.smallest_selection())] = 1.0
        assert keeps(smallest, **rules)
        assert all(np.all(s >= smallest) for s in allowed)
    assert 20 <= refused <= 100


MODELS = ("fsp-master", "fsp-m", "fsp-m-perspective", "fsp-m-bigm")
ERRORS = {
    "no such name": ({"include": ["mas"]}, "'include' of '{}' names 'mas', which is no feature"),
    "no such place": ({"exclude": [6]}, r"'exclude' of '{}' is 6, outside \[0, 5\] \(there are 6 features\)"),
    "no place": ({"include": [1.5]}, "must be a whole number"),
    "one name": ({"include": "mass"}, "'include' of '{}' has 'mass'"),
    "flat pairs": ({"implies": [0, 1]}, "'implies' of '{}' has 0"),
    "a triple": ({"implies": [[0, 1, 2]]}, "other than 2"),
    "a group of one": ({"conflicts": [[0, 0]]}, "less than 2"),
    "m > p": ({"m": 7}, r"'m' of '{}' is 7, outside \[1, 6\] \(there are 6 features\)"),
    "m and a budget": ({"m": 2, "costs": COSTS, "budget": 3}, "'m' of '{}' is given beside costs or a budget"),
    "costs alone": ({"costs": COSTS}, "'budget' of '{}' must be a number"),
    "budget alone": ({"budget": 3.0}, "'costs' of '{}' must be a list of 6"),
    "negative costs": ({"costs": [-1.0, *COSTS[1:]], "budget": 3}, "outside"),
    "in and out": ({"include": [2], "exclude": ["mass"]}, "asks for 'mass', but 'exclude' forbids 'mass'"),
    "implied and out": ({"include": [2], "implies": [[2, 0]], "exclude": [0]}, "'exclude' forbids 'age'"),
    "too many": ({"m": 1, "include": [2], "implies": [[2, 0]]}, "asks for 'age', 'mass', but m is 1"),
    "too dear": ({"costs": COSTS, "budget": 2.5, "include": [3]}, "they cost 3, more than the budget 2.5"),
    "two of a group": ({"include": [0, 3], "conflicts": [[0, 3, 5]]}, "asks for 'age', 'tone', but 'conflicts'"),
    "word": ({"groups": "words"}, "give lists of features, or 'categories'"),
    "no list": ({"groups": [3]}, "'groups' of '{}' has 3"),
    "empty": ({"groups": [[]]}, "an empty group"),
    "twice": ({"groups": [["age", "size"], [0, 3]]}, "'age' in two groups"),
    "name of a feature": ({"groups": {"age": ["size", "mass"]}}, "a group 'age', the name of another one"),
    "implies itself": ({"groups": [["age", "size"]], "implies": [["age", "size"]]}, "other than 2 features"),
    "too many of the groups": ({"groups": [["age", "size"]], "m": 6}, r"outside \[1, 5\] \(there are 5 groups\)"),
    "costs of features": ({"groups": [["age", "size"]], "costs": [1.0] * 6, "budget": 1.0}, "list of 5 finite numbers"),
    "costs of others": ({"costs": {"age": 1.0}, "budget": 1.0}, "no number, or no place, for"),
    "lower above 0": ({"lower": {"age": 0.1}}, r"'lower\[age\]' of '{}' is 0.1, outside \[-inf, 0\]"),
    "upper below 0": ({"upper": {"age": -0.1}}, r"outside \[0, inf\]"),
    "no number": ({"upper": {"age": float("nan")}}, r"outside \[0, inf\]"),
    "no mapping": ({"upper": [1.0] * 6}, "give {{feature: number}}"),
    "given twice": ({"upper": {"age": 1.0, 0: 2.0}}, "'age' twice"),
    "index or name": ({"upper": {7: 1.0}}, "index 7, also the name of a feature"),
    "both signs": ({"positive": ["age"], "negative": [0]}, "no weight but 0"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_a_wrong_word_is_one_clear_error(case: str) -> None:
    params, message = ERRORS[case]
    for slug in MODELS:
        with pytest.raises(ParameterError) as error:
            fsopt.build(slug, NAMED, **params)
        assert re.search(message.format(slug), f"{error.value} {error.value.hint}")


def test_penalty_weights_of_features() -> None:
    groups = feature_groups("test", DATA)
    np.testing.assert_array_equal(feature_weights("test", groups, 2), np.full(6, 2.0))
    np.testing.assert_array_equal(feature_weights("test", groups, COSTS), COSTS)
    np.testing.assert_array_equal(feature_weights("test", groups, dict(zip(groups.names, COSTS, strict=True))), COSTS)
    for lam in (-1.0, [1.0] * 5, [-1.0, *COSTS[1:]], "much", True):
        for slug in ("fsp-lambda", "fsp-master"):
            with pytest.raises(ParameterError, match=f"'lam' of '{slug}'"):
                fsopt.build(slug, NAMED, lam=lam)
    with pytest.raises(ParameterError, match="'lam' of 'fsp-lambda'"):
        fsopt.build("fsp-lambda", NAMED, lam=None)
    both = fsopt.build("fsp-master", NAMED, lam=1.0, m=2)
    assert both.component("cardinality") is not None
    assert fsopt.build("fsp-master", NAMED, lam=1.0).component("cardinality") is None


def test_groups_are_lists_or_names_and_the_rest_are_groups_of_their_own() -> None:
    groups = partial(feature_groups, "test", NAMED)
    found = groups([["mass", 0], [4, "tone"]])
    assert found.names == ("mass+age", "size", "rate+tone", "7")
    assert found.of.tolist() == [0, 1, 0, 2, 2, 3]
    assert found.members(2) == (3, 4)
    np.testing.assert_array_equal(found.sums(np.arange(12.0).reshape(2, 6)), [[2, 1, 7, 5], [14, 7, 19, 11]])
    assert groups({"body": ("size", "mass")}).names == ("age", "body", "tone", "rate", "7")
    assert groups().single
    assert groups([]).single
    assert groups(np.array([[0, 1], [2, 3]])).of.tolist()[:4] == [0, 0, 1, 1]


def test_constraints_speak_of_groups_by_their_name_or_a_feature() -> None:
    constraints = partial(SelectionConstraints.of, "test", NAMED)
    groups = {"body": ["size", "mass"], "sound": ["tone", "rate"]}
    rules = {"include": ["mass"], "implies": [["body", 3]], "conflicts": [[0, 5]]}
    found = constraints(groups=groups, costs={"age": 1.0, "body": 2.0, "sound": 3.0, "7": 4.0}, budget=6.0, **rules)
    assert (found.p, found.include, found.implies, found.conflicts) == (4, (1,), ((1, 2),), ((0, 3),))
    np.testing.assert_array_equal(found.costs, [1.0, 2.0, 3.0, 4.0])
    assert constraints(groups=groups).with_default_cardinality().cardinality == 4


def test_bounds_are_those_of_signs_and_numbers() -> None:
    bounds = weight_bounds(
        "test", NAMED, positive=["age", 3], negative=["size"], lower={"age": -1, 4: -2.0}, upper={"3": 0.5, "7": 9}
    )
    np.testing.assert_array_equal(bounds.lower, [0, -np.inf, -np.inf, 0, -2, -np.inf])
    np.testing.assert_array_equal(bounds.upper, [np.inf, 0, np.inf, 0.5, np.inf, 9])
