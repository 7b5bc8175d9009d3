"""Ipopt: linear, convex and nonconvex smooth programs, through cyipopt or through an executable on the path."""

from __future__ import annotations

from importlib import import_module

from fsopt.compiler import Program
from fsopt.solvers.interface import Interface, Settings
from fsopt.solvers.ipopt_executable import IpoptExecutable
from fsopt.solvers.ipopt_package import IpoptPackage
from fsopt.solvers.spec import SolverSpec


def connect(program: Program, settings: Settings) -> Interface:
    """Give a program to Ipopt: through cyipopt where it can be imported, else to the executable on the path.

    An installed cyipopt may lack its compiled libraries: only the import tells.
    """
    try:
        import_module("cyipopt")
    except ImportError:
        return IpoptExecutable(program, settings)
    return IpoptPackage(program, settings)


SPEC = SolverSpec(
    name="ipopt",
    connect=connect,
    package="cyipopt",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "NLP"), 80),
    proves="local",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install cyipopt-wheels",
    licence="EPL-2.0; a cyipopt or an 'ipopt' executable of your own, with any linear solver, works too",
    executable="ipopt",
)
