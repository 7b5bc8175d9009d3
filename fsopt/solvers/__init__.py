"""Solvers: their modules and names, and their entry in Pyomo's factories, as ``fsopt_highs`` and so on.

``import fsopt`` loads this module, which must load neither Pyomo's models nor numpy. The solvers are entered when
Pyomo's own factory of solvers has been loaded, which ``import pyomo.environ`` does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

MODULES = (
    "highs",
    "clarabel",
    "mosek",
    "ipopt",
    "scs",
    "scip",
    "quadratic",
    "pyomo_call",
)
"""In the order of tables."""
SEVERAL = {
    "quadratic": ("piqp", "proxqp", "qoco", "osqp", "daqp"),
    "pyomo_call": ("gurobi", "xpress", "pyomo:glpk", "pyomo:cbc"),
}
"""Module -> its solvers, where it holds another one than that of its name."""
NAMES = tuple(name for module in MODULES for name in SEVERAL.get(module, (module.replace("_", "-"),)))
"""The solvers in the registry."""


class _Finder(SourceFileLoader):
    """Finds these modules of Pyomo where they are, loads them, and does then what is asked for."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a module is, with this class as its loader."""
        found = PathFinder.find_spec(name, path, target) if name in THEN else None
        if found is not None and found.origin is not None:
            found.loader = cls(name, found.origin)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Load a module and do what is asked for."""
        super().exec_module(module)
        THEN[self.name](module)


def register() -> None:
    """Enter fsopt's solvers in Pyomo's factories, now or when Pyomo loads them."""
    sys.meta_path.insert(0, _Finder)
    for name, then in THEN.items():
        if name in sys.modules:
            then(sys.modules[name])


def _spare(dependencies: ModuleType) -> None:
    """Keep Pyomo from importing ``scipy.stats`` with SciPy, half a second of every start, before its first use."""
    if "scipy" not in sys.modules:
        vars(dependencies.scipy_available)["_callback"] = None


def _enter(factory: ModuleType) -> None:
    """Enter fsopt's solvers."""
    for name, solver in import_module("fsopt.solvers.pyomo_classes").classes(NAMES).items():
        doc = f"{solver.solver or 'the preferred solver'}, certified by fsopt"
        factory.SolverFactory.register(name, doc=doc)(solver)


THEN = {"pyomo.contrib.solver.common.factory": _enter, "pyomo.common.dependencies": _spare}
"""Name of a module of Pyomo -> what is done with it once it is loaded."""
