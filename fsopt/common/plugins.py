"""Models, methods and solvers of other packages: the entry points of the group ``fsopt``.

A package names a function without arguments in its ``pyproject.toml``::

    [project.entry-points.fsopt]
    mypackage = "mypackage.registration:register"

which calls :func:`fsopt.register_model`, :func:`fsopt.register_method` and :func:`fsopt.register_solver`. It is called
once, before a registry is asked for a name that it does not hold, or lists its names.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "fsopt"
ABOVE: list[str] = []
"""Functions of this package that enter what stands above its registry, as ``module:function``: they come first."""


def load() -> None:
    """Call the functions of the entry points that were not called yet; one that fails is a warning, not an error."""
    waiting = _waiting()
    while waiting:
        entry = waiting.pop(0)
        try:
            entry.load()()
        except Exception as error:  # of any package that is installed: fsopt works without it
            warnings.warn(f"the package behind '{entry.value}' failed to register: {error}", stacklevel=2)


@cache
def _waiting() -> list[EntryPoint]:
    """Return the entry points that were not loaded yet."""
    from importlib.metadata import EntryPoint, entry_points

    return [*(EntryPoint("fsopt", function, GROUP) for function in ABOVE), *entry_points(group=GROUP)]
