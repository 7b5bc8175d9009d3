"""The solvers, as data: what each one solves, what it proves, and where to get it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from fsopt.errors import SolverError, unknown


@dataclass(frozen=True)
class SolverSpec:
    """One solver.

    Attributes
    ----------
    name : registry name, as given to ``solver=`` and ``--solver``.
    interface : module of ``fsopt.solvers`` that drives it.
    package : importable Python package that must be installed.
    classes : problem classes it solves; whole classes, because "QP yes, MILP yes" does not mean "MIQP yes".
    proves : ``global`` or ``local``.
    duals, vertex, in_place : whether it returns multipliers, returns vertices, and updates a model in place.
    tolerance : relative accuracy of the objective that it reaches on the classes it claims.
    pip : what to install.
    licence : what the user needs to run it.
    executable : program on the search path that stands in for a missing package; empty where none does.
    interior : (option, value) pairs, by the solver's own names, with which it returns no vertices.
    """

    name: str
    interface: str
    package: str
    classes: frozenset[str]
    proves: str
    duals: bool
    vertex: bool
    in_place: bool
    tolerance: float
    pip: str
    licence: str
    executable: str = ""
    interior: tuple[tuple[str, Any], ...] = ()

    @property
    def available(self) -> bool:
        """Whether the package is installed, or the executable is on the search path."""
        return find_spec(self.package) is not None or bool(self.executable and shutil.which(self.executable))


SOLVERS: Mapping[str, SolverSpec] = MappingProxyType(
    {
        "highs": SolverSpec(
            name="highs",
            interface="highs",
            package="highspy",
            classes=frozenset({"LP", "QP", "MILP"}),
            proves="global",
            duals=True,
            vertex=True,
            in_place=True,
            tolerance=1e-7,
            pip="pip install highspy",
            licence="MIT, in the core install",
            interior=(("run_crossover", "off"), ("run_crossover", "choose"), ("solver", "pdlp")),
        ),
        "clarabel": SolverSpec(
            name="clarabel",
            interface="clarabel",
            package="clarabel",
            classes=frozenset({"LP", "QP", "SOCP", "SDP"}),
            proves="global",
            duals=True,
            vertex=False,
            in_place=True,
            tolerance=1e-6,
            pip="pip install clarabel",
            licence="Apache-2.0, in the core install",
        ),
        "gurobi": SolverSpec(
            name="gurobi",
            interface="gurobi",
            package="gurobipy",
            classes=frozenset({"LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"}),
            proves="global",
            duals=True,
            vertex=True,
            in_place=True,
            tolerance=1e-6,
            pip="pip install gurobipy",
            licence="commercial, free for academics (gurobi.com/licenses); the wheel alone solves up to 2000 columns",
            interior=(("Crossover", 0),),
        ),
        "xpress": SolverSpec(
            name="xpress",
            interface="xpress",
            package="xpress",
            classes=frozenset({"LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"}),
            proves="global",
            duals=True,
            vertex=True,
            in_place=False,
            tolerance=1e-6,
            pip="pip install xpress",
            licence="commercial, free for academics (fico.com/xpress); the wheel alone takes 200-5000 rows + columns",
        ),
        "mosek": SolverSpec(
            name="mosek",
            interface="mosek",
            package="mosek",
            classes=frozenset({"LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP"}),
            proves="global",
            duals=True,
            vertex=True,
            in_place=True,
            tolerance=1e-6,
            pip="pip install mosek",
            licence="commercial, free for academics, trial for all (mosek.com): mosek.lic in the home folder's mosek/",
        ),
        "ipopt": SolverSpec(
            name="ipopt",
            interface="ipopt",
            package="cyipopt",
            classes=frozenset({"LP", "QP", "SOCP", "NLP"}),
            proves="local",
            duals=True,
            vertex=False,
            in_place=True,
            tolerance=1e-6,
            pip="pip install cyipopt-wheels",
            licence="EPL-2.0; a cyipopt or an 'ipopt' executable of your own, with any linear solver, works too",
            executable="ipopt",
        ),
        "scs": SolverSpec(
            name="scs",
            interface="scs",
            package="scs",
            classes=frozenset({"LP", "QP", "SOCP"}),
            proves="global",
            duals=True,
            vertex=False,
            in_place=True,
            tolerance=1e-4,
            pip="pip install scs",
            licence="MIT",
        ),
        "scip": SolverSpec(
            name="scip",
            interface="scip",
            package="pyscipopt",
            classes=frozenset({"LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"}),
            proves="global",
            duals=False,
            vertex=False,
            in_place=False,
            tolerance=1e-6,
            pip="pip install pyscipopt",
            licence="Apache-2.0, in the wheel",
        ),
        "libsvm": SolverSpec(
            name="libsvm",
            interface="libsvm",
            package="sklearn",
            classes=frozenset({"QP"}),
            proves="global",
            duals=True,
            vertex=False,
            in_place=True,
            tolerance=1e-6,
            pip="pip install scikit-learn",
            licence="BSD-3-Clause, in the core install; support vector machines only (svm, fsp-sub)",
        ),
    }
)

PREFERENCE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "LP": ("highs", "clarabel", "scs", "scip", "gurobi", "xpress", "mosek", "ipopt"),
        "QP": ("clarabel", "highs", "scs", "scip", "gurobi", "xpress", "mosek", "ipopt"),
        "MILP": ("highs", "scip", "gurobi", "xpress", "mosek"),
        "SOCP": ("clarabel", "scs", "scip", "xpress", "gurobi", "mosek", "ipopt"),
        "SDP": ("clarabel",),
        "MIQP": ("scip", "gurobi", "xpress", "mosek"),
        "MISOCP": ("scip", "gurobi", "xpress", "mosek"),
        "NLP": ("scip", "gurobi", "xpress", "ipopt"),
        "MINLP": ("scip", "gurobi", "xpress"),
    }
)
"""Which solver is taken for a class where the user names none: the first one that is installed."""


def spec(name: str) -> SolverSpec:
    """Return a solver's entry; raises UnknownNameError."""
    if name not in SOLVERS:
        raise unknown("solver", name, SOLVERS, "fsopt solvers")
    return SOLVERS[name]


