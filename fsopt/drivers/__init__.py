"""The loops over solves, public: one function each, that owns its status and bound, and the objects that it takes.

``from fsopt.drivers import dca``: the names of ``__init__.pyi``, loaded at their first use. A module has the name of
its loop, and the name is that of the function here.
"""

from fsopt.common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
