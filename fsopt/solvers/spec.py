"""The entry of a solver in the registry, and its Python package, imported at the first use."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fsopt.compiler import Program
from fsopt.solvers.interface import Interface, Settings


class Package:
    """A solver's Python package; it is imported when the first attribute of it is read.

    The registry imports every interface, also those of solvers that are not installed or slow to import. Pyomo's code
    runs with the import of some packages and calls what warns in them: where warnings are errors, Pyomo would
    take the package for missing from then on.

    Parameters
    ----------
    name : of the package or of a module in it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if self._name not in sys.modules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(self._name)
        return getattr(import_module(self._name), attribute)


@dataclass(frozen=True, eq=False)
class SolverSpec:
    """One solver: the last line of its module.

    Attributes
    ----------
    name : registry name, as given to ``solver=``.
    connect : function that loads a compiled program into the solver.
    package : importable Python package that must be installed.
    ranks : problem class that it solves -> its rank among the solvers of that class. Where the user names no solver,
        the installed one of the smallest rank is taken; equal ranks follow the order of the registry. None: the
        solver is called by name alone. Classes are whole, because "QP yes, MILP yes" does not mean "MIQP yes".
    declined : problem class that the software takes but this entry does not -> the reason, for the message.
    proves : ``global`` or ``local``.
    duals, vertex, in_place : whether it returns multipliers, returns vertices, and updates a model in place.
    tolerance : relative accuracy of the objective that it reaches on the classes it solves.
    pip : command that installs the package.
    licence : its licence, and how to get one.
    executable : program on the search path that it calls; empty for none.
    interior : (option, value) pairs, by the solver's own names, with which it returns no vertices.
    finer : tolerances of further solves where the certificate of an answer at the default one fails; empty where they
        are not worth their seconds.
    present : whether the solver can be called; None asks for the package.
    """

    name: str
    connect: Callable[[Program, Settings], Interface]
    package: str
    ranks: Mapping[str, int | None]
    proves: str
    duals: bool
    vertex: bool
    in_place: bool
    tolerance: float
    pip: str
    licence: str
    executable: str = ""
    declined: Mapping[str, str] = field(default_factory=dict)
    interior: tuple[tuple[str, Any], ...] = ()
    finer: tuple[float, ...] = ()
    present: Callable[[], bool] | None = None

    @property
    def classes(self) -> frozenset[str]:
        """Problem classes that it solves."""
        return frozenset(self.ranks)

    @property
    def available(self) -> bool:
        """Whether the solver can be called."""
        if self.present is not None:
            return self.present()
        return find_spec(self.package) is not None
