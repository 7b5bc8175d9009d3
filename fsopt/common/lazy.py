"""Public names of a package that are loaded at their first use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(package: str, path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, whose names are those that its stub imports.

    Parameters
    ----------
    package, path : its ``__name__`` and ``__file__``; the stub ``__init__.pyi`` lies beside it and imports by
        ``from .module import name as name``, or ``from . import module as module``.
    """
    places: dict[str, str] = {}
    for node in ast.parse(Path(path).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            module = f"{package}.{node.module}" if node.module else package
            places |= {alias.name: module for alias in node.names}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        if places[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # in the place of a module of this name, which its import set
        return value

    return load, lambda: sorted(places), sorted(places)
