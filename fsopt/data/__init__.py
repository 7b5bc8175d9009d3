"""Two-class data sets: the validated container, readers of files, and the synthetic data of the papers.

The names of ``__init__.pyi`` are public and loaded at their first use: importing this package loads nothing, a name
loads numpy and nothing heavier. Functions that need scikit-learn load it themselves.
"""

from fsopt.common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
