"""fsopt: feature selection by optimization.

Explicit Pyomo models of five papers, thin drivers, swappable solvers, certified answers. The names below are
loaded when they are first used, so that ``import fsopt`` costs next to nothing; Pyomo knows the solvers of fsopt, as
``pyo.SolverFactory("fsopt_highs")`` for example, from then on.
"""

import lazy_loader

from fsopt.common import registry
from fsopt.solvers import pyomo_plugin

__version__ = "0.3.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

registry.ABOVE.append("fsopt.drivers.kernel_scaling.interface:register")
pyomo_plugin.register()
