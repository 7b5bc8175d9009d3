"""Docstrings of public objects are numpydoc, and code that people read uses public names alone."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from snippets import steps
from support import ROOT

import fsopt
import fsopt.data
import fsopt.estimators
from fsopt.estimators.making import made

IGNORED = {
    "SA01": "the pages link every name in the text, and need no section for it",
    "EX01": "examples that run are on the pages of models and methods, and in the notebooks",
    "ES01": "a summary that says all needs no second paragraph",
    "RT04": "some begin with a shape or a symbol",
    "RT05": "shapes stand without a full stop",
    "YD01": "what yields the records of its loop is called for what it returns",
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
NAMES |= {f"estimators.{cls.__name__}": cls for cls in map(made, fsopt.METHODS.values())}
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


def test_a_builder_and_a_method_are_documented():
    found = {slug: faults(builder) for slug, builder in BUILDERS.items()}
    found |= {name: faults(fit, OF_FITS) for name, fit in FITS.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("name", FITS)
def test_each_parameter_has_a_text_of_its_own_with_its_type_and_default(name):
    for described in (FITS[name], made(fsopt.METHODS[name])):
        keywords = inspect.signature(described).parameters.values()
        stated = [(p.name, typed(p), p.default) for p in keywords if p.kind is p.KEYWORD_ONLY]
        texts = NumpyDocString(inspect.getdoc(described))["Parameters"]
        assert [(text.name, text.type) for text in texts] == [(parameter, kind) for parameter, kind, _ in stated]
        meanings = [" ".join(text.desc) for text in texts]
        assert len(set(meanings)) == len(meanings), "two parameters share a text"
        for meaning, (parameter, _, default) in zip(meanings, stated, strict=True):
            assert false_of(meaning, default) == [], parameter


def typed(parameter: inspect.Parameter) -> str:
    """Return the type of a parameter and its default as docstrings state them."""
    if parameter.default is None:
        return f"{parameter.annotation.removesuffix(' | None')}, optional"
    return f"{parameter.annotation}, default {parameter.default!r}"


def false_of(meaning: str, default: object) -> list[str]:
    """Return what the text of a parameter leaves to another place, or says of its default that does not hold."""
    found = re.findall(r"\b[Aa]s in :func:|\bas there\b", meaning) + ([] if meaning else ["no text"])
    found += [word for word in re.findall(r"(\S+) \(default\b", meaning) if word.strip("`") != str(default)]
    if ("None" in meaning) != (default is None):
        found.append("None")
    return found


RINGS = ("fsopt", "fsopt.data", "fsopt.drivers", "fsopt.errors", "fsopt.estimators", "fsopt.extend", "fsopt.papers")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [page for folder in ("drivers", "howto") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
PAGES = [page for page in PAGES if page.name not in ("_verbs.md", "changelog.md", "contributing.md")]
FILES = [*PAGES, *sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "notebooks").glob("*.ipynb"))]


def codes(path: Path) -> Iterator[str]:
    """Yield the pieces of Python in a file."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        lines = (line for c in cells if c.cell_type == "code" for line in c.source.splitlines() if line[:1] not in "%!")
        yield "\n".join(lines)
    elif path.suffix == ".md":
        yield from (step.text for step in steps(path.read_text(encoding="utf-8")) if step.kind == "python")
    else:
        yield path.read_text(encoding="utf-8")


def public(ring: str, name: str) -> bool:
    """Tell whether a name is one of those that a ring gives."""
    module = importlib.import_module(ring)
    listed = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    return name in listed or f"{ring}.{name}" in RINGS


def inner_names(code: str) -> Iterator[str]:
    """Yield the names of fsopt in a piece of code that no ring gives."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "fsopt":
            ring = node.module if node.module in RINGS else ""
            yield from (f"{node.module}.{a.name}" for a in node.names if not (ring and public(ring, a.name)))
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.partition(".")[0] == "fsopt" and a.name not in RINGS)
        elif isinstance(node, ast.Attribute):
            ring = ast.unparse(node.value)
            if ring in RINGS and not public(ring, node.attr):
                yield f"{ring}.{node.attr}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_that_people_read_uses_public_names_alone(path):
    assert not [name for code in codes(path) for name in inner_names(code)]
