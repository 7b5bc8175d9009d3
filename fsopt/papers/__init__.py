"""The experiments of the five papers: their protocols, tables and figures.

The names of ``__init__.pyi`` are what the pages and notebooks of the papers call.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
