"""Docstrings of public objects are numpydoc: numpydoc's own validation finds nothing but what is listed here."""

from __future__ import annotations

import pytest
from numpydoc.validate import validate

import fsopt
import fsopt.data
import fsopt.estimators

IGNORED = {
    "SA01": "the pages link every name in the text, and need no section for it",
    "EX01": "examples that run are on the pages of models and methods, and in the notebooks",
    "ES01": "a summary that says all needs no second paragraph",
    "RT04": "some begin with a shape or a symbol",
    "RT05": "shapes stand without a full stop",
}
"""Code of numpydoc -> why it is no fault here."""
OF_RECORDS = {"PR01": "a frozen record has its fields under Attributes"}
OF_FITS = {
    "PR01": "data and run are the same for every method, and stand in `fsopt.fit`",
    "RT01": "the filters refer to one of them",
}
OF_FORWARDED = {"PR02": "keywords that are handed on to the builder or the method"}


def dotted(value) -> str:
    return f"{value.__module__}.{value.__qualname__}"


NAMES = {name: getattr(fsopt, name) for name in fsopt.__all__ if callable(getattr(fsopt, name))}
NAMES |= {f"estimators.{name}": getattr(fsopt.estimators, name) for name in fsopt.estimators.__all__}
NAMES |= {f"data.{name}": getattr(fsopt.data, name) for name in fsopt.data.__all__}
BUILDERS = {slug: spec.builder for slug, spec in fsopt.MODELS.items()}
FITS = {name: spec.fit for name, spec in fsopt.METHODS.items()}


def faults(value, *further) -> list[tuple[str, str]]:
    ignored = set(IGNORED).union(*further)
    return [(code, text) for code, text in validate(dotted(value))["errors"] if code not in ignored]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_documented(name):
    value = NAMES[name]
    assert not faults(value, OF_RECORDS if isinstance(value, type) else (), OF_FORWARDED)


@pytest.mark.parametrize("slug", BUILDERS)
def test_a_builder_is_documented(slug):
    assert not faults(BUILDERS[slug])


@pytest.mark.parametrize("name", FITS)
def test_a_method_is_documented(name):
    assert not faults(FITS[name], OF_FITS)
