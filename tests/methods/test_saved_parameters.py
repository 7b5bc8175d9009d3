"""Saved parameters that a method would have refused: found by name, whether the certificate uses them or not."""

import dataclasses

import pytest
from support import blobs

import fsopt
from fsopt.common.arguments import ALL, range_of
from fsopt.errors import FileError, FsoptError
from fsopt.methods.checking import WORDS, refused
from fsopt.methods.registry import METHODS
from fsopt.verification.checking import check_fit

DATA = blobs(24, 4, seed=3)


@pytest.mark.parametrize(
    ("method", "params"), [("rsvm", {"route": "auto"}), ("gbd", {"max_cuts": 1}), ("fsv", {"approx": "maybe"})]
)
def test_a_value_that_the_method_refuses_is_refused_in_a_file(method, params):
    fit = fsopt.fit(method, DATA)
    with pytest.raises(FsoptError):
        fsopt.fit(method, DATA, **params)
    (name,) = params
    with pytest.raises(FileError, match=rf"the saved parameters of '{method}' are damaged: {name}"):
        check_fit(dataclasses.replace(fit, params={**fit.params, **params}), DATA)


def test_a_capacity_that_the_method_set_itself_is_positive_too():
    fit = fsopt.fit("rsvm", DATA)
    assert check_fit(fit, DATA).ok
    for w_cap in (0.0, float("nan"), "1"):
        with pytest.raises(FileError, match="w_cap"):
            check_fit(dataclasses.replace(fit, details={**fit.details, "w_cap": w_cap}), DATA)


@pytest.mark.parametrize("method", list(METHODS))
def test_defaults_are_taken_and_every_word_and_number_outside_its_range_is_refused_by_the_method(method):
    spec = METHODS[method]
    defaults = dict(spec.parameters)
    assert refused(spec, defaults, {}) == []
    for name in defaults:
        words = name in WORDS or f"{method}.{name}" in WORDS
        if not words and range_of(method, name) == ALL:
            continue
        bad = "zzz" if words else -1
        assert refused(spec, {**defaults, name: bad}, {}) == [name]
        with pytest.raises(FsoptError):
            fsopt.fit(method, DATA, **{name: bad})
