"""The experiments of the five papers: their protocols, tables and figures.

The names of ``__init__.pyi`` are what the pages and notebooks of the papers call.
"""

from fsopt.common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
