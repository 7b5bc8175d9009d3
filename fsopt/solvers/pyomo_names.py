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
    """A solver, by Pyomo's name for it: what it solves and proves, how to get it, and its options by its own names."""

    classes: tuple[str, ...]
    install: str
    proves: str = "global"
    executable: str = ""  # given to Pyomo, which remembers programs that were once absent; else Pyomo is asked
    duals: bool = True
    vertex: bool = False
    tree: bool = False  # functions up to quadratic ones, without multipliers where they are not convex
    gap: str = ""
    seconds: str = ""  # where Pyomo's interface has no time limit of its own
    threads: str = ""
    seed: str = ""
    tolerances: tuple[str, ...] = ()  # of constraints, reduced costs and integers, all or none of them
    defaults: tuple[tuple[str, Any], ...] = ()
    nonconvex: tuple[tuple[str, Any], ...] = ()
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
