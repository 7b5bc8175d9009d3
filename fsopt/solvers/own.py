"""Solver ``fsopt``: the exact algorithms of this package, each for programs of one structure and for nothing else.

An algorithm recognises its structure from the arrays of a program, as LIBSVM's interface does; every other program is
refused before the call, and is left to the other solvers of its class.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers.interface import Interface, Settings, refuse_option
from fsopt.solvers.spec import SolverSpec

# The algorithms are drivers, loops over solves: they import the solvers, and the solvers must not import them. Their
# modules are loaded by these names when a program asks for them, never with the registry. tests/test_house.py lists
# this as the one exemption from its rule that nothing loads a module above itself.
ALGORITHMS = ("fsopt.drivers.kernel_scaling.interface",)
"""Modules with functions ``takes(program)`` and ``connect(program, settings)``."""


class _Algorithm(Protocol):
    """A module of :data:`ALGORITHMS`."""

    def takes(self, program: Program) -> bool: ...

    def connect(self, program: Program, settings: Settings) -> Interface: ...


def _algorithm(program: Program) -> _Algorithm | None:
    """Return the algorithm that recognises a program, None if there is none."""
    modules = (cast("_Algorithm", import_module(name)) for name in ALGORITHMS)
    return next((module for module in modules if module.takes(program)), None)


def takes(program: Program) -> bool:
    """Return whether one of the algorithms recognises a program."""
    return _algorithm(program) is not None


def connect(program: Program, settings: Settings) -> Interface:
    """Load a program into the algorithm for it.

    Raises
    ------
    OptionError : an option of the solver itself: it has none.
    SolverError : no algorithm recognises the program.
    """
    for name in settings.own:
        raise refuse_option(SPEC.name, name, "it has none but tolerance, mip_gap, threads and seed")
    algorithm = _algorithm(program)
    if algorithm is None:
        raise SolverError(
            f"solver '{SPEC.name}' solves programs of one structure only, and this has another one",
            "it takes Bi's problem (15) (model kernel-scaling) as it was built; name no solver, or another one",
        )
    return algorithm.connect(program, settings)


SPEC = SolverSpec(
    name="fsopt",
    connect=connect,
    # The algorithms solve linear programs by the preferred solver, which is HiGHS in the core install.
    package="highspy",
    ranks={"NLP": 0},
    takes=takes,
    proves="global",
    duals=False,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install highspy",
    licence="this package's own; problem (15) of Bi only (kernel-scaling)",
)
