"""The experiments of the five papers: their protocols, tables and figures.

The names of ``__init__.pyi`` are what the pages and notebooks of the papers call.
"""

from fsopt.common import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
