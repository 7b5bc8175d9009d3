"""From Pyomo models to arrays: compact linear forms, the program, and its cones."""

from fsopt.compiler.cones import lmi
from fsopt.compiler.expressions import Dot, dot
from fsopt.compiler.program import Program, compile_model

__all__ = ["Dot", "Program", "compile_model", "dot", "lmi"]
