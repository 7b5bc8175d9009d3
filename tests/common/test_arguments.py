"""Arguments of another kind, or outside their interval, end in an error of the package that names them."""

import math
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from fuzz.attack import Nasty
from support import blobs

import fsopt
from fsopt.common.arguments import LIST, PATH, RANGES, SECONDS, TEXT, WHOLE, checked, ends, optional, range_of, within
from fsopt.errors import FsoptError, ParameterError

DATA = blobs(20, 3)
MODEL = fsopt.build("svm", DATA, c=1.0)
RESULT = fsopt.solve(MODEL)
FIT = fsopt.fit("svm", DATA)


CALLS = {
    "fit a list": (lambda: fsopt.fit("svm", [1, 2]), "samples with labels"),
    "fit by a number": (lambda: fsopt.fit(5, DATA), "the name must be a text"),
    "limit True": (lambda: fsopt.solve(MODEL, time_limit=True), "the time limit must be positive, not True"),
    "options": (lambda: fsopt.solve(MODEL, options=(1, 2)), "the options must be a mapping"),
    "tee": (lambda: fsopt.solve(MODEL, tee="yes"), "the tee must be True or False"),
    "progress": (lambda: fsopt.fit("svm", DATA, progress=1), "the progress must be a function"),
    "features": (lambda: fsopt.Dataset(DATA.X, DATA.y, features=5), "features is 5, not a list"),
    "slices of texts": (lambda: DATA.columns(slice("a", "b")), "these are not features"),
    "certify nothing": (lambda: fsopt.certify(MODEL, 3), "the result must be a SolveResult"),
    "certify another": (lambda: fsopt.certify(fsopt.build("mpm", DATA), RESULT), "the result is not one of 'mpm'"),
    "export to a number": (lambda: fsopt.export(MODEL, 5), "the path must be a path"),
    "missing": (lambda: fsopt.load_dataset("wdbc", missing=["drop"]), "missing is"),
    "predict other features": (lambda: FIT.predict(DATA.X[:, :2]), "the samples have 2 features"),
    "grid": (lambda: fsopt.radius_path(DATA, grid=3), "the grid must be a list"),
    "path": (lambda: fsopt.radius_path(DATA, folds=2.5), "the folds must be a whole number"),
    "nasty parameter": (lambda: fsopt.fit("svm", DATA, c=Nasty()), "must not be <Nasty instance"),
    "fraction": (lambda: fsopt.fit("svm", DATA, c=Fraction(1, 3)), "must be a number"),
}


@pytest.mark.parametrize("case", CALLS)
def test_another_kind_is_refused_with_a_hint(case):
    call, words = CALLS[case]
    with pytest.raises(FsoptError, match=words) as caught:
        call()
    assert caught.value.hint
    assert len(str(caught.value)) < 400


def test_what_is_of_the_kind_passes():
    assert fsopt.solve(MODEL, "ipopt", time_limit=Fraction(7, 3)).status == "optimal"
    for kind, values in (
        (SECONDS, (1, 0.5, np.float32(2), float("inf"), Fraction(1, 2))),
        (WHOLE, (0, -3, np.int64(4))),
        (TEXT, ("", np.str_("a"))),
        (PATH, ("a", Path("b"))),
        (LIST, ([], (1,), np.ones(2), range(3))),
        (optional(TEXT), (None, "a")),
    ):
        for value in values:
            kind.check("value", value)


def test_a_checked_function_keeps_its_name_and_signature_and_refuses_by_position_too():
    @checked(second=WHOLE)
    def function(first: str, second: int = 1) -> str:
        """Return something."""
        return first * second

    assert (function.__name__, function.__doc__, function("a", 2)) == ("function", "Return something.", "aa")
    with pytest.raises(ParameterError, match="the second must be a whole number, not 'b'"):
        function("a", "b")
    with pytest.raises(
        TypeError, match=r"function\(\) got an unexpected keyword argument 'third': it takes first, second"
    ):
        function("a", third=1)
    with pytest.raises(TypeError, match="'secnd': did you mean second"):
        function("a", secnd=1)
    with pytest.raises(TypeError, match=r"function\(\) missing a required argument: 'first'$"):
        function(second=1)


def test_a_keyword_in_another_case_is_refused_with_the_known_one():
    for call in (fsopt.fit, fsopt.build):
        with pytest.raises(ParameterError, match="'svm' has no parameter 'C': did you mean c"):
            call("svm", DATA, C=0.3)
    for own, word in ((fsopt.estimators.SVM, "C"), (partial(fsopt.selection_path, DATA), "M")):
        with pytest.raises(TypeError, match=f"did you mean {word.lower()}"):
            own(**{word: [1]})


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ("(0, 1)", (0.5, 1e-300), (0, 1, -1, 2, math.nan)),
        ("[0, 1]", (0, 1), (-1e-9, 1.001, math.nan)),
        ("(0, 1]", (1,), (0,)),
        ("(0, inf)", (1e300,), (0, math.inf)),
        ("[0, inf]", (0, math.inf), (-1, math.nan)),
        ("[1e-9, 1e-3]", (1e-9, 1e-3), (0, 1)),
    ],
)
def test_a_number_is_inside_or_outside_an_interval(interval, inside, outside):
    assert all(within(value, interval) for value in inside)
    assert not any(within(value, interval) for value in outside)


def test_the_range_of_an_owner_comes_before_that_of_the_name_and_every_range_can_be_read():
    assert range_of("fsv", "lam") == "[0, 1]" != range_of("fsp-lambda", "lam")
    assert ends(range_of("svm", "no such name")) == (-math.inf, math.inf)
    assert all(low < high for low, high in map(ends, RANGES.values()))
