"""fsopt: feature selection by optimization.

Explicit Pyomo models of five papers, thin drivers, swappable solvers, certified answers. Names below are
loaded when they are first used, so that ``import fsopt`` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_HOME = {
    "Dataset": "fsopt.data",
    "load_dataset": "fsopt.data",
    "MODELS": "fsopt.models.registry",
    "build": "fsopt.models.registry",
    "SOLVERS": "fsopt.solvers.registry",
    "solve": "fsopt.solvers.base",
    "Session": "fsopt.solvers.base",
    "METHODS": "fsopt.methods.registry",
    "fit": "fsopt.methods.registry",
    "gmeb_path": "fsopt.experiments.gmeb_path",
    "pareto_front": "fsopt.experiments.pareto",
    "Certificate": "fsopt.certify",
    "certify": "fsopt.certify",
    "classify": "fsopt.classify",
    "export": "fsopt.export",
    "Fit": "fsopt.results",
    "SolveResult": "fsopt.results",
    "DriverResult": "fsopt.results",
    "Status": "fsopt.results",
    "FsoptError": "fsopt.errors",
}

__all__ = [*_HOME, "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fsopt' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps ``fsopt.certify``, ``classify`` and ``export`` the functions, also once their modules are loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Pickle by name, as modules of the ordinary class are by those who send functions to other processes."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package


class _WithPyomo(MetaPathFinder):
    """Enters fsopt's solvers in ``pyomo.environ.SolverFactory`` as soon as Pyomo is there, and not before."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != "pyomo.environ":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                import_module("fsopt.solvers.factory").register()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if "pyomo.environ" in sys.modules:
    import_module("fsopt.solvers.factory").register()
else:
    sys.meta_path.insert(0, _WithPyomo())
