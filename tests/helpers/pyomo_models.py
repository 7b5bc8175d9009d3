"""Small Pyomo models in one statement."""

from __future__ import annotations

import pyomo.environ as pyo

FREE, POSITIVE = (None, None), (0, None)
"""Bounds of a variable."""


def model_of(goal, *rows, bounds, start=None, whole=(), sense=pyo.minimize) -> pyo.ConcreteModel:
    """Return the model with variables x, constraints ``row`` and objective ``o``, given as functions of the variables.

    Each variable has a pair of bounds, and a value where a ``start`` is given; ``whole`` are the places of integers.
    """
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(bounds)), bounds=lambda m, j: bounds[j])
    if start is not None:
        m.x.set_values(dict(enumerate(start)))
    for j in whole:
        m.x[j].domain = pyo.Integers
    m.row = pyo.Constraint(range(len(rows)), rule=lambda m, i: rows[i](*m.x.values()))
    m.o = pyo.Objective(expr=goal(*m.x.values()), sense=sense)
    return m
