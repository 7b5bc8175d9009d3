"""Solvers: their modules and names, for the registry and for Pyomo's factories, without numpy."""

MODULES = (
    "highs",
    "clarabel",
    "mosek",
    "ipopt",
    "scs",
    "scip",
    "quadratic",
    "pyomo_call",
)
"""In the order of tables."""
SEVERAL = {
    "quadratic": ("piqp", "proxqp", "qoco", "osqp", "daqp"),
    "pyomo_call": ("gurobi", "xpress", "pyomo:glpk", "pyomo:cbc"),
}
"""Module -> its solvers, where it holds another one than that of its name."""
NAMES = tuple(name for module in MODULES for name in SEVERAL.get(module, (module.replace("_", "-"),)))
"""The solvers in the registry."""
