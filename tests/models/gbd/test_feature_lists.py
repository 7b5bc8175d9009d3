"""Groups of features and bounds on their weights, as parameters give them."""

import re

import numpy as np
import pandas as pd
import pytest

import fsopt
from fsopt.errors import ParameterError
from fsopt.models.gbd.feature_lists import feature_groups, weight_bounds
from fsopt.models.gbd.selection_constraints import SelectionConstraints

NAMES = ["age", "size", "mass", "tone", "rate", "7"]
DATA = fsopt.Dataset(np.arange(24.0).reshape(4, 6) % 5, [1, -1, 1, -1], features=NAMES)
FRAME = pd.DataFrame({"colour": ["red", "blue", "green", "red"], "size": [1.0, 2.0, 3.0, 5.0], "label": [0, 1, 0, 1]})


def test_groups_are_lists_or_names_and_the_rest_are_groups_of_their_own() -> None:
    found = feature_groups("test", DATA, [["mass", 0], [4, "tone"]])
    assert found.names == ("mass+age", "size", "rate+tone", "7")
    assert found.of.tolist() == [0, 1, 0, 2, 2, 3]
    assert found.members(2) == (3, 4)
    np.testing.assert_array_equal(found.sums(np.arange(12.0).reshape(2, 6)), [[2, 1, 7, 5], [14, 7, 19, 11]])
    assert feature_groups("test", DATA, {"body": ("size", "mass")}).names == ("age", "body", "tone", "rate", "7")
    assert feature_groups("test", DATA).single
    assert feature_groups("test", DATA, []).single
    assert feature_groups("test", DATA, np.array([[0, 1], [2, 3]])).of.tolist()[:4] == [0, 0, 1, 1]


def test_categories_are_the_columns_of_a_table() -> None:
    data = fsopt.load_dataset(FRAME, onehot=True)
    assert feature_groups("test", data, "categories").names == ("colour", "size")
    assert feature_groups("test", data, "categories").of.tolist() == [0, 0, 0, 1]
    assert feature_groups("test", DATA, "categories").single


def test_an_array_that_is_no_list_is_refused_in_one_line() -> None:
    with pytest.raises(ParameterError) as refused:
        weight_bounds("test", DATA, lower=np.zeros((2, 2)))  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_constraints_speak_of_groups_by_their_name_or_a_feature() -> None:
    groups = {"body": ["size", "mass"], "sound": ["tone", "rate"]}
    costs = {"age": 1.0, "body": 2.0, "sound": 3.0, "7": 4.0}
    found = SelectionConstraints.of(
        "test",
        DATA,
        groups=groups,
        costs=costs,
        budget=6.0,
        include=["mass"],
        implies=[["body", 3]],
        conflicts=[[0, 5]],
    )
    assert (found.p, found.include, found.implies, found.conflicts) == (4, (1,), ((1, 2),), ((0, 3),))
    np.testing.assert_array_equal(found.costs, [1.0, 2.0, 3.0, 4.0])
    assert SelectionConstraints.of("test", DATA, groups=groups).with_default_cardinality().cardinality == 4


def test_bounds_are_those_of_signs_and_numbers() -> None:
    lower, upper = weight_bounds(
        "test", DATA, positive=["age", 3], negative=["size"], lower={"age": -1, 4: -2.0}, upper={"3": 0.5, "7": 9}
    )
    np.testing.assert_array_equal(lower, [0, -np.inf, -np.inf, 0, -2, -np.inf])
    np.testing.assert_array_equal(upper, [np.inf, 0, np.inf, 0.5, np.inf, 9])


ERRORS = {
    "word": ({"groups": "words"}, "give lists of features, or 'categories'"),
    "no list": ({"groups": [3]}, "'groups' of 'test' has 3"),
    "empty": ({"groups": [[]]}, "an empty group"),
    "unknown": ({"groups": [["age", "weight"]]}, "names 'weight', which is no feature"),
    "twice": ({"groups": [["age", "size"], [0, 3]]}, "'age' in two groups"),
    "name of a feature": ({"groups": {"age": ["size", "mass"]}}, "a group 'age', the name of another one"),
    "one name": ({"groups": {"7": ["size"]}}, "a group '7', the name of another one"),
    "implies itself": ({"groups": [["age", "size"]], "implies": [["age", "size"]]}, "other than 2 features"),
    "too many": ({"groups": [["age", "size"]], "m": 6}, r"outside \[1, 5\] \(there are 5 groups\)"),
    "costs of features": ({"groups": [["age", "size"]], "costs": [1.0] * 6, "budget": 1.0}, "list of 5 finite numbers"),
    "costs of others": ({"costs": {"age": 1.0}, "budget": 1.0}, "no number, or no place, for"),
    "lower above 0": ({"lower": {"age": 0.1}}, r"'lower\[age\]' of 'test' is 0.1, outside \[-inf, 0\]"),
    "upper below 0": ({"upper": {"age": -0.1}}, r"outside \[0, inf\]"),
    "no number": ({"upper": {"age": float("nan")}}, r"outside \[0, inf\]"),
    "no mapping": ({"upper": [1.0] * 6}, "give {feature: number}"),
    "given twice": ({"upper": {"age": 1.0, 0: 2.0}}, "'age' twice"),
    "index or name": ({"upper": {7: 1.0}}, "index 7, also the name of a feature"),
    "both signs": ({"positive": ["age"], "negative": [0]}, "no weight but 0"),
    "no sign": ({"positive": "age"}, "'positive' of 'test' has 'age'"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_each_wrong_word_is_one_clear_error(case: str) -> None:
    parameters, message = ERRORS[case]
    with pytest.raises(ParameterError) as error:
        SelectionConstraints.of("test", DATA, **parameters)
    assert re.search(message, f"{error.value} {error.value.hint}")
