"""Bounds that exclude one another: two numbers show that a program is infeasible, before any solver is called."""

from __future__ import annotations

import numpy as np

from fsopt.compiler.program import Program


def crossed(program: Program) -> str:
    """Return a sentence on the first bounds that exclude one another, empty where there are none."""
    p = program
    for what, names, low, high in (("variable", p.variables, p.lb, p.ub), ("constraint", p.constraints, p.lo, p.hi)):
        if len(places := np.flatnonzero(low > high)):
            k = int(places[0])
            return f"the {what} '{names[k].name}' has the lower bound {low[k]} above its upper bound {high[k]}"
    if len(places := np.flatnonzero((np.diff(p.A.indptr) == 0) & ((p.lo > 0) | (p.hi < 0)))):
        i = int(places[0])
        return f"the constraint '{p.constraints[i].name}' has no variable, and 0 is not in [{p.lo[i]}, {p.hi[i]}]"
    if len(places := np.flatnonzero(p.integer & (np.ceil(p.lb) > np.floor(p.ub)))):
        j = int(places[0])
        name = p.variables[j].name
        return f"the integer '{name}' has no whole number between its bounds {p.lb[j]} and {p.ub[j]}"
    return ""
