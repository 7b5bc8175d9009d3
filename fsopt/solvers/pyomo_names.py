"""The solvers that Pyomo can call, as data: classes, what they prove, options by their own names, installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from fsopt.solvers.interface import COARSE

LINEAR = ("LP", "MILP")
QUADRATIC = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
SMOOTH = ("LP", "QP", "SOCP", "NLP")
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
    library : the library that Pyomo's interface loads at its first solve, and does not ask for before; empty for none.
    duals, vertex : whether it returns multipliers, and vertices.
    sign : of its shadow prices: -1 where Pyomo's interface leaves them as multipliers of the Lagrangian.
    gap : its option for the relative gap; empty for none.
    seconds : its option for the time limit, where Pyomo's interface has none of its own.
    tolerances : options for the feasibility of constraints and of integers, and for reduced costs; empty where
        there are none, or not for each of these.
    smooth : whether cones are given to it in the form for interior methods.
    defaults : (option, value) pairs that it always gets, unless the user gives others.
    prefix : of the names of its options in Pyomo's interface.
    """

    classes: tuple[str, ...]
    install: str
    proves: str = "global"
    executable: str = ""
    library: str = ""
    duals: bool = True
    vertex: bool = False
    sign: int = 1
    gap: str = ""
    seconds: str = ""
    tolerances: tuple[str, ...] = ()
    smooth: bool = False
    defaults: tuple[tuple[str, Any], ...] = ()
    prefix: str = ""

    def integer_tolerance(self, options: Mapping[str, Any]) -> float:
        """Return the largest tolerance in options, whose names a user may have abbreviated or spelled out."""
        names = [name.lower() for name in self.tolerances]
        given = [
            float(value)
            for option, value in options.items()
            if any(name.startswith(option.lower()) or option.lower().startswith(name) for name in names)
        ]
        return max(given, default=COARSE)


GLPK = "apt-get install glpk-utils, or conda install -c conda-forge glpk"
CBC = "apt-get install coinor-cbc, or conda install -c conda-forge coincbc"
CPLEX = "install IBM CPLEX, with its program 'cplex' on the path or its Python package (pip install cplex)"
KNITRO = "install Artelys Knitro with a licence"
CYIPOPT = "build Pyomo's AMPL library (pyomo build-extensions), or take the solver 'ipopt', which needs none"
IPOPT = "put an 'ipopt' executable on the path (conda install -c conda-forge ipopt), or take the solver 'ipopt'"
_GLPK = (("nopresol", ""),)
"""After its presolve GLPK does not say whether a program is infeasible or unbounded."""
CBC_TOLERANCES = ("primalTolerance", "dualTolerance", "integerTolerance")
_CBC = Known(LINEAR, CBC, executable="cbc", vertex=True, gap="ratioGap", tolerances=CBC_TOLERANCES)
_HIGHS = Known(
    LINEAR,
    "pip install highspy",
    vertex=True,
    gap="mip_rel_gap",
    tolerances=("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"),
)
_GUROBI = Known(
    QUADRATIC,
    "pip install gurobipy, with a licence",
    gap="MIPGap",
    seconds="TimeLimit",
    tolerances=("FeasibilityTol", "OptimalityTol", "IntFeasTol"),
    defaults=(("QCPDual", 1), ("BarConvTol", 1e-9), ("BarQCPConvTol", 1e-9)),
)
_XPRESS = Known(
    QUADRATIC,
    "pip install xpress, with a licence",
    gap="miprelstop",
    seconds="maxtime",
    tolerances=("feastol", "optimalitytol", "miptol"),
    defaults=tuple((name, 1e-9) for name in ("bargapstop", "barprimalstop", "bardualstop")),
)
_MOSEK = Known(QUADRATIC, "pip install mosek, with a licence", seconds="dparam.optimizer_max_time")
_CPLEX = Known(QUADRATIC, CPLEX, gap="mip_tolerances_mipgap")
_SCIP = Known(
    ALGEBRAIC,
    "pip install pyscipopt, or the program 'scip' with AMPL support",
    duals=False,
    gap="limits/gap",
    tolerances=("numerics/feastol",),
)
_EXACT = (("tol", 1e-10), ("constr_viol_tol", 1e-10), ("compl_inf_tol", 1e-10), ("bound_relax_factor", 0.0))
"""Ipopt moves bounds outwards by default, and its answer violates them."""
_IPOPT = Known(SMOOTH, IPOPT, "local", seconds="max_cpu_time", smooth=True, defaults=_EXACT)
_KNITRO = Known(ALGEBRAIC, KNITRO, "local", smooth=True)

KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        "glpk": Known(LINEAR, GLPK, executable="glpsol", vertex=True, gap="mipgap", defaults=_GLPK),
        "cbc": _CBC,
        "highs": _HIGHS,
        "appsi_highs": _HIGHS,
        "appsi_cbc": replace(_CBC, executable=""),
        "gurobi": _GUROBI,
        "gurobi_direct": _GUROBI,
        "gurobi_persistent": _GUROBI,
        "appsi_gurobi": _GUROBI,
        "xpress": _XPRESS,
        "xpress_direct": _XPRESS,
        "xpress_persistent": _XPRESS,
        "mosek": _MOSEK,
        "mosek_direct": _MOSEK,
        "mosek_persistent": _MOSEK,
        "cplex": _CPLEX,
        "cplex_direct": _CPLEX,
        "cplex_persistent": _CPLEX,
        "appsi_cplex": _CPLEX,
        "scip": _SCIP,
        "scip_direct": _SCIP,
        "baron": Known(ALGEBRAIC, "install BARON with a licence, its program 'baron' on the path", gap="EpsR"),
        "gams": Known(ALGEBRAIC, "install GAMS, its program 'gams' on the path", "local"),
        "ipopt": replace(_IPOPT, prefix="OF_", executable="ipopt"),  # its command line takes only some of them
        "ipopt_v2": _IPOPT,
        "appsi_ipopt": _IPOPT,
        "cyipopt": replace(_IPOPT, install=CYIPOPT, library="pynumero_ASL", sign=-1),
        "knitroampl": _KNITRO,
        "knitro_direct": _KNITRO,
        "conopt": Known(SMOOTH, "install CONOPT with AMPL support", "local", smooth=True),
        "bonmin": Known(ALGEBRAIC, "conda install -c conda-forge coin-or-bonmin", "local", smooth=True),
        "couenne": Known(ALGEBRAIC, "put a 'couenne' executable on the path"),
    }
)
"""Pyomo's name -> the solver."""
OTHER = Known(ALGEBRAIC, "see the pages of Pyomo and of the solver", "local")
"""What is taken of a solver that is not in the table: every algebraic class is tried, and the certificate decides."""
