"""The modules of the solvers: the one list, for the registry and for Pyomo's factories, without numpy."""

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
"""Each holds the solver of its name, and ``pyomo_call`` those that Pyomo calls; in the order of tables."""
