"""Models, methods and solvers of other packages: the entry points of the group ``fsopt``.

A package names a function without arguments in its ``pyproject.toml``::

    [project.entry-points.fsopt]
    mypackage = "mypackage.registration:register"

which calls :func:`fsopt.register_model`, :func:`fsopt.register_method` and :func:`fsopt.register_solver`. It is called
once, before a registry is asked for a name that it does not hold, or lists its names.
"""

from __future__ import annotations

import warnings
from importlib.metadata import entry_points

GROUP = "fsopt"
_loaded: set[str] = set()


def load() -> None:
    """Call the functions of the entry points that were not called yet; one that fails is a warning, not an error."""
    for entry in entry_points(group=GROUP):
        if entry.name in _loaded:
            continue
        _loaded.add(entry.name)
        try:
            entry.load()()
        except Exception as error:  # of any package that is installed: fsopt works without it
            warnings.warn(f"the package behind '{entry.value}' failed to register: {error}", stacklevel=2)
