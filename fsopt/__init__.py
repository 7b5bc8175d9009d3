"""fsopt: feature selection by optimization.

Explicit Pyomo models of five papers, thin drivers, swappable solvers, certified answers. The names below are
loaded when they are first used, so that ``import fsopt`` costs next to nothing; Pyomo knows the solvers of fsopt, as
``pyo.SolverFactory("fsopt_highs")`` for example, from then on.
"""

from fsopt import solvers
from fsopt.common import attach

__version__ = "0.3.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)

solvers.register()
