"""The reference: every public function and class of the package, one page for each folder of modules."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import fsopt

HEADS = {
    "fsopt.analysis": "Why a model is infeasible, shadow prices, differences of formulations",
    "fsopt.certificates": "Certificates: residuals, gaps and bounds recomputed from a model and a point",
    "fsopt.compiler": "Pyomo models as arrays: linear forms, cones, scaling, problem classes",
    "fsopt.data": "Data sets: readers, splits, synthetic data, scores",
    "fsopt.drivers": "Loops: one function for each",
    "fsopt.formats": "Writers of files for other software",
    "fsopt.library": "The instance library and what is written from the registries",
    "fsopt.methods": "Methods: preprocessing, model, loop and selection",
    "fsopt.models": "Models: registry, builders and their shared parts",
    "fsopt.papers": "Protocols, tables and figures of the papers",
    "fsopt.solvers": "Solvers: one module for each interface",
    "fsopt.studies": "Comparisons, paths, fronts, grids",
}
SKIPPED = ("fsopt.__main__", "fsopt.cli")
"""The command line has a page of its own."""


def modules() -> Iterator[ModuleType]:
    """Yield the modules of the package whose dependencies are installed."""
    for found in pkgutil.walk_packages(fsopt.__path__, "fsopt."):
        if not found.name.startswith(SKIPPED):
            yield importlib.import_module(found.name)


def public(module: ModuleType) -> list[str]:
    """Return the public functions and classes that a module defines."""
    names = []
    for name, value in vars(module).items():
        if name.startswith("_") or name == "SPEC":
            continue
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module.__name__:
            names.append(name)
    return names


def constants(module: ModuleType) -> list[str]:
    """Return the constants of a module that have a docstring."""
    found = ModuleAnalyzer.for_module(module.__name__).find_attr_docs()
    return [name for scope, name in found if not scope and not name.startswith("_")]


def elsewhere() -> set[str]:
    """Return the full names of what has a page of its own: builders, fits, and the names of the package itself."""
    own = {f"{s.builder.__module__}.{s.builder.__qualname__}" for s in fsopt.MODELS.values()}
    own |= {f"{s.fit.__module__}.{s.fit.__qualname__}" for s in fsopt.METHODS.values()}
    for name in fsopt.__all__:
        value: Any = getattr(fsopt, name)
        if callable(value):
            own.add(f"{value.__module__}.{value.__qualname__}")
    return own


def folder(name: str) -> str:
    """Return the page of a module: that of its folder, at most two deep."""
    parts = name.split(".")
    package = parts if hasattr(importlib.import_module(name), "__path__") else parts[:-1]
    return ".".join(package[:3])


def section(module: ModuleType, names: list[str], hidden: set[str]) -> str:
    """Return the part of a page on one module."""
    title = module.__name__
    lines = [title, "-" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    for name in names:
        if f"{title}.{name}" in hidden:
            continue
        kind = "class" if inspect.isclass(getattr(module, name)) else "function"
        if kind == "class" and issubclass(getattr(module, name), BaseException):
            kind = "exception"
        lines += [f".. auto{kind}:: {title}.{name}"]
        lines += ["   :members:", ""] if kind != "function" else [""]
    for name in constants(module):
        lines += [f".. autodata:: {title}.{name}", "   :no-value:", ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Return path -> text of the pages of the reference."""
    hidden = elsewhere()
    parts: dict[str, list[str]] = {}
    for module in modules():
        parts.setdefault(folder(module.__name__), []).append(section(module, public(module), hidden))
    found = {}
    for name in sorted(parts):
        title = HEADS.get(name, name)
        label = name if title == name else f"{name}: {title[0].lower()}{title[1:]}"
        if name == "fsopt":
            label = "fsopt: modules at the top"
        found[f"api/{name}.rst"] = "\n".join([label, "=" * len(label), "", *parts[name]])
    found["api/index.rst"] = front(sorted(parts))
    return found


def front(names: list[str]) -> str:
    """Return the first page: the names of ``import fsopt``, then the folders."""
    lines = [
        "API reference",
        "=============",
        "",
        "Every public function and class, from the docstrings: what it takes, returns, raises, and what its result",
        "proves. The names of ``import fsopt`` come first, the other modules by their folders below.",
        "",
        ".. code-block:: python",
        "",
        "   import fsopt",
        "",
        "   help(fsopt.solve)",
        "",
    ]
    values = []
    for name in fsopt.__all__:
        value = getattr(fsopt, name)
        if inspect.isclass(value):
            kind = "exception" if issubclass(value, BaseException) else "class"
            lines += [f".. auto{kind}:: fsopt.{name}", "   :members:", ""]
        elif callable(value):
            lines += [f".. autofunction:: fsopt.{name}", ""]
        else:
            values.append(name)
    lines += [".. py:data:: fsopt." + name + "\n" for name in values]
    tree = ["Modules", "-------", "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in names), ""]
    return "\n".join([*lines, *tree])