def choose(name: str | None, problem_class: str, model: str) -> SolverSpec:
    """Return the solver to call for a problem class, or say which ones there are.

    Parameters
    ----------
    name : registry name, or None for the preferred installed solver of the class.
    problem_class : as returned by :func:`fsopt.classify`.
    model : name of the model, for the message.

    Raises
    ------
    UnknownNameError : no such solver.
    SolverError : the solver is not installed, or does not solve this class, or none does.
    """
    if name is None:
        for candidate in PREFERENCE.get(problem_class, ()):
            if SOLVERS[candidate].available:
                return SOLVERS[candidate]
        raise SolverError(f"no installed solver takes '{model}', a {problem_class}", alternatives(problem_class))
    chosen = spec(name)
    if problem_class not in chosen.classes:
        can = ", ".join(sorted(chosen.classes))
        raise SolverError(
            f"solver '{name}' does not solve '{model}', a {problem_class} (it solves {can})",
            alternatives(problem_class),
        )
    if not chosen.available:
        raise SolverError(f"solver '{name}' is not installed", f"{chosen.pip}; {alternatives(problem_class)}")
    return chosen


def alternatives(problem_class: str, *, duals: bool = False) -> str:
    """Return the installed solvers of a class and the pip lines of the others, as one phrase.

    ``duals`` leaves out the solvers that return no multipliers.
    """
    able = [s for s in SOLVERS.values() if problem_class in s.classes and (s.duals or not duals)]
    installed = [s.name for s in able if s.available]
    missing = [f"{s.name} ({s.pip})" for s in able if not s.available]
    phrases = []
    if installed:
        phrases.append(f"installed for {problem_class}: {', '.join(installed)}")
    if missing:
        phrases.append(f"not installed: {', '.join(missing)}")
    return "; ".join(phrases) or f"no registered solver takes a {problem_class}; 'fsopt solvers' lists the classes"


def no_multipliers(solver: str, problem_class: str) -> SolverError:
    """Return the error for an answer without multipliers (dual variables) where they are needed.

    Parameters
    ----------
    solver : registry name of the solver that gave the answer.
    problem_class : class of the program, as returned by :func:`fsopt.classify`.
    """
    return SolverError(
        f"solver '{solver}' gives no multipliers (dual variables), which are needed here",
        f"take one that gives them: {alternatives(problem_class, duals=True)}",
    )
