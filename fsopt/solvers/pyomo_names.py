"""The solvers that Pyomo can call, as data: classes, what they prove, options by their own names, installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from fsopt.solvers.spec import COARSE

LINEAR = ("LP", "MILP")
QUADRATIC = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
ALGEBRAIC = (*QUADRATIC, "NLP", "MINLP")


@dataclass(frozen=True)
class Known:
    """A solver, by Pyomo's name for it.

    Attributes
    ----------
    classes : problem classes that it solves.
    install : how to get it.
    proves : ``global`` or ``local``.
    executable : the program on the search path, which Pyomo is given: it remembers programs that were once absent;
        empty where Pyomo must be asked.
    duals, vertex : whether it returns multipliers, and vertices.
    tree : whether it takes functions up to quadratic ones, and those that are not convex by branch and bound: their
        answers have no multipliers.
    gap : its option for the relative gap; empty for none.
    seconds : its option for the time limit, where Pyomo's interface has none of its own.
    threads, seed : its options for them; empty for none, or where they are left as they are.
    tolerances : options for the feasibility of constraints and of integers, and for reduced costs; empty where
        there are none, or not for each of these.
    defaults : (option, value) pairs that it always gets, unless the user gives others.
    nonconvex : such pairs for programs that are not convex.
    apart : pairs with which it tells infeasible from unbounded, where it had one word for both.
    licence : how to get a licence; empty where it needs none.
    """

    classes: tuple[str, ...]
    install: str
    proves: str = "global"
    executable: str = ""
    duals: bool = True
    vertex: bool = False
    tree: bool = False
    gap: str = ""
    seconds: str = ""
    threads: str = ""
    seed: str = ""
    tolerances: tuple[str, ...] = ()
    defaults: tuple[tuple[str, Any], ...] = ()
    nonconvex: tuple[tuple[str, Any], ...] = ()
    apart: tuple[tuple[str, Any], ...] = ()
    licence: str = ""

    def integer_tolerance(self, options: Mapping[str, Any]) -> float:
        """Return the largest tolerance in options, whose names a user may have abbreviated or spelled out."""
        names = [name.lower() for name in self.tolerances]
        given = [
            float(value)
            for option, value in options.items()
            if any(name.startswith(option.lower()) or option.lower().startswith(name) for name in names)
        ]
        return max(given, default=COARSE)


GUROBI = "gurobi.com/licenses (free for academics), with GRB_LICENSE_FILE set to its path"
XPRESS = "fico.com/xpress (free for academics), with XPAUTH_PATH set to its path"

KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        "glpk": Known(
            LINEAR,
            "apt-get install glpk-utils, or conda install -c conda-forge glpk",
            executable="glpsol",
            vertex=True,
            gap="mipgap",
            # After its presolve GLPK does not say whether a program is infeasible or unbounded.
            defaults=(("nopresol", ""),),
        ),
        "cbc": Known(
            LINEAR,
            "apt-get install coinor-cbc, or conda install -c conda-forge coincbc",
            executable="cbc",
            vertex=True,
            gap="ratioGap",
            tolerances=("primalTolerance", "dualTolerance", "integerTolerance"),
        ),
        "gurobi": Known(
            ALGEBRAIC,
            "pip install gurobipy",
            vertex=True,
            tree=True,
            gap="MIPGap",
            seconds="TimeLimit",
            threads="Threads",
            seed="Seed",
            tolerances=("FeasibilityTol", "OptimalityTol", "IntFeasTol"),
            nonconvex=(("QCPDual", 0), ("NonConvex", 2)),
            apart=(("DualReductions", 0),),
            defaults=(("QCPDual", 1), ("BarConvTol", 1e-9), ("BarQCPConvTol", 1e-9), ("MIPGapAbs", 1e-9)),
            licence=GUROBI,
        ),
        "xpress": Known(
            (*QUADRATIC, "MINLP"),  # of programs without integers that are not convex Pyomo finds no answer
            "pip install xpress",
            vertex=True,
            tree=True,
            gap="miprelstop",
            seconds="timelimit",
            threads="threads",
            seed="randomseed",
            tolerances=("feastol", "optimalitytol", "miptol"),
            defaults=tuple((name, 1e-9) for name in ("bargapstop", "barprimalstop", "bardualstop", "mipabsstop")),
            licence=XPRESS,
        ),
    }
)
"""Pyomo's name -> the solver."""
OTHER = Known(ALGEBRAIC, "see the pages of Pyomo and of the solver", "local")
"""What is taken of a solver that is not in the table: every algebraic class is tried, and the certificate decides."""


def known_solver(name: str) -> Known:
    """Return the entry of a solver by any of Pyomo's names for it: ``gurobi_direct``, ``appsi_cbc``."""
    if name in KNOWN:
        return KNOWN[name]
    found = KNOWN.get(name.removeprefix("appsi_").partition("_")[0])
    return OTHER if found is None else replace(found, executable="")
