"""fsopt: feature selection by optimization.

Explicit Pyomo models of five papers, thin drivers, swappable solvers, certified answers. The names below are
loaded when they are first used, so that ``import fsopt`` costs next to nothing; Pyomo knows the solvers of fsopt, as
``pyo.SolverFactory("fsopt_highs")`` for example, from then on.
"""

from typing import Any

from fsopt import solvers
from fsopt.common import lazy
from fsopt.errors import REMOVED

__version__ = "0.3.0"
_loaded, __dir__, __all__ = lazy.attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in REMOVED and name not in __all__:
        raise AttributeError(f"fsopt.{name} is no part of fsopt any more: {REMOVED[name]}")
    return _loaded(name)


solvers.register()
