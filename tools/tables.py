"""The tables of models, methods and solvers in the pages, and the solvers' packages that mypy passes over.

``python -m tools.tables`` writes them anew from the registries, between the marks of each file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fsopt.common.files import write_text
from fsopt.common.registry import Entry, Registry
from fsopt.compiler.classes import CLASSES
from fsopt.methods.registry import METHODS
from fsopt.models.papers import PAPERS
from fsopt.models.registry import MODELS
from fsopt.solvers.registry import SOLVERS
from tools.pages import table

ROOT = Path(__file__).parents[1]


def papers() -> str:
    """Return a row for each paper, with its models, drivers and methods, and one for the baselines."""
    rows = []
    for key in (*PAPERS, None):
        methods = [spec for spec in _shipped(METHODS) if spec.paper == key]
        head = "baselines of the papers' comparisons"
        if key is not None:
            head = f"**[{key}](docs/{key}.md)**: {PAPERS[key].authors}, {PAPERS[key].title}"
        models = (spec.slug for spec in _shipped(MODELS) if spec.paper == key)
        drivers = dict.fromkeys(spec.driver for spec in methods if spec.driver)
        rows.append((head, _names(models), _names(drivers), _names(spec.name for spec in methods)))
    return table(("paper", "models", "drivers", "methods"), rows)


def solvers() -> str:
    """Return a row for each solver: classes, what it proves and returns, and where it comes from."""
    rows = [
        (
            f"`{spec.name}`",
            ", ".join(c for c in CLASSES if c in spec.classes),
            spec.proves,
            "yes" if spec.duals else "no",
            f"`{spec.pip}`" if spec.pip.startswith("pip ") else spec.pip,
            spec.licence,
        )
        for spec in _shipped(SOLVERS)
    ]
    return table(("solver", "solves", "optimum", "multipliers", "install", "licence"), rows)


def scales() -> str:
    """Return a row for each preprocessing of the features, with the methods whose default it is."""
    found: dict[str, list[str]] = {}
    for spec in _shipped(METHODS):
        found.setdefault(spec.parameters.get("scale", "none"), []).append(spec.name)
    return table(("`scale` by default", "methods"), [(f"`{kind}`", _names(names)) for kind, names in found.items()])


def packages() -> str:
    """Return the packages of the solvers as the modules of mypy's table."""
    names = sorted({spec.package.partition(".")[0] for spec in _shipped(SOLVERS) if spec.package} | {"qpsolvers"})
    return "module = [" + ", ".join(f'"{name}.*"' for name in names) + "]"


PLACES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {"models, drivers and methods": papers},
    "docs/solvers.md": {"solvers": solvers},
    "docs/which.md": {"scales": scales},
    "pyproject.toml": {"packages of solvers": packages},
}
"""File -> the word of a mark in it -> what stands behind the mark."""


def written(text: str, made: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a file with what stands between its marks made anew."""
    for word, make in made.items():
        head, mark, rest = text.partition(f"{word}, written by make instances")
        if not mark:
            raise RuntimeError(f"the mark '{word}, written by make instances' is not there")
        line, _, rest = rest.partition("\n")
        _, end, rest = re.split("((?:<!--|#) end)", rest, maxsplit=1)
        text = f"{head}{mark}{line}\n{make()}\n{end}{rest}"
    return text


def main() -> None:
    """Write the tables."""
    for name, made in PLACES.items():
        write_text(ROOT / name, written((ROOT / name).read_text(encoding="utf-8"), made))


def _shipped(registry: Registry[Entry]) -> list[Entry]:
    """Return the entries of the package itself, those that register themselves too."""
    return [entry for name, entry in registry.items() if name not in registry.own]


def _names(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main()
