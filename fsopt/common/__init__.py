"""What every package uses: public names at their first use, arguments, the clock, files, figures, plug-ins, changes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def attach(package: str, path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__``, ``__all__`` of a file: names that its ``.pyi`` imports from a package."""
    places: dict[str, str] = {}
    for node in ast.parse(Path(path).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            places |= {alias.name: f"{package}.{node.module or alias.name}" for alias in node.names}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(module := import_module(places[name]), name, module)

    sys.modules[package].__class__ = _Package
    return load, lambda: sorted(places), sorted(places)


class _Package(ModuleType):
    """A package where no module takes the place of what has its name, whichever is imported first."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        return import_module, (self.__name__,)
